#include "core/kernels/pairs.hpp"

#include "core/base/math.hpp"
#include "core/kernels/widths.hpp"

#if defined(BOOSTLINE_HAS_WIDTHS)
#include <immintrin.h>
#endif

namespace boostline {

BOOSTLINE_VECTORISED double count_inversions(const double* BOOSTLINE_RESTRICT relevant, std::size_t n_relevant,
                                             const double* BOOSTLINE_RESTRICT irrelevant, std::size_t n_irrelevant) {
    constexpr std::size_t kPiece = 1024;  // of thousands of labels, so that a piece stays in the first cache
    double total = 0.0;                   // multiples of one half: exact in any order
    for (std::size_t start = 0; start < n_irrelevant; start += kPiece) {
        const double* BOOSTLINE_RESTRICT piece = irrelevant + start;
        const std::size_t n = n_irrelevant - start < kPiece ? n_irrelevant - start : kPiece, whole = n - n % kLanes;
        for (std::size_t l = 0; l < n_relevant; ++l) {
            const double score = relevant[l];
            double count = 0.0;
            double lanes[kLanes] = {0.0};
            for (std::size_t r = 0; r < whole; r += kLanes)
                for (int lane = 0; lane < kLanes; ++lane) {
                    const double other = piece[r + static_cast<std::size_t>(lane)];
                    lanes[lane] += (other > score ? 1.0 : 0.0) + (other == score ? 0.5 : 0.0);
                }
            for (std::size_t r = whole; r < n; ++r) count += piece[r] > score ? 1.0 : (piece[r] == score ? 0.5 : 0.0);
            total += count + combine_lanes(lanes);
        }
    }
    return total;
}

BOOSTLINE_VECTORISED void exp_differences(const double* BOOSTLINE_RESTRICT scores, std::size_t n, double from,
                                          double* BOOSTLINE_RESTRICT out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = exp_(scores[i] - from);
}

BOOSTLINE_VECTORISED double add_sigmoids(double e_relevant, const double* BOOSTLINE_RESTRICT e_irrelevant,
                                         std::size_t n, double* BOOSTLINE_RESTRICT irrelevant_sum) {
    double lanes[kLanes] = {0.0};
    const std::size_t whole = n - n % kLanes;
    for (std::size_t r = 0; r < whole; r += kLanes)
        for (int lane = 0; lane < kLanes; ++lane) {
            const std::size_t i = r + static_cast<std::size_t>(lane);
            const double p = e_irrelevant[i] / (e_irrelevant[i] + e_relevant);
            irrelevant_sum[i] += p;
            lanes[lane] += p;
        }
    double rest = 0.0;
    for (std::size_t r = whole; r < n; ++r) {
        const double p = e_irrelevant[r] / (e_irrelevant[r] + e_relevant);
        irrelevant_sum[r] += p;
        rest += p;
    }
    return combine_lanes(lanes) + rest;
}

BOOSTLINE_VECTORISED static double add_any_steps(double relevant, const double* BOOSTLINE_RESTRICT irrelevant,
                                                 std::size_t n, const StepRow& row,
                                                 double* BOOSTLINE_RESTRICT irrelevant_sum) {
    constexpr std::size_t kBlock = 64;
    std::int32_t cells[kBlock];  // found for a block of labels at a time, which vectorises; looking up does not
    double fractions[kBlock];
    const double* BOOSTLINE_RESTRICT values = row.values;
    double lanes[kLanes] = {0.0}, rest = 0.0;
    for (std::size_t start = 0; start < n; start += kBlock) {
        const std::size_t size = n - start < kBlock ? n - start : kBlock, whole = size - size % kLanes;
        for (std::size_t i = 0; i < size; ++i) {
            const StepPlace place = place_of(relevant, irrelevant[start + i], row);
            cells[i] = place.cell;
            fractions[i] = place.fraction;
        }
        const auto look_up = [&](std::size_t i) {
            const std::int32_t up = cells[i], down = up - row.per_unit;
            irrelevant_sum[start + i] += values[up] + fractions[i] * (values[up + 1] - values[up]);
            return values[down] + fractions[i] * (values[down + 1] - values[down]);
        };
        for (std::size_t i = 0; i < whole; i += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += look_up(i + lane);
        for (std::size_t i = whole; i < size; ++i) rest += look_up(i);
    }
    return combine_lanes(lanes) + rest;
}

#if defined(BOOSTLINE_HAS_WIDTHS)

// The steps that pairs need lie next to each other mostly, as the scores of irrelevant labels do. Then two registers
// hold them all, from `base` on, and looking up is a permutation. The same sums in the same order.
__attribute__((target("avx512f,avx512dq,avx512vl"))) static double add_near_steps(double relevant,
                                                                                  const double* irrelevant,
                                                                                  std::size_t n, const StepRow& row,
                                                                                  std::int32_t base,
                                                                                  double* irrelevant_sum) {
    const __m512d first = _mm512_loadu_pd(row.values + base);
    const __m512d second = _mm512_loadu_pd(row.values + base + 8);
    const __m512d per_unit = _mm512_set1_pd(static_cast<double>(row.per_unit)), of = _mm512_set1_pd(relevant);
    const __m512d origin = _mm512_set1_pd(row.origin), end = _mm512_set1_pd(static_cast<double>(row.last_cell) + 1.0);
    const __m256i last = _mm256_set1_epi32(row.last_cell);
    const __m512i to_base = _mm512_set1_epi64(base), unit = _mm512_set1_epi64(row.per_unit);
    const __m512i one = _mm512_set1_epi64(1);
    __m512d lanes = _mm512_setzero_pd();
    const std::size_t whole = n - n % kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes) {
        __m512d position = _mm512_sub_pd(_mm512_sub_pd(_mm512_loadu_pd(irrelevant + i), of), origin);
        position = _mm512_mul_pd(position, per_unit);
        position = _mm512_min_pd(_mm512_max_pd(position, per_unit), end);  // max: the second one for NaN
        const __m256i cell = _mm256_min_epi32(_mm512_cvttpd_epi32(position), last);
        const __m512d fraction = _mm512_sub_pd(position, _mm512_cvtepi32_pd(cell));
        const __m512i up = _mm512_sub_epi64(_mm512_cvtepi32_epi64(cell), to_base), down = _mm512_sub_epi64(up, unit);
        const auto look_up = [&](__m512i at) __attribute__((target("avx512f,avx512dq,avx512vl"))) {
            const __m512d here = _mm512_permutex2var_pd(first, at, second);
            const __m512d next = _mm512_permutex2var_pd(first, _mm512_add_epi64(at, one), second);
            return _mm512_add_pd(here, _mm512_mul_pd(fraction, _mm512_sub_pd(next, here)));
        };
        _mm512_storeu_pd(irrelevant_sum + i, _mm512_add_pd(_mm512_loadu_pd(irrelevant_sum + i), look_up(up)));
        lanes = _mm512_add_pd(lanes, look_up(down));
    }
    double rest = 0.0;
    for (std::size_t i = whole; i < n; ++i) {
        const StepPlace place = place_of(relevant, irrelevant[i], row);
        const double* up = row.values + place.cell;
        const double* down = up - row.per_unit;
        irrelevant_sum[i] += up[0] + place.fraction * (up[1] - up[0]);
        rest += down[0] + place.fraction * (down[1] - down[0]);
    }
    double sums[kLanes];
    _mm512_storeu_pd(sums, lanes);
    return combine_lanes(sums) + rest;
}

#endif

double add_steps(double relevant, const double* BOOSTLINE_RESTRICT irrelevant, std::size_t n, const StepRow& row,
                 const Range& of_irrelevant, double* BOOSTLINE_RESTRICT irrelevant_sum) {
#if defined(BOOSTLINE_HAS_WIDTHS)
    constexpr std::int32_t kHeld = 16;
    const std::int32_t lowest = place_of(relevant, of_irrelevant.low, row).cell - row.per_unit;
    const std::int32_t highest = place_of(relevant, of_irrelevant.high, row).cell + 1;
    const std::int32_t base = lowest < row.last_cell + 2 - kHeld ? lowest : row.last_cell + 2 - kHeld;
    if (vector_width() == Width::v4 && base >= 0 && highest - base < kHeld)
        return add_near_steps(relevant, irrelevant, n, row, base, irrelevant_sum);
#else
    (void)of_irrelevant;
#endif
    return add_any_steps(relevant, irrelevant, n, row, irrelevant_sum);
}

}  // namespace boostline
