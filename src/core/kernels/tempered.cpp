#include "core/kernels/tempered.hpp"

#include "core/base/math.hpp"
#include "core/kernels/sums.hpp"

namespace boostline {

BOOSTLINE_VECTORISED void power_sums(const double* BOOSTLINE_RESTRICT vote, std::size_t n, double floor,
                                     double* BOOSTLINE_RESTRICT sums) {
    double first[kLanes] = {0.0}, second[kLanes] = {0.0}, fourth[kLanes] = {0.0};
    const std::size_t whole = n - n % kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) {
            const double u = vote[i + l] + floor, u2 = u * u;
            first[l] += u;
            second[l] += u2;
            fourth[l] += u2 * u2;
        }
    for (std::size_t i = whole; i < n; ++i) {
        const double u = vote[i] + floor, u2 = u * u;
        first[i - whole] += u;
        second[i - whole] += u2;
        fourth[i - whole] += u2 * u2;
    }
    sums[0] = combine_lanes(first);
    sums[1] = combine_lanes(second);
    sums[2] = combine_lanes(fourth);
}

BOOSTLINE_VECTORISED void add_powers(const double* BOOSTLINE_RESTRICT vote, std::size_t n, double floor,
                                     const double* a, double* BOOSTLINE_RESTRICT scores) {
    const double a0 = a[0], a1 = a[1], a2 = a[2];
    for (std::size_t i = 0; i < n; ++i) {
        const double u = vote[i] + floor, u2 = u * u;
        scores[i] += (a0 * u + a1 * u2) + a2 * (u2 * u2);
    }
}

BOOSTLINE_VECTORISED void log_votes(const double* BOOSTLINE_RESTRICT vote, std::size_t n, double floor,
                                    double* BOOSTLINE_RESTRICT out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = log_(vote[i] + floor);
}

BOOSTLINE_VECTORISED void add_logs(const double* BOOSTLINE_RESTRICT logs, std::size_t n, double a,
                                   double* BOOSTLINE_RESTRICT z) {
    for (std::size_t i = 0; i < n; ++i) z[i] += a * logs[i];
}

BOOSTLINE_VECTORISED double exp_less(double* z, std::size_t n, double most) {
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

BOOSTLINE_VECTORISED void multiply(double* z, std::size_t n, double factor) {
    for (std::size_t i = 0; i < n; ++i) z[i] *= factor;
}

}  // namespace boostline
