// Sums and ranges of vectors. Sums are kept in kLanes partial sums, so that they vectorise and do not wait for one
// another, and give the same bits at any vector width.
//
// Each function is compiled for several vector widths; see portable.hpp.
#pragma once

#include <cstddef>

#include "core/base/portable.hpp"

namespace boostline {

struct Range {
    double low, high;
};

double sum(const double* BOOSTLINE_RESTRICT a, std::size_t n);

// The sum of a[i] (b[i] - centre).
double dot(const double* BOOSTLINE_RESTRICT a, const double* BOOSTLINE_RESTRICT b, std::size_t n, double centre = 0.0);

// Of at least one number, none of them NaN.
Range range_of(const double* BOOSTLINE_RESTRICT a, std::size_t n);

}  // namespace boostline
