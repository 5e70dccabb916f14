// Weak learners: trees, scorers and committees of them, and learners written in Python.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "bindings/arrays.hpp"
#include "bindings/python_learner.hpp"
#include "core/learners/committee/committee.hpp"
#include "core/learners/neighbours/point_blocks.hpp"
#include "core/learners/scorer_kinds.hpp"
#include "core/learners/tree/hoeffding_tree.hpp"

namespace boostline {

using namespace nb::literals;

void bind_learners(nb::module_& m) {
    nb::class_<Learner>(m, "Learner")
        .def("kind", &Learner::kind)
        .def("n_votes", &Learner::n_votes)
        .def("memory_bytes", &Learner::memory_bytes);

    nb::class_<HoeffdingTree, Learner>(m, "HoeffdingTree")
        .def(
            "__init__",
            [](HoeffdingTree* self, std::int32_t n_labels, Vector<std::int32_t> features, double grace_period,
               double split_confidence, double tie_threshold, double weight_scale, bool single_label,
               std::uint64_t max_bytes) {
                TreeSettings s{
                    grace_period, split_confidence, tie_threshold, weight_scale, single_label, max_bytes, {}};
                const MemoryFaults::InCall in_call;
                s.features.assign(features.data(), features.data() + features.shape(0));
                new (self) HoeffdingTree(n_labels, std::move(s));
            },
            "n_labels"_a, "features"_a, "grace_period"_a, "split_confidence"_a, "tie_threshold"_a, "weight_scale"_a,
            "single_label"_a, "max_bytes"_a);

    nb::class_<PythonLearner, Learner>(m, "PythonLearner")
        .def(nb::init<nb::object, std::int32_t>(), "adapter"_a, "n_labels"_a);

    // What a kernel learner makes of standardised rows, (n, d), and its landmarks, (m, d): for statistics of many rows.
    m.def(
        "kernel_values",
        [](Matrix<float> rows, Matrix<float> landmarks, double width) {
            const std::size_t n = rows.shape(0), m = landmarks.shape(0), d = rows.shape(1);
            std::unique_ptr<double[]> values(new double[std::max<std::size_t>(n * m, 1)]);
            {
                const nb::gil_scoped_release release;
                PointBlocks points(d);
                points.reserve(m);
                for (std::size_t i = 0; i < m; ++i) points.put(i, landmarks.data() + i * d);
                constexpr std::size_t kTogether = 32;
                std::vector<float> squares(kTogether * PointBlocks::width(m));
                for (std::size_t from = 0; from < n; from += kTogether) {
                    const std::size_t together = std::min(kTogether, n - from);
                    points.distances(rows.data() + from * d, together, m, squares.data());
                    for (std::size_t r = 0; r < together; ++r)
                        exponential_of_squares(&squares[r * PointBlocks::width(m)], m, width, &values[(from + r) * m]);
                }
            }
            return to_numpy(std::move(values), {n, m});
        },
        "rows"_a, "landmarks"_a, "width"_a);

    // Scorers of labels, and a committee of them.
    nb::class_<Scorer>(m, "Scorer").def("memory_bytes", &Scorer::memory_bytes);
    m.def(
        "scorer",
        [](const char* kind, std::int32_t n_labels, std::int64_t n_features,
           const nb::typed<nb::dict, nb::str, nb::any>& settings) {
            ScorerSettings made{n_labels, n_features, {}, nullptr};
            for (const auto& [name, value] : settings) {
                if (nb::isinstance<Scorer>(value)) {
                    made.of = nb::cast<std::shared_ptr<Scorer>>(value);
                    continue;
                }
                auto& place = made.values[nb::cast<const char*>(name)];
                if (nb::isinstance<nb::float_>(value))
                    place = nb::cast<double>(value);
                else
                    place = nb::cast<std::uint64_t>(value);
            }
            const MemoryFaults::InCall in_call;
            return make_scorer(kind, made);
        },
        "kind"_a, "n_labels"_a, "n_features"_a, "settings"_a);
    // Members are (prefix, scorer, the members it reads, how many features it sees at the most); see
    // core/learners/committee/committee.hpp.
    using Indices = nb::typed<nb::sequence, std::size_t>;
    using GivenMember = nb::typed<nb::tuple, nb::str, Scorer, Indices, std::int64_t>;
    m.def(
        "committee",
        [](std::int32_t n_labels, std::int64_t n_features, const nb::typed<nb::sequence, GivenMember>& given) {
            std::vector<Member> members;
            for (nb::handle one : given) {
                const auto member = nb::cast<nb::tuple>(one);
                std::vector<std::size_t> reads;
                for (nb::handle i : nb::cast<nb::sequence>(member[2])) reads.push_back(nb::cast<std::size_t>(i));
                members.push_back({nb::cast<const char*>(member[0]), nb::cast<std::shared_ptr<Scorer>>(member[1]),
                                   std::move(reads), nb::cast<std::int64_t>(member[3])});
            }
            const MemoryFaults::InCall in_call;
            return std::shared_ptr<Learner>(new Committee(n_labels, n_features, std::move(members)));
        },
        "n_labels"_a, "n_features"_a, "members"_a);
}

}  // namespace boostline
