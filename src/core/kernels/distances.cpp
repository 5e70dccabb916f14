#include "core/kernels/distances.hpp"

#include <cmath>

#include "core/math.hpp"

#define BOOSTLINE_LOOPS "core/kernels/distances.inl"
#include "core/kernels/each_width.hpp"

namespace boostline {

BOOSTLINE_VECTORISED void standardise_dense(Standardise unit, const double* BOOSTLINE_RESTRICT x, std::size_t d,
                                            float* BOOSTLINE_RESTRICT u) {
    for (std::size_t f = 0; f < d; ++f) u[f] = static_cast<float>(unit(f, x[f]));
}

BOOSTLINE_VECTORISED void exponential_kernel(double* BOOSTLINE_RESTRICT values, std::size_t n, double width) {
    const double rate = -1.0 / width;
    for (std::size_t i = 0; i < n; ++i) values[i] = exp_(std::sqrt(values[i]) * rate) + 1.0;
}

BOOSTLINE_VECTORISED void exponential_kernel(const float* BOOSTLINE_RESTRICT squares, std::size_t n, double width,
                                             double* BOOSTLINE_RESTRICT out) {
    const double rate = -1.0 / width;
    for (std::size_t i = 0; i < n; ++i) out[i] = exp_(std::sqrt(static_cast<double>(squares[i])) * rate) + 1.0;
}

void squared_distances(const float* points, const float* squares, std::size_t n_blocks, std::size_t n_inputs,
                       const float* queries, std::size_t n_queries, float* out, std::size_t stride) {
    BOOSTLINE_AT_WIDTH(squared_distances(points, squares, n_blocks, n_inputs, queries, n_queries, out, stride))
}
void least_of_blocks(const float* values, std::size_t n_blocks, std::size_t together,
                     float* out){BOOSTLINE_AT_WIDTH(least_of_blocks(values, n_blocks, together, out))}

BOOSTLINE_VECTORISED
    void add_targets(const std::int8_t* BOOSTLINE_RESTRICT targets, const double* BOOSTLINE_RESTRICT frequency,
                     std::size_t n, double weight, double* BOOSTLINE_RESTRICT sums) {
    for (std::size_t j = 0; j < n; ++j) {
        const double y = static_cast<double>(targets[j]);
        sums[j] += weight * (y < 0.0 ? frequency[j] : y);  // unknown: as usual for the label
    }
}

}  // namespace boostline
