// Points of the last rows of a stream, of which those come first that were not looked at for longest. Whoever keeps
// what was said of these rows can so renew it, some rows at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/fields.hpp"
#include "core/base/ring.hpp"
#include "core/learners/scorer.hpp"

namespace boostline {

class RowSweep {
  public:
    explicit RowSweep(std::size_t capacity = 0, std::size_t n_inputs = 0) : ring_(capacity), n_inputs_(n_inputs) {}

    bool is_used() const { return ring_.capacity() > 0; }
    std::int64_t n_added() const { return n_added_; }  // all rows so far

    // So that the next n times `add` need no memory.
    void make_room(std::size_t n) {
        const std::size_t rows = ring_.room(queue_.capacity(), kFirstRoom, n);
        points_.reserve(rows * n_inputs_);
        queue_.reserve(rows);
    }
    void add(const float* point) noexcept {
        const std::size_t slot = ring_.next();
        if (ring_.is_full()) {
            unlink(slot);
            std::copy_n(point, n_inputs_, point_at(slot));
        } else {
            points_.insert(points_.end(), point, point + n_inputs_);
            queue_.emplace_back();
        }
        push_back(slot);
        ring_.advance();
        n_added_ = std::min(n_added_ + 1, kMostAdded);
    }

    // The next row, and its age (0: the newest). It is the last one to come again.
    const float* visit(std::size_t& age) noexcept {
        const std::size_t slot = first_;
        unlink(slot);
        push_back(slot);
        age = ring_.age_of(slot);
        return point_at(slot);
    }
    std::size_t size() const { return ring_.size(); }

    // Nobody keeps anything of the rows so far.
    void forget_rows() noexcept {
        ring_.clear();
        release(points_);
        release(queue_);
        first_ = last_ = kNone;
    }
    // Points oldest first; the queue as their places among them. Nothing is written before the first row.
    void fields(Fields& f, double largest) {
        f.memory(queue_);
        if (f.loads() ? !is_used() || !f.has("n_added") : n_added_ == 0) return f.memory(points_);
        f.ring<std::int32_t>("queue", ring_);
        const std::size_t n = size();
        f.number("n_added", n_added_, {static_cast<double>(n), static_cast<double>(kMostAdded)});
        f.slots("points", ring_, points_, n_inputs_, within(largest));
        std::vector<std::int32_t> order;
        for (std::uint32_t slot = first_; f.saves() && slot != kNone; slot = queue_[slot].next)
            order.push_back(static_cast<std::int32_t>(n - 1 - ring_.age_of(slot)));
        if (f.saves() || f.loads()) f.array("queue", order, n, {0.0, static_cast<double>(n)});
        if (f.loads()) line_up(f, order);
    }

  private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
    static constexpr std::size_t kFirstRoom = 64;
    static constexpr auto kMostAdded = static_cast<std::int64_t>(kMostRows) - 1;
    struct Neighbours {  // slots before and after this one in the queue
        std::uint32_t before = kNone, next = kNone;
    };

    // In the order of a file.
    void line_up(const Fields& f, const std::vector<std::int32_t>& order) {
        std::vector<bool> is_there(order.size() + 1, false);
        is_there.back() = true;
        queue_.resize(order.size());
        for (const std::int32_t slot : order) {
            const auto at = static_cast<std::size_t>(slot);
            f.require(!is_there[at], "queue");
            is_there[at] = true;
            push_back(at);
        }
    }
    float* point_at(std::size_t slot) { return points_.data() + slot * n_inputs_; }
    void unlink(std::size_t slot) noexcept {
        const auto [before, next] = queue_[slot];
        (before == kNone ? first_ : queue_[before].next) = next;
        (next == kNone ? last_ : queue_[next].before) = before;
    }
    void push_back(std::size_t slot) noexcept {
        const auto own = static_cast<std::uint32_t>(slot);
        queue_[slot] = {last_, kNone};
        (last_ == kNone ? first_ : queue_[last_].next) = own;
        last_ = own;
    }

    Ring ring_;
    std::size_t n_inputs_;
    std::vector<float> points_;
    std::vector<Neighbours> queue_;  // by slot
    std::uint32_t first_ = kNone, last_ = kNone;
    std::int64_t n_added_ = 0;
};

}  // namespace boostline
