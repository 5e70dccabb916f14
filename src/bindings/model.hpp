// A booster as Python holds it: rows of one call, the lock, Ctrl-C.
#pragma once

#include <atomic>
#include <shared_mutex>
#include <thread>

#include "arrays.hpp"
#include "core/booster.hpp"

namespace boostline {

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
inline void check_signals() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Label sets of several rows, one after the other: row i has values[start[i] .. start[i + 1]).
struct LabelLists {
    Vector<std::int64_t> start;
    Vector<std::int32_t> values;
};

// A booster and its lock. A model grows by giving way to a larger one: within one of these the numbers of labels and
// features stay. Learning excludes everything else for the length of one call; scoring goes on beside
// scoring. The GIL is always given up before the lock is asked for, or the two would wait for each other.
class Model {
  public:
    explicit Model(std::unique_ptr<Booster> booster) : booster_(std::move(booster)) {}

    nb::object learn(nb::object rows, std::int64_t n_features, const LabelLists& relevant, const LabelLists& unknown,
                     Vector<double> weights) {
        check_width(n_features);
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
    void check_width(std::int64_t n_features) const {
        if (n_features != booster_->n_features())
            throw std::invalid_argument("x has " + std::to_string(n_features) + " features, but must have " +
                                        std::to_string(booster_->n_features()) + ", as in the rows learned before");
    }

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
        check_width(n_features);
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

}  // namespace boostline
