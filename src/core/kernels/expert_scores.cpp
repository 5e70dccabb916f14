#include "core/kernels/expert_scores.hpp"

#include "core/kernels/widths.hpp"

#if defined(BOOSTLINE_HAS_WIDTHS)
#include <immintrin.h>
#endif

namespace boostline {
namespace {

BOOSTLINE_VECTORISED void add_plainly(const double* BOOSTLINE_RESTRICT votes, const double* BOOSTLINE_RESTRICT weights,
                                      std::size_t n, std::size_t k, double* BOOSTLINE_RESTRICT scores) {
    for (std::size_t i = 0; i < n; ++i) {
        const double* BOOSTLINE_RESTRICT vote = votes + i * k;
        const double* BOOSTLINE_RESTRICT before = scores + i * k;
        double* BOOSTLINE_RESTRICT after = scores + (i + 1) * k;
        for (std::size_t j = 0; j < k; ++j) after[j] = before[j] + weights[i] * vote[j];
    }
}

#if defined(BOOSTLINE_HAS_WIDTHS)

constexpr std::size_t kEight = 8, kMostTogether = 4;

// Columns in some vectors, whose sums stay in registers; the last one may have columns of the one before it.
template <std::size_t kTogether>
__attribute__((target("avx512f"))) void add_columns(const double* votes, const double* weights, std::size_t n,
                                                    std::size_t k, std::size_t first, double* scores) {
    std::size_t at[kTogether];
    __m512d sums[kTogether];
    for (std::size_t v = 0; v < kTogether; ++v) {
        at[v] = first + v * kEight + kEight <= k ? first + v * kEight : k - kEight;
        sums[v] = _mm512_loadu_pd(scores + at[v]);
    }
    for (std::size_t i = 0; i < n; ++i) {
        const __m512d weight = _mm512_set1_pd(weights[i]);
        for (std::size_t v = 0; v < kTogether; ++v) {
            sums[v] = _mm512_add_pd(sums[v], _mm512_mul_pd(weight, _mm512_loadu_pd(votes + i * k + at[v])));
            _mm512_storeu_pd(scores + (i + 1) * k + at[v], sums[v]);
        }
    }
}

__attribute__((target("avx512f"))) void add_widely(const double* votes, const double* weights, std::size_t n,
                                                   std::size_t k, double* scores) {
    for (std::size_t first = 0; first < k; first += kMostTogether * kEight) {
        const std::size_t left = k - first;
        if (left > 3 * kEight)
            add_columns<4>(votes, weights, n, k, first, scores);
        else if (left > 2 * kEight)
            add_columns<3>(votes, weights, n, k, first, scores);
        else if (left > kEight)
            add_columns<2>(votes, weights, n, k, first, scores);
        else
            add_columns<1>(votes, weights, n, k, first, scores);
    }
}

#endif

}  // namespace

void add_votes(const double* BOOSTLINE_RESTRICT votes, const double* BOOSTLINE_RESTRICT weights, std::size_t n,
               std::size_t k, double* BOOSTLINE_RESTRICT scores) {
#if defined(BOOSTLINE_HAS_WIDTHS)
    if (vector_width() == Width::v4 && k >= kEight) return add_widely(votes, weights, n, k, scores);
#endif
    add_plainly(votes, weights, n, k, scores);
}

}  // namespace boostline
