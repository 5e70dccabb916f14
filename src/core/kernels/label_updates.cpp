#include "core/kernels/label_updates.hpp"

#include <cstring>

#include "core/kernels/widths.hpp"

namespace boostline {

namespace {

BOOSTLINE_VECTORISED void observe_plainly(double* BOOSTLINE_RESTRICT weight, double* BOOSTLINE_RESTRICT mean,
                                          double* BOOSTLINE_RESTRICT m2, double* BOOSTLINE_RESTRICT min,
                                          double* BOOSTLINE_RESTRICT max, const double* BOOSTLINE_RESTRICT x,
                                          std::size_t n, double q) {
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

#if defined(BOOSTLINE_HAS_WIDTHS)

#define BOOSTLINE_WIDELY __attribute__((target("avx512f,avx512vl")))

typedef double Four __attribute__((vector_size(32)));
typedef double Eight __attribute__((vector_size(64)));

template <class Vector>
BOOSTLINE_WIDELY inline Vector load(const double* from) {
    Vector vector;
    std::memcpy(&vector, from, sizeof(Vector));
    return vector;
}
template <class Vector>
BOOSTLINE_WIDELY inline void store(double* to, const Vector& vector) {
    std::memcpy(to, &vector, sizeof(Vector));
}

// The same for one vector of covariates. Stores are not masked, because what a masked one has written cannot be read at
// once.
template <class Vector>
BOOSTLINE_WIDELY inline void observe_vector(double* weight, double* mean, double* m2, double* min, double* max,
                                            const double* x, double q) {
    const Vector value = load<Vector>(x), by = q - Vector{};
    const Vector old_weight = load<Vector>(weight), old_mean = load<Vector>(mean), old_m2 = load<Vector>(m2);
    const Vector old_min = load<Vector>(min), old_max = load<Vector>(max);
    const Vector new_weight = old_weight + by, delta = value - old_mean;
    const Vector new_mean = old_mean + delta * (by / new_weight);
    const Vector new_m2 = old_m2 + by * delta * (value - new_mean);
    store<Vector>(weight, value == value ? new_weight : old_weight);
    store<Vector>(mean, value == value ? new_mean : old_mean);
    store<Vector>(m2, value == value ? new_m2 : old_m2);
    store<Vector>(min, value < old_min ? value : old_min);
    store<Vector>(max, value > old_max ? value : old_max);
}

// Whole vectors, and four at once of what is left: few covariates leave much to a loop over the rest.
BOOSTLINE_WIDELY void observe_widely(double* weight, double* mean, double* m2, double* min, double* max,
                                     const double* x, std::size_t n, double q) {
    std::size_t f = 0;
    for (; f + 8 <= n; f += 8) observe_vector<Eight>(weight + f, mean + f, m2 + f, min + f, max + f, x + f, q);
    for (; f + 4 <= n; f += 4) observe_vector<Four>(weight + f, mean + f, m2 + f, min + f, max + f, x + f, q);
    if (f < n) observe_plainly(weight + f, mean + f, m2 + f, min + f, max + f, x + f, n - f, q);
}

#endif

}  // namespace

void observe(double* weight, double* mean, double* m2, double* min, double* max, const double* x, std::size_t n,
             double q) {
#if defined(BOOSTLINE_HAS_WIDTHS)
    if (vector_width() == Width::v4) return observe_widely(weight, mean, m2, min, max, x, n, q);
#endif
    observe_plainly(weight, mean, m2, min, max, x, n, q);
}

BOOSTLINE_VECTORISED void widen(double* BOOSTLINE_RESTRICT low, double* BOOSTLINE_RESTRICT high, const double* min,
                                const double* max, std::size_t n) {
    for (std::size_t f = 0; f < n; ++f) {
        low[f] = min[f] < low[f] ? min[f] : low[f];
        high[f] = max[f] > high[f] ? max[f] : high[f];
    }
}

}  // namespace boostline
