#include "core/kernels/label_updates.hpp"

#include "core/kernels/widths.hpp"

#if defined(BOOSTLINE_HAS_WIDTHS)
#include <immintrin.h>
#endif

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

// The same in whole vectors, and four at once of what is left: few covariates leave much to a loop over the rest.
// Stores are not masked, because what a masked one has written cannot be read at once.
__attribute__((target("avx512f,avx512vl"))) void observe_widely(double* weight, double* mean, double* m2, double* min,
                                                                double* max, const double* x, std::size_t n, double q) {
    std::size_t f = 0;
    for (; f + 8 <= n; f += 8) {
        const __m512d by = _mm512_set1_pd(q), value = _mm512_loadu_pd(x + f);
        const __m512d old_weight = _mm512_loadu_pd(weight + f), old_mean = _mm512_loadu_pd(mean + f),
                      old_m2 = _mm512_loadu_pd(m2 + f);
        const __mmask8 known = _mm512_cmp_pd_mask(value, value, _CMP_EQ_OQ);
        const __m512d new_weight = _mm512_add_pd(old_weight, by), delta = _mm512_sub_pd(value, old_mean);
        const __m512d new_mean = _mm512_add_pd(old_mean, _mm512_mul_pd(delta, _mm512_div_pd(by, new_weight)));
        const __m512d square = _mm512_mul_pd(_mm512_mul_pd(by, delta), _mm512_sub_pd(value, new_mean));
        _mm512_storeu_pd(weight + f, _mm512_mask_mov_pd(old_weight, known, new_weight));
        _mm512_storeu_pd(mean + f, _mm512_mask_mov_pd(old_mean, known, new_mean));
        _mm512_storeu_pd(m2 + f, _mm512_mask_add_pd(old_m2, known, old_m2, square));
        _mm512_storeu_pd(min + f, _mm512_min_pd(value, _mm512_loadu_pd(min + f)));  // the second one for NaN
        _mm512_storeu_pd(max + f, _mm512_max_pd(value, _mm512_loadu_pd(max + f)));
    }
    for (; f + 4 <= n; f += 4) {
        const __m256d by = _mm256_set1_pd(q), value = _mm256_loadu_pd(x + f);
        const __m256d old_weight = _mm256_loadu_pd(weight + f), old_mean = _mm256_loadu_pd(mean + f),
                      old_m2 = _mm256_loadu_pd(m2 + f);
        const __mmask8 known = _mm256_cmp_pd_mask(value, value, _CMP_EQ_OQ);
        const __m256d new_weight = _mm256_add_pd(old_weight, by), delta = _mm256_sub_pd(value, old_mean);
        const __m256d new_mean = _mm256_add_pd(old_mean, _mm256_mul_pd(delta, _mm256_div_pd(by, new_weight)));
        const __m256d square = _mm256_mul_pd(_mm256_mul_pd(by, delta), _mm256_sub_pd(value, new_mean));
        _mm256_storeu_pd(weight + f, _mm256_mask_mov_pd(old_weight, known, new_weight));
        _mm256_storeu_pd(mean + f, _mm256_mask_mov_pd(old_mean, known, new_mean));
        _mm256_storeu_pd(m2 + f, _mm256_mask_add_pd(old_m2, known, old_m2, square));
        _mm256_storeu_pd(min + f, _mm256_min_pd(value, _mm256_loadu_pd(min + f)));
        _mm256_storeu_pd(max + f, _mm256_max_pd(value, _mm256_loadu_pd(max + f)));
    }
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
