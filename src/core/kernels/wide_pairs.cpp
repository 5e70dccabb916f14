#include "core/kernels/wide_pairs.hpp"

#include "core/base/math.hpp"
#include "core/kernels/widths.hpp"

#if defined(BOOSTLINE_HAS_WIDTHS)

#include <immintrin.h>

#define BOOSTLINE_WIDE __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw")))
#define BOOSTLINE_WIDE_INLINE BOOSTLINE_WIDE BOOSTLINE_INLINE

namespace boostline {
namespace {

constexpr std::size_t kEight = 8, kMostTogether = 4;  // labels in a vector; relevant ones in one pass

BOOSTLINE_WIDE_INLINE __mmask8 lanes_below(std::size_t n) {
    return static_cast<__mmask8>(n < kEight ? (1u << n) - 1u : 0xffu);
}
BOOSTLINE_WIDE_INLINE double total_of(__m512d lanes) {
    double sums[kLanes];
    _mm512_storeu_pd(sums, lanes);
    return combine_lanes(sums);
}
// One after the other, as a loop over what is left adds them.
BOOSTLINE_WIDE_INLINE double rest_of(__m512d last, std::size_t n) {
    double sums[kLanes], rest = 0.0;
    _mm512_storeu_pd(sums, last);
    for (std::size_t i = 0; i < n; ++i) rest += sums[i];
    return rest;
}

// As exp_ in math.hpp, for numbers that it takes as they are.
BOOSTLINE_WIDE_INLINE __m512d exp_of(__m512d x) {
    const auto number = [](double v) BOOSTLINE_WIDE { return _mm512_set1_pd(v); };
    const auto multiply_add = [](__m512d a, __m512d b, __m512d c)
                                  BOOSTLINE_WIDE { return _mm512_add_pd(a, _mm512_mul_pd(b, c)); };  // a + b c
    const __m512d round = number(6755399441055744.0);
    const __m512d shifted = _mm512_add_pd(_mm512_mul_pd(x, number(1.4426950408889634074)), round);
    const __m512d n = _mm512_sub_pd(shifted, round);
    const __m512d r = _mm512_sub_pd(_mm512_sub_pd(x, _mm512_mul_pd(n, number(6.93147180369123816490e-01))),
                                    _mm512_mul_pd(n, number(1.90821492927058770002e-10)));
    const __m512d r2 = _mm512_mul_pd(r, r), r4 = _mm512_mul_pd(r2, r2), r8 = _mm512_mul_pd(r4, r4);
    const __m512d p01 = _mm512_add_pd(number(1.0), r);
    const __m512d p23 = multiply_add(number(0.5), r, number(1.0 / 6.0));
    const __m512d p45 = multiply_add(number(1.0 / 24.0), r, number(1.0 / 120.0));
    const __m512d p67 = multiply_add(number(1.0 / 720.0), r, number(1.0 / 5040.0));
    const __m512d p89 = multiply_add(number(1.0 / 40320.0), r, number(1.0 / 362880.0));
    const __m512d pab = multiply_add(number(1.0 / 3628800.0), r, number(1.0 / 39916800.0));
    const __m512d pcd = multiply_add(number(1.0 / 479001600.0), r, number(1.0 / 6227020800.0));
    const __m512d high = multiply_add(multiply_add(p89, r2, pab), r4, pcd);
    const __m512d p = multiply_add(multiply_add(multiply_add(p01, r2, p23), r4, multiply_add(p45, r2, p67)), r8, high);
    const __m512i power =
        _mm512_slli_epi64(_mm512_add_epi64(_mm512_castpd_si512(shifted), _mm512_set1_epi64(1023)), 52);
    return _mm512_mul_pd(p, _mm512_castsi512_pd(power));
}

// Scores of irrelevant labels side by side, in whole vectors; what follows the last one is below any score.
struct Irrelevant {
    double* scores;
    std::size_t n, whole;  // labels; those in full vectors
    Range range;           // of theirs, or of all scores

    bool has_rest() const { return whole < n; }
};

BOOSTLINE_WIDE_INLINE __mmask8 irrelevant_lanes(const ScoredLabels& of, std::size_t at) {
    const __mmask8 lanes = lanes_below(of.n - at);
    const __m128i bytes = _mm_maskz_loadu_epi8(lanes, of.is_relevant + at);
    return static_cast<__mmask8>(_mm_mask_cmpeq_epi8_mask(lanes, bytes, _mm_setzero_si128()));
}

// And those of relevant labels, in their order.
template <bool kRangeOfAll>
BOOSTLINE_WIDE_INLINE Irrelevant gather_scores(const ScoredLabels& of, double* room, double* relevant) {
    __m512d low = _mm512_set1_pd(__builtin_inf()), high = _mm512_set1_pd(-__builtin_inf());
    std::size_t n = 0;
    for (std::size_t at = 0; at < of.n; at += kEight) {
        const __mmask8 known = lanes_below(of.n - at);
        const __m512d s = _mm512_maskz_loadu_pd(known, of.scores + at);
        const __mmask8 lanes = irrelevant_lanes(of, at), ranged = kRangeOfAll ? known : lanes;
        low = _mm512_mask_min_pd(low, ranged, low, s);
        high = _mm512_mask_max_pd(high, ranged, high, s);
        _mm512_storeu_pd(room + n, _mm512_maskz_compress_pd(lanes, s));
        _mm512_storeu_pd(relevant + (at - n), _mm512_maskz_compress_pd(static_cast<__mmask8>(known & ~lanes), s));
        n += static_cast<std::size_t>(__builtin_popcount(lanes));
    }
    _mm512_storeu_pd(room + n, _mm512_set1_pd(-__builtin_inf()));
    return {room, n, n - n % kEight, {_mm512_reduce_min_pd(low), _mm512_reduce_max_pd(high)}};
}

// Twice the pairs that are ranked wrongly, ties once.
BOOSTLINE_WIDE_INLINE __m512i count(__m512i so_far, __m512d irrelevant, __m512d relevant) {
    const __m512i one = _mm512_set1_epi64(1);
    so_far = _mm512_mask_add_epi64(so_far, _mm512_cmp_pd_mask(irrelevant, relevant, _CMP_GT_OQ), so_far, one);
    return _mm512_mask_add_epi64(so_far, _mm512_cmp_pd_mask(irrelevant, relevant, _CMP_GE_OQ), so_far, one);
}

// The costs of all labels from the sums over their pairs.
BOOSTLINE_WIDE_INLINE Range spread_costs(const ScoredLabels& of, const double* irrelevant_sum,
                                         const double* relevant_sum, double* costs) {
    const __m512d weight = _mm512_set1_pd(of.pair_weight), less = _mm512_set1_pd(-of.pair_weight);
    __m512d lowest = _mm512_set1_pd(__builtin_inf()), highest = _mm512_set1_pd(-__builtin_inf());
    for (std::size_t at = 0; at < of.n; at += kEight) {
        const __mmask8 known = lanes_below(of.n - at), lanes = irrelevant_lanes(of, at);
        const auto others = static_cast<__mmask8>(known & ~lanes);
        __m512d c = _mm512_mul_pd(weight, _mm512_maskz_expand_pd(lanes, _mm512_loadu_pd(irrelevant_sum)));
        const __m512d of_relevant = _mm512_maskz_expand_pd(others, _mm512_loadu_pd(relevant_sum));
        c = _mm512_mask_mul_pd(c, others, less, of_relevant);
        _mm512_mask_storeu_pd(costs + at, known, c);
        lowest = _mm512_mask_min_pd(lowest, known, lowest, c);
        highest = _mm512_mask_max_pd(highest, known, highest, c);
        irrelevant_sum += __builtin_popcount(lanes);
        relevant_sum += __builtin_popcount(others);
    }
    return {_mm512_reduce_min_pd(lowest), _mm512_reduce_max_pd(highest)};
}

// What a pair adds to the sums of its irrelevant and of its relevant label, eight at a time.
struct Terms {
    __m512d up, down;
};

// Of some relevant labels: `terms(l, at, scores, score)` are those of label l with the irrelevant ones from `at` on.
template <std::size_t kTogether, class TermsOf>
BOOSTLINE_WIDE_INLINE void add_pairs(const Irrelevant& irrelevant, bool is_first, const double* relevant,
                                     const TermsOf& terms, double* irrelevant_sum, double* relevant_sum,
                                     __m512i& wrong) {
    __m512d lanes[kTogether], score[kTogether];
    for (std::size_t l = 0; l < kTogether; ++l) {
        lanes[l] = _mm512_setzero_pd();
        score[l] = _mm512_set1_pd(relevant[l]);
    }
    for (std::size_t at = 0; at < irrelevant.whole; at += kEight) {
        const __m512d s = _mm512_loadu_pd(irrelevant.scores + at);
        __m512d sum = is_first ? _mm512_setzero_pd() : _mm512_loadu_pd(irrelevant_sum + at);
        for (std::size_t l = 0; l < kTogether; ++l) {
            wrong = count(wrong, s, score[l]);
            const Terms of_pairs = terms(l, at, s, score[l]);
            sum = _mm512_add_pd(sum, of_pairs.up);
            lanes[l] = _mm512_add_pd(lanes[l], of_pairs.down);
        }
        _mm512_storeu_pd(irrelevant_sum + at, sum);
    }
    double rest[kTogether] = {0.0};
    if (irrelevant.has_rest()) {
        const std::size_t at = irrelevant.whole;
        const __m512d s = _mm512_loadu_pd(irrelevant.scores + at);
        __m512d sum = is_first ? _mm512_setzero_pd() : _mm512_loadu_pd(irrelevant_sum + at);
        for (std::size_t l = 0; l < kTogether; ++l) {
            wrong = count(wrong, s, score[l]);
            const Terms of_pairs = terms(l, at, s, score[l]);
            sum = _mm512_add_pd(sum, of_pairs.up);
            rest[l] = rest_of(of_pairs.down, irrelevant.n - at);
        }
        _mm512_storeu_pd(irrelevant_sum + at, sum);
    }
    for (std::size_t l = 0; l < kTogether; ++l) relevant_sum[l] = total_of(lanes[l]) + rest[l];
}

template <class TermsOf>
BOOSTLINE_WIDE_INLINE void add_pairs_of(std::size_t n, const Irrelevant& irrelevant, bool is_first,
                                        const double* relevant, const TermsOf& terms, double* irrelevant_sum,
                                        double* relevant_sum, __m512i& wrong) {
    switch (n) {
        case 1:
            return add_pairs<1>(irrelevant, is_first, relevant, terms, irrelevant_sum, relevant_sum, wrong);
        case 2:
            return add_pairs<2>(irrelevant, is_first, relevant, terms, irrelevant_sum, relevant_sum, wrong);
        case 3:
            return add_pairs<3>(irrelevant, is_first, relevant, terms, irrelevant_sum, relevant_sum, wrong);
        default:
            return add_pairs<4>(irrelevant, is_first, relevant, terms, irrelevant_sum, relevant_sum, wrong);
    }
}

// Where the room is for what.
struct Room {
    double *irrelevant, *irrelevant_sum, *e_irrelevant, *relevant, *relevant_sum;
    Room(double* all, std::size_t n)
        : irrelevant(all),
          irrelevant_sum(all + (n + 16)),
          e_irrelevant(all + 2 * (n + 16)),
          relevant(all + 3 * (n + 16)),
          relevant_sum(all + 4 * (n + 16)) {}
};

BOOSTLINE_WIDE bool logistic_costs(const ScoredLabels& of, double* all_room, double* costs, PairFacts& facts) {
    const Room room(all_room, of.n);
    const Irrelevant irrelevant = gather_scores<true>(of, room.irrelevant, room.relevant);
    const auto [low, high] = irrelevant.range;
    if (!(high - low < 600.0)) return false;  // as in ada_olmr.hpp
    const __m512d middle = _mm512_set1_pd(0.5 * (low + high));
    for (std::size_t at = 0; at < irrelevant.n; at += kEight) {
        const __m512d e = exp_of(_mm512_sub_pd(_mm512_loadu_pd(irrelevant.scores + at), middle));
        _mm512_storeu_pd(room.e_irrelevant + at, _mm512_maskz_mov_pd(lanes_below(irrelevant.n - at), e));
    }
    __m512i wrong = _mm512_setzero_si512();
    for (std::size_t first = 0; first < of.n_relevant; first += kMostTogether) {
        const std::size_t n = of.n_relevant - first < kMostTogether ? of.n_relevant - first : kMostTogether;
        const __m512d e_relevant =
            exp_of(_mm512_sub_pd(_mm512_maskz_loadu_pd(lanes_below(n), room.relevant + first), middle));
        __m512d e[kMostTogether];
        for (std::size_t l = 0; l < kMostTogether; ++l)
            e[l] = _mm512_permutexvar_pd(_mm512_set1_epi64(static_cast<long long>(l)), e_relevant);
        const auto terms = [&](std::size_t l, std::size_t at, __m512d, __m512d) BOOSTLINE_WIDE {
            const __m512d e_irrelevant = _mm512_loadu_pd(room.e_irrelevant + at);
            const __m512d p = _mm512_div_pd(e_irrelevant, _mm512_add_pd(e_irrelevant, e[l]));
            return Terms{p, p};
        };
        add_pairs_of(n, irrelevant, first == 0, room.relevant + first, terms, room.irrelevant_sum,
                     room.relevant_sum + first, wrong);
    }
    facts.inversions = 0.5 * static_cast<double>(_mm512_reduce_add_epi64(wrong));
    facts.costs = spread_costs(of, room.irrelevant_sum, room.relevant_sum, costs);
    return true;
}

// The steps that pairs need lie next to each other mostly, as the scores of irrelevant labels do. Then two registers
// hold them all, from `base` on, and looking up is a permutation.
struct NearSteps {
    __m512d first, second, first_rise, second_rise;  // values, and by how much the next ones are larger
    __m512d to_up, to_down;                          // what makes a cell's number an index
};

BOOSTLINE_WIDE bool step_costs(const ScoredLabels& of, const StepRow& row, double* all_room, double* costs,
                               PairFacts& facts) {
    constexpr std::int32_t kHeld = 16;
    constexpr double kWhole = 4503599627370496.0;  // 2^52: what is added to it are the lowest bits
    const Room room(all_room, of.n);
    const Irrelevant irrelevant = gather_scores<false>(of, room.irrelevant, room.relevant);
    const __m512d per_unit = _mm512_set1_pd(static_cast<double>(row.per_unit)), origin = _mm512_set1_pd(row.origin);
    const __m512d last = _mm512_set1_pd(static_cast<double>(row.last_cell));
    const __m512d end = _mm512_set1_pd(static_cast<double>(row.last_cell) + 1.0);
    __m512i wrong = _mm512_setzero_si512();
    for (std::size_t first = 0; first < of.n_relevant; first += kMostTogether) {
        const std::size_t n = of.n_relevant - first < kMostTogether ? of.n_relevant - first : kMostTogether;
        NearSteps near[kMostTogether];
        for (std::size_t l = 0; l < n; ++l) {
            const double relevant = room.relevant[first + l];
            const std::int32_t lowest = place_of(relevant, irrelevant.range.low, row).cell - row.per_unit;
            const std::int32_t highest = place_of(relevant, irrelevant.range.high, row).cell + 1;
            const std::int32_t base = lowest < row.last_cell + 2 - kHeld ? lowest : row.last_cell + 2 - kHeld;
            if (base < 0 || highest - base >= kHeld) return false;
            NearSteps& steps = near[l];
            steps.first = _mm512_loadu_pd(row.values + base);
            steps.second = _mm512_loadu_pd(row.values + base + kEight);
            const __m512i a = _mm512_castpd_si512(steps.first), b = _mm512_castpd_si512(steps.second);
            steps.first_rise = _mm512_sub_pd(_mm512_castsi512_pd(_mm512_alignr_epi64(b, a, 1)), steps.first);
            steps.second_rise = _mm512_sub_pd(_mm512_castsi512_pd(_mm512_alignr_epi64(b, b, 1)), steps.second);
            steps.to_up = _mm512_set1_pd(kWhole - static_cast<double>(base));
            steps.to_down = _mm512_set1_pd(kWhole - static_cast<double>(base + row.per_unit));
        }
        const auto terms = [&](std::size_t l, std::size_t, __m512d scores, __m512d relevant) BOOSTLINE_WIDE {
            const NearSteps& steps = near[l];
            __m512d position = _mm512_mul_pd(_mm512_sub_pd(_mm512_sub_pd(scores, relevant), origin), per_unit);
            position = _mm512_min_pd(_mm512_max_pd(position, per_unit), end);  // max: the second one for NaN
            const __m512d cell =
                _mm512_min_pd(_mm512_roundscale_pd(position, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC), last);
            const __m512d fraction = _mm512_sub_pd(position, cell);
            const auto look_up = [&](__m512d to_index) BOOSTLINE_WIDE {
                const __m512i at = _mm512_castpd_si512(_mm512_add_pd(cell, to_index));
                const __m512d here = _mm512_permutex2var_pd(steps.first, at, steps.second);
                const __m512d rise = _mm512_permutex2var_pd(steps.first_rise, at, steps.second_rise);
                return _mm512_add_pd(here, _mm512_mul_pd(fraction, rise));
            };
            return Terms{look_up(steps.to_up), look_up(steps.to_down)};
        };
        add_pairs_of(n, irrelevant, first == 0, room.relevant + first, terms, room.irrelevant_sum,
                     room.relevant_sum + first, wrong);
    }
    facts.inversions = 0.5 * static_cast<double>(_mm512_reduce_add_epi64(wrong));
    facts.costs = spread_costs(of, room.irrelevant_sum, room.relevant_sum, costs);
    return true;
}

}  // namespace

bool has_wide_pairs() { return vector_width() == Width::v4; }
bool write_logistic_costs(const ScoredLabels& of, double* room, double* costs, PairFacts& facts) {
    return logistic_costs(of, room, costs, facts);
}
bool write_step_costs(const ScoredLabels& of, const StepRow& row, double* room, double* costs, PairFacts& facts) {
    return step_costs(of, row, room, costs, facts);
}

}  // namespace boostline

#else

namespace boostline {
bool has_wide_pairs() { return false; }
bool write_logistic_costs(const ScoredLabels&, double*, double*, PairFacts&) { return false; }
bool write_step_costs(const ScoredLabels&, const StepRow&, double*, double*, PairFacts&) { return false; }
}  // namespace boostline

#endif
