#include "core/kernels/votes.hpp"

#include <cmath>

#include "core/base/archive.hpp"

namespace boostline {
namespace {

// Votes are finite whatever comes.
BOOSTLINE_INLINE double finite(double raw) {
    const double f = raw < kLargest ? raw : (raw == raw ? kLargest : 0.0);
    return f > -kLargest ? f : -kLargest;
}

}  // namespace

BOOSTLINE_VECTORISED void soft_clip(const double* BOOSTLINE_RESTRICT raw, std::size_t n,
                                    double* BOOSTLINE_RESTRICT votes) {
    constexpr double kSoftness = 0.003, kLeast = 1e-9;
    for (std::size_t j = 0; j < n; ++j) {
        const double f = finite(raw[j]);
        votes[j] = 0.5 * (f + std::sqrt(f * f + kSoftness * kSoftness)) + kLeast;
    }
}

BOOSTLINE_VECTORISED void keep_positive(const double* BOOSTLINE_RESTRICT raw, std::size_t n,
                                        double* BOOSTLINE_RESTRICT votes) {
    constexpr double kPrior = 1e-6;
    for (std::size_t j = 0; j < n; ++j) {
        const double f = finite(raw[j]);
        votes[j] = (f > 0.0 ? f : 0.0) + kPrior;
    }
}

BOOSTLINE_VECTORISED void divide_by(double total, std::size_t n, double* votes) {
    for (std::size_t j = 0; j < n; ++j) votes[j] /= total;
}

}  // namespace boostline
