// A booster as Python holds it: rows of one call, the lock, Ctrl-C.
#pragma once

#include <mutex>
#include <optional>

#include "bindings/arrays.hpp"
#include "core/base/memory_faults.hpp"
#include "core/base/top_labels.hpp"
#include "core/models/paper/booster.hpp"
#include "lock.hpp"

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
    // How many rows to have at hand together: dense copies of sparse rows are to take little memory.
    std::size_t n_together(std::size_t most = kMostTogether) const {
        constexpr std::size_t kMostNumbers = 1 << 19;
        const auto width = static_cast<std::size_t>(std::max<std::int64_t>(n_features_, 1));
        if (is_sparse_) most = std::min(most, std::max<std::size_t>(1, kMostNumbers / width));
        return std::min(most, n_);
    }
    // Room for the dense copies of so many sparse rows, all zero. To get it anew for a single row of a million features
    // takes longer than to score the row: the last one is kept for the next call of the thread, unless it is large.
    std::vector<double> scratch(std::size_t n) const {
        std::vector<double> room = std::move(kept_room());
        const std::size_t needed = is_sparse_ ? n * static_cast<std::size_t>(n_features_) : 0;
        if (room.size() < needed) room.resize(needed, 0.0);
        return room;
    }
    static void keep(std::vector<double> room) noexcept {
        constexpr std::size_t kMostKept = 1 << 21;
        if (room.size() <= kMostKept) kept_room() = std::move(room);
    }

    // Row i, which is the j-th of those at hand; of a sparse row a dense copy is laid out in `scratch`.
    Row row(std::size_t i, std::size_t j, std::vector<double>& scratch) const {
        Row row;
        row.n_features = n_features_;
        if (!is_sparse_) {
            row.dense = dense_.data() + i * static_cast<std::size_t>(n_features_);
            return row;
        }
        const auto first = start_.data()[i];
        row.is_sparse = true;
        row.index = index_.data() + first;
        row.value = value_.data() + first;
        row.n_stored = start_.data()[i + 1] - first;
        double* dense = scratch.data() + j * static_cast<std::size_t>(n_features_);
        for (std::int64_t e = 0; e < row.n_stored; ++e) dense[row.index[e]] = row.value[e];
        row.dense = dense;
        return row;
    }
    // The row is done.
    void clear(const Row& row, std::size_t j, std::vector<double>& scratch) const {
        if (!row.is_sparse) return;
        double* dense = scratch.data() + j * static_cast<std::size_t>(n_features_);
        for (std::int64_t e = 0; e < row.n_stored; ++e) dense[row.index[e]] = 0.0;
    }
    // task(x, first, n) with the rows first .. first + n - 1 at hand, until all have been.
    template <class Task>
    void in_pieces(std::size_t n_together, Task&& task) const {
        std::vector<Row> x(n_together);
        std::vector<double> room = scratch(x.size());
        for (std::size_t first = 0; first < n_; first += x.size()) {
            const std::size_t n = std::min(x.size(), n_ - first);
            for (std::size_t j = 0; j < n; ++j) x[j] = row(first + j, j, room);
            task(x.data(), first, n);
            for (std::size_t j = 0; j < n; ++j) clear(x[j], j, room);
        }
        keep(std::move(room));  // after an exception there are values in it, and it goes
    }

  private:
    static std::vector<double>& kept_room() noexcept {
        static thread_local std::vector<double> room;
        return room;
    }

    std::int64_t n_features_;
    std::size_t n_ = 0;
    bool is_sparse_ = false;
    Matrix<double> dense_;
    Vector<std::int64_t> start_, index_;
    Vector<double> value_;
};

// Ctrl-C takes effect within a long block; what has been learned by then stays learned.
inline void check_signals() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Label sets of several rows, one after the other: row i has values[start[i] .. start[i + 1]).
struct LabelLists {
    Vector<std::int64_t> start;
    Vector<std::int32_t> values;
};

// A booster and its lock. Whatever changes the booster, its growth included, excludes everything else for the length of
// one call; scoring goes on beside scoring. The GIL is always given up before the lock is asked for, or the two would
// wait for each other.
class Model {
  public:
    explicit Model(std::unique_ptr<Booster> booster) : booster_(std::move(booster)) {}

    // `n_labels` and `n_features` are what the rows and label sets were checked against. Without `keep_scores` the
    // array has no rows; with `keep_probabilities` each row has those behind the scores.
    NewArray<double> learn(nb::object rows, std::int64_t n_features, std::int32_t n_labels, const LabelLists& relevant,
                           const LabelLists& unknown, Vector<double> weights, bool keep_scores,
                           bool keep_probabilities) {
        const Rows input(std::move(rows), n_features);
        const auto k = static_cast<std::size_t>(n_labels);
        const std::size_t n_kept = keep_scores ? input.size() : 0, width = keep_probabilities ? 2 * k : k;
        std::unique_ptr<double[]> scores(new double[std::max<std::size_t>(1, n_kept) * width]);
        {
            nb::gil_scoped_release no_gil;
            const std::lock_guard<Lock> lock(lock_);
            const MemoryFaults::InCall in_call;
            check_width(n_features);
            if (n_labels != booster_->n_labels())
                throw std::runtime_error("the model got new labels in another thread");
            // A clock that only a file can have. What has been learned can always be saved and loaded.
            if (booster_->clock() + input.size() > static_cast<std::uint64_t>(kMostRows))
                throw std::invalid_argument("the model has learned so many rows that no more of them can be counted");
            std::vector<Example> examples(input.n_together(booster_->n_rows_at_hand()));
            input.in_pieces(examples.size(), [&](const Row* x, std::size_t first, std::size_t n) {
                if (first > 0) check_signals();
                for (std::size_t j = 0; j < n; ++j) {
                    const auto r0 = relevant.start.data()[first + j], r1 = relevant.start.data()[first + j + 1];
                    const auto u0 = unknown.start.data()[first + j], u1 = unknown.start.data()[first + j + 1];
                    examples[j].x = x[j];
                    examples[j].labels.set(n_labels, relevant.values.data() + r0, static_cast<std::size_t>(r1 - r0),
                                           unknown.values.data() + u0, static_cast<std::size_t>(u1 - u0));
                    examples[j].labels.importance = weights.data()[first + j];
                }
                const Change change;
                booster_->learn_block(examples.data(), n, &scores[keep_scores ? first * width : 0],
                                      keep_scores ? width : 0, keep_probabilities);
            });
        }
        return to_numpy(std::move(scores), {n_kept, width});
    }

    // (rows, labels)
    NewArray<double> score(nb::object rows, std::int64_t n_features) const {
        return over_rows(std::move(rows), n_features,
                         [](const Booster& b, const Row* x, std::size_t n, double* out) { b.score_block(x, n, out); });
    }

    // (rows, 2, labels): scores, and what they say of P(relevant).
    NewArray<double> scores_and_probabilities(nb::object rows, std::int64_t n_features) const {
        return over_rows<2>(
            std::move(rows), n_features,
            [](const Booster& b, const Row* x, std::size_t n, double* out) { b.probabilities(x, n, out); });
    }

    // (rows, top): the labels with the highest scores, best first.
    NewArray<std::int64_t> rank(nb::object rows, std::int64_t n_features, std::size_t top) const {
        const Rows input(std::move(rows), n_features);
        std::unique_ptr<std::int64_t[]> out;
        {
            nb::gil_scoped_release no_gil;
            const Lock::Reading lock(lock_);
            const MemoryFaults::InCall in_call;
            check_width(n_features);
            const auto k = static_cast<std::size_t>(booster_->n_labels());
            top = std::min(top, k);
            out.reset(new std::int64_t[std::max<std::size_t>(1, input.size() * top)]);
            const std::unique_ptr<double[]> scores(new double[input.n_together() * k]);
            input.in_pieces(input.n_together(), [&](const Row* x, std::size_t first, std::size_t n) {
                if (first > 0) check_signals();
                booster_->score_block(x, n, scores.get());
                for (std::size_t j = 0; j < n; ++j) top_labels(&scores[j * k], k, top, &out[(first + j) * top]);
            });
        }
        return to_numpy(std::move(out), {input.size(), top});
    }

    // (rows, votes, labels)
    NewArray<double> votes(nb::object rows, std::int64_t n_features) const {
        return over_rows<kOfVotes>(
            std::move(rows), n_features,
            [](const Booster& b, const Row* x, std::size_t n, double* out) { b.votes(x, n, out); });
    }

    // (rows, votes, labels): what each vote adds to the scores
    NewArray<double> contributions(nb::object rows, std::int64_t n_features) const {
        return over_rows<kOfVotes>(
            std::move(rows), n_features, [](const Booster& b, const Row* x, std::size_t n, double* out) {
                const auto size = static_cast<std::size_t>(b.n_votes()) * static_cast<std::size_t>(b.n_labels());
                std::vector<double> votes(n * size);
                b.votes(x, n, votes.data());
                for (std::size_t j = 0; j < n; ++j) b.contributions(&votes[j * size], out + j * size);
            });
    }

    // For each vote what adds to its score of a label, for one row.
    std::vector<Evidence> evidence(nb::object rows, std::int64_t n_features, std::size_t label) const {
        const Rows input(std::move(rows), n_features);
        std::vector<Evidence> out;
        nb::gil_scoped_release no_gil;
        const Lock::Reading lock(lock_);
        const MemoryFaults::InCall in_call;
        check_width(n_features);
        if (label >= static_cast<std::size_t>(booster_->n_labels()))
            throw std::invalid_argument("there is no such label");
        input.in_pieces(1, [&](const Row* x, std::size_t, std::size_t) {
            for (const auto& learner : booster_->learners())
                for (std::int32_t vote = 0; vote < learner->n_votes(); ++vote)
                    learner->explain(vote, *x, label, out.emplace_back());
        });
        return out;
    }

    // Runs `task(booster)` with the lock of a reader or a writer.
    template <class Task>
    auto reading(Task&& task) const {
        nb::gil_scoped_release no_gil;
        const Lock::Reading lock(lock_);
        const MemoryFaults::InCall in_call;
        return task(static_cast<const Booster&>(*booster_));
    }
    template <class Task>
    void writing(Task&& task) {
        nb::gil_scoped_release no_gil;
        const std::lock_guard<Lock> lock(lock_);
        const MemoryFaults::InCall in_call;
        const Change change;
        task(*booster_);
    }

    // A larger copy takes the booster's place: if it cannot be made, nothing has changed.
    template <class Grow>
    void grow(Grow&& grow) {
        std::unique_ptr<Booster> larger;  // then the old one, whose end is Python's affair: not within the Change
        writing([&](Booster& b) {
            larger = b.clone(true);
            grow(*larger);
            booster_.swap(larger);
        });
    }

    void restore(Model& earlier) {
        writing([&](Booster& b) { b.restore(*earlier.booster_); });
    }

    const Lock& lock() const { return lock_; }

  private:
    void check_width(std::int64_t n_features) const {
        if (n_features != booster_->n_features())
            throw std::invalid_argument("x has " + std::to_string(n_features) + " features, but must have " +
                                        std::to_string(booster_->n_features()) + ", as in the rows learned before");
    }

    static constexpr std::size_t kOfVotes = 0;
    // An array with `n_labels` numbers for each row, or several times as many.
    template <std::size_t kParts = 1, class Task>
    NewArray<double> over_rows(nb::object rows, std::int64_t n_features, Task&& task) const {
        const Rows input(std::move(rows), n_features);
        std::unique_ptr<double[]> out;
        std::size_t n_parts = kParts, k = 0;
        {
            nb::gil_scoped_release no_gil;
            const Lock::Reading lock(lock_);
            const MemoryFaults::InCall in_call;
            check_width(n_features);
            k = static_cast<std::size_t>(booster_->n_labels());
            if (kParts == kOfVotes) n_parts = static_cast<std::size_t>(booster_->n_votes());
            out.reset(new double[std::max<std::size_t>(1, input.size() * n_parts * k)]);
            input.in_pieces(input.n_together(), [&](const Row* x, std::size_t first, std::size_t n) {
                if (first > 0) check_signals();
                task(*booster_, x, n, &out[first * n_parts * k]);
            });
        }
        if (kParts != 1) return to_numpy(std::move(out), {input.size(), n_parts, k});
        return to_numpy(std::move(out), {input.size(), k});
    }

    std::unique_ptr<Booster> booster_;
    mutable Lock lock_;
};

}  // namespace boostline
