// Sparse rows by feature: an inverted index. For each feature it lists the rows that have it, with their values, so one
// pass over the features of a row gives the row's product with every row in the index.
//
// Values are weighted by how rare a feature is among the rows when a row enters, and rows have length 1. A feature of
// more than half of the rows says little and costs most, so it is left out. The oldest row leaves first, from the
// front of every list.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/math.hpp"
#include "core/base/philox.hpp"
#include "core/learners/linear/dual_memory.hpp"

namespace boostline {

class RowIndex {
  public:
    struct Posting {
        std::uint32_t slot;
        float value;
    };

    // The values of a row for the index.
    void weigh(const DualRow& row, std::vector<float>& values) const {
        const auto n = static_cast<double>(n_rows_);
        values.resize(row.index.size());
        double squares = 0.0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const List* list = find(row.index[i]);
            const double n_with = list == nullptr ? 0.0 : static_cast<double>(list->n_rows);
            const bool is_common = n_rows_ >= kFirstRows && 2.0 * n_with > n;
            const double rarity = is_common ? 0.0 : std::sqrt(log_((n + 2.0) / (n_with + 1.0)));
            const double value = static_cast<double>(row.value[i]) * rarity;
            values[i] = static_cast<float>(value);
            squares += value * value;
        }
        const double shrink = squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0;
        for (float& v : values) v = static_cast<float>(static_cast<double>(v) * shrink);
    }

    // products[slot] is the product with the row in this slot.
    void products(const DualRow& row, const std::vector<float>& values, std::size_t n_slots,
                  std::vector<float>& products) const {
        products.assign(n_slots, 0.0f);
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (values[i] == 0.0f) continue;
            each_posting(row.index[i], [&](const Posting& p) { products[p.slot] += values[i] * p.value; });
        }
    }
    template <class Visit>
    void each_posting(std::int32_t feature, Visit&& visit) const {
        const List* list = find(feature);
        if (list == nullptr) return;
        for (std::size_t i = list->first; i < list->postings.size(); ++i) visit(list->postings[i]);
    }

    // So that `add` needs no memory.
    void make_room_for(const DualRow& row) {
        for (const std::int32_t f : row.index) {
            List& list = lists_[place_of(f)];
            held_ -= list.bytes();
            make_room(list.postings, 1);
            held_ += list.bytes();
        }
    }
    void add(std::size_t slot, const DualRow& row, const std::vector<float>& values) noexcept {
        for (std::size_t i = 0; i < row.index.size(); ++i) {
            List& list = *find(row.index[i]);
            n_lists_ += list.n_rows++ == 0 ? 1u : 0u;
            if (values[i] == 0.0f) continue;
            list.postings.push_back({static_cast<std::uint32_t>(slot), values[i]});
            n_postings_ += 1;
        }
        n_rows_ += 1;
    }
    // The oldest row.
    void remove(std::size_t slot, const DualRow& row) noexcept {
        for (const std::int32_t f : row.index) {
            List& list = *find(f);
            n_lists_ -= --list.n_rows == 0 ? 1u : 0u;
            if (!list.starts_with(slot)) continue;
            list.first += 1;
            n_postings_ -= 1;
            if (list.first >= 16 && 2 * list.first >= list.postings.size()) list.drop_past();
        }
        n_rows_ -= 1;
    }
    // Where the values of the rows are read one after the other, the oldest row first: none is read at the start.
    std::vector<std::uint32_t> cursors() const { return std::vector<std::uint32_t>(lists_.size(), 0); }
    void next_values(std::size_t slot, const DualRow& row, std::vector<std::uint32_t>& cursors,
                     std::vector<float>& values) const {
        values.resize(row.index.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const List& list = *find(row.index[i]);
            std::uint32_t& cursor = cursors[static_cast<std::size_t>(&list - lists_.data())];
            const std::size_t at = list.first + cursor;
            const bool has = at < list.postings.size() && list.postings[at].slot == slot;
            values[i] = has ? list.postings[at].value : 0.0f;
            cursor += has ? 1u : 0u;
        }
    }
    void oldest_values(std::size_t slot, const DualRow& row, std::vector<float>& values) const {
        values.resize(row.index.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const List& list = *find(row.index[i]);
            values[i] = list.starts_with(slot) ? list.postings[list.first].value : 0.0f;
        }
    }

    // What the rows in it take, slack of vectors aside.
    std::size_t bytes() const { return n_lists_ * kListBytes + n_postings_ * sizeof(Posting); }
    std::size_t memory_bytes() const {
        return lists_.capacity() * sizeof(List) + table_.capacity() * sizeof(std::int32_t) + held_;
    }
    void compact() noexcept {
        for (List& list : lists_) {
            list.drop_past();
            list.postings.shrink_to_fit();
        }
        lists_.erase(std::remove_if(lists_.begin(), lists_.end(), [](const List& l) { return l.n_rows == 0; }),
                     lists_.end());
        lists_.shrink_to_fit();
        held_ = 0;
        for (const List& list : lists_) held_ += list.bytes();
        std::size_t size = 128;
        while (size < 2 * (lists_.size() + 1)) size *= 2;
        table_.resize(std::min(size, table_.size()));
        table_.shrink_to_fit();
        fill_table();
    }
    void clear() noexcept {
        release(lists_);
        release(table_);
        held_ = n_rows_ = n_lists_ = n_postings_ = 0;
    }

  private:
    static constexpr std::size_t kListBytes = 64;  // a List, and its place in the table
    static constexpr std::size_t kFirstRows = 32;  // of so few rows most words are in half

    struct List {
        std::int32_t feature;
        std::uint32_t n_rows;  // rows that have the feature
        std::size_t first;     // the postings before it are of rows that have left
        std::vector<Posting> postings;

        bool starts_with(std::size_t slot) const { return first < postings.size() && postings[first].slot == slot; }
        std::size_t bytes() const { return postings.capacity() * sizeof(Posting); }
        void drop_past() noexcept {
            postings.erase(postings.begin(), postings.begin() + static_cast<std::ptrdiff_t>(first));
            first = 0;
        }
    };

    static std::size_t mix(std::int32_t feature) {
        return static_cast<std::size_t>(splitmix64(static_cast<std::uint64_t>(feature)));
    }
    const List* find(std::int32_t feature) const noexcept {
        if (table_.empty()) return nullptr;
        const std::size_t mask = table_.size() - 1;
        for (std::size_t i = mix(feature) & mask; table_[i] >= 0; i = (i + 1) & mask)
            if (const List& list = lists_[static_cast<std::size_t>(table_[i])]; list.feature == feature) return &list;
        return nullptr;
    }
    List* find(std::int32_t feature) noexcept { return const_cast<List*>(std::as_const(*this).find(feature)); }
    std::size_t place_of(std::int32_t feature) {
        if (const List* list = find(feature)) return static_cast<std::size_t>(list - lists_.data());
        make_room(lists_, 1);
        if (2 * (lists_.size() + 1) > table_.size()) {
            std::vector<std::int32_t> larger(std::max<std::size_t>(128, 2 * table_.size()), -1);
            table_.swap(larger);
            fill_table();
        }
        lists_.push_back({feature, 0, 0, {}});
        insert(lists_.size() - 1);
        return lists_.size() - 1;
    }
    void insert(std::size_t at) noexcept {
        const std::size_t mask = table_.size() - 1;
        std::size_t i = mix(lists_[at].feature) & mask;
        while (table_[i] >= 0) i = (i + 1) & mask;
        table_[i] = static_cast<std::int32_t>(at);
    }
    void fill_table() noexcept {
        std::fill(table_.begin(), table_.end(), -1);
        for (std::size_t i = 0; i < lists_.size(); ++i) insert(i);
    }

    std::vector<List> lists_;
    std::vector<std::int32_t> table_;                        // open addressing; -1: free
    std::size_t n_rows_ = 0, n_lists_ = 0, n_postings_ = 0;  // lists with a row
    std::size_t held_ = 0;                                   // by postings
};

}  // namespace boostline
