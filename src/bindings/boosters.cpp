// Boosters, their states, and the check of sparse rows on their way to them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <nanobind/typing.h>

#include "bindings/model.hpp"
#include "bindings/python_learner.hpp"
#include "bindings/states.hpp"
#include "core/models/paper/ada_olmr.hpp"
#include "core/models/paper/online_bmr.hpp"
#include "core/models/ranker/label_ranker.hpp"

namespace boostline {

using namespace nb::literals;
namespace {

// nanobind's own conversions to std::vector and std::string end the process when there is no memory for the result.
using LearnerList = nb::typed<nb::sequence, Learner>;

template <class Kind, class... Settings>
Model* made(std::int32_t n_labels, std::int64_t n_features, const LearnerList& given, std::uint64_t seed,
            Settings&&... settings) {
    Booster::Learners learners;
    for (nb::handle learner : given) learners.push_back(nb::cast<std::shared_ptr<Learner>>(learner));
    const MemoryFaults::InCall in_call;
    return new Model(
        std::make_unique<Kind>(n_labels, n_features, std::move(learners), seed, std::forward<Settings>(settings)...));
}

template <auto kMethod>
auto read(const Model& self) {
    return self.reading([](const Booster& b) { return (b.*kMethod)(); });
}
template <auto kMethod, class Value>
void write(Model& self, Value value) {
    self.writing([&](Booster& b) { (b.*kMethod)(value); });
}

// A function that the core may call and let go of in any thread.
std::shared_ptr<nb::callable> held_by_core(nb::callable function) {
    return std::shared_ptr<nb::callable>(new nb::callable(std::move(function)), [](nb::callable* f) {
        const WithPython python;
        delete f;
    });
}

}  // namespace

void bind_boosters(nb::module_& m) {
    m.attr("T") = nb::type_var("T");  // of hold
    nb::enum_<Expert>(m, "Expert")
        .value("draw", Expert::draw)
        .value("weighted", Expert::weighted)
        .value("best", Expert::best)
        .value("last", Expert::last);
    nb::enum_<Steps>(m, "Steps").value("paper", Steps::paper).value("adagrad", Steps::adagrad);

    nb::class_<Rows>(m, "Rows")
        .def(nb::init<nb::object, std::int64_t, bool>(), "given"_a, "n_features"_a = 0, "is_single"_a = false)
        .def_prop_ro("given", &Rows::given)
        .def_prop_ro("n", &Rows::size)
        .def_prop_ro("n_features", &Rows::n_features)
        .def_prop_ro("is_single", &Rows::is_single)
        .def("first_beyond", &Rows::first_beyond, "limit"_a);
    nb::class_<LabelSets>(m, "LabelSets")
        .def(nb::init<std::int32_t, Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int64_t>,
                      Vector<std::int32_t>>(),
             "n_labels"_a, "relevant_start"_a, "relevant"_a, "unknown_start"_a, "unknown"_a);

    nb::class_<StoredState>(m, "StoredState")
        .def("arrays", &StoredState::arrays, "learner"_a)
        .def("write", &StoredState::write, "learner"_a, "name"_a, "take"_a,
             nb::sig("def write(self, learner: int, name: str, take: collections.abc.Callable[[memoryview], object])"
                     " -> None"))
        .def("check", &StoredState::check, "learner"_a);

    nb::class_<EdgeSearch>(m, "EdgeSearch")
        .def(
            "__init__",
            [](EdgeSearch* self, Vector<double> levels, double start, std::uint64_t period) {
                std::vector<double> copy(levels.data(), levels.data() + levels.size());
                new (self) EdgeSearch(std::move(copy), start, period);
            },
            "levels"_a, "start"_a, "period"_a)
        .def_prop_ro("edge", &EdgeSearch::edge)
        .def_prop_ro("slope_squares", &EdgeSearch::slope_squares)
        .def("levels", [](const EdgeSearch& self) { return to_numpy(self.levels().data(), {self.n_levels()}); })
        .def("potentials", [](const EdgeSearch& self) { return to_numpy(self.potentials().data(), {self.n_levels()}); })
        .def("promises", [](const EdgeSearch& self) { return to_numpy(self.promises().data(), {self.n_levels()}); });

    nb::class_<Model> model(m, "Model");
    nb::class_<TurnLock>(m, "TurnLock")
        .def(nb::init<>())
        .def(
            "check", [](TurnLock& self, const Model& model) { self.check(model.lock()); }, "model"_a)
        .def("__enter__",
             [](TurnLock& self) {
                 nb::gil_scoped_release no_gil;
                 self.lock();
             })
        .def(
            "__exit__", [](TurnLock& self, nb::args) { self.unlock(); },
            nb::sig("def __exit__(self, *error: object) -> None"));

    m.def("learning_rates", [] { return to_numpy(Portfolio::kRates, {Portfolio::kChains}); });

    model
        .def_static(
            "ada_olmr",
            [](std::int32_t n_labels, std::int64_t n_features, LearnerList learners, std::uint64_t seed, Expert expert,
               Steps steps) { return made<AdaOLMR>(n_labels, n_features, learners, seed, expert, steps); },
            "n_labels"_a, "n_features"_a, "learners"_a, "seed"_a, "expert"_a, "steps"_a)
        .def_static(
            "label_ranker",
            [](std::int32_t n_labels, std::int64_t n_features, LearnerList learners, std::uint64_t seed,
               Vector<double> prior) {
                return made<LabelRanker>(n_labels, n_features, learners, seed,
                                         std::vector<double>(prior.data(), prior.data() + prior.size()));
            },
            "n_labels"_a, "n_features"_a, "learners"_a, "seed"_a, "prior"_a)
        .def_static(
            "online_bmr",
            [](std::int32_t n_labels, std::int64_t n_features, LearnerList learners, std::uint64_t seed) {
                return made<OnlineBMR>(n_labels, n_features, learners, seed);
            },
            "n_labels"_a, "n_features"_a, "learners"_a, "seed"_a)
        .def("learn", &Model::learn, "rows"_a, "sets"_a, "weights"_a, "keep_scores"_a, "keep_probabilities"_a = false)
        .def("rank", &Model::rank, "rows"_a, "top"_a)
        .def("score", &Model::score, "rows"_a)
        .def("scores_and_probabilities", &Model::scores_and_probabilities, "rows"_a)
        // The probability above which labels are named, for micro-F1 or macro-F1.
        .def(
            "threshold",
            [](const Model& self, bool for_macro_f1) {
                return self.reading([&](const Booster& b) {
                    const Calibration& known = b.calibration();
                    return for_macro_f1 ? known.macro_threshold() : known.micro_threshold();
                });
            },
            "for_macro_f1"_a)
        .def("votes", &Model::votes, "rows"_a)
        .def("contributions", &Model::contributions, "rows"_a)
        .def(
            "evidence",
            [](const Model& self, const Rows& rows, std::size_t label) {
                // For each vote (rest, index, parts) of features and of past rows, or None.
                const auto shown = [](const EvidenceSum& sum) -> nb::object {
                    if (!sum.is_known) return nb::none();
                    const std::size_t n = sum.parts.size();
                    return nb::make_tuple(sum.rest, to_numpy(sum.index.data(), {n}), to_numpy(sum.parts.data(), {n}));
                };
                nb::typed<nb::list, nb::any> out;
                for (const Evidence& one : self.evidence(rows, label))
                    out.append(nb::make_tuple(shown(one.of_features), shown(one.of_rows)));
                return out;
            },
            "rows"_a, "label"_a)
        .def("set_threads", &write<&Booster::set_threads, int>, "n"_a)
        .def(
            "grow_labels", [](Model& self, std::int32_t n) { self.grow([&](Booster& b) { b.grow_labels(n); }); }, "n"_a)
        .def(
            "grow_features",
            [](Model& self, std::int64_t n, bool were_missing) {
                self.grow([&](Booster& b) { b.grow_features(n, were_missing); });
            },
            "n"_a, "were_missing"_a)
        .def("n_labels", &read<&Booster::n_labels>)
        .def("n_features", &read<&Booster::n_features>)
        .def("clock", &read<&Booster::clock>)
        .def("memory_bytes", &read<&Booster::memory_bytes>)
        .def(
            "clone",
            [](const Model& self, bool share_serial) {
                return new Model(self.reading([&](const Booster& b) { return b.clone(share_serial); }));
            },
            "share_serial"_a = false)
        .def("restore", &Model::restore, "earlier"_a)
        // Calls use(state) while nobody changes the model: see StoredState.
        .def(
            "hold",
            [](const Model& self, nb::callable use) {
                return self.reading([&](const Booster& b) {
                    const WithPython python;
                    const nb::object state = nb::cast(StoredState(b));
                    struct Close {
                        const nb::object& state;
                        ~Close() { nb::cast<StoredState&>(state).close(); }
                    } close{state};
                    return use(state);
                });
            },
            "use"_a, nb::sig("def hold(self, use: collections.abc.Callable[[StoredState], T]) -> T"))
        .def(
            "load_arrays",
            [](Model& self, int learner, nb::dict arrays, nb::callable read) {
                const PieceView view(arrays, read);
                self.writing([&](Booster& b) {
                    if (learner < 0)
                        b.load(view);
                    else
                        b.learners().at(static_cast<std::size_t>(learner))->load(view);
                });
            },
            "learner"_a, "arrays"_a, "read"_a,
            nb::sig("def load_arrays(self, learner: int, arrays: dict[str, tuple[str, int]], "
                    "read: collections.abc.Callable[[str, int, memoryview], object]) -> None"))
        .def(
            "learner",
            [](const Model& self, std::size_t i) {
                return self.reading([&](const Booster& b) { return b.learners().at(i); });
            },
            "i"_a)
        .def("n_votes", &read<&Booster::n_votes>)
        .def("python_adapters",
             [](const Model& self) {
                 nb::typed<nb::list, nb::any> out;
                 for (const auto& learner : self.reading([](const Booster& b) { return b.learners(); }))
                     if (const auto* python = dynamic_cast<const PythonLearner*>(learner.get()))
                         out.append(python->adapter());
                 return out;
             })
        .def("followed",
             [](const Model& self) { return self.reading([](const Booster& b) { return b.followed(b.clock() + 1); }); })
        .def("effective_weights",
             [](const Model& self) {
                 const auto weights = self.reading([](const Booster& b) { return b.effective_weights(); });
                 return to_numpy(weights.data(), {weights.size()});
             })
        .def(
            "watch_drift",
            [](Model& self, bool watch) {
                self.writing([&](Booster& b) { dynamic_cast<LabelRanker&>(b).watch_drift(watch); });
            },
            "watch"_a)
        .def(
            "set_max_bytes",
            [](Model& self, std::size_t learner, const std::vector<std::size_t>& of_votes) {
                self.writing([&](Booster& b) { b.set_max_bytes(learner, of_votes); });
            },
            "learner"_a, "of_votes"_a)
        .def("learn_probabilities", &write<&Booster::learn_probabilities, bool>, "learn"_a)
        .def(
            "set_table_source",
            [](Model& self, nb::callable source) {
                // (N, k, |Y|, edge of the search) -> what a StepTable has
                auto shared = held_by_core(std::move(source));
                self.writing([&](Booster& b) {
                    dynamic_cast<OnlineBMR&>(b).set_table_source(
                        [shared](std::int32_t n, std::int32_t k, std::int64_t n_relevant, double edge) {
                            const WithPython python;
                            const auto made = nb::cast<nb::tuple>((*shared)(n, k, n_relevant, edge));
                            const auto values = nb::cast<Matrix<double>>(made[2]);
                            StepTable table{nb::cast<bool>(made[3]),
                                            nb::cast<double>(made[0]),
                                            nb::cast<std::int32_t>(made[1]),
                                            values.shape(1),
                                            {},
                                            nb::cast<double>(made[4]),
                                            nb::cast<double>(made[5])};
                            table.values.assign(values.data(), values.data() + values.size());
                            return table;
                        });
                });
            },
            "source"_a,
            nb::sig("def set_table_source(self, source: collections.abc.Callable[[int, int, int, float], "
                    "tuple[float, int, numpy.typing.NDArray[numpy.float64], bool, float, float]]) -> None"))
        .def(
            "search_edge",
            [](Model& self, const EdgeSearch& search, nb::callable source) {
                // (N, k, |Y|) -> phi^N(0) at the levels, the edge to which they are cut, the slope there
                auto shared = held_by_core(std::move(source));
                self.writing([&](Booster& b) {
                    dynamic_cast<OnlineBMR&>(b).search_edge(
                        search, [shared](std::int32_t n, std::int32_t k, std::int64_t n_relevant) {
                            const WithPython python;
                            const auto made = nb::cast<nb::tuple>((*shared)(n, k, n_relevant));
                            const auto values = nb::cast<Vector<double>>(made[0]);
                            StartPotentials found{{}, nb::cast<double>(made[1]), nb::cast<double>(made[2])};
                            found.at_levels.assign(values.data(), values.data() + values.size());
                            return found;
                        });
                });
            },
            "search"_a, "source"_a,
            nb::sig("def search_edge(self, search: EdgeSearch, source: collections.abc.Callable[[int, int, int], "
                    "tuple[numpy.typing.NDArray[numpy.float64], float, float]]) -> None"))
        .def("edge_search",
             [](const Model& self) {
                 return self.reading(
                     [](const Booster& b) { return dynamic_cast<const OnlineBMR&>(b).edge_search().value(); });
             })
        .def(
            "set_cost_function",
            [](Model& self, nb::callable function) {
                // expert scores (N, k) of s^0 .. s^{N-1}, the indicators of relevant and irrelevant labels, and the
                // clock -> costs (N, k)
                auto shared = held_by_core(std::move(function));
                self.writing([&](Booster& b) {
                    const auto n = static_cast<std::size_t>(b.n_votes());
                    dynamic_cast<OnlineBMR&>(b).set_cost_function(
                        [shared, n](const double* scores, const Labels& labels, std::uint64_t clock, double* costs) {
                            const WithPython python;
                            const std::size_t k = labels.is_relevant.size();
                            std::vector<std::uint8_t> irrelevant(k, 0);
                            for (const std::int32_t r : labels.irrelevant) irrelevant[static_cast<std::size_t>(r)] = 1;
                            const auto result = nb::cast<Matrix<double>>(
                                (*shared)(to_numpy(scores, {n, k}), to_numpy(labels.is_relevant.data(), {k}),
                                          to_numpy(irrelevant.data(), {k}), clock));
                            if (result.shape(0) != n || result.shape(1) != k)
                                throw nb::value_error("the cost function returned a wrong shape");
                            std::copy(result.data(), result.data() + n * k, costs);
                        });
                });
            },
            "function"_a,
            nb::sig("def set_cost_function(self, function: collections.abc.Callable[..., "
                    "numpy.typing.NDArray[numpy.float64]]) -> None"));

    m.def("check_csr", &check_csr, "name"_a, "start"_a, "index"_a, "n_columns"_a);
}

}  // namespace boostline
