// The last rows of a stream with the dual variables of their labels, for learners that solve their problem in the dual:
// a row's dual variable of a label says how much the row counts in the weights of that label. Everything is a short
// list: nothing here grows with the number of labels.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/math.hpp"
#include "core/base/ring.hpp"
#include "core/learners/feature_scale.hpp"
#include "core/learners/linear/label_values.hpp"
#include "core/learners/scorer.hpp"

namespace boostline {

struct DualRow {
    std::vector<std::int32_t> index;  // features, ascending
    std::vector<float> value;         // of length 1 together
    std::vector<std::int32_t> relevant, unknown;
    double importance = 1.0;
    std::vector<LabelValue> duals;  // those that are not zero

    // A row of counts or of anything sparse: sign(x) log(1 + |x|), then divided by its length, so that neither a word
    // that is repeated nor a long text takes over. What was weighted before, as by tf-idf, keeps its weights. A missing
    // value (NaN) has no part.
    void set_features(const Entries& entries) {
        index.clear();
        value.clear();
        double squares = 0.0;
        for (const double x : entries.value) squares += squashed(x) * squashed(x);
        if (!(squares > 0.0)) return;
        const double shrink = 1.0 / std::sqrt(squares);
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const auto v = static_cast<float>(squashed(entries.value[i]) * shrink);
            if (v == 0.0f) continue;
            index.push_back(entries.index[i]);
            value.push_back(v);
        }
    }
    void set_labels(const Targets& targets) {
        relevant.clear();
        unknown.clear();
        for (std::size_t j = 0; j < targets.value.size(); ++j)
            if (targets.value[j] != 0)
                (targets.value[j] > 0 ? relevant : unknown).push_back(static_cast<std::int32_t>(j));
        duals.clear();
    }
    // The dual variable of a label, with the sign of the label.
    double signed_dual(std::int32_t label) const {
        for (const LabelValue& dual : duals)
            if (dual.label == label)
                return std::binary_search(relevant.begin(), relevant.end(), label) ? static_cast<double>(dual.value)
                                                                                   : -static_cast<double>(dual.value);
        return 0.0;
    }
    double product(const DualRow& other) const {
        double sum = 0.0;
        for (std::size_t i = 0, j = 0; i < index.size() && j < other.index.size();) {
            if (index[i] == other.index[j]) sum += static_cast<double>(value[i]) * static_cast<double>(other.value[j]);
            const bool is_behind = index[i] <= other.index[j];
            j += other.index[j] <= index[i] ? 1u : 0u;
            i += is_behind ? 1u : 0u;
        }
        return sum;
    }
    // A row that there was no room for: its place is empty.
    bool is_gone() const { return importance == 0.0; }
    void give_up() noexcept {
        *this = DualRow();
        importance = 0.0;
    }
    // What it takes, slack of vectors aside.
    std::size_t bytes() const {
        return sizeof(*this) + 4 * (index.size() + value.size() + relevant.size() + unknown.size()) +
               duals.size() * sizeof(LabelValue);
    }
    void compact() noexcept {
        for (auto* list : {&index, &relevant, &unknown}) list->shrink_to_fit();
        value.shrink_to_fit();
        duals.shrink_to_fit();
    }
    void fields(Fields& f) { f.memory(index, value, relevant, unknown, duals); }
    std::size_t memory_bytes() const { return sizeof(*this) + Fields::bytes(*this); }

  private:
    static double squashed(double x) {
        constexpr double kLinear = 1e-4;  // log(1 + x) is x there, and would lose digits
        if (x != x) return 0.0;
        const double size = std::fabs(x);
        const double u = size < kLinear ? size : log_(1.0 + size);
        return x < 0.0 ? -u : u;
    }
};

// A ring of at most `capacity` rows.
class DualMemory {
  public:
    static constexpr double kMostValue = 1.0 + 1e-5;

    explicit DualMemory(std::size_t capacity) : ring_(capacity) {}

    std::size_t size() const { return ring_.size(); }
    const Ring& ring() const { return ring_; }
    // By age: 0 is the newest row.
    DualRow& row(std::size_t age) { return rows_[ring_.slot_of(age)]; }
    const DualRow& row(std::size_t age) const { return rows_[ring_.slot_of(age)]; }

    // Rows that are there to be learned again: the newest ones.
    std::size_t n_kept() const { return n_kept_; }

    // So that the next `push` needs no memory.
    void make_room() { rows_.reserve(ring_.room(rows_.capacity(), 16)); }
    // So that a row can have so many dual variables more.
    void make_room_for_duals(std::size_t age, std::size_t n) {
        DualRow& own = row(age);
        held_ -= own.memory_bytes();
        boostline::make_room(own.duals, n);
        held_ += own.memory_bytes();
    }
    // Changes a row; `change(row)` needs no memory.
    template <class Change>
    void change(std::size_t age, Change&& change) noexcept {
        DualRow& own = row(age);
        bytes_ -= own.bytes();
        change(own);
        bytes_ += own.bytes();
    }
    // Takes a row; leaves the one that had its place. left(age, row) is called for a row that is about to leave.
    template <class Left>
    void push(DualRow& row, Left&& left) noexcept {
        if (ring_.is_full() && n_kept_ == size()) left(size() - 1, rows_[ring_.next()]);
        DualRow& own = ring_.is_full() ? rows_[ring_.next()] : rows_.emplace_back();
        if (ring_.is_full()) bytes_ -= own.bytes(), held_ -= own.memory_bytes();
        std::swap(own, row);
        bytes_ += own.bytes(), held_ += own.memory_bytes();
        ring_.advance();
        n_kept_ = std::min(n_kept_ + 1, size());
    }
    // Gives up the oldest rows while is_too_much(bytes of the others).
    template <class IsTooMuch, class Left>
    void forget(IsTooMuch&& is_too_much, Left&& left) noexcept {
        const std::size_t places = rows_.size() * sizeof(DualRow);
        while (n_kept_ > 0 && is_too_much(bytes_ - places)) {
            DualRow& oldest = row(n_kept_ - 1);
            left(n_kept_ - 1, oldest);
            bytes_ -= oldest.bytes(), held_ -= oldest.memory_bytes();
            oldest.give_up();
            bytes_ += oldest.bytes(), held_ += oldest.memory_bytes();
            n_kept_ -= 1;
        }
    }
    // What `memory_bytes` counts, or a little more; at once.
    std::size_t held_bytes() const { return (rows_.capacity() - rows_.size()) * sizeof(DualRow) + held_; }
    // Gives back what is held for nothing.
    void compact() noexcept {
        rows_.shrink_to_fit();
        for (DualRow& row : rows_) row.compact();
        count();
    }
    void clear() noexcept {
        release(rows_);
        ring_.clear();
        count();
    }

    std::size_t memory_bytes() const {
        std::size_t total = (rows_.capacity() - rows_.size()) * sizeof(DualRow);
        for (const DualRow& row : rows_) total += row.memory_bytes();
        return total;
    }

    // Oldest row first.
    void fields(Fields& f, std::size_t n_features, std::size_t n_labels, float most_dual) {
        if (f.counts()) return f.add_bytes(memory_bytes());
        f.ring<double>("row_importance", ring_);
        if (f.loads()) rows_.resize(ring_.size());
        const std::size_t n_index = list(f, "row_index", n_features, &DualRow::index);
        for (DualRow& row : rows_) row.value.resize(row.index.size());
        list(f, "row_relevant", n_labels, &DualRow::relevant);
        list(f, "row_unknown", n_labels, &DualRow::unknown);
        const std::size_t n_duals = lengths(f, "row_dual_label", n_labels, &DualRow::duals);
        each<float>(f, "row_value", n_index, within(kMostValue),
                    [](DualRow& row, auto&& visit) { visit(row.value.data(), row.value.size()); });
        each<std::int32_t>(f, "row_dual_label", n_duals, kCounts, [](DualRow& row, auto&& visit) {
            for (LabelValue& dual : row.duals) visit(&dual.label, 1);
        });
        each<float>(f, "row_dual", n_duals, {0.0, static_cast<double>(most_dual)}, [](DualRow& row, auto&& visit) {
            for (LabelValue& dual : row.duals) visit(&dual.value, 1);
        });
        each<double>(f, "row_importance", rows_.size(), {0.0, 1.0},
                     [](DualRow& row, auto&& visit) { visit(&row.importance, 1); });
        if (f.checks()) check(f, n_labels);
        if (f.loads()) count();
    }

  private:
    void count() noexcept {
        bytes_ = held_ = n_kept_ = 0;
        for (const DualRow& row : rows_) {
            bytes_ += row.bytes(), held_ += row.memory_bytes();
            n_kept_ += row.is_gone() ? 0 : 1;
        }
    }

    // visit(values, n) for what `of(row, visit)` names in every row.
    template <class T, class Of>
    void each(Fields& f, const char* name, std::size_t total, Bounds bounds, Of&& of) {
        f.pieces<T>(name, total, bounds,
                    [&](auto&& visit) { ring_.for_each([&](std::size_t slot) { of(rows_[slot], visit); }); });
    }
    // The lengths of a list of every row, which the lists of a file then have. Returns their sum.
    template <class T>
    std::size_t lengths(Fields& f, const char* name, std::size_t most, std::vector<T> DualRow::* list) {
        std::vector<std::int32_t> n;
        ring_.for_each([&](std::size_t slot) { n.push_back(static_cast<std::int32_t>((rows_[slot].*list).size())); });
        f.array((std::string(name) + "_length").c_str(), n, rows_.size(), {0.0, static_cast<double>(most), true});
        std::size_t total = 0;
        for (const std::int32_t one : n) total += static_cast<std::size_t>(one);
        f.expect<std::int32_t>(name, total);
        for (std::size_t i = 0; f.loads() && i < n.size(); ++i) (rows_[i].*list).resize(static_cast<std::size_t>(n[i]));
        return total;
    }
    std::size_t list(Fields& f, const char* name, std::size_t end, std::vector<std::int32_t> DualRow::* list) {
        const std::size_t total = lengths(f, name, end, list);
        each<std::int32_t>(f, name, total, kCounts,
                           [&](DualRow& row, auto&& visit) { visit((row.*list).data(), (row.*list).size()); });
        for (const DualRow& row : rows_) f.columns(name, (row.*list).data(), (row.*list).size(), end);
        return total;
    }
    // What the numbers have to be together.
    void check(const Fields& f, std::size_t n_labels) const {
        std::vector<std::int32_t> labels;
        for (const DualRow& row : rows_) {
            for (const float v : row.value) f.require(v != 0.0f, "row_value");
            for (const std::int32_t l : row.unknown)
                f.require(!std::binary_search(row.relevant.begin(), row.relevant.end(), l), "row_unknown");
            labels.clear();
            for (const LabelValue& dual : row.duals) {
                labels.push_back(dual.label);
                f.require(dual.value > 0.0f, "row_dual");
            }
            f.columns("row_dual_label", labels.data(), labels.size(), n_labels);
            f.require(!row.is_gone() || row.bytes() == sizeof(row), "row_importance");
        }
        // Those that are gone are the oldest.
        for (std::size_t age = 1; age < size(); ++age)
            f.require(!row(age - 1).is_gone() || row(age).is_gone(), "row_importance");
    }

    Ring ring_;
    std::vector<DualRow> rows_;  // by slot
    std::size_t n_kept_ = 0;     // rows that are not gone
    std::size_t bytes_ = 0, held_ = 0;
};

}  // namespace boostline
