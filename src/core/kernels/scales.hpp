// Loops over the features of a row and of their scale (feature_scale.hpp).
//
// Each function is compiled for several vector widths; see portable.hpp.
#pragma once

#include <cstddef>

#include "core/base/portable.hpp"

namespace boostline {

bool has_missing(const double* values, std::size_t n);

// Welford's update of every feature with a value of its own, none of which is zero or missing.
void learn_full_row(const double* BOOSTLINE_RESTRICT values, std::size_t n, double* BOOSTLINE_RESTRICT n_nonzero,
                    double* BOOSTLINE_RESTRICT mean, double* BOOSTLINE_RESTRICT m2);

// Means and inverse deviations of all values, zeros included, from the moments of those that are not zero.
void scale_moments(double n_rows, const double* BOOSTLINE_RESTRICT n_nonzero,
                   const double* BOOSTLINE_RESTRICT n_missing, const double* BOOSTLINE_RESTRICT mean_of_nonzeros,
                   const double* BOOSTLINE_RESTRICT m2, std::size_t n, double* BOOSTLINE_RESTRICT mean,
                   double* BOOSTLINE_RESTRICT inverse_deviation);

// out = (values - mean) * inverse_deviation, clipped to +-5, times or over a number; 0 where that is no number. Says
// whether a value is missing.
bool standardise_times(const double* BOOSTLINE_RESTRICT values, const double* BOOSTLINE_RESTRICT mean,
                       const double* BOOSTLINE_RESTRICT inverse_deviation, std::size_t n, double factor,
                       double* BOOSTLINE_RESTRICT out);
void standardise_over(const double* BOOSTLINE_RESTRICT values, const double* BOOSTLINE_RESTRICT mean,
                      const double* BOOSTLINE_RESTRICT inverse_deviation, std::size_t n, double divisor,
                      double* BOOSTLINE_RESTRICT out);

}  // namespace boostline
