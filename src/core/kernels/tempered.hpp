// Votes at several temperatures: of a vote h the distributions in proportion to h, h^2 and h^4. Sharper copies of a
// vote let a mixture say how much a learner's large votes are to be trusted. And what their geometric mean needs.
//
// Each function is compiled for several vector widths; see portable.hpp.
#pragma once

#include <cstddef>

#include "core/base/portable.hpp"

namespace boostline {

constexpr std::size_t kTemperatures = 3;

// The sums of (h + floor)^1, ^2 and ^4 over the labels.
void power_sums(const double* BOOSTLINE_RESTRICT vote, std::size_t n, double floor, double* BOOSTLINE_RESTRICT sums);

// Adds a[0] (h + floor) + a[1] (h + floor)^2 + a[2] (h + floor)^4 to every label's score.
void add_powers(const double* BOOSTLINE_RESTRICT vote, std::size_t n, double floor, const double* a,
                double* BOOSTLINE_RESTRICT scores);

// out = ln(h + floor), for every label.
void log_votes(const double* BOOSTLINE_RESTRICT vote, std::size_t n, double floor, double* BOOSTLINE_RESTRICT out);

// z += a * logs.
void add_logs(const double* BOOSTLINE_RESTRICT logs, std::size_t n, double a, double* BOOSTLINE_RESTRICT z);

// z = e^(z - most); returns their sum.
double exp_less(double* z, std::size_t n, double most);

void multiply(double* z, std::size_t n, double factor);

}  // namespace boostline
