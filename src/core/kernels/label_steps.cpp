#include "core/kernels/label_steps.hpp"

#include "core/base/math.hpp"

namespace boostline {

BOOSTLINE_VECTORISED void add_scaled(float* BOOSTLINE_RESTRICT sums, const float* BOOSTLINE_RESTRICT weights,
                                     float value, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) sums[j] += value * weights[j];
}

BOOSTLINE_VECTORISED void hinge_steps(const float* BOOSTLINE_RESTRICT z, const float* BOOSTLINE_RESTRICT duals,
                                      float slack, float curvature, float least, std::size_t n,
                                      float* BOOSTLINE_RESTRICT steps) {
    for (std::size_t j = 0; j < n; ++j) {
        float d = (1.0f + z[j] - duals[j] * slack) / curvature;
        d = d > -duals[j] ? d : -duals[j];
        steps[j] = d >= least || d <= -least ? d : 0.0f;
    }
}

BOOSTLINE_VECTORISED void hinge_votes(const float* BOOSTLINE_RESTRICT z, const double* BOOSTLINE_RESTRICT counts,
                                      double steepness, double tail, double share, std::size_t n,
                                      double* BOOSTLINE_RESTRICT votes) {
    for (std::size_t j = 0; j < n; ++j) {
        const double p = 1.0 / (1.0 + exp_(-steepness * static_cast<double>(z[j])));
        votes[j] = p * p / (p + tail) + share * counts[j];
    }
}

BOOSTLINE_VECTORISED void emphasise(const float* BOOSTLINE_RESTRICT z, int power, std::size_t n,
                                    double* BOOSTLINE_RESTRICT votes) {
    for (int p = 0; p < power; ++p)
        for (std::size_t j = 0; j < n; ++j) votes[j] *= 1.0 + (z[j] > 0.0f ? static_cast<double>(z[j]) : 0.0);
}

BOOSTLINE_VECTORISED void cosine_votes(const float* BOOSTLINE_RESTRICT sums,
                                       const float* BOOSTLINE_RESTRICT inverse_lengths, double steepness, std::size_t n,
                                       double* BOOSTLINE_RESTRICT votes) {
    for (std::size_t j = 0; j < n; ++j) {
        float cosine = sums[j] * inverse_lengths[j];
        cosine = cosine < 1.0f ? cosine : 1.0f;
        cosine = cosine > -1.0f ? cosine : -1.0f;
        votes[j] = exp_(steepness * static_cast<double>(cosine));
    }
}

}  // namespace boostline
