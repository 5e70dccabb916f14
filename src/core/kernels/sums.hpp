// Sums and ranges of vectors. Sums are kept in kLanes partial sums, so that they vectorise and do not wait for one
// another, and give the same bits at any vector width.
#pragma once

#include <cstddef>

#include "core/kernels/level.hpp"

namespace boostline {

struct Range {
    double low, high;
};

BOOSTLINE_KERNEL(sum, double(const double* a, std::size_t n));

BOOSTLINE_KERNEL(dot, double(const double* a, const double* b, std::size_t n));
// The sum of a[i] (b[i] - centre).
BOOSTLINE_KERNEL(centred_dot, double(const double* a, const double* b, std::size_t n, double centre));

// Of at least one number, none of them NaN.
BOOSTLINE_KERNEL(range_of, Range(const double* a, std::size_t n));

}  // namespace boostline
