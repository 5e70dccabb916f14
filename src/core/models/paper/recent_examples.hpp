// The last examples and what they cost: when the stream has changed, those since the change are learned anew.
#pragma once

#include <string>
#include <vector>

#include "core/learners/row_memory.hpp"

namespace boostline {

class RecentExamples {
  public:
    static constexpr std::size_t kCapacity = 256;

    explicit RecentExamples(std::size_t n_labels) : n_labels_(n_labels), rows_(kCapacity, n_labels) {}

    // A row with more entries than this empties the memory.
    void set_most_entries(std::size_t n) { most_entries_ = n; }

    // Gets all the memory that `push` needs; the example is pushed when it has been learned.
    void prepare(const Row& x, const Labels& labels) {
        next_.assign(x, static_cast<std::size_t>(x.n_features));
        targets_.assign(labels);
        importance_ = labels.importance;
        is_too_long_ = next_.size() > most_entries_;
        if (is_too_long_) {
            next_ = Entries();
            return;
        }
        rows_.make_room_for(next_.size());
        make_room(losses_, 1);
    }
    // The same for n rows of a block: `prepare` needs no memory then.
    void make_room_for_block(const Example* rows, std::size_t n) {
        std::size_t longest = 0;
        for (std::size_t r = 0; r < n; ++r) longest = std::max(longest, rows[r].x.most_entries());
        next_.reserve(longest);
        targets_.value.reserve(n_labels_);
        rows_.make_room_for_block(n, [&](std::size_t r) { return std::min(rows[r].x.most_entries(), most_entries_); });
        losses_.reserve(kCapacity);
    }
    void push(double loss) noexcept {
        if (is_too_long_) return clear();
        rows_.push(next_, targets_.value.data(), importance_);
        if (losses_.size() == kCapacity) losses_.erase(losses_.begin());
        losses_.push_back(loss);
    }
    void clear() noexcept {
        rows_.clear();
        losses_.clear();
    }

    // When the stream has changed: marks the examples since then.
    void mark_change() noexcept { n_marked_ = n_since_change(); }
    // Calls learn(x, labels) for the marked examples, oldest first. If that throws, the rest stay marked.
    template <class Learn>
    void for_marked(std::int64_t n_features, std::int32_t n_labels, Learn&& learn) {
        if (n_marked_ == 0) return;
        std::vector<double> dense(static_cast<std::size_t>(n_features), 0.0);
        std::vector<std::int64_t> index;
        Labels labels;
        for (; n_marked_ > 0; --n_marked_) {
            const RowView row = rows_.row(n_marked_ - 1);
            index.assign(row.index, row.index + row.size);
            for (std::size_t e = 0; e < row.size; ++e) dense[static_cast<std::size_t>(index[e])] = row.value[e];
            Row x;
            x.dense = dense.data();
            x.n_features = n_features;
            x.is_sparse = true;
            x.index = index.data();
            x.value = row.value;
            x.n_stored = static_cast<std::int64_t>(row.size);
            read_labels(n_marked_ - 1, n_labels, labels);
            learn(x, labels);
            for (std::size_t e = 0; e < row.size; ++e) dense[static_cast<std::size_t>(index[e])] = 0.0;
        }
        clear();
    }

    // How many of the last examples came after the change: the cut into two parts whose mean losses differ most for
    // their sizes.
    std::size_t n_since_change() const {
        const std::size_t n = losses_.size();
        double total = 0.0, after = 0.0, best = 0.0;
        std::size_t found = n;
        for (const double loss : losses_) total += loss;
        for (std::size_t m = 1; m < n; ++m) {
            after += losses_[n - m];
            const double here = static_cast<double>(m), there = static_cast<double>(n - m);
            const double difference = after / here - (total - after) / there;
            const double evidence = difference > 0.0 ? difference * difference * (here * there) : 0.0;
            if (evidence > best) best = evidence, found = m;
        }
        return found;
    }

    void grow_labels(std::size_t n) {
        rows_.grow_labels(n);
        n_labels_ = n;
    }
    void add_missing(std::size_t first, std::size_t last) { rows_.add_missing(first, last); }

    void fields(Fields& f, std::size_t n_features) {
        f.part("", rows_, n_features);
        f.array("losses", losses_, rows_.size(), {0.0, 1.0 + 1e-6});
        f.whole("marked", n_marked_, 0.0, static_cast<double>(rows_.size()));
        // Rows without a pair to rank are not kept, and have no costs with which they could be learned anew.
        for (std::size_t age = 0; f.checks() && age < rows_.size(); ++age) {
            const std::int8_t *first = rows_.targets(age), *end = first + n_labels_;
            f.require(std::count(first, end, 1) > 0 && std::count(first, end, 0) > 0, "row_targets");
        }
        f.part("", next_);
        f.memory(targets_.value);
    }

  private:
    void read_labels(std::size_t age, std::int32_t n_labels, Labels& labels) const {
        const std::int8_t* targets = rows_.targets(age);
        labels.relevant.clear();
        labels.irrelevant.clear();
        labels.is_relevant.assign(static_cast<std::size_t>(n_labels), 0);
        labels.importance = rows_.importance(age);
        for (std::int32_t l = 0; l < n_labels; ++l) {
            if (targets[l] > 0) labels.relevant.push_back(l), labels.is_relevant[static_cast<std::size_t>(l)] = 1;
            if (targets[l] == 0) labels.irrelevant.push_back(l);
        }
    }

    std::size_t n_labels_;
    RowMemory rows_;
    std::vector<double> losses_;  // oldest first
    std::size_t n_marked_ = 0;    // of the newest examples: still to be learned anew
    std::size_t most_entries_ = static_cast<std::size_t>(-1);
    // Of the example that is being learned.
    Entries next_;
    bool is_too_long_ = false;
    Targets targets_;
    double importance_ = 0.0;
};

}  // namespace boostline
