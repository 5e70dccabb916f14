// Where the labels of a row are among those of a leaf.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/learners/tree/tree_nodes.hpp"

namespace boostline {

// A label of the row at hand, in a leaf.
struct RowLabel {
    double importance;
    std::int32_t label;
    std::int32_t entry;  // where it is in the leaf, or will be
    Block stats;         // for a label that is to be observed for the first time
};

// Sets `label` and `entry` of each: -1 if the leaf does not have it.
void find_entries(const TreeNode::Entry* entries, std::size_t n_entries, const std::int32_t* labels,
                  std::size_t n_labels, RowLabel* found);

}  // namespace boostline
