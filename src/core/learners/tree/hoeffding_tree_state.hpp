// Saving and loading of a HoeffdingTree: nodes in the order of their creation, entries in the order of their leaves,
// statistics in the order of their entries.
#pragma once

#include "core/learners/tree/hoeffding_tree.hpp"

namespace boostline {

inline void HoeffdingTree::save(Archive& out) const {
    const auto nodes = [&](const char* name, auto value) {
        using T = decltype(value(nodes_[0], nodes_.route(0)));
        out.add<T>(name, nodes_.size(), [&](auto&& write) {
            for (std::int32_t i = 0; i < n_nodes(); ++i) {
                const T v = value(node(i), route(i));
                write(&v, 1);
            }
        });
    };
    const auto for_entries = [&](auto&& visit) {
        for (std::int32_t i = 0; i < n_nodes(); ++i)
            for (const Entry& entry : node(i).entries) visit(entry);
    };
    const auto entries = [&](const char* name, auto value) {
        using T = decltype(value(Entry{}));
        out.add<T>(name, counts_.n_entries, [&](auto&& write) {
            for_entries([&](const Entry& entry) {
                const T v = value(entry);
                write(&v, 1);
            });
        });
    };
    nodes("node_threshold", [](const Node&, const TreeRoute& r) { return r.threshold; });
    nodes("node_weight", [](const Node& n, const TreeRoute&) { return n.weight; });
    nodes("node_last_try", [](const Node& n, const TreeRoute&) { return n.last_try; });
    nodes("node_covariate", [](const Node&, const TreeRoute& r) { return r.covariate; });
    nodes("node_left", [](const Node&, const TreeRoute& r) { return r.left; });
    nodes("node_n_labels", [](const Node& n, const TreeRoute&) { return n.n_entries(); });
    nodes("node_nan_right", [](const Node& n, const TreeRoute&) { return n.nan_right; });
    nodes("node_active", [](const Node& n, const TreeRoute&) { return n.active; });
    entries("label", [](const Entry& e) { return e.label; });
    entries("label_mass", [](const Entry& e) { return e.mass; });
    entries("label_observed", [](const Entry& e) { return static_cast<std::uint8_t>(e.stats >= 0 ? 1 : 0); });
    out.add<double>("label_stats", counts_.n_blocks * block_width(), [&](auto&& write) {
        for (std::int32_t i = 0; i < n_nodes(); ++i)
            for (const Entry& entry : node(i).entries)
                if (entry.stats >= 0) write(stats_at(node(i), entry), block_width());
    });
}

inline void HoeffdingTree::load(const ArchiveView& in) {
    const auto fail = [](const std::string& what) -> void { throw std::invalid_argument("not a tree: " + what); };
    const std::size_t n_nodes = in.size<std::int32_t>("node_covariate"), n_entries = in.size<std::int32_t>("label");
    if (n_nodes == 0 || n_nodes > 0x7fffffff) fail("it has no nodes or too many");
    ArrayReader<std::int32_t> covariate(in, "node_covariate", n_nodes), left(in, "node_left", n_nodes);
    ArrayReader<std::int32_t> n_labels(in, "node_n_labels", n_nodes), label(in, "label", n_entries);
    ArrayReader<std::uint8_t> nan_right(in, "node_nan_right", n_nodes), active(in, "node_active", n_nodes);
    ArrayReader<double> threshold(in, "node_threshold", n_nodes), weight(in, "node_weight", n_nodes);
    ArrayReader<double> last_try(in, "node_last_try", n_nodes), mass(in, "label_mass", n_entries);
    ArrayReader<std::uint8_t> observed(in, "label_observed", n_entries);
    const std::size_t n_stats = in.size<double>("label_stats");
    ArrayReader<double> stats(in, "label_stats", n_stats);

    HoeffdingTree fresh(n_labels_, settings_);
    std::size_t next_entry = 0, next_stats = 0;
    std::vector<std::uint8_t> has_parent(n_nodes, 0), seen(static_cast<std::size_t>(n_labels_), 0);
    for (std::size_t i = 1; i < n_nodes; ++i) fresh.nodes_.add();
    for (std::size_t i = 0; i < n_nodes; ++i) {
        if (i > 0 && !has_parent[i]) fail("a node has no parent");
        Node& node = fresh.nodes_[i];
        TreeRoute& route = fresh.nodes_.route(i);
        route.threshold = threshold.next();
        node.last_try = last_try.next();
        route.covariate = covariate.next();
        route.left = left.next();
        node.nan_right = nan_right.next();
        node.active = active.next();
        const std::int32_t n = n_labels.next();
        if (route.covariate >= 0) {
            const auto child = static_cast<std::size_t>(route.left);
            if (static_cast<std::size_t>(route.covariate) >= n_covariates()) fail("a covariate is out of range");
            // children come after their parent: so there is no way round in circles
            if (route.left <= static_cast<std::int32_t>(i) || child + 1 >= n_nodes) fail("a child is out of range");
            if (has_parent[child] || has_parent[child + 1]) fail("a node has two parents");
            has_parent[child] = has_parent[child + 1] = 1;
            if (n != 0) fail("an inner node has labels");
        } else if (route.covariate != -1 || n < 0) {
            fail("a node is neither a leaf nor a split");
        }
        if (static_cast<std::size_t>(n) > n_entries - next_entry) fail("labels are missing");
        next_entry += static_cast<std::size_t>(n);
        for (std::int32_t j = 0; j < n; ++j) {
            const std::int32_t which = label.next();
            if (which < 0 || which >= n_labels_) fail("a label is out of range");
            auto& was_here = seen[static_cast<std::size_t>(which)];
            if (was_here) fail("a leaf has a label twice");
            was_here = 1;
            Entry& entry = fresh.append(node, which, mass.next());
            if (!observed.next()) continue;
            if (n_stats - next_stats < block_width()) fail("statistics are missing");
            next_stats += block_width();
            fresh.make_stats(node, entry);
            stats.next(fresh.stats_at(node, entry), block_width());
            const LabelStats s = fresh.stats_of(node, entry);
            widen_range(node.stats.data(), node.stats.data() + n_covariates(), s.min, s.max, n_covariates());
        }
        for (const Entry& entry : node.entries) seen[static_cast<std::size_t>(entry.label)] = 0;
        node.weight = weight.next();  // as it was summed, not as it is summed here
    }
    if (next_entry != n_entries || next_stats != n_stats) fail("there are labels or statistics of no leaf");
    fresh.check();
    *this = std::move(fresh);
}

inline void HoeffdingTree::check() const {
    // The weight of a leaf and its masses are sums of the same numbers, which round differently.
    constexpr double kRounding = 0.01;
    // Of many labels in each of many rows; and what rounding may add to the largest value.
    constexpr double kMostWeight = kMostImportance * 1e25, kMost = 2.0 * kLargest,
                     kMostSquares = kMost * kMost * kMostWeight;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (std::int32_t i = 0; i < n_nodes(); ++i) {
        const Node& node = this->node(i);
        check_within(route(i).threshold, -kMost, kMost, "", "node_threshold");
        check_within(node.weight, 0.0, kMostWeight, "", "node_weight");
        check_within(node.last_try, 0.0, node.weight, "", "node_last_try");
        require(node.nan_right <= 1, "", "node_nan_right");
        require(node.active <= 1, "", "node_active");
        if (!is_leaf(i)) continue;
        require(route(i).left == -1, "", "node_left");
        double sum = 0.0;
        for (const Entry& entry : node.entries) {
            require(entry.mass > 0.0 && entry.mass <= kMostWeight, "", "label_mass");
            sum += entry.mass;
            if (entry.stats < 0) continue;
            require(node.active == 1, "", "label_observed");
            const std::size_t n = n_covariates();
            const LabelStats s = stats_of(const_cast<Node&>(node), entry);
            check_within(s.weight, n, 0.0, kMostWeight, "", "label_stats");
            check_within(s.mean, n, -kMost, kMost, "", "label_stats");
            check_within(s.m2, n, -kMostSquares, kMostSquares, "", "label_stats");
            for (std::size_t f = 0; f < n; ++f)  // a covariate that was always missing has an empty range
                require((s.min[f] >= -kLargest && s.min[f] <= s.max[f] && s.max[f] <= kLargest) ||
                            (s.weight[f] == 0.0 && s.min[f] == kInfinity && s.max[f] == -kInfinity),
                        "", "label_stats");
        }
        check_within(node.weight, (1.0 - kRounding) * sum, (1.0 + kRounding) * sum, "", "node_weight");
    }
}

}  // namespace boostline
