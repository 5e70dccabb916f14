// A ring of the last rows of a stream: what is known of their labels, and their importance. Whoever remembers more of a
// row keeps that by slot (row_memory.hpp, nearest_memory.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ring.hpp"
#include "core/learners/scorer.hpp"

namespace boostline {

class LabelRing : public Ring {
  public:
    LabelRing(std::size_t capacity, std::size_t n_labels) : Ring(capacity), n_labels_(n_labels) {}

    std::size_t n_labels() const { return n_labels_; }
    const std::int8_t* targets(std::size_t slot) const { return targets_.data() + slot * n_labels_; }
    double importance(std::size_t slot) const { return importance_[slot]; }

    // Reserves the memory for the next n calls of `push`, for at least `first` rows: reserve(slots) that of others, and
    // then its own. What tells how much there is comes last, so that there is that much of all even where one fails.
    template <class Reserve>
    void make_room(std::size_t first, std::size_t n, Reserve&& reserve) {
        const std::size_t slots = room(importance_.capacity(), first, n);
        reserve(slots);
        targets_.reserve(slots * n_labels_);
        importance_.reserve(slots);
    }

    // Into the slot `next()`. The ring has a capacity.
    void push(const std::int8_t* targets, double importance) {
        if (is_full()) {
            importance_[next()] = importance;
            std::copy_n(targets, n_labels_, targets_.data() + next() * n_labels_);
        } else {
            importance_.push_back(importance);
            targets_.insert(targets_.end(), targets, targets + n_labels_);
        }
        advance();
    }

    // A label that had not been seen is irrelevant for the rows so far.
    void grow_labels(std::size_t n) {
        std::vector<std::int8_t> wide(size() * n, 0);
        for (std::size_t i = 0; i < size(); ++i) std::copy_n(targets(i), n_labels_, wide.data() + i * n);
        targets_.swap(wide);
        n_labels_ = n;
    }

    void clear() noexcept {
        Ring::clear();
        release(targets_);
        release(importance_);
    }

    void fields(Fields& f) {
        f.ring<double>("importance", *this);
        f.slots("targets", *this, targets_, n_labels_, {-1.0, 1.0});
        f.slots("importance", *this, importance_, 1, kImportance);
    }

  private:
    std::size_t n_labels_;
    std::vector<std::int8_t> targets_;
    std::vector<double> importance_;
};

}  // namespace boostline
