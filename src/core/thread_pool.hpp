// A few threads that share the items of one loop. Which thread takes which item changes no result, because
// items are independent.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <unistd.h>

namespace boostline {

class ThreadPool {
  public:
    explicit ThreadPool(int n_threads) : owner_(getpid()) {
        for (int i = 1; i < n_threads; ++i) workers_.emplace_back([this, i] { work(i); });
    }
    ~ThreadPool() {
        if (owner_ != getpid()) {  // after a fork the threads are not there: nothing to wait for
            for (auto& worker : workers_) worker.detach();
            return;
        }
        stop_.store(true);
        generation_.fetch_add(1);
        { std::lock_guard<std::mutex> lock(mutex_); }
        wake_.notify_all();
        for (auto& worker : workers_) worker.join();
    }
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int n_threads() const { return static_cast<int>(workers_.size()) + 1; }
    bool is_usable() const { return owner_ == getpid(); }

    // Calls task(item, thread) for every item in [0, n). The task must not throw.
    template <class Task>
    void run(int n, int grain, Task&& task) {
        if (workers_.empty() || n <= grain) {
            for (int i = 0; i < n; ++i) task(i, 0);
            return;
        }
        const std::function<void(int, int)> body = [&task](int item, int thread) { task(item, thread); };
        body_ = &body;
        n_items_ = n;
        grain_ = grain;
        next_.store(0, std::memory_order_relaxed);
        n_busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
        generation_.fetch_add(1, std::memory_order_release);
        if (n_asleep_.load() > 0) {
            { std::lock_guard<std::mutex> lock(mutex_); }
            wake_.notify_all();
        }
        take_items(0);
        while (n_busy_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
        body_ = nullptr;
    }

  private:
    void take_items(int thread) {
        for (;;) {
            const int first = next_.fetch_add(grain_, std::memory_order_relaxed);
            if (first >= n_items_) return;
            const int last = std::min(first + grain_, n_items_);
            for (int i = first; i < last; ++i) (*body_)(i, thread);
        }
    }

    void work(int thread) {
        constexpr int kSpins = 4000;  // rounds follow each other within microseconds: look a while before sleeping
        unsigned seen = 0;
        for (;;) {
            int spins = 0;
            while (generation_.load(std::memory_order_acquire) == seen && spins < kSpins) {
                ++spins;
#if defined(__x86_64__)
                __builtin_ia32_pause();
#endif
            }
            if (generation_.load(std::memory_order_acquire) == seen) {
                std::unique_lock<std::mutex> lock(mutex_);
                n_asleep_.fetch_add(1);
                wake_.wait(lock, [&] { return generation_.load() != seen; });
                n_asleep_.fetch_sub(1);
            }
            seen = generation_.load(std::memory_order_acquire);
            if (stop_.load()) return;
            take_items(thread);
            n_busy_.fetch_sub(1, std::memory_order_release);
        }
    }

    const pid_t owner_;
    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<unsigned> generation_{0};
    std::atomic<int> next_{0}, n_busy_{0}, n_asleep_{0};
    std::atomic<bool> stop_{false};
    const std::function<void(int, int)>* body_ = nullptr;
    int n_items_ = 0, grain_ = 1;
};

}  // namespace boostline
