// Saving and loading of a HoeffdingTree: nodes in the order of their creation, entries in the order of their leaves,
// statistics in the order of their entries. What is in the arena's free list is not part of the state.
#pragma once

#include "hoeffding_tree.hpp"

namespace boostline {

inline void HoeffdingTree::save(Archive& out) const {
    std::vector<double> threshold, weight, last_try, mass, stats;
    std::vector<std::int32_t> covariate, left, n_entries, label;
    std::vector<std::uint8_t> nan_right, active, observed;
    const std::size_t width = LabelStats::kArrays * settings_.features.size();
    for (std::int32_t i = 0; i < n_nodes(); ++i) {
        const Node& node = nodes_[i];
        threshold.push_back(node.threshold);
        weight.push_back(node.weight);
        last_try.push_back(node.last_try);
        covariate.push_back(node.covariate);
        left.push_back(node.left);
        n_entries.push_back(node.n_entries());
        nan_right.push_back(node.nan_right);
        active.push_back(node.active);
        for (const Entry& entry : node.entries) {
            mass.push_back(entry.mass);
            label.push_back(entry.label);
            observed.push_back(entry.stats >= 0);
            if (entry.stats >= 0) {
                const double* block = stats_.at(entry.stats);
                stats.insert(stats.end(), block, block + width);
            }
        }
    }
    out["node_threshold"] = std::move(threshold);
    out["node_weight"] = std::move(weight);
    out["node_last_try"] = std::move(last_try);
    out["node_covariate"] = std::move(covariate);
    out["node_left"] = std::move(left);
    out["node_n_labels"] = std::move(n_entries);
    out["node_nan_right"] = std::move(nan_right);
    out["node_active"] = std::move(active);
    out["label"] = std::move(label);
    out["label_mass"] = std::move(mass);
    out["label_observed"] = std::move(observed);
    out["label_stats"] = std::move(stats);
}

inline void HoeffdingTree::load(const ArchiveView& in) {
    const auto fail = [](const std::string& what) -> void { throw std::invalid_argument("not a tree: " + what); };
    const auto covariate = in.get<std::int32_t>("node_covariate");
    const std::size_t n_nodes = covariate.size;
    const auto threshold = in.get<double>("node_threshold", n_nodes);
    const auto weight = in.get<double>("node_weight", n_nodes);
    const auto last_try = in.get<double>("node_last_try", n_nodes);
    const auto left = in.get<std::int32_t>("node_left", n_nodes);
    const auto n_entries = in.get<std::int32_t>("node_n_labels", n_nodes);
    const auto nan_right = in.get<std::uint8_t>("node_nan_right", n_nodes);
    const auto active = in.get<std::uint8_t>("node_active", n_nodes);
    const auto label = in.get<std::int32_t>("label");
    const auto mass = in.get<double>("label_mass", label.size);
    const auto observed = in.get<std::uint8_t>("label_observed", label.size);
    const auto stats = in.get<double>("label_stats");
    const std::size_t n_covariates = settings_.features.size();
    const std::size_t width = LabelStats::kArrays * n_covariates;
    if (n_nodes == 0 || n_nodes > 0x7fffffff) fail("it has no nodes or too many");
    check_finite(threshold, "node_threshold");
    check_finite(weight, "node_weight");
    check_finite(last_try, "node_last_try");
    check_finite(mass, "label_mass");

    HoeffdingTree fresh(n_labels_, settings_);
    std::size_t next_entry = 0, next_stats = 0;
    std::vector<std::uint8_t> has_parent(n_nodes, 0), seen(static_cast<std::size_t>(n_labels_), 0);
    for (std::size_t i = 1; i < n_nodes; ++i) fresh.nodes_.make();
    for (std::size_t i = 0; i < n_nodes; ++i) {
        if (i > 0 && !has_parent[i]) fail("a node has no parent");
        Node& node = fresh.nodes_[static_cast<std::int32_t>(i)];
        node = Node{threshold[i], 0.0, last_try[i], covariate[i], left[i], {}, {}, nan_right[i], active[i]};
        if (node.covariate >= 0) {
            const auto child = static_cast<std::size_t>(node.left);
            if (static_cast<std::size_t>(node.covariate) >= n_covariates) fail("a covariate is out of range");
            // children come after their parent: so there is no way round in circles
            if (node.left <= static_cast<std::int32_t>(i) || child + 1 >= n_nodes) fail("a child is out of range");
            if (has_parent[child] || has_parent[child + 1]) fail("a node has two parents");
            has_parent[child] = has_parent[child + 1] = 1;
            if (n_entries[i] != 0) fail("an inner node has labels");
        } else if (node.covariate != -1 || n_entries[i] < 0) {
            fail("a node is neither a leaf nor a split");
        }
        const std::size_t first_entry = next_entry;
        for (std::int32_t j = 0; j < n_entries[i]; ++j, ++next_entry) {
            if (next_entry >= label.size) fail("labels are missing");
            if (label[next_entry] < 0 || label[next_entry] >= n_labels_) fail("a label is out of range");
            auto& was_here = seen[static_cast<std::size_t>(label[next_entry])];
            if (was_here) fail("a leaf has a label twice");
            was_here = 1;
            if (!(mass[next_entry] >= 0.0)) fail("a mass is negative");
            Entry& entry = fresh.append(node, label[next_entry], mass[next_entry]);
            if (!observed[next_entry]) continue;
            if (stats.size - next_stats < width) fail("statistics are missing");
            entry.stats = fresh.stats_.make();
            std::copy(stats.data + next_stats, stats.data + next_stats + width, fresh.stats_.at(entry.stats));
            const LabelStats block = LabelStats::in(fresh.stats_.at(entry.stats), n_covariates);
            for (std::size_t f = 0; f < n_covariates; ++f)
                if (!(block.weight[f] >= 0.0) || !std::isfinite(block.weight[f]) || !std::isfinite(block.mean[f]) ||
                    !std::isfinite(block.m2[f]) || block.min[f] != block.min[f] || block.max[f] != block.max[f])
                    fail("statistics are not finite");
            if (node.range.empty()) fresh.make_range(node);
            widen(node.range.data(), node.range.data() + n_covariates, block.min, block.max, n_covariates);
            next_stats += width;
        }
        for (std::size_t e = first_entry; e < next_entry; ++e) seen[static_cast<std::size_t>(label[e])] = 0;
        node.weight = weight[i];  // as it was summed, not as it is summed here
    }
    if (next_entry != label.size || next_stats != stats.size) fail("there are labels or statistics of no leaf");
    *this = std::move(fresh);
}

}  // namespace boostline
