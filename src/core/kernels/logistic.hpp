// Logits and their inverse for many labels at once. The functions of a single number are those that the loops use.
//
// Each function is compiled for several vector widths; see portable.hpp.
#pragma once

#include <cstddef>

#include "core/base/math.hpp"
#include "core/base/portable.hpp"

namespace boostline {

// ln(q / (1 - q)), finite for all q in [0, 1].
BOOSTLINE_INLINE double logit(double q) {
    const double other = 1.0 - q;
    return log_(q > 1e-300 ? q : 1e-300) - log_(other > 1e-9 ? other : 1e-9);
}
// Strictly between 0 and 1.
BOOSTLINE_INLINE double sigmoid(double x) { return 1.0 / (1.0 + exp_(-(x < 30.0 ? x : 30.0))); }

// values = logit(scale * values)
void logits(double* values, std::size_t n, double scale);
// values = sigmoid(values)
void sigmoids(double* values, std::size_t n);

}  // namespace boostline
