// Loops over the features of a row and of their scale (feature_scale.hpp).
#pragma once

#include <cstddef>

#include "core/kernels/level.hpp"

namespace boostline {

BOOSTLINE_KERNEL(has_missing, bool(const double* values, std::size_t n));

// Welford's update of every feature with a value of its own, none of which is zero or missing.
BOOSTLINE_KERNEL(learn_full_row,
                 void(const double* values, std::size_t n, double* n_nonzero, double* mean, double* m2));

// Means and inverse deviations of all values, zeros included, from the moments of those that are not zero.
BOOSTLINE_KERNEL(scale_moments,
                 void(double n_rows, const double* n_nonzero, const double* n_missing, const double* mean_of_nonzeros,
                      const double* m2, std::size_t n, double* mean, double* inverse_deviation));

// out = (values - mean) * inverse_deviation, clipped to +-5, times or over a number; 0 where that is no number. Says
// whether a value is missing.
BOOSTLINE_KERNEL(standardise_times, bool(const double* values, const double* mean, const double* inverse_deviation,
                                         std::size_t n, double factor, double* out));
BOOSTLINE_KERNEL(standardise_over, void(const double* values, const double* mean, const double* inverse_deviation,
                                        std::size_t n, double divisor, double* out));

}  // namespace boostline
