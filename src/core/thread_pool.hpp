// A few threads that share the items of one loop. Which thread takes which item changes no result, because
// items are independent.
#pragma once

#include <algorithm>
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
  public:
    explicit ThreadPool(int n_threads) : shared_(std::make_unique<Shared>()) {
        std::vector<std::thread>& workers = shared_->workers_;
        workers.reserve(static_cast<std::size_t>(n_threads - 1));
        try {
            for (int i = 1; i < n_threads; ++i) workers.emplace_back([shared = shared_.get(), i] { shared->work(i); });
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
        if (shared_->workers_.empty() || n <= grain) {
            for (int i = 0; i < n; ++i) task(i, 0);
            return;
        }
        const std::function<void(int, int)> body = [&task](int item, int thread) { task(item, thread); };
        shared_->run(body, n, grain);
    }

  private:
    // The threads and what they look at.
    struct Shared {
        void run(const std::function<void(int, int)>& body, int n, int grain) {
            body_ = &body;
            n_items_ = n;
            grain_ = grain;
            next_.store(0, std::memory_order_relaxed);
            n_busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
            begin_round();
            take_items(0);
            while (n_busy_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
            body_ = nullptr;
            if (!has_failed_.load(std::memory_order_relaxed)) return;
            has_failed_.store(false, std::memory_order_relaxed);
            std::rethrow_exception(std::exchange(error_, nullptr));
        }

        void begin_round() {
            round_.fetch_add(1);
            if (n_asleep_.load() == 0) return;
            {
                const std::lock_guard<std::mutex> lock(mutex_);
            }
            wake_.notify_all();
        }

        void take_items(int thread) {
            try {
                for (;;) {
                    const int first = next_.fetch_add(grain_, std::memory_order_relaxed);
                    if (first >= n_items_ || has_failed_.load(std::memory_order_relaxed)) return;
                    const int last = std::min(first + grain_, n_items_);
                    for (int i = first; i < last; ++i) (*body_)(i, thread);
                }
            } catch (...) {
                if (!has_failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
            }
        }

        void work(int thread) {
            constexpr int kSpins = 4000;  // rounds follow each other within microseconds: look a while before sleeping
            unsigned seen = 0;
            for (;;) {
                int spins = 0;
                while (round_.load(std::memory_order_acquire) == seen && spins < kSpins) {
                    ++spins;
#if defined(__x86_64__)
                    __builtin_ia32_pause();
#endif
                }
                if (round_.load(std::memory_order_acquire) == seen) {
                    std::unique_lock<std::mutex> lock(mutex_);
                    n_asleep_.fetch_add(1);
                    wake_.wait(lock, [&] { return round_.load() != seen; });
                    n_asleep_.fetch_sub(1);
                }
                seen = round_.load(std::memory_order_acquire);
                if (stop_.load()) return;
                take_items(thread);
                n_busy_.fetch_sub(1, std::memory_order_release);
            }
        }

        void stop() {
            stop_.store(true);
            begin_round();
            for (auto& worker : workers_) worker.join();
            workers_.clear();
        }

        std::vector<std::thread> workers_;
        std::mutex mutex_;
        std::condition_variable wake_;
        std::atomic<unsigned> round_{0};
        std::atomic<int> next_{0}, n_busy_{0}, n_asleep_{0};
        std::atomic<bool> stop_{false}, has_failed_{false};
        std::exception_ptr error_;  // of the first task that failed
        const std::function<void(int, int)>* body_ = nullptr;
        int n_items_ = 0, grain_ = 1;
    };

    std::unique_ptr<Shared> shared_;
    const unsigned generation_ = fork_generation();
};

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
