// Sums over the labels of a leaf, in double precision (splits.cpp) or in single (coarse_splits.cpp).
#pragma once

#include "core/kernels/splits.hpp"

namespace boostline::BOOSTLINE_LEVEL {

// What the two precisions do differently: exact, and rough but fast.
template <class Real>
struct Normal;
template <>
struct Normal<double> {
    BOOSTLINE_INLINE static NormalSplit divide(double z) { return normal_split(z); }
    BOOSTLINE_INLINE static double inverse_deviation(double weight, double m2) {
        return boostline::inverse_deviation(weight, m2);
    }
};
template <>
struct Normal<float> {
    BOOSTLINE_INLINE static CoarseSplit divide(float z) { return coarse_split(z); }
    BOOSTLINE_INLINE static double inverse_deviation(double weight, double m2) {
        const double least = kVarianceFloor * weight;
        return weight * coarse_inverse_sqrt(weight * (m2 > least ? m2 : least));  // no root and no division
    }
};

// Equally spaced between the smallest and the largest value of each covariate of the group.
BOOSTLINE_INLINE void place_thresholds(const LeafRange& range, std::size_t group,
                                       double* BOOSTLINE_RESTRICT thresholds) {
    const double* BOOSTLINE_RESTRICT low = range.low + first_of_group(group, range.n);
    const double* BOOSTLINE_RESTRICT high = range.high + first_of_group(group, range.n);
    for (std::size_t j = 0; j < kThresholds; ++j)
        for (std::size_t l = 0; l < kGroup; ++l)
            thresholds[j * kGroup + l] = low[l] + (high[l] - low[l]) * static_cast<double>(j + 1) / (kThresholds + 1);
}

// The covariates from `first` on; the other pointers are to the cells of their group.
template <class Real>
BOOSTLINE_INLINE void add_varying_group(const LabelStats& s, std::size_t first,
                                        const double* BOOSTLINE_RESTRICT thresholds,
                                        Real* BOOSTLINE_RESTRICT left_weight, Real* BOOSTLINE_RESTRICT left_over) {
    double min[kGroup], max[kGroup], mean[kGroup], inverse_sd[kGroup];  // copies: gcc keeps these in registers
    Real weight[kGroup];
    for (std::size_t l = 0; l < kGroup; ++l) {
        min[l] = s.min[first + l];
        max[l] = s.max[first + l];
        mean[l] = s.mean[first + l];
        inverse_sd[l] = Normal<Real>::inverse_deviation(s.weight[first + l], s.m2[first + l]);
        weight[l] = static_cast<Real>(s.weight[first + l]);
    }
    // Where the threshold lies among the label's values, in standard deviations; far out when all are on one side.
    Real z[kGroupCells], weights[kGroupCells];
    for (std::size_t j = 0; j < kThresholds; ++j)
        for (std::size_t l = 0; l < kGroup; ++l) {
            const double threshold = thresholds[j * kGroup + l];
            const double inside = (threshold - mean[l]) * inverse_sd[l];
            const double not_left = threshold < min[l] ? -kFarOut : inside;
            z[j * kGroup + l] = static_cast<Real>(threshold >= max[l] ? kFarOut : not_left);
            weights[j * kGroup + l] = weight[l];
        }
    for (std::size_t i = 0; i < kGroupCells; ++i) {
        const auto split = Normal<Real>::divide(z[i]);
        left_weight[i] += weights[i] * split.below;
        left_over[i] += weights[i] * split.entropy;
    }
}

// A label each of whose covariates has had one value only is on one side as a whole: its division has no entropy.
template <class Real>
BOOSTLINE_INLINE void add_constant_label(const LabelStats& s, std::size_t n,
                                         const double* BOOSTLINE_RESTRICT thresholds,
                                         Real* BOOSTLINE_RESTRICT left_weight) {
    for (std::size_t g = 0; g < n_groups(n); ++g) {
        Real weight[kGroup];
        double max[kGroup];
        for (std::size_t l = 0; l < kGroup; ++l) {
            weight[l] = static_cast<Real>(s.weight[first_of_group(g, n) + l]);
            max[l] = s.max[first_of_group(g, n) + l];
        }
        for (std::size_t j = 0; j < kThresholds; ++j) {
            const std::size_t row = g * kGroupCells + j * kGroup;
            for (std::size_t l = 0; l < kGroup; ++l)
                left_weight[row + l] += thresholds[row + l] >= max[l] ? weight[l] : Real(0);
        }
    }
}

// Adds the label's weight to each covariate's. Returns whether it has had two values of any covariate.
BOOSTLINE_INLINE bool add_weight(const LabelStats& s, std::size_t n, double* BOOSTLINE_RESTRICT total) {
    const double* BOOSTLINE_RESTRICT min = s.min;
    const double* BOOSTLINE_RESTRICT max = s.max;
    const double* BOOSTLINE_RESTRICT weight = s.weight;
    std::uint64_t varies = 0;  // as wide as a double, so that all of the loop is
    for (std::size_t f = 0; f < n; ++f) {
        total[f] += weight[f];
        varies |= min[f] < max[f] ? 1u : 0u;
    }
    return varies != 0;
}

// All labels of a leaf, one after the other.
template <class Real>
BOOSTLINE_INLINE void add_all_labels(const LabelStats* labels, std::size_t n_labels, const LeafRange& range,
                                     double* thresholds, double* total, Real* left_weight, Real* left_over) {
    const std::size_t n = range.n;
    for (std::size_t g = 0; g < n_groups(n); ++g) place_thresholds(range, g, thresholds + g * kGroupCells);
    for (std::size_t i = 0; i < n_labels; ++i) {
        if (i + 1 < n_labels) labels[i + 1].prefetch(n);
        if (!add_weight(labels[i], n, total)) {
            add_constant_label<Real>(labels[i], n, thresholds, left_weight);
            continue;
        }
        for (std::size_t g = 0; g < n_groups(n); ++g)
            add_varying_group<Real>(labels[i], first_of_group(g, n), thresholds + g * kGroupCells,
                                    left_weight + g * kGroupCells, left_over + g * kGroupCells);
    }
}

}  // namespace boostline::BOOSTLINE_LEVEL
