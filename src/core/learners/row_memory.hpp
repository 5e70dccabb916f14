// The last rows of a stream with what is known of their labels: linear learners learn them again, neighbours scale them
// anew. Only the entries that are not zero are kept, so a row takes 12 bytes for each of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/learners/feature_scale.hpp"
#include "core/learners/label_ring.hpp"

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
    RowMemory(std::size_t capacity, std::size_t n_labels) : ring_(capacity, n_labels) {}

    std::size_t size() const { return ring_.size(); }
    const Ring& ring() const { return ring_; }

    // By age: 0 is the newest row.
    RowView row(std::size_t age) const { return row_in(ring_.slot_of(age)); }
    const std::int8_t* targets(std::size_t age) const { return ring_.targets(ring_.slot_of(age)); }
    double importance(std::size_t age) const { return ring_.importance(ring_.slot_of(age)); }

    // A row that will be read soon comes into the caches.
    void fetch(std::size_t age) const {
        const RowView view = row(age);
        for (std::size_t i = 0; i < view.size; i += 64 / sizeof(double)) BOOSTLINE_PREFETCH(view.value + i);
        for (std::size_t i = 0; i < view.size; i += 64 / sizeof(std::int32_t)) BOOSTLINE_PREFETCH(view.index + i);
    }

    // So that the next `push`, of a row with n entries, needs no memory. A larger pool is made ready, and the rows move
    // there when it is needed.
    void make_room_for(std::size_t n) {
        if (ring_.capacity() == 0) return;
        make_slots(1);
        const std::size_t held = held_ - (ring_.is_full() ? static_cast<std::size_t>(length_[ring_.next()]) : 0);
        if (find_place(n, held, tail(ring_.is_full())) != kNowhere) return;
        make_next_pool(held + n + 1, pool_size(n, held));
    }
    // The same for n rows of a block, of which row r has at most most_entries(r) entries.
    template <class MostEntries>
    void make_room_for_block(std::size_t n, MostEntries&& most_entries) {
        if (ring_.capacity() == 0) return;
        make_slots(n);
        std::size_t total = 0, most = 0;
        for (std::size_t r = 0; r < n; ++r) {
            total += most_entries(r);
            most = std::max(most, most_entries(r));
        }
        // They fit if they do with the oldest rows still there, or one piece after the end of the other.
        const std::size_t room = index_.size(), oldest = tail(false);
        if (held_ == 0 ? total <= room : head_ < oldest ? head_ + total < oldest : head_ + total <= room) return;
        if (held_ > 0 && head_ >= oldest && total + most < oldest) return;
        make_next_pool(held_ + total + 1, pool_size(total, held_));
    }
    std::size_t longest() const {
        return length_.empty() ? 0 : static_cast<std::size_t>(*std::max_element(length_.begin(), length_.end()));
    }

    void push(const RowView& row, const std::int8_t* targets, double importance) {
        if (ring_.capacity() == 0) return;
        make_room_for(row.size);
        const std::size_t slot = ring_.next();
        if (ring_.is_full()) {  // an empty row where the oldest began: the search for room starts behind it
            held_ -= static_cast<std::size_t>(length_[slot]);
            length_[slot] = 0;
            start_[slot] = tail(true);
        }
        const std::size_t place = take_place(row.size);
        start_.resize(std::max(start_.size(), slot + 1));
        length_.resize(start_.size());
        start_[slot] = place;
        length_[slot] = static_cast<std::int32_t>(row.size);
        ring_.push(targets, importance);
        std::copy_n(row.index, row.size, index_.begin() + static_cast<std::ptrdiff_t>(place));
        std::copy_n(row.value, row.size, value_.begin() + static_cast<std::ptrdiff_t>(place));
        head_ = place + row.size;
        held_ += row.size;
    }

    void grow_labels(std::size_t n) { ring_.grow_labels(n); }

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

    void clear() noexcept { *this = RowMemory(ring_.capacity(), ring_.n_labels()); }

    // Oldest row first, without the gaps of the pool.
    void fields(Fields& f, std::size_t n_features) {
        constexpr double kMost = 2147483648.0 * kLargest;  // see FeatureScale
        f.part("row_", ring_);
        f.slots("row_length", ring_, length_, 1, {0.0, static_cast<double>(n_features), true});
        if (f.loads()) make_pool_of(f);
        f.pieces<std::int32_t>("row_index", held_, kCounts, [this](auto&& visit) {
            ring_.for_each([&](std::size_t slot) { visit(index_.data() + start_[slot], row_in(slot).size); });
        });
        f.pieces<double>("row_value", held_, {-kMost, kMost, false, true}, [this](auto&& visit) {
            ring_.for_each([&](std::size_t slot) { visit(value_.data() + start_[slot], row_in(slot).size); });
        });
        for (std::size_t slot = 0; slot < size(); ++slot)
            f.columns("row_index", row_in(slot).index, row_in(slot).size, n_features);
        f.memory(index_, next_index_, value_, next_value_, start_);
    }

  private:
    // For the rows of a file, whose lengths are known: they lie one behind the other.
    void make_pool_of(const Fields& f) {
        start_.reserve(size());
        for (const std::int32_t length : length_) {
            start_.push_back(held_);
            held_ += static_cast<std::size_t>(length);
        }
        head_ = held_;
        f.expect<std::int32_t>("row_index", held_);
        f.expect<double>("row_value", held_);
        index_.resize(held_);
        value_.resize(held_);
    }
    void make_slots(std::size_t n) {
        ring_.make_room(16, n, [&](std::size_t slots) {
            start_.reserve(slots);
            length_.reserve(slots);
        });
    }
    // What nobody has written to stays as it is, untouched: half of a pool may wait for rows for a long time.
    template <class T>
    struct Untouched : std::allocator<T> {
        template <class U>
        struct rebind {
            using other = Untouched<U>;
        };
        template <class U>
        void construct(U* place) noexcept {
            ::new (static_cast<void*>(place)) U;
        }
        template <class U, class... Values>
        void construct(U* place, Values&&... values) {
            ::new (static_cast<void*>(place)) U(std::forward<Values>(values)...);
        }
    };
    template <class T>
    using Pool = std::vector<T, Untouched<T>>;
    static constexpr std::size_t kNowhere = ~std::size_t{0};

    RowView row_in(std::size_t slot) const {
        return {index_.data() + start_[slot], value_.data() + start_[slot], static_cast<std::size_t>(length_[slot])};
    }

    // Where the oldest row begins; if it is about to go, the one after it.
    std::size_t tail(bool oldest_goes) const {
        if (start_.empty()) return 0;
        if (!ring_.is_full()) return start_[0];
        return start_[oldest_goes ? (ring_.next() + 1) % size() : ring_.next()];
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
        const double filled = static_cast<double>(size() + 1) / static_cast<double>(ring_.capacity());
        const double forecast =
            filled < 1.0 ? static_cast<double>(needed) / filled * 1.1 : 1.5 * static_cast<double>(needed);
        return std::min(2 * needed, static_cast<std::size_t>(forecast) + n) + 1;
    }

    // Larger than needed, if there is none that is large enough.
    void make_next_pool(std::size_t needed, std::size_t wanted) {
        if (next_index_.size() >= needed && next_value_.size() >= needed) return;
        next_index_.resize(std::max(needed, wanted));
        next_value_.resize(next_index_.size());
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
        ring_.for_each([&](std::size_t slot) {
            const RowView row = row_in(slot);
            std::copy_n(row.index, row.size, next_index_.begin() + static_cast<std::ptrdiff_t>(at));
            std::copy_n(row.value, row.size, next_value_.begin() + static_cast<std::ptrdiff_t>(at));
            start_[slot] = at;
            at += row.size;
        });
        index_.swap(next_index_);
        value_.swap(next_value_);
        release(next_index_);
        release(next_value_);
        head_ = at;
    }

    LabelRing ring_;
    std::size_t head_ = 0, held_ = 0;        // in the pool: behind the newest row; entries in use
    Pool<std::int32_t> index_, next_index_;  // next: a larger pool, made ready for a row that is to come
    Pool<double> value_, next_value_;
    std::vector<std::size_t> start_;  // by slot
    std::vector<std::int32_t> length_;
};

}  // namespace boostline
