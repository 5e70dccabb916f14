// A ring of the last rows of a stream: what is known of their labels, and their importance. Whoever remembers more of a
// row keeps that by slot (row_memory.hpp, nearest_memory.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/archive.hpp"
#include "core/scorer.hpp"

namespace boostline {

class LabelRing {
  public:
    LabelRing(std::size_t capacity, std::size_t n_labels) : capacity_(capacity), n_labels_(n_labels) {}

    std::size_t size() const { return importance_.size(); }
    std::size_t capacity() const { return capacity_; }
    bool is_full() const { return size() == capacity_; }
    std::size_t n_labels() const { return n_labels_; }

    std::size_t next() const { return next_; }  // the slot of the next row; of the oldest one once the ring is full
    // Age 0 is the newest row.
    std::size_t slot_of(std::size_t age) const { return (next_ + size() - 1 - age) % size(); }
    std::size_t age_of(std::size_t slot) const { return (next_ + size() - 1 - slot) % size(); }
    const std::int8_t* targets(std::size_t slot) const { return targets_.data() + slot * n_labels_; }
    double importance(std::size_t slot) const { return importance_[slot]; }

    // So that the next `push` needs no memory; vectors never get more room than the full ring needs. Returns for how
    // many rows there is room, `first` at the least.
    std::size_t make_room(std::size_t first) {
        std::size_t slots = importance_.capacity();
        if (!is_full() && slots == size()) slots = std::min(capacity_, std::max(first, 2 * size()));
        importance_.reserve(slots);
        targets_.reserve(slots * n_labels_);
        return slots;
    }

    // Into the slot `next()`. The ring has a capacity.
    void push(const std::int8_t* targets, double importance) {
        if (is_full()) {
            importance_[next_] = importance;
            std::copy_n(targets, n_labels_, targets_.data() + next_ * n_labels_);
        } else {
            importance_.push_back(importance);
            targets_.insert(targets_.end(), targets, targets + n_labels_);
        }
        next_ = (next_ + 1) % capacity_;
    }

    // A label that had not been seen is irrelevant for the rows so far.
    void grow_labels(std::size_t n) {
        std::vector<std::int8_t> wide(size() * n, 0);
        for (std::size_t i = 0; i < size(); ++i) std::copy_n(targets(i), n_labels_, wide.data() + i * n);
        targets_.swap(wide);
        n_labels_ = n;
    }

    void clear() noexcept {
        next_ = 0;
        release(targets_);
        release(importance_);
    }

    std::size_t memory_bytes() const {
        return targets_.capacity() * sizeof(std::int8_t) + importance_.capacity() * sizeof(double);
    }

    // Calls visit(slot), the oldest row first.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t age = size(); age-- > 0;) visit(slot_of(age));
    }

    void save(Archive& out, const std::string& prefix) const {
        out.add<std::uint8_t>(prefix + "targets", size() * n_labels_, [&](auto&& write) {
            for_each([&](std::size_t slot) { write_targets(targets(slot), n_labels_, write); });
        });
        out.add<double>(prefix + "importance", size(),
                        [&](auto&& write) { for_each([&](std::size_t slot) { write(&importance_[slot], 1); }); });
    }
    void load(const ArchiveView& in, const std::string& prefix) {
        const std::size_t n = in.size<double>(prefix + "importance");
        if (n > capacity_) throw std::invalid_argument("'" + prefix + "importance' has more rows than fit");
        in.read(prefix + "importance", n, importance_);
        read_targets(in, prefix + "targets", n * n_labels_, targets_);
        next_ = n % std::max<std::size_t>(capacity_, 1);
    }
    void check(const std::string& prefix) const {
        for (const double w : importance_) require(w > 0.0 && w <= 1.0, prefix, "importance");
        for (const std::int8_t y : targets_) require(y >= -1 && y <= 1, prefix, "targets");
    }

  private:
    std::size_t capacity_, n_labels_;
    std::size_t next_ = 0;
    std::vector<std::int8_t> targets_;
    std::vector<double> importance_;
};

}  // namespace boostline
