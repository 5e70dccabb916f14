#include "core/kernels/linear.hpp"

#define BOOSTLINE_LOOPS "core/kernels/linear.inl"
#include "core/kernels/each_width.hpp"

namespace boostline {

void linear_forward(const std::int32_t* index, const double* value, std::size_t n_active, const float* weights,
                    std::size_t n, float* sums) {
    BOOSTLINE_AT_WIDTH(linear_forward(index, value, n_active, weights, n, sums))
}
void linear_step(const std::int32_t* index, const double* value, std::size_t n_active, const float* gradient,
                 const float* decay, std::size_t n, float rate, float* weights) {
    BOOSTLINE_AT_WIDTH(linear_step(index, value, n_active, gradient, decay, n, rate, weights))
}

}  // namespace boostline
