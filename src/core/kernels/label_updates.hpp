// What an example changes in the statistics of a leaf.
#pragma once

#include <cstddef>

#include "core/base/portable.hpp"

namespace boostline {

// Adds one observation with importance q; a NaN covariate is left out.
void observe(double* BOOSTLINE_RESTRICT weight, double* BOOSTLINE_RESTRICT mean, double* BOOSTLINE_RESTRICT m2,
             double* BOOSTLINE_RESTRICT min, double* BOOSTLINE_RESTRICT max, const double* BOOSTLINE_RESTRICT x,
             std::size_t n, double q);

// Ranges [low, high] of covariates take in the ranges [min, max]; NaN changes nothing.
void widen(double* BOOSTLINE_RESTRICT low, double* BOOSTLINE_RESTRICT high, const double* min, const double* max,
           std::size_t n);

}  // namespace boostline
