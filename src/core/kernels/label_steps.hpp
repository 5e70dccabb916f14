// Loops of linear models over labels and features, in single precision.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernels/level.hpp"

namespace boostline {

// AdaGrad: of each feature there are n weights, one for each label, then the n sums of their squared gradients; n is a
// multiple of 8.

// sums = the weights of the active features, times their values.
BOOSTLINE_KERNEL(linear_forward, void(const std::int32_t* index, const double* value, std::size_t n_active,
                                      const float* weights, std::size_t n, float* sums));

// One step of AdaGrad. `decay` is the penalty on a weight, times the importance.
BOOSTLINE_KERNEL(linear_step,
                 void(const std::int32_t* index, const double* value, std::size_t n_active, const float* gradient,
                      const float* decay, std::size_t n, float rate, float* weights));

// sums += value * weights
BOOSTLINE_KERNEL(add_scaled, void(float* sums, const float* weights, float value, std::size_t n));

// The step of each dual variable a of the squared hinge loss of a label that should score -1 or less:
// d = (1 + z - a * slack) / curvature, but not below -a; 0 if it is smaller than `least`.
BOOSTLINE_KERNEL(hinge_steps, void(const float* z, const float* duals, float slack, float curvature, float least,
                                   std::size_t n, float* steps));

// From scores around -1 (irrelevant) and 1 (relevant) to votes: p^2 / (p + tail) + share * counts, with
// p = 1 / (1 + exp(-steepness * z)).
BOOSTLINE_KERNEL(hinge_votes, void(const float* z, const double* counts, double steepness, double tail, double share,
                                   std::size_t n, double* votes));

// Multiplies votes by (1 + z)^power where z is positive: labels that are surely relevant stay apart.
BOOSTLINE_KERNEL(emphasise, void(const float* z, int power, std::size_t n, double* votes));

// votes = e^(steepness cosine), where a label's cosine is its sum over a length.
BOOSTLINE_KERNEL(cosine_votes,
                 void(const float* sums, const float* inverse_lengths, double steepness, std::size_t n, double* votes));

// sums = sigmoid(sums), for n labels, a multiple of kLanes.
BOOSTLINE_KERNEL(linear_sigmoids, void(double* sums, std::size_t n));
// From probabilities to gradients, and the step of the bias.
BOOSTLINE_KERNEL(linear_gradient, void(double* gradient, const double* y, const double* importance, std::size_t n,
                                       double rate, double* bias, double* bias_squares));

// probabilities = sigmoid(bias + sum of inputs[f] times the weights of f), for n labels, a multiple of kLanes.
BOOSTLINE_KERNEL(tracker_forward, void(const double* inputs, std::size_t n_inputs, const double* weights,
                                       const double* bias, std::size_t n, double* probabilities));
// The weights of f += inputs[f] times the steps, for n labels.
BOOSTLINE_KERNEL(tracker_step,
                 void(const double* inputs, std::size_t n_inputs, const double* steps, std::size_t n, double* weights));

// What the dense parts of a label's score add up to; see sparse_ranker.cpp. The cosine is that of the product with a
// centroid; scores are cut at kLeastScore and `most`, the bias at `most`.
constexpr double kLeastScore = -1.0;
struct PartWeights {
    double score, positive, bias, cosine, count;
};
BOOSTLINE_KERNEL(add_parts,
                 void(const float* z, const float* bias, const double* products, const double* inverse_lengths,
                      const double* log_counts, const PartWeights& w, double most, std::size_t n, double* sums));

}  // namespace boostline
