#include "core/kernels/logistic.hpp"

namespace boostline {

BOOSTLINE_VECTORISED void logits(double* values, std::size_t n, double scale) {
    for (std::size_t i = 0; i < n; ++i) values[i] = logit(values[i] * scale);
}

BOOSTLINE_VECTORISED void sigmoids(double* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) values[i] = sigmoid(values[i]);
}

}  // namespace boostline
