// Loops over the covariates of a leaf of a Hoeffding tree: its statistics, and the split search, where trees spend
// their time.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/base/math.hpp"
#include "core/kernels/level.hpp"

namespace boostline {

constexpr double kVarianceFloor = 1e-12;

// For F covariates five arrays of length F, one after the other.
//
//   weight[F] | mean[F] | m2[F] | min[F] | max[F]        m2: weighted sum of squared deviations (Welford)
struct LabelStats {
    double* weight;
    double* mean;
    double* m2;
    double* min;
    double* max;

    static constexpr std::size_t kArrays = 5;
    static LabelStats in(double* block, std::size_t n_covariates) {
        return {block, block + n_covariates, block + 2 * n_covariates, block + 3 * n_covariates,
                block + 4 * n_covariates};
    }
    BOOSTLINE_INLINE void prefetch(std::size_t n_covariates) const {
        constexpr std::size_t kCacheLine = 8;
        for (std::size_t i = 0; i < kArrays * n_covariates; i += kCacheLine) BOOSTLINE_PREFETCH(weight + i);
    }
    void clear(std::size_t n_covariates) const {
        for (std::size_t f = 0; f < n_covariates; ++f) {
            weight[f] = mean[f] = m2[f] = 0.0;
            min[f] = std::numeric_limits<double>::infinity();
            max[f] = -std::numeric_limits<double>::infinity();
        }
    }
};

BOOSTLINE_INLINE double inverse_deviation(double weight, double m2) {
    const double least = kVarianceFloor * weight;
    return std::sqrt(weight / (m2 > least ? m2 : least));
}

// Adds one observation with importance q; a NaN covariate is left out.
BOOSTLINE_KERNEL(observe, void(const LabelStats& stats, const double* x, std::size_t n, double q));

// Ranges [low, high] of covariates take in the ranges [min, max]; NaN changes nothing.
BOOSTLINE_KERNEL(widen_range, void(double* low, double* high, const double* min, const double* max, std::size_t n));

constexpr int kThresholds = 10;

// The hot loops of split search, in double precision (exact) and in single precision (coarse: twice the lanes, and
// short polynomials). They work on groups of kGroup covariates, so that no loop has a remainder: the last group starts
// where it ends with the last covariate, and may repeat some of the group before it. A cell is a threshold of a
// covariate:
//
//   cells of group 0                          | cells of group 1 | ...        kThresholds * kGroup each
//   threshold 0: kGroup covariates | 1 | ...
//
// For each cell a label adds its weight left of the threshold to `left_weight`, and its weight times the entropy of its
// division to `left_over`.
constexpr std::size_t kGroup = 8;
constexpr std::size_t kGroupCells = kThresholds * kGroup;

BOOSTLINE_INLINE std::size_t n_groups(std::size_t n_covariates) { return (n_covariates + kGroup - 1) / kGroup; }
BOOSTLINE_INLINE std::size_t first_of_group(std::size_t group, std::size_t n_covariates) {
    return group * kGroup + kGroup <= n_covariates ? group * kGroup : n_covariates - kGroup;
}

// Smallest and largest value of each of n covariates in a leaf.
struct LeafRange {
    const double *low, *high;
    std::size_t n;
};

// Sums over the labels of a leaf for every cell; totals, the weight of each covariate, and sums are zero before. The
// coarse sums are rough but fast: their errors cannot reach a result, so they need not give the same bits everywhere.
BOOSTLINE_KERNEL(add_labels, void(const LabelStats* labels, std::size_t n_labels, const LeafRange& range,
                                  double* thresholds, double* total, double* left_weight, double* left_over));
BOOSTLINE_KERNEL(add_labels_coarsely, void(const LabelStats* labels, std::size_t n_labels, const LeafRange& range,
                                           double* thresholds, double* total, float* left_weight, float* left_over));

// Gains in bits, times the covariate's share of the weight (which missing values lower).
BOOSTLINE_KERNEL(compute_gains, void(const double* total, const double* share_seen, std::size_t n,
                                     const double* left_weight, const double* left_over, double* gain));
// The largest gain of each covariate over splits both of whose sides have more than `share` of its weight; -1 if there
// is none (so for a covariate that is constant or never seen: one side is empty).
BOOSTLINE_KERNEL(find_largest_gains, void(const double* total, std::size_t n, double share, const double* left_weight,
                                          const double* gain, double* best));
// Both steps at once, for what the largest gain of a covariate may be (in single precision): with each side above
// `share_low` of the weight, or above `share_high`. If labels have been left out, `rest` is their weight for each
// covariate, else null: a gain is largest if they make the sides as equal as can be, and smallest without them.
BOOSTLINE_KERNEL(find_gain_ranges,
                 void(const double* total, const double* rest, std::size_t n, float share_low, float share_high,
                      const float* left_weight, const float* left_over, float* possible, float* sure));

// The last of n records of four numbers whose third one is `label`, or -1.
BOOSTLINE_KERNEL(find_label, std::int32_t(const std::int32_t* records, std::size_t n, std::int32_t label));

}  // namespace boostline
