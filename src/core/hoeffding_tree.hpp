// The importance-weighted Hoeffding tree (VFDT: Domingos and Hulten, KDD 2000) that the paper boosts, to the
// detail of docs/algorithms.md. Nodes and statistics live in arenas; nothing recurses.
//
//   nodes    0 ──┬── 1 leaf ── [label 3 | label 0 | ...]      mass of each label that occurred here, in that order,
//                └── 2 leaf ── [label 3]                      each with a block of LabelStats once it has been
//                                                             observed here
#pragma once

#include <algorithm>
#include <limits>

#include "core/arena.hpp"
#include "core/kernels/label_updates.hpp"
#include "core/learner.hpp"
#include "core/split_search.hpp"

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
    void grow_features(std::int64_t, bool) override {}  // it keeps to its covariates
    void reset() override { *this = HoeffdingTree(n_labels_, settings_); }
    std::unique_ptr<Learner> clone() const override { return std::make_unique<HoeffdingTree>(*this); }

    void predict(const Row& x, double* votes) const override {
        const Node& leaf = nodes_[find_leaf(x)];
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

    // Section 4 of the paper: every relevant label is a single-label example whose importance is the cost it saves.
    void learn(const Row& x, const Labels& labels, const double* costs, const double* weights) override {
        gathered_.resize(settings_.features.size());
        for (std::size_t f = 0; f < gathered_.size(); ++f)
            gathered_[f] = x.dense[static_cast<std::size_t>(settings_.features[f])];
        for (const std::int32_t label : labels.relevant) {
            const double importance =
                settings_.weight_scale * weights[0] * (1.0 - costs[static_cast<std::size_t>(label)]);
            if (importance > 0.0) learn_label(find_leaf(x), label, std::min(importance, kMostImportance));
        }
    }

    std::size_t memory_bytes() const override {
        std::size_t own_bytes = 0;
        for (std::int32_t i = 0; i < n_nodes(); ++i)
            own_bytes += nodes_[i].entries.capacity() * sizeof(Entry) + nodes_[i].range.capacity() * sizeof(double);
        return sizeof(*this) + nodes_.allocated_bytes() + own_bytes + stats_.allocated_bytes() +
               settings_.features.capacity() * sizeof(std::int32_t) + gathered_.capacity() * sizeof(double);
    }
    // What max_bytes caps: the records in use.
    std::size_t bytes_in_use() const {
        return nodes_.n_used() * sizeof(Node) + n_entries_ * sizeof(Entry) + n_ranges_ * range_bytes() +
               stats_.n_used() * stats_bytes();
    }

    void save(Archive& out) const override;
    void load(const ArchiveView& in) override;
    void check() const override;

  private:
    static constexpr double kMostImportance = 1e60;  // keeps sums of squares finite; potentials may ask for any weight
    static constexpr double kLeastTotal = 1e-300;    // of the masses in a leaf

    struct Entry {
        double mass = 1.0;
        std::int32_t label = 0;
        std::int32_t stats = -1;  // -1: not observed here
    };
    struct Node {
        double threshold = 0.0;
        double weight = 0.0;          // leaf: sum of the masses in its table
        double last_try = 0.0;        // leaf: weight when a split was last tried
        std::int32_t covariate = -1;  // index into settings.features; -1: a leaf
        std::int32_t left = -1;       // the right child is left + 1
        std::vector<Entry> entries;   // leaf: side by side, for every vote reads all of them
        std::vector<double> range;    // leaf with statistics: smallest values of the covariates, then the largest
        std::uint8_t nan_right = 0;   // where a missing value goes
        std::uint8_t active = 1;      // leaf: 0 once the cap has stopped its growth

        std::int32_t n_entries() const { return static_cast<std::int32_t>(entries.size()); }
    };

    std::int32_t n_nodes() const { return static_cast<std::int32_t>(nodes_.n_used()); }

    std::size_t stats_bytes() const { return LabelStats::kArrays * settings_.features.size() * sizeof(double); }

    std::size_t range_bytes() const { return 2 * settings_.features.size() * sizeof(double); }

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

    static bool has(const Node& leaf, std::int32_t label) {
        return std::any_of(leaf.entries.begin(), leaf.entries.end(), [=](const Entry& e) { return e.label == label; });
    }

    // A label that has not been seen weighs 1. Masses that differ by no more than rounding are tied: the lowest label wins.
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

    void learn_label(std::int32_t leaf_id, std::int32_t label, double importance) {
        Node& leaf = nodes_[leaf_id];
        Entry* entry = find_or_add(leaf, label);
        if (entry == nullptr) return;
        entry->mass += importance;
        leaf.weight += importance;
        if (!leaf.active) return;
        if (entry->stats < 0 && !add_stats(leaf, *entry)) return;
        const std::size_t n = settings_.features.size();
        const LabelStats s = LabelStats::in(stats_.at(entry->stats), n);
        observe(s.weight, s.mean, s.m2, s.min, s.max, gathered_.data(), n, importance);
        widen(leaf.range.data(), leaf.range.data() + n, gathered_.data(), gathered_.data(), n);
        if (leaf.weight - leaf.last_try > settings_.grace_period) {
            leaf.last_try = leaf.weight;
            try_split(leaf);
        }
    }

    Entry* find_or_add(Node& leaf, std::int32_t label) {
        for (Entry& entry : leaf.entries)
            if (entry.label == label) return &entry;
        if (!make_room(sizeof(Entry))) return nullptr;
        return &append(leaf, label, 1.0);
    }

    Entry& append(Node& leaf, std::int32_t label, double mass) {
        leaf.entries.push_back(Entry{mass, label, -1});
        leaf.weight += mass;
        ++n_entries_;
        return leaf.entries.back();
    }

    bool add_stats(Node& leaf, Entry& entry) {
        const bool is_first = leaf.range.empty();
        if (!make_room(stats_bytes() + (is_first ? range_bytes() : 0)) || !leaf.active) return false;
        entry.stats = stats_.make();
        LabelStats::in(stats_.at(entry.stats), settings_.features.size()).clear(settings_.features.size());
        if (is_first) make_range(leaf);
        return true;
    }

    void make_range(Node& leaf) {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        const std::size_t n = settings_.features.size();
        leaf.range.assign(2 * n, kInfinity);
        std::fill(leaf.range.begin() + static_cast<std::ptrdiff_t>(n), leaf.range.end(), -kInfinity);
        ++n_ranges_;
    }
    void drop_range(Node& leaf) {
        if (!leaf.range.empty()) --n_ranges_;
        leaf.range = {};
        leaf.range.shrink_to_fit();
    }

    double hoeffding_bound(const Node& leaf) const {
        const double range = log2_(static_cast<double>(std::max(2, leaf.n_entries())));
        return range * std::sqrt(log_inverse_confidence_ / (2.0 * leaf.weight));
    }

    void try_split(Node& leaf) {
        if (leaf.n_entries() < 2) return;
        const double bound = hoeffding_bound(leaf);
        const bool tie = bound < settings_.tie_threshold;
        // The side of a threshold is one bit, so no gain exceeds 1: nothing can be better by more than the bound.
        if (!tie && bound >= 1.0) return;
        static thread_local LeafStats seen;
        static thread_local SplitSearch<float> coarse;
        static thread_local SplitSearch<double> exact;
        const std::size_t n = settings_.features.size();
        seen.low = leaf.range.data();
        seen.high = seen.low + n;
        seen.n_covariates = n;
        seen.labels.clear();
        for (const Entry& entry : leaf.entries)
            if (entry.stats >= 0) seen.labels.push_back(LabelStats::in(stats_.at(entry.stats), n));
        if (!tie && coarse.largest_lead(seen) <= bound) return;  // so in nearly all tries, and soon found
        const Split split = exact.best(seen);
        if (split.covariate >= 0 && (tie || split.gain - split.runner_up > bound)) apply(leaf, split);
    }

    // The children take over the labels' masses left and right of the threshold, nothing else.
    void apply(Node& leaf, const Split& split) {
        const std::size_t extra = 2 * sizeof(Node) + leaf.entries.size() * sizeof(Entry);
        if (settings_.max_bytes != 0 && bytes_in_use() + extra > settings_.max_bytes) return;
        const std::int32_t children = nodes_.make();
        nodes_.make();  // nodes are never released, so the second is the next one
        Node& left = nodes_[children] = Node{};
        Node& right = nodes_[children + 1] = Node{};
        const auto f = static_cast<std::size_t>(split.covariate);
        for (const Entry& entry : leaf.entries) {
            if (entry.stats < 0) continue;
            const LabelStats s = LabelStats::in(stats_.at(entry.stats), settings_.features.size());
            const Masses masses = split_label(s, f, split.threshold);
            if (masses.left > 0.0) append(left, entry.label, masses.left);
            if (masses.right > 0.0) append(right, entry.label, masses.right);
            stats_.release(entry.stats);
        }
        left.last_try = left.weight;
        right.last_try = right.weight;
        leaf.covariate = split.covariate;
        leaf.threshold = split.threshold;
        leaf.left = children;
        leaf.nan_right = right.weight > left.weight;
        n_entries_ -= leaf.entries.size();
        leaf.entries = {};
        leaf.entries.shrink_to_fit();
        drop_range(leaf);
    }

    // Stops the growth of the least promising leaves until `bytes` more fit under the cap; false if they never do.
    bool make_room(std::size_t bytes) {
        if (settings_.max_bytes == 0) return true;
        while (bytes_in_use() + bytes > settings_.max_bytes) {
            Node* least = nullptr;
            double least_promise = std::numeric_limits<double>::infinity();
            for (std::int32_t i = 0; i < n_nodes(); ++i) {
                Node& node = nodes_[i];
                if (node.covariate >= 0 || !node.active) continue;
                const double promise = node.weight - heaviest_mass(node);  // the weight it gets wrong
                if (promise < least_promise) {
                    least_promise = promise;
                    least = &node;
                }
            }
            if (least == nullptr) return false;
            deactivate(*least);
        }
        return true;
    }

    static double heaviest_mass(const Node& leaf) {
        double heaviest = 0.0;
        for (const Entry& entry : leaf.entries) heaviest = std::max(heaviest, entry.mass);
        return heaviest;
    }

    void deactivate(Node& leaf) {
        leaf.active = 0;
        for (Entry& entry : leaf.entries) {
            if (entry.stats >= 0) stats_.release(entry.stats);
            entry.stats = -1;
        }
        drop_range(leaf);
    }

    TreeSettings settings_;
    std::int32_t n_labels_;
    std::size_t n_entries_ = 0;  // in all leaves
    std::size_t n_ranges_ = 0;
    Arena<Node, 16> nodes_;
    Arena<double, 16> stats_;
    double log_inverse_confidence_;
    std::vector<double> gathered_;  // the covariates of the row at hand
};

}  // namespace boostline

#include "core/hoeffding_tree_state.hpp"
