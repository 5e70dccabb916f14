// The loops of a linear learner over features and labels, in single precision. Of each feature there are n weights, one
// for each label, then the n sums of their squared gradients; n is a multiple of 8.
#pragma once

#include <cstddef>
#include <cstdint>

namespace boostline {

// sums = the weights of the active features, times their values.
void linear_forward(const std::int32_t* index, const double* value, std::size_t n_active, const float* weights,
                    std::size_t n, float* sums);

// One step of AdaGrad. `decay` is the penalty on a weight, times the importance.
void linear_step(const std::int32_t* index, const double* value, std::size_t n_active, const float* gradient,
                 const float* decay, std::size_t n, float rate, float* weights);

}  // namespace boostline
