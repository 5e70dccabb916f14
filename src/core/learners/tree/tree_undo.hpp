// What takes a tree back to where it was before a row, should memory end in the middle of it. The row falls into one
// leaf; of that, the numbers are remembered which the row's labels can change. Leaves that split or stop growing leave
// their lists here.
#pragma once

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "core/learners/tree/tree_nodes.hpp"

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
        if (values_.size() < range + n * block) values_.resize(range + n * block);
        if (entries_.size() < n) entries_.resize(n);
        const TreeNode& leaf = nodes[leaf_id];
        n_nodes_ = nodes.size();
        counts_ = counts;
        leaf_id_ = leaf_id;
        weight_ = leaf.weight;
        last_try_ = leaf.last_try;
        n_leaf_entries_ = leaf.entries.size();
        n_observed_ = leaf.n_observed;
        range_ = range;
        block_ = block;
        double* to = values_.data();
        if (n_observed_ > 0) to = std::copy_n(leaf.stats.data(), range, to);
        for (const RowLabel* label = labels; label < labels + n; ++label) {
            const auto i = static_cast<std::size_t>(label->entry);
            if (i >= n_leaf_entries_) continue;  // a new one
            const TreeNode::Entry& entry = leaf.entries[i];
            entries_[n_entries_++] = {i, entry.stats, entry.mass};
            if (entry.stats >= 0)
                to = std::copy_n(&leaf.stats[range + static_cast<std::size_t>(entry.stats) * block], block, to);
        }
    }
    // Forgets the row; keeps the room.
    void clear() noexcept {
        n_entries_ = 0;
        left_.clear();
    }

    // Before a leaf stops growing: its statistics go here, and a copy of its entries stays.
    void take_stats(std::size_t id, TreeNode& leaf) {
        std::vector<TreeNode::Entry> bare;
        bare.reserve(room_for(leaf.entries.size()));
        for (const TreeNode::Entry& entry : leaf.entries) bare.push_back({entry.mass, entry.label});
        take_lists(id, leaf);
        leaf.entries.swap(bare);
    }
    // Before a leaf splits.
    void take_lists(std::size_t id, TreeNode& leaf) {
        left_.push_back({id, {}, {}, leaf.n_observed});
        left_.back().entries.swap(leaf.entries);
        left_.back().stats.swap(leaf.stats);
        leaf.n_observed = 0;
    }

    void run(TreeNodes& nodes, TreeCounts& counts) noexcept {
        nodes.truncate(n_nodes_);
        counts = counts_;
        for (auto last = left_.rbegin(); last != left_.rend(); ++last) {
            if (last->id >= n_nodes_) continue;  // it came with this row
            TreeNode& leaf = nodes[last->id];
            leaf.entries.swap(last->entries);
            leaf.stats.swap(last->stats);
            leaf.n_observed = last->n_observed;
            nodes.route(last->id) = TreeRoute{};
            leaf.nan_right = 0;
            leaf.active = 1;
        }
        TreeNode& leaf = nodes[leaf_id_];
        leaf.weight = weight_;
        leaf.last_try = last_try_;
        leaf.entries.resize(n_leaf_entries_);
        leaf.n_observed = n_observed_;
        const std::size_t range = n_observed_ > 0 ? range_ : 0;
        leaf.stats.resize(range + static_cast<std::size_t>(n_observed_) * block_);
        const double* from = values_.data();
        std::copy_n(from, range, leaf.stats.data());
        from += range;
        for (std::size_t i = 0; i < n_entries_; ++i) {
            TreeNode::Entry& entry = leaf.entries[entries_[i].at];
            entry.mass = entries_[i].mass;
            entry.stats = entries_[i].stats;
            if (entry.stats < 0) continue;
            std::copy_n(from, block_, &leaf.stats[range_ + static_cast<std::size_t>(entry.stats) * block_]);
            from += block_;
        }
    }

  private:
    struct Lists {
        std::size_t id;
        std::vector<TreeNode::Entry> entries;
        std::vector<double> stats;
        std::int32_t n_observed;
    };
    struct KnownEntry {
        std::size_t at;
        std::int32_t stats;
        double mass;
    };

    std::size_t n_nodes_ = 0, leaf_id_ = 0, n_leaf_entries_ = 0, n_entries_ = 0, range_ = 0, block_ = 0;
    std::int32_t n_observed_ = 0;
    TreeCounts counts_;
    double weight_ = 0.0, last_try_ = 0.0;
    std::vector<KnownEntry> entries_;  // those of the row's labels, n_entries_ of them
    std::vector<double> values_;       // of the range and of the labels' statistics
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
