// The importance-weighted Hoeffding tree (VFDT: Domingos and Hulten, KDD 2000) that the paper boosts, to the
// detail of docs/algorithms.md. Nodes, labels and statistics live in arenas; nothing recurses.
//
//   nodes    0 ──┬── 1 leaf ── entry(label 3) ── entry(label 0) ── ...      mass of each label that occurred here
//                └── 2 leaf ── entry(label 3)                               each with a block of LabelStats once
//                                                                           it has been observed here
#pragma once

#include <algorithm>
#include <limits>

#include "arena.hpp"
#include "learner.hpp"
#include "split_search.hpp"

namespace boostline {

struct TreeSettings {
    double grace_period = 10.0;      // weight between two tries to split a leaf
    double split_confidence = 0.1;   // delta of the Hoeffding bound
    double tie_threshold = 0.1;      // split anyway once the bound is smaller
    double weight_scale = 1.0;       // multiplies every importance weight
    bool single_label = false;       // vote for the heaviest label alone
    std::uint64_t max_bytes = 0;     // 0: no cap
    std::vector<std::int32_t> features;  // the covariates it looks at
};

class HoeffdingTree final : public Learner {
  public:
    HoeffdingTree(std::int32_t n_labels, TreeSettings settings)
        : settings_(std::move(settings)),
          n_labels_(n_labels),
          stats_(LabelStats::kArrays * settings_.features.size()),
          log_inverse_confidence_(log_(1.0 / settings_.split_confidence)) {
        nodes_[nodes_.make()] = Node{};
    }

    std::string kind() const override { return "hoeffding_tree"; }
    void grow_labels(std::int32_t n) override { n_labels_ = n; }
    void reset() override { *this = HoeffdingTree(n_labels_, settings_); }
    std::unique_ptr<Learner> clone() const override { return std::make_unique<HoeffdingTree>(*this); }

    void predict(const Row& x, double* votes) const override {
        const Node& leaf = nodes_[find_leaf(x)];
        if (settings_.single_label) {
            std::fill(votes, votes + n_labels_, 0.0);
            votes[heaviest_label(leaf)] = 1.0;
            return;
        }
        const double unseen = static_cast<double>(n_labels_ - leaf.n_entries);
        const double scale = 1.0 / (leaf.weight + unseen);
        std::fill(votes, votes + n_labels_, scale);
        for (std::int32_t e = leaf.first_entry; e >= 0; e = entries_[e].next)
            votes[entries_[e].label] = entries_[e].mass * scale;
    }

    // Section 4 of the paper: every relevant label is a single-label example whose importance is the cost it saves.
    void learn(const Row& x, const Labels& labels, const double* costs, const double* weights) override {
        gathered_.resize(settings_.features.size());
        for (std::size_t f = 0; f < gathered_.size(); ++f)
            gathered_[f] = x.dense[static_cast<std::size_t>(settings_.features[f])];
        for (const std::int32_t label : labels.relevant) {
            const double importance =
                settings_.weight_scale * weights[0] * (1.0 - costs[static_cast<std::size_t>(label)]);
            if (importance > 0.0) learn_label(find_leaf(x), label, importance);
        }
    }

    std::size_t memory_bytes() const override {
        return sizeof(*this) + nodes_.allocated_bytes() + entries_.allocated_bytes() + stats_.allocated_bytes() +
               settings_.features.capacity() * sizeof(std::int32_t) + gathered_.capacity() * sizeof(double);
    }
    // What max_bytes caps: the records in use.
    std::size_t bytes_in_use() const {
        return nodes_.n_used() * sizeof(Node) + entries_.n_used() * sizeof(Entry) + stats_.n_used() * stats_bytes();
    }

    void save(Archive& out) const override;
    void load(const ArchiveView& in) override;

  private:
    struct Node {
        double threshold = 0.0;
        double weight = 0.0;        // leaf: sum of the masses in its table
        double last_try = 0.0;      // leaf: weight when a split was last tried
        std::int32_t covariate = -1;  // index into settings.features; -1: a leaf
        std::int32_t left = -1;       // the right child is left + 1
        std::int32_t first_entry = -1;
        std::int32_t n_entries = 0;
        std::uint8_t nan_right = 0;  // where a missing value goes
        std::uint8_t active = 1;     // leaf: 0 once the cap has stopped its growth
    };
    struct Entry {
        double mass = 1.0;
        std::int32_t label = 0;
        std::int32_t next = -1;
        std::int32_t stats = -1;  // -1: not observed here
    };

    std::size_t stats_bytes() const { return LabelStats::kArrays * settings_.features.size() * sizeof(double); }

    std::int32_t find_leaf(const Row& x) const {
        std::int32_t i = 0;
        for (;;) {
            const Node& node = nodes_[i];
            if (node.covariate < 0) return i;
            const double value = x.dense[settings_.features[static_cast<std::size_t>(node.covariate)]];
            const bool right = value != value ? node.nan_right != 0 : value > node.threshold;
            i = node.left + static_cast<std::int32_t>(right);
        }
    }

    std::int32_t find(const Node& leaf, std::int32_t label) const {
        std::int32_t e = leaf.first_entry;
        while (e >= 0 && entries_[e].label != label) e = entries_[e].next;
        return e;
    }

    // A label that has not been seen weighs 1. Masses that differ by no more than rounding are tied: the lowest label wins.
    std::int32_t heaviest_label(const Node& leaf) const {
        constexpr double kMassTie = 1e-9;  // of the heaviest
        const bool some_unseen = leaf.n_entries < n_labels_;
        const double enough = std::max(heaviest_mass(leaf), some_unseen ? 1.0 : 0.0) * (1.0 - kMassTie);
        std::int32_t label = n_labels_;
        for (std::int32_t e = leaf.first_entry; e >= 0; e = entries_[e].next)
            if (entries_[e].mass >= enough) label = std::min(label, entries_[e].label);
        if (!some_unseen || enough > 1.0) return label;
        std::int32_t unseen = 0;
        while (find(leaf, unseen) >= 0) ++unseen;
        return std::min(label, unseen);
    }

    void learn_label(std::int32_t leaf_id, std::int32_t label, double importance) {
        const std::int32_t e = find_or_add(leaf_id, label);
        if (e < 0) return;
        entries_[e].mass += importance;
        nodes_[leaf_id].weight += importance;
        if (!nodes_[leaf_id].active) return;
        if (entries_[e].stats < 0 && !add_stats(leaf_id, e)) return;
        const std::size_t n = settings_.features.size();
        const LabelStats s = LabelStats::in(stats_.at(entries_[e].stats), n);
        observe(s.weight, s.mean, s.m2, s.min, s.max, gathered_.data(), n, importance);
        Node& leaf = nodes_[leaf_id];
        if (leaf.weight - leaf.last_try > settings_.grace_period) {
            leaf.last_try = leaf.weight;
            try_split(leaf_id);
        }
    }

    std::int32_t find_or_add(std::int32_t leaf_id, std::int32_t label) {
        std::int32_t last = -1;
        for (std::int32_t e = nodes_[leaf_id].first_entry; e >= 0; e = entries_[e].next) {
            if (entries_[e].label == label) return e;
            last = e;
        }
        if (!make_room(sizeof(Entry))) return -1;
        return append(leaf_id, last, label, 1.0);
    }

    std::int32_t append(std::int32_t leaf_id, std::int32_t last, std::int32_t label, double mass) {
        const std::int32_t e = entries_.make();
        entries_[e] = Entry{mass, label, -1, -1};
        Node& leaf = nodes_[leaf_id];
        (last < 0 ? leaf.first_entry : entries_[last].next) = e;
        leaf.n_entries += 1;
        leaf.weight += mass;
        return e;
    }

    bool add_stats(std::int32_t leaf_id, std::int32_t e) {
        if (!make_room(stats_bytes()) || !nodes_[leaf_id].active) return false;
        const std::int32_t s = stats_.make();
        LabelStats::in(stats_.at(s), settings_.features.size()).clear(settings_.features.size());
        entries_[e].stats = s;
        return true;
    }

    double hoeffding_bound(const Node& leaf) const {
        const double range = log2_(static_cast<double>(std::max(2, leaf.n_entries)));
        return range * std::sqrt(log_inverse_confidence_ / (2.0 * leaf.weight));
    }

    void try_split(std::int32_t leaf_id) {
        const Node& leaf = nodes_[leaf_id];
        if (leaf.n_entries < 2) return;
        const double bound = hoeffding_bound(leaf);
        const bool tie = bound < settings_.tie_threshold;
        // The side of a threshold is one bit, so no gain exceeds 1: nothing can be better by more than the bound.
        if (!tie && bound >= 1.0) return;
        static thread_local std::vector<LabelStats> labels;
        static thread_local SplitSearch<float> coarse;
        static thread_local SplitSearch<double> exact;
        labels.clear();
        const std::size_t n = settings_.features.size();
        for (std::int32_t e = leaf.first_entry; e >= 0; e = entries_[e].next)
            if (entries_[e].stats >= 0) labels.push_back(LabelStats::in(stats_.at(entries_[e].stats), n));
        if (!tie && coarse.largest_lead(labels, n) <= bound) return;  // so in most tries: a fifth of the time
        const Split split = exact.best(labels, n);
        if (split.covariate >= 0 && (tie || split.gain - split.runner_up > bound)) apply(leaf_id, split);
    }

    // The children take over the labels' masses left and right of the threshold, nothing else.
    void apply(std::int32_t leaf_id, const Split& split) {
        const std::size_t extra = 2 * sizeof(Node) + static_cast<std::size_t>(nodes_[leaf_id].n_entries) * sizeof(Entry);
        if (settings_.max_bytes != 0 && bytes_in_use() + extra > settings_.max_bytes) return;
        const std::int32_t children = nodes_.make();
        nodes_.make();  // nodes are never released, so the second is the next one
        nodes_[children] = nodes_[children + 1] = Node{};
        const auto f = static_cast<std::size_t>(split.covariate);
        std::int32_t last[2] = {-1, -1};
        for (std::int32_t e = nodes_[leaf_id].first_entry; e >= 0;) {
            const Entry entry = entries_[e];
            if (entry.stats >= 0) {
                const LabelStats s = LabelStats::in(stats_.at(entry.stats), settings_.features.size());
                const Masses split_masses = split_label(s, f, split.threshold);
                const double masses[2] = {split_masses.left, split_masses.right};
                for (int side = 0; side < 2; ++side)
                    if (masses[side] > 0.0) last[side] = append(children + side, last[side], entry.label, masses[side]);
                stats_.release(entry.stats);
            }
            entries_.release(e);
            e = entry.next;
        }
        for (int side = 0; side < 2; ++side) nodes_[children + side].last_try = nodes_[children + side].weight;
        Node& node = nodes_[leaf_id];
        node.covariate = split.covariate;
        node.threshold = split.threshold;
        node.left = children;
        node.nan_right = nodes_[children + 1].weight > nodes_[children].weight;
        node.first_entry = -1;
        node.n_entries = 0;
    }

    // Stops the growth of the least promising leaves until `bytes` more fit under the cap; false if they never do.
    bool make_room(std::size_t bytes) {
        if (settings_.max_bytes == 0) return true;
        while (bytes_in_use() + bytes > settings_.max_bytes) {
            std::int32_t least = -1;
            double least_promise = std::numeric_limits<double>::infinity();
            for (std::int32_t i = 0; i < static_cast<std::int32_t>(nodes_.n_used()); ++i) {
                const Node& node = nodes_[i];
                if (node.covariate >= 0 || !node.active) continue;
                const double promise = node.weight - heaviest_mass(node);  // the weight it gets wrong
                if (promise < least_promise) {
                    least_promise = promise;
                    least = i;
                }
            }
            if (least < 0) return false;
            deactivate(least);
        }
        return true;
    }

    double heaviest_mass(const Node& leaf) const {
        double heaviest = 0.0;
        for (std::int32_t e = leaf.first_entry; e >= 0; e = entries_[e].next)
            heaviest = std::max(heaviest, entries_[e].mass);
        return heaviest;
    }

    void deactivate(std::int32_t leaf_id) {
        nodes_[leaf_id].active = 0;
        for (std::int32_t e = nodes_[leaf_id].first_entry; e >= 0; e = entries_[e].next) {
            if (entries_[e].stats >= 0) stats_.release(entries_[e].stats);
            entries_[e].stats = -1;
        }
    }

    TreeSettings settings_;
    std::int32_t n_labels_;
    Arena<Node, 16> nodes_;
    Arena<Entry, 32> entries_;
    Arena<double, 16> stats_;
    double log_inverse_confidence_;
    std::vector<double> gathered_;  // the covariates of the row at hand
};

}  // namespace boostline

#include "hoeffding_tree_state.hpp"
