// The coarse search of a split, for machines with AVX-512: the same as in coarse_split_sums.cpp and find_gain_ranges
// (split_screen.hpp) together, in half the time. Its rounding cannot reach a result.
#pragma once

#include "core/kernels/split_sums.hpp"

namespace boostline {

// What a coarse search finds of each covariate. There is room for kRoomAfter more.
struct GainRanges {
    float* total;     // weight, in the unit that was given
    float* possible;  // the largest gain in bits, with each side above share_low of the weight; -1: no such threshold
    float* sure;      // the same above share_high
};

constexpr std::size_t kRoomAfter = 16;

bool has_wide_split_screen();

// `weights` are those of the labels' first covariates; with them it may be in words (wide_split_words.hpp), in half the
// time and less exactly. `weight` is about that of the leaf, and the unit of the totals.
void screen_widely(const LabelStats* labels, const double* weights, std::size_t n_labels, double weight,
                   const LeafRange& range, float share_low, float share_high, const GainRanges& found);

// The same in less time, with ranges that are wider: looks at the first n_heavy labels only. The others may lie
// anywhere: `possible` is the most that can be then, `sure` the least.
void screen_at_first(const LabelStats* labels, const double* weights, std::size_t n_heavy, std::size_t n_labels,
                     double weight, const LeafRange& range, float share_low, float share_high, const GainRanges& found);

// By how much a covariate can beat every other one, at most, and the largest of the totals. Multiplies the gains by the
// covariates' shares of the weight.
struct WidestLead {
    double lead, heaviest;
};
WidestLead widest_lead(const GainRanges& found, std::size_t n);

}  // namespace boostline
