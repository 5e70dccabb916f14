#include "core/kernels/distances.hpp"

#include <cmath>

#include "core/base/math.hpp"

#define BOOSTLINE_LOOPS "core/kernels/distances.inl"
#include "core/kernels/each_width.hpp"

#if defined(BOOSTLINE_HAS_WIDTHS)
#include <immintrin.h>
#endif

namespace boostline {
#if defined(BOOSTLINE_HAS_WIDTHS)
namespace {

// Four vectors at a time, up to `end`: in most of them there is nothing.
__attribute__((target("avx512f,avx512bw"))) std::size_t find_between_widely(const float* values, std::size_t n,
                                                                            float above, float most,
                                                                            std::uint32_t* places, std::size_t& end) {
    const __m512 least = _mm512_set1_ps(above), largest = _mm512_set1_ps(most);
    std::size_t found = 0;
    for (end = 0; end + 64 <= n; end += 64) {
        std::uint64_t hits = 0;
        for (std::size_t part = 0; part < 4; ++part) {
            const __m512 v = _mm512_loadu_ps(values + end + 16 * part);
            const __mmask16 up_to = _mm512_cmp_ps_mask(v, largest, _CMP_LE_OQ);
            hits |= static_cast<std::uint64_t>(_mm512_mask_cmp_ps_mask(up_to, v, least, _CMP_GT_OQ)) << (16 * part);
        }
        for (; hits != 0; hits &= hits - 1)
            places[found++] = static_cast<std::uint32_t>(end) + static_cast<std::uint32_t>(__builtin_ctzll(hits));
    }
    return found;
}

}  // namespace
#endif

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
void least_of_blocks(const float* values, std::size_t n_blocks, std::size_t together, float* out) {
    BOOSTLINE_AT_WIDTH(least_of_blocks(values, n_blocks, together, out))
}

// Some rows side by side, as each sum waits for itself, while the next ones come from far away.
void distances_of_rows(const float* rows, const float* squares, std::size_t n_inputs, const float* query, float square,
                       const std::uint32_t* slots, std::size_t n, float* out) {
    constexpr std::size_t kTogether = 8, kAhead = 16;
    const auto row = [&](std::size_t i) { return rows + slots[i < n ? i : n - 1] * n_inputs; };
    for (std::size_t i = 0; i < n; i += kTogether) {
        const float* own[kTogether];
        float products[kTogether] = {};
        for (std::size_t j = 0; j < kTogether; ++j) {
            own[j] = row(i + j);
            for (std::size_t f = 0; f < n_inputs; f += kAhead) BOOSTLINE_PREFETCH(row(i + kTogether + j) + f);
        }
        for (std::size_t f = 0; f < n_inputs; ++f)
            for (std::size_t j = 0; j < kTogether; ++j) products[j] += own[j][f] * query[f];
        for (std::size_t j = 0; j < kTogether && i + j < n; ++j) {
            const float d = (squares[slots[i + j]] + square) - 2.0f * products[j];
            out[i + j] = d > 0.0f ? d : 0.0f;
        }
    }
}

std::size_t find_between(const float* values, std::size_t n, float above, float most, std::uint32_t* places) {
    std::size_t found = 0, first = 0;
#if defined(BOOSTLINE_HAS_WIDTHS)
    if (vector_width() == Width::v4) found = find_between_widely(values, n, above, most, places, first);
#endif
    for (std::size_t i = first; i < n; ++i)
        if (values[i] > above && values[i] <= most) places[found++] = static_cast<std::uint32_t>(i);
    return found;
}

void add_targets(const std::int8_t* const* rows, const double* weights, std::size_t n_rows, const double* frequency,
                 std::size_t n,
                 double* sums){BOOSTLINE_AT_WIDTH(add_targets(rows, weights, n_rows, frequency, n, sums))}

BOOSTLINE_VECTORISED float largest_of(const float* values, std::size_t n) {
    float lanes[kPointBlock] = {};
    for (std::size_t i = 0; i + kPointBlock <= n; i += kPointBlock)
        for (std::size_t j = 0; j < kPointBlock; ++j) lanes[j] = values[i + j] > lanes[j] ? values[i + j] : lanes[j];
    float largest = 0.0f;
    for (const float x : lanes) largest = x > largest ? x : largest;
    return largest;
}

BOOSTLINE_VECTORISED std::size_t count_up_to(const float* values, std::size_t n, float most) {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < n; ++i) count += values[i] <= most ? 1u : 0u;
    return count;
}

BOOSTLINE_VECTORISED void shares_of(const double* BOOSTLINE_RESTRICT parts, const double* BOOSTLINE_RESTRICT wholes,
                                    std::size_t n, double* BOOSTLINE_RESTRICT shares) {
    for (std::size_t j = 0; j < n; ++j) shares[j] = wholes[j] > 0.0 ? parts[j] / wholes[j] : 0.0;
}

}  // namespace boostline
