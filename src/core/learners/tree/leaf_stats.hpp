// What a search for a split sees of a leaf, and what it finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/learners/tree/label_stats.hpp"

namespace boostline {

constexpr double kMinBranchShare = 0.01;  // each side needs more than this share of the weight
// Gains that differ by no more are tied, and the first wins: covariates that tie in exact arithmetic are common in
// small leaves, and rounding must not choose between them.
constexpr double kGainTie = 1e-9;

// What a search sees of a leaf.
struct LeafStats {
    std::vector<LabelStats> labels;
    const double* low;  // of each covariate over all labels
    const double* high;
    std::size_t n_covariates;
};

struct Split {
    std::int32_t covariate = -1;  // -1: no candidate
    double threshold = 0.0;
    double gain = 0.0;
    double runner_up = 0.0;  // the best gain of another covariate, 0 if there is none
};

}  // namespace boostline
