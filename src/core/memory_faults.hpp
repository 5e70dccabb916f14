// Want of memory on purpose, for tests: within the rows of a model's `learn`, all allocations of the core from a given
// one on fail. Elsewhere, and unless a test asks for it, nothing fails.
#pragma once

#include <atomic>
#include <cstdint>

namespace boostline {

struct MemoryFaults {
    static inline std::atomic<bool> is_in_row{false};
    static inline std::atomic<std::int64_t> n_to_grant{-1};  // allocations that still succeed; -1: all do

    // A row is being learned.
    struct InRow {
        InRow() { is_in_row.store(true, std::memory_order_relaxed); }
        ~InRow() { is_in_row.store(false, std::memory_order_relaxed); }
        InRow(const InRow&) = delete;
        InRow& operator=(const InRow&) = delete;
    };

    static bool is_due() noexcept {
        if (!is_in_row.load(std::memory_order_relaxed) || n_to_grant.load(std::memory_order_relaxed) < 0) return false;
        std::int64_t left = n_to_grant.load();
        while (left > 0 && !n_to_grant.compare_exchange_weak(left, left - 1)) {
        }
        return left == 0;
    }
};

}  // namespace boostline
