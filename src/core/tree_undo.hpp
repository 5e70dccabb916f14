// What takes a tree back to where it was before a row, should memory end in the middle of it. The row falls into one
// leaf; of that, the numbers are remembered which the row's labels can change. Leaves that split or stop growing leave
// their lists here.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/tree_nodes.hpp"

namespace boostline {

// Of all leaves.
struct TreeCounts {
    std::size_t n_entries = 0, n_blocks = 0, n_bytes = 0;
};

class TreeUndo {
  public:
    using Nodes = PagedVector<TreeNode, 16>;

    // `changes(label)` says whether the row has the label; range and block are the widths of what a leaf's statistics
    // are made of.
    template <class Changes>
    TreeUndo(const Nodes& nodes, const TreeCounts& counts, std::size_t leaf_id, std::size_t range, std::size_t block,
             Changes&& changes)
        : n_nodes_(nodes.size()),
          counts_(counts),
          leaf_id_(leaf_id),
          weight_(nodes[leaf_id].weight),
          last_try_(nodes[leaf_id].last_try),
          entries_(nodes[leaf_id].entries),
          stats_size_(nodes[leaf_id].stats.size()),
          range_(range),
          block_(block) {
        const TreeNode& leaf = nodes[leaf_id];
        if (leaf.stats.empty()) return;
        remember(leaf.stats, 0, range_);
        for (const TreeNode::Entry& entry : entries_)
            if (entry.stats >= 0 && changes(entry.label)) remember(leaf.stats, start_of(entry), block_);
    }

    // Before a leaf splits or stops growing: its statistics go here, and its entries, or a copy of them.
    void take_stats(std::size_t id, TreeNode& leaf) {
        left_.push_back({id, leaf.entries, {}});
        left_.back().stats.swap(leaf.stats);
    }
    void take_lists(std::size_t id, TreeNode& leaf) {
        left_.push_back({id, {}, {}});
        left_.back().entries.swap(leaf.entries);
        left_.back().stats.swap(leaf.stats);
    }

    void run(Nodes& nodes, TreeCounts& counts) noexcept {
        nodes.truncate(n_nodes_);
        counts = counts_;
        for (auto last = left_.rbegin(); last != left_.rend(); ++last) {
            if (last->id >= n_nodes_) continue;  // it came with this row
            TreeNode& leaf = nodes[last->id];
            leaf.entries.swap(last->entries);
            leaf.stats.swap(last->stats);
            leaf.threshold = 0.0;
            leaf.covariate = leaf.left = -1;
            leaf.nan_right = 0;
            leaf.active = 1;
        }
        TreeNode& leaf = nodes[leaf_id_];
        leaf.weight = weight_;
        leaf.last_try = last_try_;
        leaf.entries.swap(entries_);
        leaf.stats.resize(stats_size_);
        const double* from = values_.data();
        for (const auto& [start, size] : pieces_) {
            std::copy_n(from, size, leaf.stats.begin() + static_cast<std::ptrdiff_t>(start));
            from += size;
        }
    }

  private:
    struct Lists {
        std::size_t id;
        std::vector<TreeNode::Entry> entries;
        std::vector<double> stats;
    };

    std::size_t start_of(const TreeNode::Entry& entry) const {
        return range_ + static_cast<std::size_t>(entry.stats) * block_;
    }
    void remember(const std::vector<double>& stats, std::size_t start, std::size_t size) {
        const auto first = stats.begin() + static_cast<std::ptrdiff_t>(start);
        values_.insert(values_.end(), first, first + static_cast<std::ptrdiff_t>(size));
        pieces_.emplace_back(start, size);
    }

    const std::size_t n_nodes_;
    const TreeCounts counts_;
    const std::size_t leaf_id_;
    const double weight_, last_try_;
    std::vector<TreeNode::Entry> entries_;
    const std::size_t stats_size_, range_, block_;
    std::vector<double> values_;
    std::vector<std::pair<std::size_t, std::size_t>> pieces_;  // of the leaf's statistics: where values_ came from
    std::vector<Lists> left_;
};

}  // namespace boostline
