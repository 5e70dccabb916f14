// The importance-weighted Hoeffding tree (VFDT: Domingos and Hulten, KDD 2000) that the paper boosts, to the
// detail of docs/algorithms.md. What it is made of is in tree_nodes.hpp; nothing recurses.
#pragma once

#include <algorithm>
#include <limits>

#include "core/kernels/splits.hpp"
#include "core/learners/learner.hpp"
#include "core/learners/tree/split_search.hpp"
#include "core/learners/tree/tree_nodes.hpp"
#include "core/learners/tree/tree_undo.hpp"

namespace boostline {

// A label of the row at hand, in a leaf.
struct RowLabel {
    double importance;
    std::int32_t label;
    std::int32_t entry;  // where it is in the leaf, or will be; -1: the leaf does not have it
};

struct TreeSettings {
    double grace_period = 10.0;          // weight between two tries to split a leaf
    double split_confidence = 0.1;       // delta of the Hoeffding bound
    double tie_threshold = 0.1;          // split anyway once the bound is smaller
    double weight_scale = 1.0;           // multiplies every importance weight
    bool single_label = false;           // vote for the heaviest label alone
    std::uint64_t max_bytes = 0;         // 0: no cap
    std::vector<std::int32_t> features;  // the covariates it looks at
};

class HoeffdingTree final : public Learner {
  public:
    HoeffdingTree(std::int32_t n_labels, TreeSettings settings)
        : settings_(std::move(settings)),
          n_labels_(n_labels),
          log_inverse_confidence_(log_(1.0 / settings_.split_confidence)),
          gathered_(settings_.features.size()) {
        nodes_.add();
        if (settings_.max_bytes != 0 && settings_.max_bytes < held_bytes())
            throw std::invalid_argument("max_bytes is " + std::to_string(settings_.max_bytes) +
                                        ", but must be at least " + std::to_string(held_bytes()) + ", what a tree of " +
                                        std::to_string(n_covariates()) + " covariates takes without a label");
    }

    std::string kind() const override { return "hoeffding_tree"; }
    void grow_labels(std::int32_t n) override { n_labels_ = n; }
    void grow_features(std::int64_t, bool) override {}  // it keeps to its covariates
    void reset() noexcept override {
        nodes_.truncate(1);
        nodes_[0] = Node{};
        nodes_.route(0) = TreeRoute{};
        counts_ = TreeCounts{};
        row_.clear();
    }
    std::unique_ptr<Learner> clone() const override { return std::make_unique<HoeffdingTree>(*this); }

    void predict(const Row& x, double* votes) const override { vote(node(find_leaf(x)), votes); }
    void predict_to_learn(const Row& x, double* votes) override {
        row_.clear();
        row_.leaf = find_leaf(x);
        vote(node(row_.leaf), votes);
    }
    bool uses_costs_of_relevant_only() const override { return true; }

    // Section 4 of the paper: every relevant label is a single-label example whose importance is the cost it saves.
    // Nearly always that changes numbers in one leaf, for which room is made here. A row with which the leaf may split,
    // or that may need room under a cap, is learned here, and can be taken back.
    void prepare(const Row& x, const Labels& labels, const double* costs, const double* weights) override {
        Node& leaf = node(row_.leaf);  // where the row was found to fall when it was voted on
        if (row_.labels.size() < labels.relevant.size()) row_.labels.resize(labels.relevant.size());
        double weight_after = leaf.weight;
        std::size_t n_new = 0, n_unobserved = 0;
        std::size_t n_learned = 0;
        for (std::size_t i = 0; i < labels.relevant.size(); ++i) {  // those that are not learned are left out
            const std::int32_t label = labels.relevant[i];
            double importance = settings_.weight_scale * weights[0] * (1.0 - costs[static_cast<std::size_t>(label)]);
            if (!(importance > 0.0)) continue;
            importance = std::min(importance, kMostImportance);
            std::int32_t entry = find_entry(leaf, label);
            if (entry < 0 || leaf.entries[static_cast<std::size_t>(entry)].stats < 0)
                ++n_unobserved;
            else  // `commit` comes after `prepare` of all trees
                stats_of(leaf, leaf.entries[static_cast<std::size_t>(entry)]).prefetch(n_covariates());
            if (entry < 0) {
                entry = leaf.n_entries() + static_cast<std::int32_t>(n_new++);
                weight_after += kFirstMass;
            }
            weight_after += importance;
            RowLabel& learned = row_.labels[n_learned++];
            learned.importance = importance;
            learned.label = label;
            learned.entry = entry;
        }
        row_.n_learned = static_cast<std::int32_t>(n_learned);
        if (n_learned == 0) return;
        for (std::size_t f = 0; f < gathered_.size(); ++f)
            gathered_[f] = x.dense[static_cast<std::size_t>(settings_.features[f])];
        if (settings_.max_bytes == 0 && !(leaf.active && is_time_to_try(leaf, weight_after))) {
            if (n_new > 0) leaf.entries.reserve(room_for(leaf.entries.size() + n_new));
            if (leaf.active && n_unobserved > 0) reserve_stats(leaf, n_unobserved);
            return;
        }
        for (const Entry& entry : leaf.entries)  // a try reads the weights of all labels first
            if (entry.stats >= 0) BOOSTLINE_PREFETCH(stats_at(leaf, entry));
        std::unique_ptr<TreeUndo> undo = SpareUndos::take();
        undo->begin(nodes_, counts_, static_cast<std::size_t>(row_.leaf), range_width(), block_width(),
                    row_.labels.data(), n_learned);
        row_.undo = std::move(undo);
        std::int32_t at = row_.leaf;
        for (std::size_t i = 0; i < n_learned; ++i) {
            at = find_leaf(x, at);  // it may have split
            learn_label(at, row_.labels[i]);
        }
    }
    void cancel() noexcept override {
        if (row_.undo) row_.undo->run(nodes_, counts_);
        row_.clear();
    }
    void commit(const Row&, const Labels&) noexcept override {
        if (!row_.undo && row_.n_learned > 0) {
            Node& leaf = node(row_.leaf);
            for (std::int32_t at = 0; at < row_.n_learned; ++at) {
                RowLabel& label = row_.labels[static_cast<std::size_t>(at)];
                const auto i = static_cast<std::size_t>(label.entry);
                Entry& entry = i < leaf.entries.size() ? leaf.entries[i] : append(leaf, label.label, kFirstMass);
                add_importance(leaf, entry, label.importance);
            }
            take_range(leaf);
        }
        row_.clear();
        if (settings_.max_bytes != 0) std::vector<RowLabel>().swap(row_.labels);  // a cap allows for the tree alone
    }

    std::size_t memory_bytes() const override {
        std::size_t total = fixed_bytes() + nodes_.allocated_bytes() + row_.labels.capacity() * sizeof(RowLabel);
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            total += nodes_[i].entries.capacity() * sizeof(Entry) + nodes_[i].stats.capacity() * sizeof(double);
        return total;
    }

    void save(Archive& out) const override;
    void load(const ArchiveView& in) override;
    void check() const override;

  private:
    static constexpr double kMostImportance = 1e60;  // keeps sums of squares finite; potentials may ask for any weight
    static constexpr double kLeastTotal = 1e-300;    // of the masses in a leaf
    static constexpr double kFirstMass = 1.0;        // of a label where it is first seen

    using Node = TreeNode;
    using Entry = TreeNode::Entry;

    // The row between prepare and commit; a copy of a tree has none.
    struct RowAtHand {
        std::int32_t leaf = 0;
        std::int32_t n_learned = 0;      // after `prepare` the first n of these are learned
        std::vector<RowLabel> labels;    // the relevant ones, in ascending order; room for more
        std::unique_ptr<TreeUndo> undo;  // of a row that has been learned already

        RowAtHand() = default;
        RowAtHand(const RowAtHand&) {}
        RowAtHand(RowAtHand&&) noexcept = default;
        RowAtHand& operator=(RowAtHand&&) noexcept = default;
        void clear() noexcept {
            SpareUndos::give_back(std::move(undo));
            n_learned = 0;
        }
    };

    void vote(const Node& leaf, double* votes) const {
        if (settings_.single_label) {
            std::fill(votes, votes + n_labels_, 0.0);
            votes[heaviest_label(leaf)] = 1.0;
            return;
        }
        const double unseen = static_cast<double>(n_labels_ - leaf.n_entries());
        const double total = leaf.weight + unseen;
        if (!(total >= kLeastTotal)) {  // masses so small that their shares are not exact: as if nothing had been seen
            std::fill(votes, votes + n_labels_, 1.0 / static_cast<double>(n_labels_));
            return;
        }
        const double scale = 1.0 / total;
        std::fill(votes, votes + n_labels_, scale);
        for (const Entry& entry : leaf.entries) votes[entry.label] = entry.mass * scale;
    }

    std::int32_t n_nodes() const { return static_cast<std::int32_t>(nodes_.size()); }
    Node& node(std::int32_t i) { return nodes_[static_cast<std::size_t>(i)]; }
    const Node& node(std::int32_t i) const { return nodes_[static_cast<std::size_t>(i)]; }
    const TreeRoute& route(std::int32_t i) const { return nodes_.route(static_cast<std::size_t>(i)); }
    bool is_leaf(std::int32_t i) const { return route(i).covariate < 0; }

    std::size_t n_covariates() const { return settings_.features.size(); }
    std::size_t block_width() const { return LabelStats::kArrays * n_covariates(); }
    std::size_t range_width() const { return 2 * n_covariates(); }

    // Of n labels that a leaf has observed, with the range.
    std::size_t stats_width(std::size_t n) const { return n == 0 ? 0 : range_width() + n * block_width(); }
    const double* stats_at(const Node& leaf, const Entry& entry) const {
        return &leaf.stats[stats_width(static_cast<std::size_t>(entry.stats) + 1) - block_width()];
    }
    double* stats_at(Node& leaf, const Entry& entry) const {
        return const_cast<double*>(stats_at(std::as_const(leaf), entry));
    }
    LabelStats stats_of(Node& leaf, const Entry& entry) const {
        return LabelStats::in(stats_at(leaf, entry), n_covariates());
    }

    // The memory that max_bytes caps: what memory_bytes counts, of this tree or of one that has come to be otherwise.
    std::size_t fixed_bytes() const { return sizeof(*this) + n_covariates() * (sizeof(std::int32_t) + sizeof(double)); }
    std::size_t held_bytes() const { return fixed_bytes() + nodes_.bytes_for(nodes_.size()) + counts_.n_bytes; }
    static std::size_t entry_bytes(std::size_t n) { return room_for(n) * sizeof(Entry); }
    std::size_t stats_bytes(std::size_t n) const { return stats_width(room_for(n)) * sizeof(double); }

    std::int32_t find_leaf(const Row& x, std::int32_t from = 0) const {
        while (!is_leaf(from)) from = next_node(x, from);
        return from;
    }
    std::int32_t next_node(const Row& x, std::int32_t i) const {
        const TreeRoute& here = route(i);
        const double value = x.dense[settings_.features[static_cast<std::size_t>(here.covariate)]];
        const bool right = value != value ? node(i).nan_right != 0 : value > here.threshold;
        return here.left + static_cast<std::int32_t>(right);
    }

    static bool has(const Node& leaf, std::int32_t label) {
        return std::any_of(leaf.entries.begin(), leaf.entries.end(), [=](const Entry& e) { return e.label == label; });
    }

    // A label that has not been seen weighs 1. Masses that differ by no more than rounding are tied: the lowest label
    // wins.
    std::int32_t heaviest_label(const Node& leaf) const {
        constexpr double kMassTie = 1e-9;  // of the heaviest
        const bool some_unseen = leaf.n_entries() < n_labels_;
        const double enough = std::max(heaviest_mass(leaf), some_unseen ? 1.0 : 0.0) * (1.0 - kMassTie);
        std::int32_t label = n_labels_;
        for (const Entry& entry : leaf.entries)
            if (entry.mass >= enough) label = std::min(label, entry.label);
        if (!some_unseen || enough > 1.0) return label;
        std::int32_t unseen = 0;
        while (has(leaf, unseen)) ++unseen;
        return std::min(label, unseen);
    }

    // Returns whether the leaf observes the label.
    bool add_importance(Node& leaf, Entry& entry, double importance) {
        entry.mass += importance;
        leaf.weight += importance;
        if (!leaf.active || (entry.stats < 0 && !add_stats(leaf, entry))) return false;
        observe(stats_of(leaf, entry), gathered_.data(), n_covariates(), importance);
        return true;
    }
    // To the row at hand, which a label of the leaf has observed.
    void take_range(Node& leaf) {
        const std::size_t n = n_covariates();
        if (leaf.active) widen_range(leaf.stats.data(), leaf.stats.data() + n, gathered_.data(), gathered_.data(), n);
    }
    bool is_time_to_try(const Node& leaf, double weight) const {
        return weight - leaf.last_try > settings_.grace_period;
    }

    static std::int32_t find_entry(const Node& leaf, std::int32_t label) {
        static_assert(sizeof(Entry) == 16 && offsetof(Entry, label) == 8);
        return find_label(reinterpret_cast<const std::int32_t*>(leaf.entries.data()), leaf.entries.size(), label);
    }

    Entry& append(Node& leaf, std::int32_t label, double mass) {
        const std::size_t n = leaf.entries.size();
        if (n == leaf.entries.capacity()) leaf.entries.reserve(room_for(n + 1));
        leaf.entries.push_back(Entry{mass, label});
        leaf.weight += mass;
        ++counts_.n_entries;
        counts_.n_bytes += entry_bytes(n + 1) - entry_bytes(n);
        return leaf.entries.back();
    }

    bool add_stats(Node& leaf, Entry& entry) {
        const auto n = static_cast<std::size_t>(leaf.n_observed);
        if (!make_room(stats_bytes(n + 1) - stats_bytes(n)) || !leaf.active) return false;
        make_stats(leaf, entry);
        return true;
    }
    double hoeffding_bound(const Node& leaf) const {
        const double range = log2_(static_cast<double>(std::max(2, leaf.n_entries())));
        return range * std::sqrt(log_inverse_confidence_ / (2.0 * leaf.weight));
    }

    // How a leaf grows.
    void learn_label(std::int32_t leaf_id, const RowLabel& label);
    void reserve_stats(Node& leaf, std::size_t n_more);
    void make_stats(Node& leaf, Entry& entry);
    void drop_stats(std::int32_t leaf_id, bool and_entries);
    void try_split(std::int32_t leaf_id);
    void apply(std::int32_t leaf_id, const Split& split);
    void fill(Node& leaf, const std::vector<Entry>& entries);
    std::size_t bytes_after_split(const Node& leaf, std::size_t n_left, std::size_t n_right) const;
    bool make_room(std::size_t bytes);

    static double heaviest_mass(const Node& leaf) {
        double heaviest = 0.0;
        for (const Entry& entry : leaf.entries) heaviest = std::max(heaviest, entry.mass);
        return heaviest;
    }

    TreeSettings settings_;
    std::int32_t n_labels_;
    TreeNodes nodes_;
    TreeCounts counts_;
    double log_inverse_confidence_;
    std::vector<double> gathered_;  // the covariates of the row at hand
    RowAtHand row_;
};

}  // namespace boostline
