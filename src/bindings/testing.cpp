// What only the tests call: arithmetic, split search, nearest points, the last round of a model, and want of memory.
#include <limits>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/model.hpp"
#include "core/base/math.hpp"
#include "core/base/memory_faults.hpp"
#include "core/base/philox.hpp"
#include "core/kernels/level.hpp"
#include "core/kernels/splits.hpp"
#include "core/learners/neighbours/nearest_memory.hpp"
#include "core/learners/tree/split_search.hpp"

namespace boostline {

using namespace nb::literals;
namespace {

template <class Kernel>
NewArray<double> elementwise(Vector<double> x, Kernel kernel) {
    std::vector<double> out(x.shape(0));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = kernel(x.data()[i]);
    return to_numpy(out.data(), {out.size()});
}

// A leaf whose labels have these statistics.
struct LeafInHand {
    std::vector<double> low, high;
    LeafStats leaf;

    LeafInHand(const double* stats, std::size_t size, std::size_t n_covariates)
        : low(n_covariates, std::numeric_limits<double>::infinity()),
          high(n_covariates, -std::numeric_limits<double>::infinity()),
          leaf{{}, low.data(), high.data(), n_covariates} {
        const std::size_t width = LabelStats::kArrays * n_covariates;
        for (std::size_t i = 0; i + width <= size; i += width) {
            leaf.labels.push_back(LabelStats::in(const_cast<double*>(stats) + i, n_covariates));
            widen_range(low.data(), high.data(), leaf.labels.back().min, leaf.labels.back().max, n_covariates);
        }
    }
};

}  // namespace

void bind_testing(nb::module_& m) {
    // The arithmetic of math.hpp, for its tests.
    m.def("exp", [](Vector<double> x) { return elementwise(x, [](double v) { return exp_(v); }); });
    m.def("log2", [](Vector<double> x) { return elementwise(x, [](double v) { return log2_(v); }); });
    m.def("normal_cdf", [](Vector<double> x) { return elementwise(x, [](double v) { return normal_cdf(v); }); });
    m.def("normal_split_entropy",
          [](Vector<double> x) { return elementwise(x, [](double v) { return normal_split(v).entropy; }); });
    m.def("philox_uniform", &philox_uniform);
    // split_search.hpp: covariate, threshold, gain and lead of the best split, and the coarse search's bound on any
    // lead.
    m.def("split_leads", [](Vector<double> stats, std::size_t n_covariates) {
        const LeafInHand hand(stats.data(), stats.size(), n_covariates);
        const Split split = SplitSearch().best(hand.leaf);
        return std::make_tuple(split.covariate, split.threshold, split.gain, split.gain - split.runner_up,
                               SplitSearch().largest_lead(hand.leaf));
    });
    // Whether the coarse search rules out that any lead exceeds the bound.
    m.def("is_split_ruled_out", [](Vector<double> stats, std::size_t n_covariates, double bound) {
        const LeafInHand hand(stats.data(), stats.size(), n_covariates);
        return SplitSearch().rules_out(hand.leaf, bound);
    });
    // nearest_memory.hpp: points are learned in blocks, each with one label for itself. Returns what it said of each of
    // them before (points, points), and of how many coordinates it looks at first (0: at all).
    m.def(
        "learn_nearest",
        [](Vector<float> points, std::size_t n_inputs, std::size_t n_neighbours, std::size_t capacity) {
            const std::size_t n = points.size() / n_inputs;
            NearestMemory memory(n, n_inputs, n_neighbours, capacity);
            NearestMemory::Scratch scratch;
            std::vector<double> said(n * n);
            for (std::size_t first = 0; first < n; first += NearestMemory::kTogether) {
                std::vector<Lesson> lessons(std::min(NearestMemory::kTogether, n - first));
                for (std::size_t r = 0; r < lessons.size(); ++r) {
                    lessons[r].targets.value.assign(n, 0);
                    lessons[r].targets.value[first + r] = 1;
                    lessons[r].importance = 1.0;
                }
                memory.make_room(lessons.size());
                memory.make_room_to_score(lessons.size(), scratch);
                memory.learn_block(points.data() + first * n_inputs, lessons.data(), lessons.size(), scratch,
                                   said.data() + first * n);
            }
            return std::make_tuple(to_numpy(said.data(), {n, n}), memory.prefix_size());
        },
        "points"_a, "n_inputs"_a, "n_neighbours"_a, "capacity"_a);
    // From now on only the next n allocations within calls of models succeed, or all but the one after them; -1: all
    // do. Returns how many have failed. Without BOOSTLINE_FAULTS nothing fails.
    m.def(
        "grant_allocations",
        []([[maybe_unused]] std::int64_t n, [[maybe_unused]] bool only_one) -> std::int64_t {
#if defined(BOOSTLINE_FAULTS)
            MemoryFaults::n_to_grant = -1;
            MemoryFaults::only_one = only_one;
            MemoryFaults::n_to_grant = n;
            return MemoryFaults::n_failed.exchange(0);
#else
            return 0;
#endif
        },
        "n"_a, "only_one"_a = false);
    m.def("has_faults", [] {
#if defined(BOOSTLINE_FAULTS)
        return true;
#else
        return false;
#endif
    });
    // Kernels of this SIMD level from now on: 0 plain, 1 AVX2, 2 AVX-512. Returns the level before; -1 only asks.
    m.def(
        "set_simd_level",
        [](int to) {
            const int before = static_cast<int>(level_in_use);
            if (to >= 0 && to <= static_cast<int>(widest_level())) level_in_use = static_cast<Level>(to);
            return before;
        },
        "level"_a);
    // What votes summed to before they were made shares, (rows, votes).
    m.def(
        "vote_sums",
        [](const Model& self, const Rows& input) {
            std::size_t n_votes = 0;
            const auto sums = self.reading([&](const Booster& b) {
                n_votes = static_cast<std::size_t>(b.n_votes());
                std::vector<double> out(input.size() * n_votes);
                input.in_pieces(input.n_together(), [&](const Row* x, std::size_t first, std::size_t n) {
                    b.vote_sums(x, n, out.data() + first * n_votes);
                });
                return out;
            });
            return to_numpy(sums.data(), {input.size(), n_votes});
        },
        "model"_a, "rows"_a);
    // Votes, experts' scores and costs.
    m.def("last_round", [](const Model& self) {
        const auto [n_votes, votes, scores, costs] = self.reading([](const Booster& b) {
            return std::make_tuple(static_cast<std::size_t>(b.n_votes()), b.last_votes(), b.last_expert_scores(),
                                   b.last_costs());
        });
        const std::size_t size = votes.size() - n_votes;
        nb::typed<nb::dict, nb::str, NewArray<double>> out;
        out["votes"] = to_numpy(votes.data(), {size});
        out["expert_scores"] = to_numpy(scores.data(), {scores.size()});
        out["costs"] = to_numpy(costs.data(), {costs.size()});
        return out;
    });
}

}  // namespace boostline
