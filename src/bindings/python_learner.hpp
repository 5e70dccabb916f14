// Weak learners written in Python, behind the core's interface.
#pragma once

#include "bindings/arrays.hpp"
#include "core/learners/learner.hpp"
#include "with_python.hpp"

namespace boostline {

// A weak learner written in Python, behind boostline.learners.python.Adapter, which checks what it returns.
class PythonLearner final : public Learner {
  public:
    PythonLearner(nb::object adapter, std::int32_t n_labels) : adapter_(std::move(adapter)), n_labels_(n_labels) {}
    ~PythonLearner() override {
        const WithPython python;
        adapter_.reset();
    }

    bool is_serial() const override { return true; }
    std::string kind() const override { return "python"; }
    void grow_labels(std::int32_t n) override {
        const WithPython python;
        adapter_.attr("grow_labels")(n);
        n_labels_ = n;
    }
    void grow_features(std::int64_t n, bool were_missing) override {
        const WithPython python;
        adapter_.attr("grow_features")(n, were_missing);
    }
    void reset() noexcept override {}  // never called: no model with such learners is tried again from the start
    std::size_t memory_bytes() const override {
        const WithPython python;
        return nb::cast<std::size_t>(adapter_.attr("memory_bytes")());
    }
    std::unique_ptr<Learner> clone() const override {
        const WithPython python;
        return std::make_unique<PythonLearner>(adapter_.attr("copy")(), n_labels_);
    }
    std::unique_ptr<Learner> alias() const override {
        const WithPython python;
        return std::make_unique<PythonLearner>(adapter_.attr("alias")(), n_labels_);
    }
    void save(Archive&) const override {}  // its state goes through the adapter
    void load(const ArchiveView&) override {}
    void check() const override {}
    nb::object adapter() const { return adapter_; }

    void predict(const Row& x, double* votes) const override {
        const WithPython python;
        const auto array = nb::cast<Vector<double>>(adapter_.attr("votes")(row_to_python(x)));
        std::copy(array.data(), array.data() + n_labels_, votes);
    }
    // Learns at once; whoever made it undoes what it has learned if the row is not learned after all.
    void prepare(const Row& x, const Labels& labels, const double* costs, const double* weights) override {
        const WithPython python;
        const auto k = static_cast<std::size_t>(n_labels_);
        adapter_.attr("learn")(row_to_python(x), to_numpy(labels.is_relevant.data(), {k}), to_numpy(costs, {k}),
                               weights[0]);
    }
    void commit(const Row&, const Labels&) noexcept override {}

  private:
    // A dense row is an array; a sparse one a tuple (indices, values, n_features), made a CSR row by the adapter.
    static nb::object row_to_python(const Row& x) {
        if (!x.is_sparse) return nb::cast(to_numpy(x.dense, {static_cast<std::size_t>(x.n_features)}));
        const auto n = static_cast<std::size_t>(x.n_stored);
        return nb::make_tuple(to_numpy(x.index, {n}), to_numpy(x.value, {n}), x.n_features);
    }

    nb::object adapter_;
    std::int32_t n_labels_;
};

}  // namespace boostline
