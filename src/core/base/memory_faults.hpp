// Want of memory on purpose, for tests: within the calls of a model, allocations of the core from a given one on fail,
// or that one alone. Only in builds with BOOSTLINE_FAULTS=ON.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace boostline {

#if defined(BOOSTLINE_FAULTS)

struct MemoryFaults {
    static inline std::atomic<std::int64_t> n_to_grant{-1};  // allocations that still succeed; -1: all do
    static inline std::atomic<bool> only_one{false};
    static inline std::atomic<std::int64_t> n_failed{0};
    static inline std::atomic<int> n_calls{0};  // under way; the threads that they use belong to them
    static inline thread_local int n_outside = 0;

    // A call of a model, or the making of one, is under way.
    class InCall {
      public:
        InCall() : n_outside_(std::exchange(n_outside, 0)) { n_calls.fetch_add(1, std::memory_order_relaxed); }
        ~InCall() {
            n_calls.fetch_sub(1, std::memory_order_relaxed);
            n_outside = n_outside_;
        }
        InCall(const InCall&) = delete;
        InCall& operator=(const InCall&) = delete;

      private:
        const int n_outside_;
    };
    // Python and nanobind, whose conversions end the process when they get no memory, are not what is tested.
    struct Outside {
        Outside() { ++n_outside; }
        ~Outside() { --n_outside; }
        Outside(const Outside&) = delete;
        Outside& operator=(const Outside&) = delete;
    };

    static bool is_due() noexcept {
        std::int64_t left = n_to_grant.load(std::memory_order_relaxed);
        if (left < 0 || n_outside > 0 || n_calls.load(std::memory_order_relaxed) == 0) return false;
        while (left > 0)
            if (n_to_grant.compare_exchange_weak(left, left - 1)) return false;
        if (left < 0 || (only_one.load() && !n_to_grant.compare_exchange_strong(left, -1))) return false;
        n_failed.fetch_add(1);
        return true;
    }
};

#else

struct MemoryFaults {
    struct InCall {
        InCall() {}
    };
    struct Outside {
        Outside() {}
    };
};

#endif

}  // namespace boostline
