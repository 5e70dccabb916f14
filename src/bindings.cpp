// The compiled core as seen from Python: arrays in, arrays out. Checks of what users pass are made in Python
// (boostline/_inputs.py); what arrives here has the right types and shapes.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <shared_mutex>

#include "core/ada_mixture.hpp"
#include "core/ada_olmr.hpp"
#include "core/committee.hpp"
#include "core/hoeffding_tree.hpp"
#include "core/online_bmr.hpp"
#include "core/recency_scorer.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace boostline {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A NumPy array that owns a copy of the values.
template <class T>
nb::object to_numpy(const T* values, std::initializer_list<std::size_t> shape) {
    std::size_t size = 1;
    for (const std::size_t n : shape) size *= n;
    auto* data = new T[size > 0 ? size : 1];
    std::copy(values, values + size, data);
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

nb::dict to_dict(const Archive& archive) {
    nb::dict out;
    for (const auto& [name, column] : archive)
        out[name.c_str()] = std::visit([](const auto& values) { return to_numpy(values.data(), {values.size()}); }, column);
    return out;
}

template <class T>
bool add_view(ArchiveView& view, const std::string& name, nb::handle value) {
    Vector<T> array;
    if (!nb::try_cast(value, array, false)) return false;
    view.columns[name] = Span<T>{array.data(), array.shape(0)};
    return true;
}

// Views of the arrays in a dict, which must outlive them.
ArchiveView view_of(const nb::dict& arrays) {
    ArchiveView view;
    for (const auto& [key, value] : arrays) {
        const auto name = nb::cast<std::string>(key);
        if (!add_view<double>(view, name, value) && !add_view<std::int64_t>(view, name, value) &&
            !add_view<std::int32_t>(view, name, value) && !add_view<std::uint8_t>(view, name, value) &&
            !add_view<float>(view, name, value))
            throw nb::value_error(("the array '" + name + "' has a type that no state has").c_str());
    }
    return view;
}

// A weak learner written in Python, behind boostline.learners.python.Adapter, which checks what it returns.
class PythonLearner final : public Learner {
  public:
    PythonLearner(nb::object adapter, std::int32_t n_labels) : adapter_(std::move(adapter)), n_labels_(n_labels) {}
    ~PythonLearner() override {
        nb::gil_scoped_acquire gil;
        adapter_.reset();
    }

    bool is_serial() const override { return true; }
    std::string kind() const override { return "python"; }
    void grow_labels(std::int32_t n) override {
        n_labels_ = n;
        nb::gil_scoped_acquire gil;
        adapter_.attr("grow_labels")(n);
    }
    void reset() override {
        nb::gil_scoped_acquire gil;
        adapter_.attr("reset")();
    }
    std::size_t memory_bytes() const override {
        nb::gil_scoped_acquire gil;
        return nb::cast<std::size_t>(adapter_.attr("memory_bytes")());
    }
    std::unique_ptr<Learner> clone() const override {
        nb::gil_scoped_acquire gil;
        return std::make_unique<PythonLearner>(adapter_.attr("copy")(), n_labels_);
    }
    void save(Archive&) const override {}           // its state goes through the adapter
    void load(const ArchiveView&) override {}
    nb::object adapter() const { return adapter_; }

    void predict(const Row& x, double* votes) const override {
        nb::gil_scoped_acquire gil;
        const auto array = nb::cast<Vector<double>>(adapter_.attr("votes")(row_to_python(x)));
        std::copy(array.data(), array.data() + n_labels_, votes);
    }
    void learn(const Row& x, const Labels& labels, const double* costs, const double* weights) override {
        nb::gil_scoped_acquire gil;
        const auto k = static_cast<std::size_t>(n_labels_);
        adapter_.attr("learn")(row_to_python(x), to_numpy(labels.is_relevant.data(), {k}), to_numpy(costs, {k}), weights[0]);
    }

  private:
    // A dense row is an array; a sparse one a tuple (indices, values, n_features), made a CSR row by the adapter.
    static nb::object row_to_python(const Row& x) {
        if (!x.is_sparse) return to_numpy(x.dense, {static_cast<std::size_t>(x.n_features)});
        const auto n = static_cast<std::size_t>(x.n_stored);
        return nb::make_tuple(to_numpy(x.index, {n}), to_numpy(x.value, {n}), x.n_features);
    }

    nb::object adapter_;
    std::int32_t n_labels_;
};

// The rows of one call: a dense matrix, or the three arrays of a CSR matrix.
class Rows {
  public:
    Rows(nb::object dense_or_csr, std::int64_t n_features) : n_features_(n_features) {
        if (nb::isinstance<nb::tuple>(dense_or_csr)) {
            is_sparse_ = true;
            const auto csr = nb::cast<nb::tuple>(dense_or_csr);
            start_ = nb::cast<Vector<std::int64_t>>(csr[0]);
            index_ = nb::cast<Vector<std::int64_t>>(csr[1]);
            value_ = nb::cast<Vector<double>>(csr[2]);
            n_ = start_.shape(0) - 1;
        } else {
            dense_ = nb::cast<Matrix<double>>(dense_or_csr);
            n_ = dense_.shape(0);
        }
    }
    std::size_t size() const { return n_; }
    std::vector<double> scratch() const { return std::vector<double>(is_sparse_ ? static_cast<std::size_t>(n_features_) : 0, 0.0); }

    // Row i; of a sparse row a dense copy is laid out in `scratch` while `task` runs.
    template <class Task>
    void with_row(std::size_t i, std::vector<double>& scratch, Task&& task) const {
        Row row;
        row.n_features = n_features_;
        if (!is_sparse_) {
            row.dense = dense_.data() + i * static_cast<std::size_t>(n_features_);
            task(row);
            return;
        }
        const auto first = start_.data()[i];
        row.is_sparse = true;
        row.index = index_.data() + first;
        row.value = value_.data() + first;
        row.n_stored = start_.data()[i + 1] - first;
        row.dense = scratch.data();
        for (std::int64_t j = 0; j < row.n_stored; ++j) scratch[static_cast<std::size_t>(row.index[j])] = row.value[j];
        struct Clear {
            const Row& row;
            std::vector<double>& scratch;
            ~Clear() {
                for (std::int64_t j = 0; j < row.n_stored; ++j) scratch[static_cast<std::size_t>(row.index[j])] = 0.0;
            }
        } clear{row, scratch};
        task(row);
    }

  private:
    std::int64_t n_features_;
    std::size_t n_ = 0;
    bool is_sparse_ = false;
    Matrix<double> dense_;
    Vector<std::int64_t> start_, index_;
    Vector<double> value_;
};

// Ctrl-C takes effect within a long block; what has been learned by then stays learned.
constexpr std::size_t kRowsBetweenSignals = 64;
void check_signals() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Label sets of several rows, one after the other: row i has values[start[i] .. start[i + 1]).
struct LabelLists {
    Vector<std::int64_t> start;
    Vector<std::int32_t> values;
};

// A booster and its lock. Learning excludes everything else for the length of one call; scoring goes on beside
// scoring. The GIL is always given up before the lock is asked for, or the two would wait for each other.
class Model {
  public:
    explicit Model(std::unique_ptr<Booster> booster) : booster_(std::move(booster)) {}

    nb::object learn(nb::object rows, std::int64_t n_features, const LabelLists& relevant, const LabelLists& unknown,
                     Vector<double> weights) {
        const Rows input(std::move(rows), n_features);
        const auto k = static_cast<std::size_t>(booster_->n_labels());
        auto* scores = new double[std::max<std::size_t>(1, input.size() * k)];
        nb::capsule owner(scores, [](void* p) noexcept { delete[] static_cast<double*>(p); });
        {
            nb::gil_scoped_release no_gil;
            const Writing lock(*this);
            std::vector<double> scratch = input.scratch();
            for (std::size_t i = 0; i < input.size(); ++i) {
                if (i % kRowsBetweenSignals == kRowsBetweenSignals - 1) check_signals();
                const auto r0 = relevant.start.data()[i], r1 = relevant.start.data()[i + 1];
                const auto u0 = unknown.start.data()[i], u1 = unknown.start.data()[i + 1];
                labels_.set(booster_->n_labels(), relevant.values.data() + r0, static_cast<std::size_t>(r1 - r0),
                            unknown.values.data() + u0, static_cast<std::size_t>(u1 - u0));
                labels_.importance = weights.data()[i];
                input.with_row(i, scratch, [&](const Row& row) {
                    booster_->learn(row, labels_, weights.data()[i], scores + i * k);
                });
            }
        }
        return nb::cast(nb::ndarray<nb::numpy, double>(scores, {input.size(), k}, owner));
    }

    nb::object score(nb::object rows, std::int64_t n_features) const {
        return over_rows(std::move(rows), n_features, 1, [&](const Row& row, double* out) { booster_->score(row, out); });
    }

    nb::object votes(nb::object rows, std::int64_t n_features) const {
        return over_rows(std::move(rows), n_features, static_cast<std::size_t>(booster_->n_votes()),
                         [&](const Row& row, double* out) { booster_->votes(row, out); });
    }

    // Runs `task(booster)` with the lock of a reader or a writer.
    template <class Task>
    auto reading(Task&& task) const {
        nb::gil_scoped_release no_gil;
        const Reading lock(*this);
        return task(*booster_);
    }
    template <class Task>
    auto writing(Task&& task) {
        nb::gil_scoped_release no_gil;
        const Writing lock(*this);
        return task(*booster_);
    }

    void restore(Model& earlier) {
        writing([&](Booster& b) { b.restore(*earlier.booster_); return 0; });
    }

    void check_not_inside() const {
        if (writer_.load() == std::this_thread::get_id())
            throw std::runtime_error("a weak learner called the model that is just teaching it");
    }

  private:
    struct Writing {
        Model& model;
        explicit Writing(Model& m) : model(m) {
            model.check_not_inside();
            model.mutex_.lock();
            model.writer_.store(std::this_thread::get_id());
        }
        ~Writing() {
            model.writer_.store(std::thread::id());
            model.mutex_.unlock();
        }
    };
    struct Reading {
        const Model& model;
        explicit Reading(const Model& m) : model(m) {
            model.check_not_inside();
            model.mutex_.lock_shared();
        }
        ~Reading() { model.mutex_.unlock_shared(); }
    };

    template <class Task>
    nb::object over_rows(nb::object rows, std::int64_t n_features, std::size_t width, Task&& task) const {
        const Rows input(std::move(rows), n_features);
        const auto k = static_cast<std::size_t>(booster_->n_labels());
        auto* out = new double[std::max<std::size_t>(1, input.size() * width * k)];
        nb::capsule owner(out, [](void* p) noexcept { delete[] static_cast<double*>(p); });
        {
            nb::gil_scoped_release no_gil;
            const Reading lock(*this);
            std::vector<double> scratch = input.scratch();
            for (std::size_t i = 0; i < input.size(); ++i) {
                if (i % kRowsBetweenSignals == kRowsBetweenSignals - 1) check_signals();
                input.with_row(i, scratch, [&](const Row& row) { task(row, out + i * width * k); });
            }
        }
        if (width == 1) return nb::cast(nb::ndarray<nb::numpy, double>(out, {input.size(), k}, owner));
        return nb::cast(nb::ndarray<nb::numpy, double>(out, {input.size(), width, k}, owner));
    }

    std::unique_ptr<Booster> booster_;
    Labels labels_;
    mutable std::shared_mutex mutex_;
    std::atomic<std::thread::id> writer_{std::thread::id()};
};

Archive saved(const Learner& learner) {
    Archive archive;
    learner.save(archive);
    return archive;
}

template <class Kernel>
nb::object elementwise(Vector<double> x, Kernel kernel) {
    std::vector<double> out(x.shape(0));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = kernel(x.data()[i]);
    return to_numpy(out.data(), {out.size()});
}

}  // namespace
}  // namespace boostline

NB_MODULE(_core, m) {
    using namespace boostline;
    m.doc() = "The compiled core of boostline.";

    nb::class_<Learner>(m, "Learner")
        .def("kind", &Learner::kind)
        .def("n_votes", &Learner::n_votes)
        .def("memory_bytes", &Learner::memory_bytes);

    nb::class_<HoeffdingTree, Learner>(m, "HoeffdingTree")
        .def("__init__",
             [](HoeffdingTree* self, std::int32_t n_labels, Vector<std::int32_t> features, double grace_period,
                double split_confidence, double tie_threshold, double weight_scale, bool single_label,
                std::uint64_t max_bytes) {
                 TreeSettings s{grace_period, split_confidence, tie_threshold, weight_scale, single_label, max_bytes, {}};
                 s.features.assign(features.data(), features.data() + features.shape(0));
                 new (self) HoeffdingTree(n_labels, std::move(s));
             },
             "n_labels"_a, "features"_a, "grace_period"_a, "split_confidence"_a, "tie_threshold"_a, "weight_scale"_a,
             "single_label"_a, "max_bytes"_a)
        .def("bytes_in_use", &HoeffdingTree::bytes_in_use);

    nb::class_<PythonLearner, Learner>(m, "PythonLearner")
        .def(nb::init<nb::object, std::int32_t>(), "adapter"_a, "n_labels"_a)
        .def("adapter", &PythonLearner::adapter);

    // Learners that score labels, one vote each.
    const auto alone = [](std::unique_ptr<Scorer> scorer, std::int32_t n_labels) {
        return std::shared_ptr<Learner>(new ScorerLearner(std::move(scorer), n_labels));
    };
    m.def("linear", [alone](std::int32_t n_labels, std::int64_t n_features, std::uint64_t seed, std::size_t n_replays,
                            std::size_t memory, double learning_rate, std::size_t n_hashed) {
        return alone(std::make_unique<LinearScorer>(n_labels, n_features, seed, n_replays, memory, learning_rate, n_hashed), n_labels);
    });
    m.def("ridge", [alone](std::int32_t n_labels, std::int64_t n_features, double ridge) {
        return alone(std::make_unique<RidgeScorer>(n_labels, n_features, ridge), n_labels);
    });
    m.def("kernel", [alone](std::int32_t n_labels, std::int64_t n_features, std::size_t n_landmarks, double ridge) {
        return alone(std::make_unique<KernelScorer>(n_labels, n_features, n_landmarks, ridge), n_labels);
    });
    m.def("neighbours", [alone](std::int32_t n_labels, std::int64_t n_features, std::size_t n_neighbours, std::size_t memory) {
        return alone(std::make_unique<NeighboursScorer>(n_labels, n_features, n_neighbours, memory), n_labels);
    });
    m.def("recency", [alone](std::int32_t n_labels, double decay) {
        return alone(std::make_unique<RecencyScorer>(n_labels, decay), n_labels);
    });
    m.def("committee", [](std::int32_t n_labels, std::int64_t n_features, std::vector<std::string> parts, std::uint64_t seed,
                          std::size_t n_landmarks, double kernel_ridge, std::size_t n_replays, std::size_t memory,
                          double learning_rate, double ridge, std::size_t n_neighbours) {
        return std::shared_ptr<Learner>(new Committee(
            n_labels, n_features,
            CommitteeSettings{std::move(parts), seed, n_landmarks, kernel_ridge, n_replays, memory, learning_rate, ridge, n_neighbours}));
    });

    nb::enum_<Expert>(m, "Expert")
        .value("draw", Expert::draw)
        .value("weighted", Expert::weighted)
        .value("best", Expert::best)
        .value("last", Expert::last);

    nb::enum_<Surrogate>(m, "Surrogate")
        .value("pairwise", Surrogate::pairwise)
        .value("univariate", Surrogate::univariate);
    nb::enum_<Target>(m, "Target").value("rank", Target::rank).value("one_error", Target::one_error);

    nb::class_<Model>(m, "Model")
        .def_static("ada_olmr",
                    [](std::int32_t n_labels, std::int64_t n_features, Booster::Learners learners, std::uint64_t seed,
                       Expert expert, double weight_limit, Surrogate surrogate, Target target) {
                        return new Model(std::make_unique<AdaOLMR>(n_labels, n_features, std::move(learners), seed,
                                                                   expert, weight_limit, surrogate, target));
                    },
                    "n_labels"_a, "n_features"_a, "learners"_a, "seed"_a, "expert"_a, "weight_limit"_a, "surrogate"_a,
                    "target"_a)
        .def_static("ada_mixture",
                    [](std::int32_t n_labels, std::int64_t n_features, Booster::Learners learners, std::uint64_t seed,
                       Expert expert, std::vector<double> prior) {
                        return new Model(std::make_unique<AdaMixture>(n_labels, n_features, std::move(learners), seed,
                                                                      expert, std::move(prior)));
                    },
                    "n_labels"_a, "n_features"_a, "learners"_a, "seed"_a, "expert"_a, "prior"_a)
        .def_static("online_bmr",
                    [](std::int32_t n_labels, std::int64_t n_features, Booster::Learners learners, std::uint64_t seed) {
                        return new Model(std::make_unique<OnlineBMR>(n_labels, n_features, std::move(learners), seed));
                    },
                    "n_labels"_a, "n_features"_a, "learners"_a, "seed"_a)
        .def("learn",
             [](Model& self, nb::object rows, std::int64_t n_features, Vector<std::int64_t> relevant_start,
                Vector<std::int32_t> relevant, Vector<std::int64_t> unknown_start, Vector<std::int32_t> unknown,
                Vector<double> weights) {
                 return self.learn(std::move(rows), n_features, {relevant_start, relevant}, {unknown_start, unknown}, weights);
             },
             "rows"_a, "n_features"_a, "relevant_start"_a, "relevant"_a, "unknown_start"_a, "unknown"_a, "weights"_a)
        .def("score", &Model::score, "rows"_a, "n_features"_a)
        .def("votes", &Model::votes, "rows"_a, "n_features"_a)
        .def("set_threads", [](Model& self, int n) { self.writing([&](Booster& b) { b.set_threads(n); return 0; }); })
        .def("grow_labels", [](Model& self, std::int32_t n) { self.writing([&](Booster& b) { b.grow_labels(n); return 0; }); })
        .def("memory_bytes", [](const Model& self) { return self.reading([](const Booster& b) { return b.memory_bytes(); }); })
        .def("clone", [](const Model& self, bool share_serial) {
            return new Model(self.reading([&](const Booster& b) { return b.clone(share_serial); }));
        }, "share_serial"_a = false)
        .def("restore", [](Model& self, Model& earlier) { self.restore(earlier); })
        .def("state", [](const Model& self) {
            return to_dict(self.reading([](const Booster& b) { Archive a; b.save(a); return a; }));
        })
        .def("set_state", [](Model& self, nb::dict arrays) {
            const ArchiveView view = view_of(arrays);
            self.writing([&](Booster& b) { b.load(view); return 0; });
        })
        .def("learner_state", [](const Model& self, std::size_t i) {
            return to_dict(self.reading([&](const Booster& b) { return saved(*b.learners().at(i)); }));
        })
        .def("set_learner_state", [](Model& self, std::size_t i, nb::dict arrays) {
            const ArchiveView view = view_of(arrays);
            self.writing([&](Booster& b) { b.learners().at(i)->load(view); return 0; });
        })
        .def("learner", [](const Model& self, std::size_t i) {
            return self.reading([&](const Booster& b) { return b.learners().at(i); });
        })
        .def("n_votes", [](const Model& self) { return self.reading([](const Booster& b) { return b.n_votes(); }); })
        .def("python_adapters", [](const Model& self) {
            nb::list out;
            for (const auto& learner : self.reading([](const Booster& b) { return b.learners(); }))
                if (const auto* python = dynamic_cast<const PythonLearner*>(learner.get())) out.append(python->adapter());
            return out;
        })
        .def("followed", [](const Model& self) {
            return self.reading([](const Booster& b) { return b.followed(b.clock() + 1); });
        })
        .def("effective_weights", [](const Model& self) {
            const auto weights = self.reading([](const Booster& b) { return b.effective_weights(); });
            return to_numpy(weights.data(), {weights.size()});
        })
        .def("watch_drift", [](Model& self, bool watch) { self.writing([&](Booster& b) { b.watch_drift(watch); return 0; }); })
        .def("has_table", [](const Model& self, std::int64_t n_relevant) {
            return self.reading([&](const Booster& b) { return dynamic_cast<const OnlineBMR&>(b).has_table(n_relevant); });
        })
        .def("forget_tables", [](Model& self) { self.writing([&](Booster& b) { dynamic_cast<OnlineBMR&>(b).forget_tables(); return 0; }); })
        .def("set_table", [](Model& self, std::int64_t n_relevant, double origin, double per_unit, Matrix<double> values,
                             bool is_exponential) {
            StepTable table{is_exponential, origin, per_unit, values.shape(1), {}};
            table.values.assign(values.data(), values.data() + values.size());
            self.writing([&](Booster& b) { dynamic_cast<OnlineBMR&>(b).set_table(n_relevant, std::move(table)); return 0; });
        })
        .def("set_cost_function", [](Model& self, nb::callable function) {
            // expert scores (N, k) of s^0 .. s^{N-1} and the indicators of relevant and irrelevant labels -> costs (N, k)
            auto shared = std::shared_ptr<nb::callable>(new nb::callable(std::move(function)), [](nb::callable* f) {
                nb::gil_scoped_acquire gil;
                delete f;
            });
            self.writing([&](Booster& b) {
                const auto n = static_cast<std::size_t>(b.n_votes());
                dynamic_cast<OnlineBMR&>(b).set_cost_function([shared, n](const double* scores, const Labels& labels, double* costs) {
                    nb::gil_scoped_acquire gil;
                    const std::size_t k = labels.is_relevant.size();
                    std::vector<std::uint8_t> irrelevant(k, 0);
                    for (const std::int32_t r : labels.irrelevant) irrelevant[static_cast<std::size_t>(r)] = 1;
                    const auto result = nb::cast<Matrix<double>>((*shared)(
                        to_numpy(scores, {n, k}), to_numpy(labels.is_relevant.data(), {k}), to_numpy(irrelevant.data(), {k})));
                    if (result.shape(0) != n || result.shape(1) != k) throw nb::value_error("the cost function returned a wrong shape");
                    std::copy(result.data(), result.data() + n * k, costs);
                });
                return 0;
            });
        })
        .def("last_round", [](const Model& self) {
            nb::dict out;
            Archive a = self.reading([](const Booster& b) {
                return Archive{{"votes", b.last_votes()}, {"expert_scores", b.last_expert_scores()}, {"costs", b.last_costs()}};
            });
            return to_dict(a);
        });

    // The arithmetic of math.hpp, for its tests.
    m.def("exp", [](Vector<double> x) { return elementwise(x, [](double v) { return exp_(v); }); });
    m.def("log2", [](Vector<double> x) { return elementwise(x, [](double v) { return log2_(v); }); });
    m.def("normal_cdf", [](Vector<double> x) { return elementwise(x, [](double v) { return normal_cdf(v); }); });
    m.def("normal_split_entropy",
          [](Vector<double> x) { return elementwise(x, [](double v) { return normal_split(v).entropy; }); });
    m.def("philox_uniform", &philox_uniform);
}
