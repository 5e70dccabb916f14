// The last rows of a stream with the dual variables of their labels, for learners that solve their problem in the dual:
// a row's dual variable of a label says how much the row counts in the weights of that label. Everything is a short
// list: nothing here grows with the number of labels.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/archive.hpp"
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
    std::size_t memory_bytes() const {
        return sizeof(*this) + 4 * (index.capacity() + value.capacity() + relevant.capacity() + unknown.capacity()) +
               duals.capacity() * sizeof(LabelValue);
    }

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
    // Takes a row; leaves the one that had its place.
    void push(DualRow& row) noexcept {
        DualRow& own = ring_.is_full() ? rows_[ring_.next()] : rows_.emplace_back();
        if (ring_.is_full()) bytes_ -= own.bytes(), held_ -= own.memory_bytes();
        std::swap(own, row);
        bytes_ += own.bytes(), held_ += own.memory_bytes();
        ring_.advance();
        n_kept_ = std::min(n_kept_ + 1, size());
    }
    // Gives up the oldest rows until the others take no more than this.
    void forget(std::size_t most_bytes) noexcept {
        const std::size_t places = rows_.size() * sizeof(DualRow);
        while (n_kept_ > 0 && bytes_ - places > most_bytes) {
            DualRow& oldest = row(n_kept_ - 1);
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
    void save(Archive& out, const std::string& prefix) const {
        save_lists<std::int32_t>(out, prefix, "row_index", &DualRow::index);
        save_values<float>(out, prefix + "row_value", [](const DualRow& row, auto&& put) {
            for (const float v : row.value) put(v);
        });
        save_lists<std::int32_t>(out, prefix, "row_relevant", &DualRow::relevant);
        save_lists<std::int32_t>(out, prefix, "row_unknown", &DualRow::unknown);
        save_values<std::int32_t>(out, prefix + "row_dual_label_length", [](const DualRow& row, auto&& put) {
            put(static_cast<std::int32_t>(row.duals.size()));
        });
        save_values<std::int32_t>(out, prefix + "row_dual_label", [](const DualRow& row, auto&& put) {
            for (const LabelValue& dual : row.duals) put(dual.label);
        });
        save_values<float>(out, prefix + "row_dual", [](const DualRow& row, auto&& put) {
            for (const LabelValue& dual : row.duals) put(dual.value);
        });
        save_values<double>(out, prefix + "row_importance",
                            [](const DualRow& row, auto&& put) { put(row.importance); });
    }

    void load(const ArchiveView& in, const std::string& prefix, std::int64_t n_features, std::size_t n_labels,
              float most_dual) {
        DualMemory fresh(ring_.capacity());
        const std::size_t n = in.size<double>(prefix + "row_importance");
        fresh.ring_.fill(n, prefix + "row_importance");
        Lists index(in, prefix, "row_index", n, static_cast<std::size_t>(n_features));
        Lists relevant(in, prefix, "row_relevant", n, n_labels), unknown(in, prefix, "row_unknown", n, n_labels);
        Lists duals(in, prefix, "row_dual_label", n, n_labels);
        ArrayReader<float> values(in, prefix + "row_value", index.total), dual(in, prefix + "row_dual", duals.total);
        ArrayReader<double> importance(in, prefix + "row_importance", n);
        fresh.rows_.resize(n);
        std::vector<std::int32_t> labels;
        for (std::size_t i = 0; i < n; ++i) {
            DualRow& row = fresh.rows_[i];
            index.next(i, row.index);
            row.value.resize(row.index.size());
            values.next(row.value.data(), row.value.size());
            relevant.next(i, row.relevant);
            unknown.next(i, row.unknown);
            duals.next(i, labels);
            for (const std::int32_t label : labels) row.duals.push_back({label, dual.next()});
            row.importance = importance.next();
        }
        fresh.check(prefix, n_features, n_labels, most_dual);
        fresh.count();
        *this = std::move(fresh);
    }
    void check(const std::string& prefix, std::int64_t n_features, std::size_t n_labels, float most_dual) const {
        constexpr float kMostValue = 1.0f + 1e-5f;
        const auto ascending = [&](const std::vector<std::int32_t>& list, std::size_t end, const char* name) {
            check_columns(list.data(), list.size(), end, prefix, name);
        };
        std::vector<std::int32_t> labels;
        for (const DualRow& row : rows_) {
            ascending(row.index, static_cast<std::size_t>(n_features), "row_index");
            for (const float v : row.value)
                require(v != 0.0f && v >= -kMostValue && v <= kMostValue, prefix, "row_value");
            ascending(row.relevant, n_labels, "row_relevant");
            ascending(row.unknown, n_labels, "row_unknown");
            for (const std::int32_t l : row.unknown)
                require(!std::binary_search(row.relevant.begin(), row.relevant.end(), l), prefix, "row_unknown");
            labels.clear();
            for (const LabelValue& dual : row.duals) {
                labels.push_back(dual.label);
                require(dual.value > 0.0f && dual.value <= most_dual, prefix, "row_dual");
            }
            ascending(labels, n_labels, "row_dual_label");
            require(row.importance >= 0.0 && row.importance <= 1.0, prefix, "row_importance");
            require(!row.is_gone() || row.bytes() == sizeof(row), prefix, "row_importance");
        }
        // Those that are gone are the oldest.
        for (std::size_t age = 1; age < size(); ++age)
            require(!row(age - 1).is_gone() || row(age).is_gone(), prefix, "row_importance");
    }

  private:
    void count() noexcept {
        bytes_ = held_ = n_kept_ = 0;
        for (const DualRow& row : rows_) {
            bytes_ += row.bytes(), held_ += row.memory_bytes();
            n_kept_ += row.is_gone() ? 0 : 1;
        }
    }

    // put(value) for the values that `each` finds in the rows.
    template <class T, class Each>
    void save_values(Archive& out, const std::string& name, Each&& each) const {
        const auto visit = [&](auto&& put) { ring_.for_each([&](std::size_t slot) { each(rows_[slot], put); }); };
        std::size_t total = 0;
        visit([&](T) { total += 1; });
        out.add<T>(name, total, [&](auto&& write) { visit([&](T value) { write(&value, 1); }); });
    }
    template <class T>
    void save_lists(Archive& out, const std::string& prefix, const char* name, std::vector<T> DualRow::* list) const {
        save_values<std::int32_t>(out, prefix + name + "_length", [&](const DualRow& row, auto&& put) {
            put(static_cast<std::int32_t>((row.*list).size()));
        });
        save_values<T>(out, prefix + name, [&](const DualRow& row, auto&& put) {
            for (const T value : row.*list) put(value);
        });
    }

    // Lists of whole numbers of a file, with their lengths.
    struct Lists {
        std::vector<std::int32_t> length;
        std::size_t total = 0;
        ArrayReader<std::int32_t> values;

        Lists(const ArchiveView& in, const std::string& prefix, const char* name, std::size_t n, std::size_t most)
            : values(in, prefix + name, lengths(in, prefix, name, n, most)) {}
        void next(std::size_t i, std::vector<std::int32_t>& out) {
            out.resize(static_cast<std::size_t>(length[i]));
            values.next(out.data(), out.size());
        }

      private:
        std::size_t lengths(const ArchiveView& in, const std::string& prefix, const char* name, std::size_t n,
                            std::size_t most) {
            in.read(prefix + name + "_length", n, length);
            for (const std::int32_t l : length) {
                require(l >= 0 && static_cast<std::size_t>(l) <= most, prefix + name, "_length");
                total += static_cast<std::size_t>(l);
            }
            return total;
        }
    };

    Ring ring_;
    std::vector<DualRow> rows_;  // by slot
    std::size_t n_kept_ = 0;     // rows that are not gone
    std::size_t bytes_ = 0, held_ = 0;
};

}  // namespace boostline
