#include "core/kernels/label_updates.hpp"

namespace boostline {

BOOSTLINE_VECTORISED void observe(double* BOOSTLINE_RESTRICT weight, double* BOOSTLINE_RESTRICT mean,
                                  double* BOOSTLINE_RESTRICT m2, double* BOOSTLINE_RESTRICT min,
                                  double* BOOSTLINE_RESTRICT max, const double* BOOSTLINE_RESTRICT x, std::size_t n,
                                  double q) {
    for (std::size_t f = 0; f < n; ++f) {
        const double value = x[f];
        const bool known = value == value;
        const double new_weight = weight[f] + q;
        const double delta = value - mean[f];
        const double new_mean = mean[f] + delta * (q / new_weight);
        const double new_m2 = m2[f] + q * delta * (value - new_mean);
        weight[f] = known ? new_weight : weight[f];
        mean[f] = known ? new_mean : mean[f];
        m2[f] = known ? new_m2 : m2[f];
        min[f] = value < min[f] ? value : min[f];
        max[f] = value > max[f] ? value : max[f];
    }
}

BOOSTLINE_VECTORISED void widen(double* BOOSTLINE_RESTRICT low, double* BOOSTLINE_RESTRICT high, const double* min,
                                const double* max, std::size_t n) {
    for (std::size_t f = 0; f < n; ++f) {
        low[f] = min[f] < low[f] ? min[f] : low[f];
        high[f] = max[f] > high[f] ? max[f] : high[f];
    }
}

}  // namespace boostline
