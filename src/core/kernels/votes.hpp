// From raw scores to votes; see make_votes.
//
// Each function is compiled for several vector widths; see portable.hpp.
#pragma once

#include <cstddef>

#include "core/base/portable.hpp"

namespace boostline {

// (f + sqrt(f^2 + eps^2)) / 2, which is positive, for any f.
void soft_clip(const double* BOOSTLINE_RESTRICT raw, std::size_t n, double* BOOSTLINE_RESTRICT votes);
// What is above 0, and a little more.
void keep_positive(const double* BOOSTLINE_RESTRICT raw, std::size_t n, double* BOOSTLINE_RESTRICT votes);
void divide_by(double total, std::size_t n, double* votes);

}  // namespace boostline
