// The learners of a booster, and the threads that they share. Those that call into Python come first, in the calling
// thread: one of them may fail, and then nothing has changed yet.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/thread_pool.hpp"
#include "core/learners/learner.hpp"

namespace boostline {

class LearnerGroup {
  public:
    using Learners = std::vector<std::shared_ptr<Learner>>;

    explicit LearnerGroup(Learners learners) : learners_(std::move(learners)) {
        for (std::size_t i = 0; i < learners_.size(); ++i) {
            first_vote_.push_back(n_votes_);
            n_votes_ += static_cast<std::size_t>(learners_[i]->n_votes());
            (learners_[i]->is_serial() ? serial_ : parallel_).push_back(i);
        }
        for (std::size_t i = 0; i < learners_.size(); ++i) learners_[i]->tell_sums(first_vote_[i], n_votes_);
    }

    const Learners& all() const { return learners_; }
    std::size_t n_votes() const { return n_votes_; }
    // Of a row of votes and their sums, see Learner.
    std::size_t row_size(std::size_t k) const { return n_votes_ * (k + 1); }
    bool has_serial() const { return !serial_.empty(); }
    bool use_costs() const {
        return std::any_of(learners_.begin(), learners_.end(), [](const auto& l) { return l->uses_costs(); });
    }
    std::size_t first_vote(std::size_t i) const { return first_vote_[i]; }

    // The votes of the learners that give the first `needed`, of n rows: row r at votes + r * row_size(k).
    void predict_block(const Row* x, std::size_t n, std::size_t k, std::size_t needed, double* votes) const {
        for (std::size_t r = 0; r < n; ++r) std::fill_n(votes + r * row_size(k) + n_votes_ * k, n_votes_, 0.0);
        for (std::size_t i = 0; i < learners_.size() && first_vote_[i] < needed; ++i)
            learners_[i]->predict_block(x, n, votes + first_vote_[i] * k, row_size(k));
    }

    // Blocks of rows, as in Learner; below 2: the next row has to be learned by itself.
    std::size_t make_room_for_block(const Example* rows, std::size_t n) {
        for (std::size_t i = 0; i < learners_.size() && n > 1; ++i)
            n = std::min(n, learners_[i]->make_room_for_block(rows, n));
        return n;
    }
    void learn_block(const Example* rows, std::size_t n, std::size_t k, double* votes) noexcept {
        for (std::size_t i = 0; i < learners_.size(); ++i)
            learners_[i]->learn_block(rows, n, votes + first_vote_[i] * k, row_size(k));
    }

    // The threads, if there are any, for as long as a row or a block is learned.
    ThreadPool::AtHand threads() {
        if (n_threads_ > 1 && (!pool_ || pool_->n_threads() != n_threads_ || !pool_->is_usable()))
            pool_ = std::make_shared<ThreadPool>(n_threads_);
        return ThreadPool::AtHand(n_threads_ > 1 ? pool_.get() : nullptr);
    }
    // The loops of a round.
    enum Loop { votes, costs, lessons, changes, n_loops };
    // task(i, learner, thread)
    template <class Task>
    void for_each(Loop loop, Task&& task) {
        for (const std::size_t i : serial_) task(i, *learners_[i], 0);
        run(loop, static_cast<int>(parallel_.size()), 2, [&](int item, int thread) {
            const std::size_t i = parallel_[static_cast<std::size_t>(item)];
            task(i, *learners_[i], thread);
        });
    }
    // task(item, thread) for items 0 .. n - 1, several at once if that pays.
    template <class Task>
    void run(Loop loop, int n, int grain, Task&& task) {
        gates_[loop].run(n_threads_ > 1 ? pool_.get() : nullptr, n, grain, std::forward<Task>(task));
    }
    // Of work that changes nothing: task(item) for items 0 .. n - 1 in all threads, or in this one alone.
    template <class Task>
    void run_shared(int n, Task&& task) const {
        const auto body = [&](int item, int) { task(item); };
        if (n > 1 && n_threads_ > 1 && serial_.empty() && scoring_pool_.run(n_threads_, n, body)) return;
        for (int item = 0; item < n; ++item) task(item);
    }
    void set_threads(int n) { n_threads_ = n; }
    int n_threads() const { return n_threads_; }

    void cancel() noexcept {
        for (const auto& learner : learners_) learner->cancel();
    }
    void commit(const Row& x, const Labels& labels) {
        for_each(changes, [&](std::size_t, Learner& learner, int) { learner.commit(x, labels); });
    }

    void grow_labels(std::int32_t n) {
        for (const auto& learner : learners_) learner->grow_labels(n);
    }
    void grow_features(std::int64_t n, bool were_missing) {
        for (const auto& learner : learners_) learner->grow_features(n, were_missing);
    }
    // Learners as new in the place of these, which others may hold. The last copy has no more room than it needs.
    void renew() {
        for (auto& learner : learners_) {
            const auto copy = learner->clone();
            copy->reset();
            learner = copy->clone();
        }
        pool_.reset();
    }

    // A copy shares nothing with its original, but for learners written in Python with `share_serial`.
    void detach(bool share_serial) {
        for (auto& learner : learners_)
            learner = share_serial && learner->is_serial() ? learner->alias() : learner->clone();
        pool_.reset();
    }
    // Takes all but the learners written in Python from an earlier copy.
    void swap_parallel(LearnerGroup& earlier) {
        for (const std::size_t i : parallel_) std::swap(learners_[i], earlier.learners_[i]);
    }

    std::size_t memory_bytes() const {
        std::size_t total = 0;
        for (const auto& learner : learners_) total += learner->memory_bytes();
        return total;
    }

  private:
    // Whether threads pay for a loop that is run for every row: it is timed now and then, in one thread.
    class ParallelGate {
      public:
        template <class Task>
        void run(ThreadPool* pool, int n, int grain, Task&& task) {
            if (pool == nullptr || n < 2) {
                for (int item = 0; item < n; ++item) task(item, 0);
            } else if (n_until_timing_-- == 0) {
                using Clock = std::chrono::steady_clock;
                const Clock::time_point start = Clock::now();
                Clock::time_point before = start;
                Clock::duration longest{0};
                for (int item = 0; item < n; ++item) {
                    task(item, 0);
                    const Clock::time_point now = Clock::now();
                    longest = std::max(longest, now - before);
                    before = now;
                }
                worth_threads_ = before - start > kLeast && 5 * longest < 4 * (before - start);
                n_until_timing_ = kRowsBetweenTimings;
            } else {
                pool->run(n, worth_threads_ ? grain : n, std::forward<Task>(task));
            }
        }

      private:
        static constexpr std::chrono::microseconds kLeast{20};
        static constexpr int kRowsBetweenTimings = 64;
        int n_until_timing_ = 0;
        bool worth_threads_ = false;
    };

    Learners learners_;
    std::size_t n_votes_ = 0;
    std::vector<std::size_t> first_vote_;
    std::vector<std::size_t> serial_, parallel_;
    int n_threads_ = 1;
    std::shared_ptr<ThreadPool> pool_;
    std::array<ParallelGate, n_loops> gates_;
    mutable SharedPool scoring_pool_;
};

}  // namespace boostline
