// Weights of a linear model by feature and label, for features without end: a feature's row of weights is made when it
// is first needed, holds the labels that have a weight, and becomes an array over all labels once a quarter of them
// have one, or an eighth of very many. Which of the two it is changes no sum.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "core/base/archive.hpp"
#include "core/base/philox.hpp"
#include "core/base/portable.hpp"
#include "core/kernels/label_steps.hpp"
#include "core/learners/linear/label_table.hpp"

namespace boostline {

class SparseWeights {
  public:
    static constexpr float kMost = 1e6f;  // weights are kept within it, so that sums stay finite

    // Room is asked for at least so many labels at a time: where that makes an array, it is counted as one.
    explicit SparseWeights(std::size_t n_labels, std::size_t least_room = 0)
        : n_labels_(n_labels), least_room_(least_room) {}

    std::size_t n_features() const { return rows_.size(); }
    // What the weights take, slack of vectors aside: of the same weights always the same.
    std::size_t bytes() const { return bytes_; }

    // sums[label] += value * weight, for all labels; sums has room for padded(n_labels) of them.
    void add_to(std::int32_t feature, float value, float* sums) const {
        const std::int64_t at = find(feature);
        if (at < 0) return;
        const FeatureRow& row = rows_[static_cast<std::size_t>(at)];
        if (!row.dense.empty()) {
            add_scaled(sums, row.dense.data(), value, row.dense.size());
        } else {
            row.entries.add_to(value, sums);
        }
    }

    // Before these features are asked for: they lie all over the memory.
    void prefetch(const std::vector<std::int32_t>& features) const noexcept {
        if (index_.empty()) return;
        const std::size_t mask = index_.size() - 1;
        for (const std::int32_t f : features) BOOSTLINE_PREFETCH(&index_[mix(f) & mask]);
        for (const std::int32_t f : features) {
            const std::int32_t at = index_[mix(f) & mask];
            if (at >= 0) BOOSTLINE_PREFETCH(&rows_[static_cast<std::size_t>(at)]);
        }
    }
    void prefetch(std::int32_t feature, const std::vector<LabelValue>& labels) const noexcept {
        const std::int64_t at = find(feature);
        if (at < 0) return;
        const FeatureRow& row = rows_[static_cast<std::size_t>(at)];
        if (row.dense.empty())
            for (const LabelValue& e : labels) row.entries.prefetch(e.label);
        else
            for (const LabelValue& e : labels) BOOSTLINE_PREFETCH(&row.dense[static_cast<std::size_t>(e.label)]);
    }

    // The same for some labels alone.
    void add_to(std::int32_t feature, float value, std::vector<LabelValue>& sums) const {
        const std::int64_t at = find(feature);
        if (at < 0) return;
        const FeatureRow& row = rows_[static_cast<std::size_t>(at)];
        if (!row.dense.empty()) {
            for (LabelValue& sum : sums) sum.value += value * row.dense[static_cast<std::size_t>(sum.label)];
            return;
        }
        for (LabelValue& sum : sums)
            if (const float* weight = row.entries.find(sum.label)) sum.value += value * *weight;
    }

    // What each feature of a row adds to the sum of a label.
    template <class SparseRow>
    void explain(const SparseRow& row, std::size_t label, double times, EvidenceSum& out) const {
        std::vector<LabelValue> sum(1);
        for (std::size_t i = 0; i < row.index.size(); ++i) {
            sum[0] = {static_cast<std::int32_t>(label), 0.0f};
            add_to(row.index[i], row.value[i], sum);
            out.add(row.index[i], times * static_cast<double>(sum[0].value));
        }
    }

    // Reserves the memory for adding to `n` labels of a feature, and to so many more for every call since
    // `new_promises`. Changes no result.
    void new_promises() noexcept { promises_ += 1; }
    void make_room_for(std::int32_t feature, std::size_t n) {
        std::int64_t at = find(feature);
        if (at < 0) at = add_row(feature);
        FeatureRow& row = rows_[static_cast<std::size_t>(at)];
        if (!row.dense.empty()) return;
        row.promised = (row.promises == promises_ ? row.promised : 0) + n;
        row.promises = promises_;
        const std::size_t needed = row.entries.size() + row.promised;
        if (needed > most_listed()) {
            std::vector<float> dense(padded(n_labels_), 0.0f);
            row.entries.for_each(
                [&](std::int32_t label, float weight) { dense[static_cast<std::size_t>(label)] = weight; });
            lists_ -= list_bytes(row);
            row.dense.swap(dense);
            row.entries.release();
            lists_ += list_bytes(row);
        } else {
            const std::size_t before = list_bytes(row);
            row.entries.reserve(needed);
            lists_ += list_bytes(row) - before;
        }
    }

    // A feature was in a row. There has to be room.
    void count(std::int32_t feature) noexcept {
        FeatureRow& row = rows_[static_cast<std::size_t>(find(feature))];
        const std::size_t before = bytes_of(row);
        row.n_seen += row.n_seen < static_cast<std::int64_t>(kMostRows) ? 1 : 0;
        bytes_ += bytes_of(row) - before;
    }

    // weight += value * step, for the labels that have a step. There has to be room. A new weight that is smaller than
    // what was forgotten is not made.
    void add(std::int32_t feature, float value, const LabelValue* steps, std::size_t n_steps) noexcept {
        FeatureRow& row = rows_[static_cast<std::size_t>(find(feature))];
        if (row.n_seen == 0) count(feature);  // it had been forgotten
        const std::size_t before = bytes_of(row);
        for (std::size_t s = 0; s < n_steps; ++s) {
            const std::int32_t label = steps[s].label;
            const float step = value * steps[s].value;
            float* weight = row.dense.empty() ? row.entries.find(label) : &row.dense[static_cast<std::size_t>(label)];
            if ((weight == nullptr || *weight == 0.0f) && size_of(step) < least_size_) continue;
            change(row, weight != nullptr ? *weight : row.entries[label], step);
        }
        bytes_ += bytes_of(row) - before;
    }

    // Forgets the smallest weights of all, until the others take no more than `most_bytes`, and makes no new ones of
    // that size. Most weights are tiny and only noise (tib-core: nine tenths of them, and without them its rankings are
    // better). Takes back all promises of room.
    void forget(std::size_t most_bytes) noexcept {
        least_size_ = std::max(least_size_, forget(most_bytes, [](std::int32_t, float) {}));
    }
    // The same, but small weights may come again; forgotten(label, weight) is called for each. Returns the size of the
    // smallest that are left.
    template <class Forgotten>
    std::size_t forget(std::size_t most_bytes, Forgotten&& forgotten) noexcept {
        // What goes with the weights of each size, as if all rows were lists: they, and the rows that then have none.
        std::array<std::size_t, kSizes> bytes_of_size{};
        for (const FeatureRow& row : rows_) {
            if (row.n_seen == 0) continue;
            std::size_t largest = 0;
            each_weight(row, [&](std::int32_t, float weight) {
                bytes_of_size[size_of(weight)] += sizeof(LabelValue);
                largest = std::max(largest, size_of(weight));
            });
            bytes_of_size[largest] += kRowBytes;
        }
        std::size_t size = 0, estimate = 0;
        for (const std::size_t n : bytes_of_size) estimate += n;
        while (size + 1 < kSizes && estimate > most_bytes) estimate -= bytes_of_size[size++];
        // The first pass forgets what is smaller than `size`; rarely others follow.
        size -= size > 0 ? 1u : 0u;
        for (; bytes_ > most_bytes && size < kSizes; ++size) {
            bytes_ = 0;
            for (FeatureRow& row : rows_) {
                forget_below(row, size + 1, forgotten);
                bytes_ += bytes_of(row);
            }
        }
        // Rows that have become much shorter: what goes through a row goes through all that it holds.
        for (FeatureRow& row : rows_) {
            const std::size_t held = list_bytes(row);
            if (held <= 4 * row_bytes(row.n_nonzero) + kRowBytes) continue;
            compact(row);
            lists_ = lists_ - held + list_bytes(row);
        }
        return size;
    }

    // By feature: then `forget` has the same order in a model that was loaded.
    void sort() noexcept {
        std::sort(rows_.begin(), rows_.end(),
                  [](const FeatureRow& a, const FeatureRow& b) { return a.feature < b.feature; });
        fill_index();
    }

    // What `memory_bytes` counts, or a little more; at once.
    std::size_t held_bytes() const {
        return rows_.capacity() * sizeof(FeatureRow) + index_.capacity() * sizeof(std::int32_t) + lists_;
    }
    // Gives back what is held for nothing: no more than `bytes` stays, unless there is no memory to move. Takes back
    // all promises, but changes no weight.
    void compact() noexcept {
        rows_.erase(std::remove_if(rows_.begin(), rows_.end(), [](const FeatureRow& row) { return row.n_seen == 0; }),
                    rows_.end());
        for (FeatureRow& row : rows_) compact(row);
        rows_.shrink_to_fit();
        std::size_t size = 128;
        while (size < 2 * (rows_.size() + 1)) size *= 2;
        index_.resize(std::min(size, index_.size()));
        index_.shrink_to_fit();
        fill_index();
        lists_ = 0;
        for (const FeatureRow& row : rows_) lists_ += list_bytes(row);
    }

    void grow_labels(std::size_t n) {
        n_labels_ = n;
        bytes_ = lists_ = 0;
        for (FeatureRow& row : rows_) {
            if (!row.dense.empty()) row.dense.resize(padded(n), 0.0f);
            bytes_ += bytes_of(row);
            lists_ += list_bytes(row);
        }
    }
    void clear() noexcept {
        std::vector<FeatureRow>().swap(rows_);
        std::vector<std::int32_t>().swap(index_);
        bytes_ = lists_ = 0;
        least_size_ = 0;
    }

    std::size_t memory_bytes() const {
        std::size_t total = rows_.capacity() * sizeof(FeatureRow) + index_.capacity() * sizeof(std::int32_t);
        for (const FeatureRow& row : rows_) total += list_bytes(row);
        return total;
    }

    // By feature, ascending; weights that are zero are left out.
    void save(Archive& out, const std::string& prefix) const {
        out.add(prefix + "least_size", std::vector<std::int64_t>{static_cast<std::int64_t>(least_size_)});
        std::vector<const FeatureRow*> rows;
        std::size_t n_weights = 0;
        for (const FeatureRow& row : rows_) {
            if (row.n_seen == 0) continue;  // made ready for a row that was not learned
            rows.push_back(&row);
            n_weights += row.n_nonzero;
        }
        std::sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->feature < b->feature; });
        const auto add = [&](const char* name, auto zero, std::size_t n, auto&& values) {
            out.add<decltype(zero)>(prefix + name, n, [&](auto&& write) {
                for (const FeatureRow* row : rows) values(*row, [&](decltype(zero) value) { write(&value, 1); });
            });
        };
        add("features", std::int32_t{}, rows.size(), [](const FeatureRow& row, auto&& put) { put(row.feature); });
        add("n_seen", std::int64_t{}, rows.size(), [](const FeatureRow& row, auto&& put) { put(row.n_seen); });
        add("n_weights", std::int32_t{}, rows.size(),
            [](const FeatureRow& row, auto&& put) { put(static_cast<std::int32_t>(row.n_nonzero)); });
        std::vector<LabelValue> ascending;
        const auto sorted = [&](const FeatureRow& row) -> const std::vector<LabelValue>& {
            ascending.clear();
            each_weight(row, [&](std::int32_t label, float weight) { ascending.push_back({label, weight}); });
            std::sort(ascending.begin(), ascending.end(),
                      [](const LabelValue& a, const LabelValue& b) { return a.label < b.label; });
            return ascending;
        };
        add("weight_labels", std::int32_t{}, n_weights, [&](const FeatureRow& row, auto&& put) {
            for (const LabelValue& e : sorted(row)) put(e.label);
        });
        add("weights", 0.0f, n_weights, [&](const FeatureRow& row, auto&& put) {
            for (const LabelValue& e : sorted(row)) put(e.value);
        });
    }

    void load(const ArchiveView& in, const std::string& prefix, std::int64_t n_features) {
        SparseWeights fresh(n_labels_, least_room_);
        const auto least_size = in.read_one<std::int64_t>(prefix + "least_size");
        require(least_size >= 0 && least_size <= static_cast<std::int64_t>(kSizes), prefix, "least_size");
        const auto features = in.read<std::int32_t>(prefix + "features");
        std::vector<std::int32_t> lengths;
        std::vector<std::int64_t> n_seen;
        in.read(prefix + "n_weights", features.size(), lengths);
        in.read(prefix + "n_seen", features.size(), n_seen);
        std::size_t total = 0;
        std::int64_t before = -1;
        for (std::size_t i = 0; i < features.size(); ++i) {
            require(features[i] > before && features[i] < n_features, prefix, "features");
            before = features[i];
            require(lengths[i] >= 0 && static_cast<std::size_t>(lengths[i]) <= n_labels_, prefix, "n_weights");
            total += static_cast<std::size_t>(lengths[i]);
        }
        ArrayReader<std::int32_t> labels(in, prefix + "weight_labels", total);
        ArrayReader<float> weights(in, prefix + "weights", total);
        std::vector<LabelValue> entries;
        for (std::size_t i = 0; i < features.size(); ++i) {
            entries.resize(static_cast<std::size_t>(lengths[i]));
            std::int64_t last = -1;
            for (LabelValue& e : entries) {
                e = {labels.next(), weights.next()};
                require(e.label > last && static_cast<std::size_t>(e.label) < n_labels_, prefix, "weight_labels");
                require(e.value != 0.0f && std::fabs(e.value) <= kMost, prefix, "weights");
                last = e.label;
            }
            fresh.make_room_for(features[i], entries.size());
            fresh.count(features[i]);
            fresh.add(features[i], 1.0f, entries.data(), entries.size());
            fresh.rows_.back().n_seen = n_seen[i];
            require(n_seen[i] > 0, prefix, "n_seen");
        }
        fresh.least_size_ = static_cast<std::size_t>(least_size);
        fresh.check(prefix);
        *this = std::move(fresh);
    }
    void check(const std::string& prefix) const {
        for (const FeatureRow& row : rows_) {
            require(row.n_seen >= 0 && row.n_seen <= static_cast<std::int64_t>(kMostRows), prefix, "n_seen");
            require(row.n_seen > 0 || row.n_nonzero == 0, prefix, "n_seen");
            each_weight(row, [&](std::int32_t, float weight) {
                require(weight >= -kMost && weight <= kMost, prefix, "weights");
            });
        }
    }

    // Arrays over labels have room for whole groups of kLanes, so that no loop has a remainder.
    static std::size_t padded(std::size_t n_labels) { return (n_labels + kLanes - 1) / kLanes * kLanes; }

  private:
    struct FeatureRow {
        std::int32_t feature = 0;
        std::int64_t n_seen = 0;     // in so many rows
        std::size_t n_nonzero = 0;   // weights that are not zero
        std::uint64_t promises = 0;  // when room was last promised, and
        std::size_t promised = 0;    // for how many labels
        LabelTable entries;          // or
        std::vector<float> dense;    // one for each label
    };
    // Adding to a list takes several times as long as to an array, and longer still where the sums of all labels do not
    // fit into the fastest cache: at 50,000 labels an eighth instead of a quarter saves a quarter of a row's time.
    static constexpr std::size_t kDenseShare = 4, kDenseShareOfMany = 8, kManyLabels = 1 << 14;
    static constexpr std::size_t kRowBytes = 128;  // a FeatureRow, and its place in the index

    std::size_t most_listed() const { return n_labels_ / (n_labels_ > kManyLabels ? kDenseShareOfMany : kDenseShare); }
    bool is_array(std::size_t n) const { return std::max(n, least_room_) > most_listed(); }
    std::size_t row_bytes(std::size_t n_nonzero) const {
        return is_array(n_nonzero) ? padded(n_labels_) * sizeof(float) : n_nonzero * sizeof(LabelValue);
    }
    std::size_t bytes_of(const FeatureRow& row) const {
        return row.n_seen > 0 ? kRowBytes + row_bytes(row.n_nonzero) : 0;
    }
    static std::size_t list_bytes(const FeatureRow& row) {
        return row.entries.memory_bytes() + row.dense.capacity() * sizeof(float);
    }
    void compact(FeatureRow& row) noexcept {
        try {
            if (is_array(row.n_nonzero)) return;
            LabelTable entries;
            entries.reserve(row.n_nonzero);
            each_weight(row, [&](std::int32_t label, float weight) { entries[label] = weight; });
            std::swap(row.entries, entries);
            release(row.dense);
        } catch (const std::bad_alloc&) {
        }
    }

    // Sizes of weights, four for each doubling: the exponent and two bits of a float.
    static constexpr std::size_t kSizes = 1024;
    static std::size_t size_of(float weight) noexcept {
        std::uint32_t bits;
        std::memcpy(&bits, &weight, sizeof(bits));
        return (bits & 0x7fffffffu) >> 21;
    }
    template <class Forgotten>
    void forget_below(FeatureRow& row, std::size_t size, Forgotten&& forgotten) noexcept {
        const auto drop = [&](std::int32_t label, float& weight) {
            if (weight == 0.0f || size_of(weight) >= size) return;
            forgotten(label, weight);
            weight = 0.0f;
            row.n_nonzero -= 1;
        };
        row.entries.for_each_value(drop);
        for (std::size_t j = 0; j < row.dense.size(); ++j) drop(static_cast<std::int32_t>(j), row.dense[j]);
        if (row.n_nonzero == 0) row.n_seen = 0;
    }

    // In no order.
    template <class Visit>
    void each_weight(const FeatureRow& row, Visit&& visit) const {
        row.entries.for_each([&](std::int32_t label, float weight) {
            if (weight != 0.0f) visit(label, weight);
        });
        for (std::size_t j = 0; j < row.dense.size(); ++j)
            if (row.dense[j] != 0.0f) visit(static_cast<std::int32_t>(j), row.dense[j]);
    }

    static void change(FeatureRow& row, float& weight, float step) noexcept {
        row.n_nonzero -= weight != 0.0f ? 1u : 0u;
        weight += step;
        weight = weight < kMost ? weight : kMost;
        weight = weight > -kMost ? weight : -kMost;
        row.n_nonzero += weight != 0.0f ? 1u : 0u;
    }

    static std::size_t mix(std::int32_t feature) {
        return static_cast<std::size_t>(splitmix64(static_cast<std::uint64_t>(feature)));
    }

    // The place of a feature's row, or -1.
    std::int64_t find(std::int32_t feature) const noexcept {
        if (index_.empty()) return -1;
        const std::size_t mask = index_.size() - 1;
        for (std::size_t i = mix(feature) & mask; index_[i] >= 0; i = (i + 1) & mask)
            if (rows_[static_cast<std::size_t>(index_[i])].feature == feature) return index_[i];
        return -1;
    }

    std::int64_t add_row(std::int32_t feature) {
        if (rows_.size() == rows_.capacity()) rows_.reserve(std::max<std::size_t>(64, rows_.size() * 3 / 2));
        if (2 * (rows_.size() + 1) > index_.size()) {
            std::vector<std::int32_t> larger(std::max<std::size_t>(128, 2 * index_.size()), -1);
            index_.swap(larger);
            fill_index();
        }
        rows_.emplace_back();
        rows_.back().feature = feature;
        insert(rows_.size() - 1);
        return static_cast<std::int64_t>(rows_.size()) - 1;
    }
    void insert(std::size_t row) noexcept {
        const std::size_t mask = index_.size() - 1;
        std::size_t i = mix(rows_[row].feature) & mask;
        while (index_[i] >= 0) i = (i + 1) & mask;
        index_[i] = static_cast<std::int32_t>(row);
    }
    void fill_index() noexcept {
        std::fill(index_.begin(), index_.end(), -1);
        for (std::size_t i = 0; i < rows_.size(); ++i) insert(i);
    }

    std::size_t n_labels_, least_room_;
    std::size_t bytes_ = 0;       // see bytes()
    std::size_t lists_ = 0;       // what all rows' lists and arrays hold
    std::size_t least_size_ = 0;  // of a new weight
    std::uint64_t promises_ = 1;
    std::vector<FeatureRow> rows_;
    std::vector<std::int32_t> index_;  // open addressing; -1: free
};

}  // namespace boostline
