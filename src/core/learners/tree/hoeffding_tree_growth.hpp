// How a leaf of a Hoeffding tree grows: what it learns of a label, when it splits, and what stops it under a cap.
#pragma once

#include "core/learners/tree/hoeffding_tree.hpp"
#include "core/learners/tree/split_search.hpp"

namespace boostline {

inline void HoeffdingTree::learn_label(std::int32_t leaf_id, const RowLabel& label) {
    Node& leaf = node(leaf_id);
    // Without a cap the row's own leaf has got the labels that it was to get.
    const bool is_known = leaf_id == row_.leaf && settings_.max_bytes == 0;
    std::int32_t entry = !is_known ? find_entry(leaf, label.label) : label.entry < leaf.n_entries() ? label.entry : -1;
    if (entry < 0) {
        entry = leaf.n_entries();
        if (!make_room(entry_bytes(leaf.entries.size() + 1) - entry_bytes(leaf.entries.size()))) return;
        append(leaf, label.label, kFirstMass);
    }
    if (!add_importance(leaf, leaf.entries[static_cast<std::size_t>(entry)], label.importance)) return;
    take_range(leaf);
    if (is_time_to_try(leaf, leaf.weight)) {
        leaf.last_try = leaf.weight;
        try_split(leaf_id);
    }
}

// For so many labels of the row that its leaf has not observed so far.
inline void HoeffdingTree::reserve_stats(Node& leaf, std::size_t n_more) {
    leaf.stats.reserve(stats_width(room_for(static_cast<std::size_t>(leaf.n_observed) + n_more)));
}
inline void HoeffdingTree::make_stats(Node& leaf, Entry& entry) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto n = static_cast<std::size_t>(leaf.n_observed);
    if (leaf.stats.capacity() < stats_width(n + 1)) reserve_stats(leaf, 1);
    if (n == 0) {
        leaf.stats.assign(n_covariates(), kInfinity);
        leaf.stats.resize(range_width(), -kInfinity);
    }
    leaf.stats.resize(stats_width(n + 1));
    entry.stats = leaf.n_observed++;
    stats_of(leaf, entry).clear(n_covariates());
    ++counts_.n_blocks;
    counts_.n_bytes += stats_bytes(n + 1) - stats_bytes(n);
}
// Lists that a leaf has done with; the row that led to it keeps them until it is learned.
inline void HoeffdingTree::drop_stats(std::int32_t leaf_id, bool and_entries) {
    Node& leaf = node(leaf_id);
    const std::size_t n_entries = and_entries ? leaf.entries.size() : 0;
    const auto n_blocks = static_cast<std::size_t>(leaf.n_observed);
    if (and_entries)
        row_.undo->take_lists(static_cast<std::size_t>(leaf_id), leaf);
    else
        row_.undo->take_stats(static_cast<std::size_t>(leaf_id), leaf);
    counts_.n_entries -= n_entries;
    counts_.n_blocks -= n_blocks;
    counts_.n_bytes -= entry_bytes(n_entries) + stats_bytes(n_blocks);
}

inline void HoeffdingTree::try_split(std::int32_t leaf_id) {
    Node& leaf = node(leaf_id);
    if (leaf.n_entries() < 2) return;
    const double bound = hoeffding_bound(leaf);
    const bool tie = bound < settings_.tie_threshold;
    // The side of a threshold is one bit, so no gain exceeds 1: nothing can be better by more than the bound.
    if (!tie && bound >= 1.0) return;
    static thread_local LeafStats seen;
    static thread_local SplitSearch search;
    seen.low = leaf.stats.data();
    seen.high = seen.low + n_covariates();
    seen.n_covariates = n_covariates();
    seen.labels.clear();
    for (const Entry& entry : leaf.entries)
        if (entry.stats >= 0) seen.labels.push_back(stats_of(leaf, entry));
    if (!tie && search.rules_out(seen, bound)) return;  // so in nearly all tries
    const Split split = search.best(seen);
    if (split.covariate >= 0 && (tie || split.gain - split.runner_up > bound)) apply(leaf_id, split);
}

// The children take over the labels' masses left and right of the threshold, nothing else.
inline void HoeffdingTree::apply(std::int32_t leaf_id, const Split& split) {
    Node& leaf = node(leaf_id);
    static thread_local std::vector<Entry> goes_left, goes_right;
    goes_left.clear();
    goes_right.clear();
    for (const Entry& entry : leaf.entries) {
        if (entry.stats < 0) continue;
        const Masses masses =
            split_label(stats_of(leaf, entry), static_cast<std::size_t>(split.covariate), split.threshold);
        if (masses.left > 0.0) goes_left.push_back(Entry{masses.left, entry.label});
        if (masses.right > 0.0) goes_right.push_back(Entry{masses.right, entry.label});
    }
    if (settings_.max_bytes != 0 && bytes_after_split(leaf, goes_left.size(), goes_right.size()) > settings_.max_bytes)
        return;
    const std::int32_t children = n_nodes();
    Node& left = nodes_.add();
    Node& right = nodes_.add();
    fill(left, goes_left);
    fill(right, goes_right);
    drop_stats(leaf_id, true);
    nodes_.route(static_cast<std::size_t>(leaf_id)) = {split.threshold, split.covariate, children};
    leaf.nan_right = right.weight > left.weight;
}
inline void HoeffdingTree::fill(Node& leaf, const std::vector<Entry>& entries) {
    leaf.entries.reserve(room_for(entries.size()));
    for (const Entry& entry : entries) append(leaf, entry.label, entry.mass);
    leaf.last_try = leaf.weight;
}
inline std::size_t HoeffdingTree::bytes_after_split(const Node& leaf, std::size_t n_left, std::size_t n_right) const {
    const std::size_t n = nodes_.size();
    return held_bytes() + nodes_.bytes_for(n + 2) - nodes_.bytes_for(n) + entry_bytes(n_left) + entry_bytes(n_right) -
           entry_bytes(leaf.entries.size()) - stats_bytes(static_cast<std::size_t>(leaf.n_observed));
}

// Stops the growth of the least promising leaves until `bytes` more fit under the cap; false if they never do.
inline bool HoeffdingTree::make_room(std::size_t bytes) {
    if (settings_.max_bytes == 0) return true;
    while (held_bytes() + bytes > settings_.max_bytes) {
        std::int32_t least = -1;
        double least_promise = std::numeric_limits<double>::infinity();
        for (std::int32_t i = 0; i < n_nodes(); ++i) {
            const Node& leaf = node(i);
            if (!is_leaf(i) || !leaf.active) continue;
            const double promise = leaf.weight - heaviest_mass(leaf);  // the weight it gets wrong
            if (promise < least_promise) {
                least_promise = promise;
                least = i;
            }
        }
        if (least < 0) return false;
        drop_stats(least, false);
        node(least).active = 0;
    }
    return true;
}

}  // namespace boostline
