// How a leaf of a Hoeffding tree grows: what it learns of a label, when it splits, and what stops it under a cap; and
// its state.
#include "core/learners/tree/hoeffding_tree.hpp"

namespace boostline {

void HoeffdingTree::learn_label(std::int32_t leaf_id, const RowLabel& label) {
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
void HoeffdingTree::reserve_stats(Node& leaf, std::size_t n_more) {
    leaf.stats.reserve(stats_width(room_for(static_cast<std::size_t>(leaf.n_observed) + n_more)));
}
void HoeffdingTree::make_stats(Node& leaf, Entry& entry) {
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
void HoeffdingTree::drop_stats(std::int32_t leaf_id, bool and_entries) {
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

void HoeffdingTree::try_split(std::int32_t leaf_id) {
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
void HoeffdingTree::apply(std::int32_t leaf_id, const Split& split) {
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
void HoeffdingTree::fill(Node& leaf, const std::vector<Entry>& entries) {
    leaf.entries.reserve(room_for(entries.size()));
    for (const Entry& entry : entries) append(leaf, entry.label, entry.mass);
    leaf.last_try = leaf.weight;
}
std::size_t HoeffdingTree::bytes_after_split(const Node& leaf, std::size_t n_left, std::size_t n_right) const {
    const std::size_t n = nodes_.size();
    return held_bytes() + nodes_.bytes_for(n + 2) - nodes_.bytes_for(n) + entry_bytes(n_left) + entry_bytes(n_right) -
           entry_bytes(leaf.entries.size()) - stats_bytes(static_cast<std::size_t>(leaf.n_observed));
}

// Stops the growth of the least promising leaves until `bytes` more fit under the cap; false if they never do.
bool HoeffdingTree::make_room(std::size_t bytes) {
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

// Saving and loading: nodes in the order of their creation, entries in the order of their leaves, statistics in the
// order of their entries.
void HoeffdingTree::save(Archive& out) const {
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

void HoeffdingTree::load(const ArchiveView& in) {
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

void HoeffdingTree::check() const {
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
