#include "core/kernels/votes.hpp"

#include <cmath>

#include "core/base/math.hpp"

namespace boostline::BOOSTLINE_LEVEL {

namespace {

// Votes are finite whatever comes.
BOOSTLINE_INLINE double finite(double raw) {
    const double f = raw < kLargest ? raw : (raw == raw ? kLargest : 0.0);
    return f > -kLargest ? f : -kLargest;
}

}  // namespace

void soft_clip(const double* BOOSTLINE_RESTRICT raw, std::size_t n, double* BOOSTLINE_RESTRICT votes) {
    constexpr double kSoftness = 0.003, kLeast = 1e-9;
    for (std::size_t j = 0; j < n; ++j) {
        const double f = finite(raw[j]);
        votes[j] = 0.5 * (f + std::sqrt(f * f + kSoftness * kSoftness)) + kLeast;
    }
}

void keep_positive(const double* BOOSTLINE_RESTRICT raw, std::size_t n, double* BOOSTLINE_RESTRICT votes) {
    constexpr double kPrior = 1e-6;
    for (std::size_t j = 0; j < n; ++j) {
        const double f = finite(raw[j]);
        votes[j] = (f > 0.0 ? f : 0.0) + kPrior;
    }
}

void divide_by(double total, std::size_t n, double* votes) {
    for (std::size_t j = 0; j < n; ++j) votes[j] /= total;
}

void power_sums(const double* BOOSTLINE_RESTRICT vote, std::size_t n, double floor, double* BOOSTLINE_RESTRICT sums) {
    double first[kLanes] = {0.0}, second[kLanes] = {0.0};
    const std::size_t whole = n - n % kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) {
            const double u = vote[i + l] + floor;
            first[l] += u;
            second[l] += u * u;
        }
    for (std::size_t i = whole; i < n; ++i) {
        const double u = vote[i] + floor;
        first[i - whole] += u;
        second[i - whole] += u * u;
    }
    sums[0] = combine_lanes(first);
    sums[1] = combine_lanes(second);
}

void add_powers(const double* BOOSTLINE_RESTRICT vote, std::size_t n, double floor, const double* a,
                double* BOOSTLINE_RESTRICT scores) {
    const double a0 = a[0], a1 = a[1];
    for (std::size_t i = 0; i < n; ++i) {
        const double u = vote[i] + floor;
        scores[i] += a0 * u + a1 * (u * u);
    }
}

void log_votes(const double* BOOSTLINE_RESTRICT vote, std::size_t n, double floor, double* BOOSTLINE_RESTRICT out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = log_(vote[i] + floor);
}

void add_logs(const double* BOOSTLINE_RESTRICT logs, std::size_t n, double a, double* BOOSTLINE_RESTRICT z) {
    for (std::size_t i = 0; i < n; ++i) z[i] += a * logs[i];
}

double exp_less(double* z, std::size_t n, double most) {
    double lanes[kLanes] = {0.0}, rest = 0.0;
    const std::size_t whole = n - n % kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) {
            z[i + l] = exp_(z[i + l] - most);
            lanes[l] += z[i + l];
        }
    for (std::size_t i = whole; i < n; ++i) {
        z[i] = exp_(z[i] - most);
        rest += z[i];
    }
    return combine_lanes(lanes) + rest;
}

void multiply(double* z, std::size_t n, double factor) {
    for (std::size_t i = 0; i < n; ++i) z[i] *= factor;
}

void logits(double* values, std::size_t n, double scale) {
    for (std::size_t i = 0; i < n; ++i) values[i] = logit(values[i] * scale);
}

void sigmoids(double* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) values[i] = sigmoid(values[i]);
}

}  // namespace boostline::BOOSTLINE_LEVEL
