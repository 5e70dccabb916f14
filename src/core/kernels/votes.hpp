// Loops over the votes of a row: from raw scores to votes (see make_votes), votes at several temperatures, and logits.
//
// Of a vote h the distributions in proportion to h, h^2 and h^4: sharper copies of a vote let a mixture say how much a
// learner's large votes are to be trusted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/math.hpp"
#include "core/kernels/level.hpp"

namespace boostline {

// (f + sqrt(f^2 + eps^2)) / 2, which is positive, for any f.
BOOSTLINE_KERNEL(soft_clip, void(const double* raw, std::size_t n, double* votes));
// What is above 0, and a little more.
BOOSTLINE_KERNEL(keep_positive, void(const double* raw, std::size_t n, double* votes));
BOOSTLINE_KERNEL(divide_by, void(double total, std::size_t n, double* votes));

constexpr std::size_t kTemperatures = 2;

// The sums of h + floor and of its square over the labels.
BOOSTLINE_KERNEL(power_sums, void(const double* vote, std::size_t n, double floor, double* sums));

// Adds a[0] (h + floor) + a[1] (h + floor)^2 to every label's score.
BOOSTLINE_KERNEL(add_powers, void(const double* vote, std::size_t n, double floor, const double* a, double* scores));

// out = ln(h + floor), for every label.
BOOSTLINE_KERNEL(log_votes, void(const double* vote, std::size_t n, double floor, double* out));

// z += a * logs.
BOOSTLINE_KERNEL(add_logs, void(const double* logs, std::size_t n, double a, double* z));

// z = e^(z - most); returns their sum.
BOOSTLINE_KERNEL(exp_less, double(double* z, std::size_t n, double most));

BOOSTLINE_KERNEL(multiply, void(double* z, std::size_t n, double factor));

// ln(q / (1 - q)), finite for all q in [0, 1].
BOOSTLINE_INLINE double logit(double q) {
    const double other = 1.0 - q;
    return log_(q > 1e-300 ? q : 1e-300) - log_(other > 1e-9 ? other : 1e-9);
}
// Strictly between 0 and 1.
BOOSTLINE_INLINE double sigmoid(double x) { return 1.0 / (1.0 + exp_(-(x < 30.0 ? x : 30.0))); }

// values = logit(scale * values)
BOOSTLINE_KERNEL(logits, void(double* values, std::size_t n, double scale));
// values = sigmoid(values)
BOOSTLINE_KERNEL(sigmoids, void(double* values, std::size_t n));

}  // namespace boostline
