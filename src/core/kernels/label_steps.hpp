// Loops over the labels of a linear model in single precision; arrays have room for whole groups of kLanes.
#pragma once

#include <cstddef>

#include "core/base/portable.hpp"

namespace boostline {

// sums += value * weights
void add_scaled(float* BOOSTLINE_RESTRICT sums, const float* BOOSTLINE_RESTRICT weights, float value, std::size_t n);

// The step of each dual variable a of the squared hinge loss of a label that should score -1 or less:
// d = (1 + z - a * slack) / curvature, but not below -a; 0 if it is smaller than `least`.
void hinge_steps(const float* BOOSTLINE_RESTRICT z, const float* BOOSTLINE_RESTRICT duals, float slack, float curvature,
                 float least, std::size_t n, float* BOOSTLINE_RESTRICT steps);

// From scores around -1 (irrelevant) and 1 (relevant) to votes: p^2 / (p + tail) + share * counts, with
// p = 1 / (1 + exp(-steepness * z)).
void hinge_votes(const float* BOOSTLINE_RESTRICT z, const double* BOOSTLINE_RESTRICT counts, double steepness,
                 double tail, double share, std::size_t n, double* BOOSTLINE_RESTRICT votes);

// Multiplies votes by (1 + z)^power where z is positive: labels that are surely relevant stay apart.
void emphasise(const float* BOOSTLINE_RESTRICT z, int power, std::size_t n, double* BOOSTLINE_RESTRICT votes);

// votes = e^(steepness cosine), where a label's cosine is its sum over a length.
void cosine_votes(const float* BOOSTLINE_RESTRICT sums, const float* BOOSTLINE_RESTRICT inverse_lengths,
                  double steepness, std::size_t n, double* BOOSTLINE_RESTRICT votes);

}  // namespace boostline
