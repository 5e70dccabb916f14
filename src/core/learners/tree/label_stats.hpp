// What a leaf of a tree knows of one label: weight, mean, spread and range of each covariate.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "core/base/math.hpp"
#include "core/base/portable.hpp"

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
    void prefetch(std::size_t n_covariates) const {
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

// The weights of a label at or below the threshold and above it.
struct Masses {
    double left, right;
};
inline Masses split_label(const LabelStats& s, std::size_t f, double threshold) {
    const double weight = s.weight[f];
    if (threshold >= s.max[f]) return {weight, 0.0};
    if (threshold < s.min[f]) return {0.0, weight};
    const double z = (threshold - s.mean[f]) * inverse_deviation(weight, s.m2[f]);
    return {weight * normal_cdf(z), weight * normal_cdf(-z)};  // both positive
}

}  // namespace boostline
