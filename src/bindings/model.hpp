// A booster as Python holds it: rows of one call, the lock, Ctrl-C.
#pragma once

#include <mutex>
#include <optional>

#include "bindings/rows.hpp"
#include "core/base/memory_faults.hpp"
#include "core/base/top_labels.hpp"
#include "core/models/paper/booster.hpp"
#include "lock.hpp"

namespace boostline {

// Ctrl-C takes effect within a long block; what has been learned by then stays learned.
inline void check_signals() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// A booster and its lock. Whatever changes the booster, its growth included, excludes everything else for the length of
// one call; scoring goes on beside scoring. The GIL is always given up before the lock is asked for, or the two would
// wait for each other.
class Model {
  public:
    explicit Model(std::unique_ptr<Booster> booster) : booster_(std::move(booster)) {}

    // Without `keep_scores` the array has no rows; with `keep_probabilities` each row has those behind the scores.
    NewArray<double> learn(const Rows& input, const LabelSets& sets, Vector<double> weights, bool keep_scores,
                           bool keep_probabilities) {
        const auto k = static_cast<std::size_t>(sets.n_labels);
        const std::size_t n_kept = keep_scores ? input.size() : 0, width = keep_probabilities ? 2 * k : k;
        std::unique_ptr<double[]> scores(new double[std::max<std::size_t>(1, n_kept) * width]);
        {
            nb::gil_scoped_release no_gil;
            const std::lock_guard<Lock> lock(lock_);
            const MemoryFaults::InCall in_call;
            check_width(input);
            if (sets.n_labels != booster_->n_labels())
                throw std::runtime_error("the model got new labels in another thread");
            // A clock that only a file can have. What has been learned can always be saved and loaded.
            if (booster_->clock() + input.size() > static_cast<std::uint64_t>(kMostRows))
                throw std::invalid_argument("the model has learned so many rows that no more of them can be counted");
            std::vector<Example> examples(input.n_together(booster_->n_rows_at_hand()));
            input.in_pieces(examples.size(), [&](const Row* x, std::size_t first, std::size_t n) {
                if (first > 0) check_signals();
                for (std::size_t j = 0; j < n; ++j) {
                    examples[j].x = x[j];
                    sets.put(first + j, examples[j].labels);
                    examples[j].labels.importance = weights.data()[first + j];
                }
                booster_->learn_block(examples.data(), n, &scores[keep_scores ? first * width : 0],
                                      keep_scores ? width : 0, keep_probabilities);
            });
        }
        return to_numpy(std::move(scores), {n_kept, width});
    }

    // (rows, labels)
    NewArray<double> score(const Rows& input) const {
        return over_rows(input,
                         [](const Booster& b, const Row* x, std::size_t n, double* out) { b.score_block(x, n, out); });
    }

    // (rows, 2, labels): scores, and what they say of P(relevant).
    NewArray<double> scores_and_probabilities(const Rows& input) const {
        return over_rows<2>(
            input, [](const Booster& b, const Row* x, std::size_t n, double* out) { b.probabilities(x, n, out); });
    }

    // (rows, top): the labels with the highest scores, best first.
    NewArray<std::int64_t> rank(const Rows& input, std::size_t top) const {
        std::unique_ptr<std::int64_t[]> out;
        {
            nb::gil_scoped_release no_gil;
            const Lock::Reading lock(lock_);
            const MemoryFaults::InCall in_call;
            check_width(input);
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
    NewArray<double> votes(const Rows& input) const {
        return over_rows<kOfVotes>(
            input, [](const Booster& b, const Row* x, std::size_t n, double* out) { b.votes(x, n, out); });
    }

    // (rows, votes, labels): what each vote adds to the scores
    NewArray<double> contributions(const Rows& input) const {
        return over_rows<kOfVotes>(input, [](const Booster& b, const Row* x, std::size_t n, double* out) {
            const auto size = static_cast<std::size_t>(b.n_votes()) * static_cast<std::size_t>(b.n_labels());
            std::vector<double> votes(n * size);
            b.votes(x, n, votes.data());
            for (std::size_t j = 0; j < n; ++j) b.contributions(&votes[j * size], out + j * size);
        });
    }

    // For each vote what adds to its score of a label, for one row.
    std::vector<Evidence> evidence(const Rows& input, std::size_t label) const {
        std::vector<Evidence> out;
        nb::gil_scoped_release no_gil;
        const Lock::Reading lock(lock_);
        const MemoryFaults::InCall in_call;
        check_width(input);
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
        task(*booster_);
    }

    // A larger copy takes the booster's place: if it cannot be made, nothing has changed.
    template <class Grow>
    void grow(Grow&& grow) {
        std::unique_ptr<Booster> larger;  // then the old one, whose end may run Python
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
    void check_width(const Rows& input) const {
        if (input.n_features() != booster_->n_features())
            throw std::invalid_argument("x has " + std::to_string(input.n_features()) + " features, but must have " +
                                        std::to_string(booster_->n_features()) + ", as in the rows learned before");
    }

    static constexpr std::size_t kOfVotes = 0;
    // An array with `n_labels` numbers for each row, or several times as many.
    template <std::size_t kParts = 1, class Task>
    NewArray<double> over_rows(const Rows& input, Task&& task) const {
        std::unique_ptr<double[]> out;
        std::size_t n_parts = kParts, k = 0;
        {
            nb::gil_scoped_release no_gil;
            const Lock::Reading lock(lock_);
            const MemoryFaults::InCall in_call;
            check_width(input);
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
