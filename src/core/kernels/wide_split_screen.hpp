// The coarse search of a split, for machines with AVX-512: the same as in coarse_split_sums.cpp and find_gain_ranges
// (split_search.hpp) together, in half the time. Its rounding cannot reach a result.
#pragma once

#include "core/kernels/split_sums.hpp"

namespace boostline {

// What a coarse search finds of each covariate.
struct GainRanges {
    double* total;     // weight
    double* possible;  // the largest gain in bits, with each side above share_low of the weight; -1: no such threshold
    double* sure;      // the same above share_high
};

bool has_wide_split_screen();

void screen_widely(const LabelStats* labels, std::size_t n_labels, const LeafRange& range, float share_low,
                   float share_high, const GainRanges& found);

}  // namespace boostline
