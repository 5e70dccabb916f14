// A few threads that share the items of loops. Which thread takes which item changes no result, because items are
// independent. An item may have a loop of its own inside: threads that find nothing else to do join it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "forks.hpp"

namespace boostline {

class ThreadPool {
    struct Own {
        ThreadPool* pool;
        int thread;  // its number in the pool
    };
    static inline thread_local Own at_hand_{nullptr, 0};

  public:
    explicit ThreadPool(int n_threads) : shared_(std::make_unique<Shared>()) {
        std::vector<std::thread>& workers = shared_->workers_;
        workers.reserve(static_cast<std::size_t>(n_threads - 1));
        try {
            for (int i = 1; i < n_threads; ++i)
                workers.emplace_back([this, shared = shared_.get(), i] { shared->work(this, i); });
        } catch (const std::system_error& error) {
            const std::size_t n_started = workers.size() + 1;
            shared_->stop();
            throw std::runtime_error("n_threads is " + std::to_string(n_threads) + ", but only " +
                                     std::to_string(n_started) + " threads can run now (" + error.code().message() +
                                     "); set n_threads to fewer");
        } catch (...) {  // no memory for another thread: those that run already are waited for
            shared_->stop();
            throw;
        }
    }
    ~ThreadPool() {
        if (is_usable())
            shared_->stop();
        else
            static_cast<void>(shared_.release());  // in a forked child the threads are gone, and cannot be waited for
    }
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int n_threads() const { return static_cast<int>(shared_->workers_.size()) + 1; }
    bool is_usable() const { return generation_ == fork_generation(); }

    // Calls task(item, thread) for every item in [0, n). If a task throws, no more items are begun, and one of the
    // exceptions is thrown on once all threads have left the task.
    template <class Task>
    void run(int n, int grain, Task&& task) {
        if (shared_->workers_.empty() || n <= grain || !is_usable()) {
            for (int i = 0; i < n; ++i) task(i, at_hand_.thread);
            return;
        }
        const std::function<void(int, int)> body = [&task](int item, int thread) { task(item, thread); };
        shared_->run(body, n, grain);
    }

    // The threads that `share` finds in this thread, for as long as this object is there; null: none.
    class AtHand {
      public:
        explicit AtHand(ThreadPool* pool) : before_(std::exchange(at_hand_, Own{pool, 0})) {}
        ~AtHand() { at_hand_ = before_; }
        AtHand(const AtHand&) = delete;
        AtHand& operator=(const AtHand&) = delete;

      private:
        const Own before_;
    };
    static ThreadPool* at_hand() { return at_hand_.pool; }

  private:
    struct Loop {
        const std::function<void(int, int)>* body;
        int n_items, grain;
        std::atomic<int> next{0}, n_helpers{0};
        std::atomic<bool> has_failed{false};
        std::exception_ptr error{};  // of the first task that failed

        bool has_items() const { return next.load(std::memory_order_relaxed) < n_items; }
        void take_items(int thread) {
            try {
                for (;;) {
                    const int first = next.fetch_add(grain, std::memory_order_relaxed);
                    if (first >= n_items || has_failed.load(std::memory_order_relaxed)) return;
                    const int last = std::min(first + grain, n_items);
                    for (int i = first; i < last; ++i) (*body)(i, thread);
                }
            } catch (...) {
                if (!has_failed.exchange(true, std::memory_order_relaxed)) error = std::current_exception();
            }
        }
    };

    // The threads and what they look at.
    struct Shared {
        void run(const std::function<void(int, int)>& body, int n, int grain) {
            Loop loop{&body, n, grain};
            const bool is_open = open(loop);
            loop.take_items(at_hand_.thread);
            if (is_open) {
                close(loop);
                for (int spins = 0; loop.n_helpers.load(std::memory_order_acquire) > 0; ++spins)
                    spins < kSpins ? pause() : std::this_thread::yield();
            }
            if (loop.has_failed.load(std::memory_order_relaxed)) std::rethrow_exception(loop.error);
        }

        // False if so many are open that nobody is left to help.
        bool open(Loop& loop) {
            bool is_anyone_asleep;
            {
                const std::lock_guard<std::mutex> lock(mutex_);
                if (n_open_ == open_.size()) return false;
                open_[n_open_++] = &loop;
                n_opened_.fetch_add(1, std::memory_order_release);
                is_anyone_asleep = n_asleep_ > 0;
            }
            if (is_anyone_asleep) wake_.notify_all();
            return true;
        }
        void close(const Loop& loop) {
            const std::lock_guard<std::mutex> lock(mutex_);
            Loop** const end = open_.data() + n_open_--;
            std::copy(std::find(open_.data(), end, &loop) + 1, end, std::find(open_.data(), end, &loop));
        }
        // The first loop that has items left: those of the outer loops are the larger ones.
        Loop* join() {
            const std::lock_guard<std::mutex> lock(mutex_);
            for (std::size_t i = 0; i < n_open_; ++i)
                if (open_[i]->has_items()) {
                    open_[i]->n_helpers.fetch_add(1, std::memory_order_relaxed);
                    return open_[i];
                }
            return nullptr;
        }

        void work(ThreadPool* pool, int thread) {
            at_hand_ = {pool, thread};
            while (!stop_.load()) {
                const unsigned seen = n_opened_.load(std::memory_order_acquire);
                if (Loop* const loop = join()) {
                    loop->take_items(thread);
                    loop->n_helpers.fetch_sub(1, std::memory_order_release);  // it may be gone from here on
                } else {
                    wait_for_more_than(seen);
                }
            }
        }
        void wait_for_more_than(unsigned seen) {
            for (int spins = 0; spins < kSpins; ++spins) {
                if (n_opened_.load(std::memory_order_acquire) != seen) return;
                pause();
            }
            std::unique_lock<std::mutex> lock(mutex_);
            ++n_asleep_;
            wake_.wait(lock, [&] { return n_opened_.load() != seen; });
            --n_asleep_;
        }
        static void pause() {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }

        void stop() {
            {
                const std::lock_guard<std::mutex> lock(mutex_);
                stop_.store(true);
                n_opened_.fetch_add(1);
            }
            wake_.notify_all();
            for (auto& worker : workers_) worker.join();
            workers_.clear();
        }

        // About .1 ms: loops follow each other within microseconds, so look a while before sleeping.
        static constexpr int kSpins = 4000;

        std::vector<std::thread> workers_;
        std::mutex mutex_;
        std::condition_variable wake_;
        std::array<Loop*, 16> open_{};  // those inside others come later
        std::size_t n_open_ = 0;
        int n_asleep_ = 0;
        std::atomic<unsigned> n_opened_{0};  // so far
        std::atomic<bool> stop_{false};
    };

    std::unique_ptr<Shared> shared_;
    const unsigned generation_ = fork_generation();
};

// Calls task(item) for every item in [0, n), with the threads at hand or alone.
template <class Task>
void share(int n, Task&& task) {
    if (ThreadPool* const pool = ThreadPool::at_hand(); pool != nullptr && n > 1)
        pool->run(n, 1, [&task](int item, int) { task(item); });
    else
        for (int item = 0; item < n; ++item) task(item);
}
// How many threads there may be for it.
inline int n_sharing() { return ThreadPool::at_hand() == nullptr ? 1 : ThreadPool::at_hand()->n_threads(); }

// Threads for calls that may come at the same time: one of them gets the threads, the others work alone. A copy has
// none yet.
class SharedPool {
  public:
    SharedPool() = default;
    SharedPool(const SharedPool&) {}
    SharedPool& operator=(const SharedPool&) = delete;

    // False if another call has the threads: nothing has been done.
    template <class Task>
    bool run(int n_threads, int n, Task&& task) {
        const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) return false;
        if (!pool_ || pool_->n_threads() != n_threads || !pool_->is_usable())
            pool_ = std::make_unique<ThreadPool>(n_threads);
        pool_->run(n, 1, std::forward<Task>(task));
        return true;
    }

  private:
    std::mutex mutex_;  // in a forked child it may stay locked: then calls work alone
    std::unique_ptr<ThreadPool> pool_;
};

}  // namespace boostline
