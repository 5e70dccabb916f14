#include "core/kernels/distances.hpp"

#include <cmath>

#include "core/math.hpp"

namespace boostline {

BOOSTLINE_VECTORISED void standardise_dense(Standardise unit, const double* BOOSTLINE_RESTRICT x, std::size_t d,
                                            double* BOOSTLINE_RESTRICT u) {
    for (std::size_t f = 0; f < d; ++f) u[f] = unit(f, x[f]);
}

BOOSTLINE_VECTORISED void squared_distances(const double* BOOSTLINE_RESTRICT u, const double* BOOSTLINE_RESTRICT rows,
                                            std::size_t n, std::size_t d_padded, double* BOOSTLINE_RESTRICT out) {
    for (std::size_t i = 0; i < n; ++i) {
        const double* BOOSTLINE_RESTRICT row = rows + i * d_padded;
        double lanes[kLanes] = {0.0};
        for (std::size_t f = 0; f < d_padded; f += kLanes)
            for (std::size_t l = 0; l < kLanes; ++l) {
                const double difference = u[f + l] - row[f + l];
                lanes[l] += difference * difference;
            }
        out[i] = combine_lanes(lanes);
    }
}

BOOSTLINE_VECTORISED void exponential_kernel(double* BOOSTLINE_RESTRICT values, std::size_t n, double width) {
    const double rate = -1.0 / width;
    for (std::size_t i = 0; i < n; ++i) values[i] = exp_(std::sqrt(values[i]) * rate) + 1.0;
}

BOOSTLINE_VECTORISED void squared_distances(const float* BOOSTLINE_RESTRICT points, std::size_t n_blocks,
                                            std::size_t n_inputs, const double* BOOSTLINE_RESTRICT point,
                                            double* BOOSTLINE_RESTRICT distances) {
    for (std::size_t b = 0; b < n_blocks; ++b) {
        const float* BOOSTLINE_RESTRICT block = points + b * n_inputs * kPointBlock;
        double sums[kPointBlock] = {0.0};
        for (std::size_t f = 0; f < n_inputs; ++f) {
            const double x = point[f];
            for (std::size_t i = 0; i < kPointBlock; ++i) {
                const double e = static_cast<double>(block[f * kPointBlock + i]) - x;
                sums[i] += e * e;
            }
        }
        for (std::size_t i = 0; i < kPointBlock; ++i) distances[b * kPointBlock + i] = sums[i];
    }
}

BOOSTLINE_VECTORISED void add_targets(const std::int8_t* BOOSTLINE_RESTRICT targets,
                                      const double* BOOSTLINE_RESTRICT frequency, std::size_t n, double weight,
                                      double* BOOSTLINE_RESTRICT sums) {
    for (std::size_t j = 0; j < n; ++j) {
        const double y = static_cast<double>(targets[j]);
        sums[j] += weight * (y < 0.0 ? frequency[j] : y);  // unknown: as usual for the label
    }
}

}  // namespace boostline
