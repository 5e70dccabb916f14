// The last rows of a stream with what is known of their labels: linear learners learn them again, neighbours scale them
// anew. Only the entries that are not zero are kept, so a row takes 12 bytes for each of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/archive.hpp"
#include "core/feature_scale.hpp"
#include "core/scorer.hpp"

namespace boostline {

// Entries of a row that somebody else owns; ascending, no zeros. NaN (missing) is an entry: a missing value of a
// feature that is centred must not be taken for a zero when the row is used again.
struct RowView {
    const std::int32_t* index = nullptr;
    const double* value = nullptr;
    std::size_t size = 0;

    RowView() = default;
    RowView(const std::int32_t* i, const double* v, std::size_t n) : index(i), value(v), size(n) {}
    RowView(const Entries& row) : index(row.index.data()), value(row.value.data()), size(row.size()) {}
};

// A ring of at most `capacity` rows. The entries lie in one pool, used in a circle, each row in one piece; the pool
// grows only when a row does not fit, to at most about twice what the rows held together at their largest.
class RowMemory {
  public:
    RowMemory(std::size_t capacity, std::size_t n_labels) : capacity_(capacity), n_labels_(n_labels) {}

    std::size_t size() const { return length_.size(); }
    std::size_t capacity() const { return capacity_; }

    // By age: 0 is the newest row.
    RowView row(std::size_t age) const {
        const std::size_t slot = slot_of(age);
        return {index_.data() + start_[slot], value_.data() + start_[slot], static_cast<std::size_t>(length_[slot])};
    }
    const std::int8_t* targets(std::size_t age) const { return targets_.data() + slot_of(age) * n_labels_; }
    double importance(std::size_t age) const { return importance_[slot_of(age)]; }

    // So that the next `push`, of a row with n entries, needs no memory. Vectors that grow with the rows never get more
    // room than the full ring needs; a larger pool is made ready, and the rows move there when it is needed.
    void make_room_for(std::size_t n) {
        if (capacity_ == 0) return;
        if (size() < capacity_) {
            std::size_t slots = start_.capacity();
            if (slots == size()) slots = std::min(capacity_, std::max<std::size_t>(16, 2 * size()));
            start_.reserve(slots);
            length_.reserve(slots);
            importance_.reserve(slots);
            targets_.reserve(slots * n_labels_);
        }
        const bool is_full = size() == capacity_;
        const std::size_t held = held_ - (is_full ? static_cast<std::size_t>(length_[next_]) : 0);
        if (find_place(n, held, tail(is_full)) != kNowhere) return;
        const std::size_t pool = pool_size(n, held);
        if (next_index_.size() == pool && next_value_.size() == pool) return;
        next_index_.resize(pool);
        next_value_.resize(pool);
    }

    void push(const RowView& row, const std::int8_t* targets, double importance) {
        if (capacity_ == 0) return;
        make_room_for(row.size);
        if (size() < capacity_) {
            const std::size_t place = take_place(row.size);
            start_.push_back(place);
            length_.push_back(static_cast<std::int32_t>(row.size));
            importance_.push_back(importance);
            targets_.insert(targets_.end(), targets, targets + n_labels_);
            next_ = size() == capacity_ ? 0 : size();
            write(place, row);
            return;
        }
        const std::size_t slot = next_;  // the oldest
        held_ -= static_cast<std::size_t>(length_[slot]);
        length_[slot] = 0;  // an empty row where the oldest began: the search for room starts behind it
        start_[slot] = tail(true);
        const std::size_t place = take_place(row.size);
        start_[slot] = place;
        length_[slot] = static_cast<std::int32_t>(row.size);
        importance_[slot] = importance;
        std::copy_n(targets, n_labels_, targets_.data() + slot * n_labels_);
        next_ = (slot + 1) % capacity_;
        write(place, row);
    }

    // A label that had not been seen is irrelevant for the rows so far.
    void grow_labels(std::size_t n) {
        std::vector<std::int8_t> wide(size() * n, 0);
        for (std::size_t i = 0; i < size(); ++i)
            std::copy_n(targets_.data() + i * n_labels_, n_labels_, wide.data() + i * n);
        targets_.swap(wide);
        n_labels_ = n;
    }

    // Features first .. last - 1 are new, and were missing in the rows so far.
    void add_missing(std::size_t first, std::size_t last) {
        const RowMemory old = *this;
        clear();
        std::vector<std::int32_t> index;
        std::vector<double> value;
        for (std::size_t age = old.size(); age-- > 0;) {
            const RowView row = old.row(age);
            index.assign(row.index, row.index + row.size);
            value.assign(row.value, row.value + row.size);
            for (std::size_t f = first; f < last; ++f) index.push_back(static_cast<std::int32_t>(f));
            value.resize(index.size(), std::nan(""));
            push(RowView(index.data(), value.data(), index.size()), old.targets(age), old.importance(age));
        }
    }

    void clear() noexcept { *this = RowMemory(capacity_, n_labels_); }

    std::size_t memory_bytes() const {
        return (index_.capacity() + next_index_.capacity()) * sizeof(std::int32_t) +
               (value_.capacity() + next_value_.capacity()) * sizeof(double) + start_.capacity() * sizeof(std::size_t) +
               length_.capacity() * sizeof(std::int32_t) + importance_.capacity() * sizeof(double) +
               targets_.capacity() * sizeof(std::int8_t);
    }

    // Oldest row first, without the gaps of the pool.
    void save(Archive& out, const std::string& prefix) const {
        const auto rows = [this](auto&& visit) {
            for (std::size_t age = size(); age-- > 0;) visit(age);
        };
        out.add<std::int32_t>(prefix + "row_index", held_, [&](auto&& write) {
            rows([&](std::size_t age) { write(row(age).index, row(age).size); });
        });
        out.add<double>(prefix + "row_value", held_,
                        [&](auto&& write) { rows([&](std::size_t age) { write(row(age).value, row(age).size); }); });
        out.add<std::int32_t>(prefix + "row_length", size(),
                              [&](auto&& write) { rows([&](std::size_t age) { write(&length_[slot_of(age)], 1); }); });
        out.add<double>(prefix + "row_importance", size(),
                        [&](auto&& write) { rows([&](std::size_t age) { write(&importance_[slot_of(age)], 1); }); });
        out.add<std::uint8_t>(prefix + "row_targets", size() * n_labels_, [&](auto&& write) {
            rows([&](std::size_t age) { write_targets(targets(age), n_labels_, write); });
        });
    }

    void load(const ArchiveView& in, const std::string& prefix, std::size_t n_features) {
        RowMemory fresh(capacity_, n_labels_);
        const std::size_t n = in.size<std::int32_t>(prefix + "row_length");
        if (n > capacity_) throw std::invalid_argument("'" + prefix + "row_length' has more rows than fit");
        in.expect<std::uint8_t>(prefix + "row_targets", n * n_labels_);
        in.read(prefix + "row_length", n, fresh.length_);
        fresh.start_.reserve(n);
        for (const std::int32_t length : fresh.length_) {
            require(length >= 0 && static_cast<std::size_t>(length) <= n_features, prefix, "row_length");
            fresh.start_.push_back(fresh.held_);
            fresh.held_ += static_cast<std::size_t>(length);
        }
        fresh.head_ = fresh.held_;
        fresh.next_ = n == capacity_ ? 0 : n;
        in.read(prefix + "row_index", fresh.held_, fresh.index_);
        in.read(prefix + "row_value", fresh.held_, fresh.value_);
        in.read(prefix + "row_importance", n, fresh.importance_);
        read_targets(in, prefix + "row_targets", n * n_labels_, fresh.targets_);
        fresh.check(prefix, n_features);
        *this = std::move(fresh);
    }
    void check(const std::string& prefix, std::size_t n_features) const {
        constexpr double kMost = 2147483648.0 * kLargest;  // see FeatureScale
        for (std::size_t age = 0; age < size(); ++age) {
            const RowView r = row(age);
            std::int64_t before = -1;
            for (std::size_t e = 0; e < r.size; ++e) {
                require(r.index[e] > before && static_cast<std::size_t>(r.index[e]) < n_features, prefix, "row_index");
                require(!(std::fabs(r.value[e]) > kMost), prefix, "row_value");  // NaN: missing
                before = r.index[e];
            }
        }
        check_importance(importance_, prefix, "row_importance");
        check_targets(targets_, prefix, "row_targets");
    }

  private:
    std::size_t slot_of(std::size_t age) const { return (next_ + size() - 1 - age) % size(); }

    void write(std::size_t place, const RowView& row) {
        std::copy_n(row.index, row.size, index_.begin() + static_cast<std::ptrdiff_t>(place));
        std::copy_n(row.value, row.size, value_.begin() + static_cast<std::ptrdiff_t>(place));
        head_ = place + row.size;
        held_ += row.size;
    }

    static constexpr std::size_t kNowhere = ~std::size_t{0};

    // Where the oldest row begins; if it is about to go, the one after it.
    std::size_t tail(bool oldest_goes) const {
        if (start_.empty()) return 0;
        if (size() < capacity_) return start_[0];
        return start_[oldest_goes && capacity_ > 1 ? (next_ + 1) % capacity_ : next_];
    }

    // Where the next n entries go, in one piece, if `held` entries are held now. They lie between `tail`, where the
    // oldest row begins, and head_, or, once the circle has been closed, behind tail and before head_; then one place
    // stays free, so that head_ < tail.
    std::size_t find_place(std::size_t n, std::size_t held, std::size_t tail) const {
        const std::size_t room = index_.size();
        if (held == 0) return n <= room ? 0 : kNowhere;
        if (head_ < tail) return head_ + n < tail ? head_ : kNowhere;
        if (head_ + n <= room) return head_;
        return n < tail ? 0 : kNowhere;
    }

    // Twice as much as now, but while the ring fills no more than it will hold if the rows go on like this.
    std::size_t pool_size(std::size_t n, std::size_t held) const {
        if (held == 0) return n;
        const std::size_t needed = held + n;
        const double filled = static_cast<double>(size() + 1) / static_cast<double>(capacity_);
        const double forecast =
            filled < 1.0 ? static_cast<double>(needed) / filled * 1.1 : 1.5 * static_cast<double>(needed);
        return std::min(2 * needed, static_cast<std::size_t>(forecast) + n) + 1;
    }

    std::size_t take_place(std::size_t n) noexcept {
        if (held_ == 0) {
            for (std::size_t& s : start_) s = 0;
            head_ = 0;
        }
        const std::size_t place = find_place(n, held_, tail(false));
        if (place != kNowhere) return place;
        move_to_next_pool();
        return head_;
    }

    void move_to_next_pool() noexcept {
        std::size_t at = 0;
        for (std::size_t i = 0; i < size(); ++i) {
            const std::size_t slot = size() < capacity_ ? i : (next_ + i) % capacity_;
            const auto length = static_cast<std::size_t>(length_[slot]);
            std::copy_n(index_.begin() + static_cast<std::ptrdiff_t>(start_[slot]), length,
                        next_index_.begin() + static_cast<std::ptrdiff_t>(at));
            std::copy_n(value_.begin() + static_cast<std::ptrdiff_t>(start_[slot]), length,
                        next_value_.begin() + static_cast<std::ptrdiff_t>(at));
            start_[slot] = at;
            at += length;
        }
        index_.swap(next_index_);
        value_.swap(next_value_);
        release(next_index_);
        release(next_value_);
        head_ = at;
    }

    std::size_t capacity_, n_labels_;
    std::size_t next_ = 0;                          // the slot of the next row; of the oldest one once the ring is full
    std::size_t head_ = 0, held_ = 0;               // in the pool: behind the newest row; entries in use
    std::vector<std::int32_t> index_, next_index_;  // next: a larger pool, made ready for a row that is to come
    std::vector<double> value_, next_value_;
    std::vector<std::size_t> start_;
    std::vector<std::int32_t> length_;
    std::vector<double> importance_;
    std::vector<std::int8_t> targets_;
};

}  // namespace boostline
