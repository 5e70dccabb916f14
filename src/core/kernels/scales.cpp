#include "core/kernels/scales.hpp"

#include <cmath>

namespace boostline::BOOSTLINE_LEVEL {

namespace {
// 0 for a number that overflowed on the way
BOOSTLINE_INLINE double clip(double u) {
    u = u == u ? u : 0.0;
    u = u > 5.0 ? 5.0 : u;
    return u < -5.0 ? -5.0 : u;
}
}  // namespace

bool has_missing(const double* values, std::size_t n) {
    int n_missing = 0;
    for (std::size_t f = 0; f < n; ++f) n_missing |= values[f] != values[f] ? 1 : 0;
    return n_missing != 0;
}

void learn_full_row(const double* BOOSTLINE_RESTRICT values, std::size_t n, double* BOOSTLINE_RESTRICT n_nonzero,
                    double* BOOSTLINE_RESTRICT mean, double* BOOSTLINE_RESTRICT m2) {
    for (std::size_t f = 0; f < n; ++f) {
        n_nonzero[f] += 1.0;
        const double delta = values[f] - mean[f];
        mean[f] += delta / n_nonzero[f];
        m2[f] += delta * (values[f] - mean[f]);
    }
}

void scale_moments(double n_rows, const double* BOOSTLINE_RESTRICT n_nonzero,
                   const double* BOOSTLINE_RESTRICT n_missing, const double* BOOSTLINE_RESTRICT mean_of_nonzeros,
                   const double* BOOSTLINE_RESTRICT m2, std::size_t n, double* BOOSTLINE_RESTRICT mean,
                   double* BOOSTLINE_RESTRICT inverse_deviation) {
    for (std::size_t f = 0; f < n; ++f) {
        const double known = n_rows - n_missing[f], zeros = known - n_nonzero[f], own = mean_of_nonzeros[f];
        const double centre = known > 0.0 ? own * (n_nonzero[f] / known) : 0.0;
        const double squares = m2[f] + own * own * (n_nonzero[f] * zeros / known);
        const double deviation = known > 0.0 ? std::sqrt(squares / known) : 0.0;
        const double inverse = 1.0 / deviation;
        mean[f] = centre;
        inverse_deviation[f] = ((deviation > 1e-9 * std::fabs(centre)) & (deviation > 0.0)) ? inverse : 0.0;
    }
}

bool standardise_times(const double* BOOSTLINE_RESTRICT values, const double* BOOSTLINE_RESTRICT mean,
                       const double* BOOSTLINE_RESTRICT inverse_deviation, std::size_t n, double factor,
                       double* BOOSTLINE_RESTRICT out) {
    int n_missing = 0;
    for (std::size_t f = 0; f < n; ++f) {
        n_missing |= values[f] != values[f] ? 1 : 0;
        out[f] = clip((values[f] - mean[f]) * inverse_deviation[f]) * factor;
    }
    return n_missing != 0;
}

void standardise_over(const double* BOOSTLINE_RESTRICT values, const double* BOOSTLINE_RESTRICT mean,
                      const double* BOOSTLINE_RESTRICT inverse_deviation, std::size_t n, double divisor,
                      double* BOOSTLINE_RESTRICT out) {
    for (std::size_t f = 0; f < n; ++f) out[f] = clip((values[f] - mean[f]) * inverse_deviation[f]) / divisor;
}

}  // namespace boostline::BOOSTLINE_LEVEL
