// What takes a tree back to where it was before a row, should memory end in the middle of it. The row falls into one
// leaf; of that, the numbers are remembered which the row's labels can change. Leaves that split or stop growing leave
// their lists here.
#pragma once

#include <algorithm>
#include <memory>
#include <new>
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
    // Remembers a leaf before a row, of which the entries of n labels may change; range and block are the widths of
    // what a leaf's statistics are made of.
    template <class RowLabel>
    void begin(const TreeNodes& nodes, const TreeCounts& counts, std::size_t leaf_id, std::size_t range,
               std::size_t block, const RowLabel* labels, std::size_t n) {
        clear();
        const TreeNode& leaf = nodes[leaf_id];
        n_nodes_ = nodes.size();
        counts_ = counts;
        leaf_id_ = leaf_id;
        weight_ = leaf.weight;
        last_try_ = leaf.last_try;
        n_entries_ = leaf.entries.size();
        stats_size_ = leaf.stats.size();
        if (stats_size_ > 0) remember(leaf.stats, 0, range);
        for (const RowLabel* label = labels; label < labels + n; ++label) {
            const auto i = static_cast<std::size_t>(label->entry);
            if (i >= n_entries_) continue;  // a new one
            const TreeNode::Entry& entry = leaf.entries[i];
            entries_.emplace_back(i, entry);
            if (entry.stats >= 0) remember(leaf.stats, range + static_cast<std::size_t>(entry.stats) * block, block);
        }
    }
    // Forgets the row; keeps the room.
    void clear() noexcept {
        entries_.clear();
        values_.clear();
        pieces_.clear();
        left_.clear();
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

    void run(TreeNodes& nodes, TreeCounts& counts) noexcept {
        nodes.truncate(n_nodes_);
        counts = counts_;
        for (auto last = left_.rbegin(); last != left_.rend(); ++last) {
            if (last->id >= n_nodes_) continue;  // it came with this row
            TreeNode& leaf = nodes[last->id];
            leaf.entries.swap(last->entries);
            leaf.stats.swap(last->stats);
            nodes.route(last->id) = TreeRoute{};
            leaf.nan_right = 0;
            leaf.active = 1;
        }
        TreeNode& leaf = nodes[leaf_id_];
        leaf.weight = weight_;
        leaf.last_try = last_try_;
        leaf.entries.resize(n_entries_);
        for (const auto& [i, entry] : entries_) leaf.entries[i] = entry;
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

    void remember(const std::vector<double>& stats, std::size_t start, std::size_t size) {
        const auto first = stats.begin() + static_cast<std::ptrdiff_t>(start);
        values_.insert(values_.end(), first, first + static_cast<std::ptrdiff_t>(size));
        pieces_.emplace_back(start, size);
    }

    std::size_t n_nodes_ = 0, leaf_id_ = 0, n_entries_ = 0, stats_size_ = 0;
    TreeCounts counts_;
    double weight_ = 0.0, last_try_ = 0.0;
    std::vector<std::pair<std::size_t, TreeNode::Entry>> entries_;  // those of the row's labels, and where they were
    std::vector<double> values_;
    std::vector<std::pair<std::size_t, std::size_t>> pieces_;  // of the leaf's statistics: where values_ came from
    std::vector<Lists> left_;
};

// An undo from those of this thread that are not needed, or a new one. Rows that need one come often.
class SpareUndos {
  public:
    static std::unique_ptr<TreeUndo> take() {
        auto& all = spare();
        if (all.empty()) return std::make_unique<TreeUndo>();
        std::unique_ptr<TreeUndo> last = std::move(all.back());
        all.pop_back();
        return last;
    }
    static void give_back(std::unique_ptr<TreeUndo> undo) noexcept {
        if (!undo) return;
        undo->clear();
        try {
            if (auto& all = spare(); all.size() < kMost) all.push_back(std::move(undo));
        } catch (const std::bad_alloc&) {
        }
    }

  private:
    static constexpr std::size_t kMost = 256;
    static std::vector<std::unique_ptr<TreeUndo>>& spare() {
        static thread_local std::vector<std::unique_ptr<TreeUndo>> all;
        return all;
    }
};

}  // namespace boostline
