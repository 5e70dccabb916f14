#include "core/kernels/wide_split_screen.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <initializer_list>

#include "core/kernels/wide_split_words.hpp"

namespace boostline {
namespace {

BOOSTLINE_WIDE_INLINE __mmask16 lanes_below(std::size_t n) {
    return static_cast<__mmask16>(n < kLanes16 ? (1u << n) - 1u : 0xffffu);
}

BOOSTLINE_WIDE_INLINE __m512 polynomial_of(__m512 u, float a, float b, float c, float d, float e, float f) {
    __m512 sum = _mm512_fmadd_ps(_mm512_set1_ps(a), u, _mm512_set1_ps(b));
    sum = _mm512_fmadd_ps(sum, u, _mm512_set1_ps(c));
    sum = _mm512_fmadd_ps(sum, u, _mm512_set1_ps(d));
    sum = _mm512_fmadd_ps(sum, u, _mm512_set1_ps(e));
    return _mm512_fmadd_ps(sum, u, _mm512_set1_ps(f));
}

// The entropy of a division in bits, to 3e-4 where both sides have a hundredth: a polynomial in the root of p (1 - p).
BOOSTLINE_WIDE_INLINE __m512 entropy_of(__m512 share) {
    const __m512 product = _mm512_max_ps(_mm512_fnmadd_ps(share, share, share), _mm512_set1_ps(1e-12f));
    const __m512 root = _mm512_mul_ps(product, _mm512_rsqrt14_ps(product));
    __m512 sum = _mm512_fmadd_ps(_mm512_set1_ps(-15.3722093f), root, _mm512_set1_ps(25.3607662f));
    sum = _mm512_fmadd_ps(sum, root, _mm512_set1_ps(-17.8445376f));
    sum = _mm512_fmadd_ps(sum, root, _mm512_set1_ps(8.21148056f));
    sum = _mm512_fmadd_ps(sum, root, _mm512_set1_ps(0.14548446f));
    return _mm512_mul_ps(sum, root);
}

// In single precision, and what follows from the sums.
template <std::size_t kTogether, bool kFirstLook>
class Pack : private PackInWords<kTogether> {
    using Words = PackInWords<kTogether>;
    using Words::add_carefully, Words::add_rest, Words::load, Words::positions, Words::spread, Words::store_sums;
    using Words::careful_left_, Words::careful_over_, Words::first_, Words::has_careful_, Words::labels_, Words::left_,
        Words::n_heavy_, Words::over_, Words::per_step_, Words::range_, Words::rest_, Words::scale_, Words::shares_;

  public:
    using Words::add_labels, Words::Words;

    BOOSTLINE_WIDE void add_labels() {
        const __m512 far = _mm512_set1_ps(kCoarseFar), near = _mm512_set1_ps(-kCoarseFar), half = _mm512_set1_ps(0.5f);
        const __m512d scale = _mm512_set1_pd(scale_), floor = _mm512_set1_pd(kVarianceFloor);
        Lanes sum{_mm512_setzero_pd(), _mm512_setzero_pd()};
        __m512 left[kThresholds], over[kThresholds];
        for (std::size_t j = 0; j < kThresholds; ++j) left[j] = over[j] = _mm512_setzero_ps();
        for (std::size_t i = 0; i < n_heavy_; i += kTogether) {
            if (first_ == 0 && i + kAhead < n_heavy_)
                for (std::size_t l = i + kAhead; l < i + kAhead + kTogether && l < n_heavy_; ++l)
                    labels_[l].prefetch(range_.n);
            const Lanes weights = times(load(i, n_heavy_, &LabelStats::weight), {scale, scale});
            sum.a = _mm512_add_pd(sum.a, weights.a);
            sum.b = _mm512_add_pd(sum.b, weights.b);
            const __m512 min = positions(i, &LabelStats::min), max = positions(i, &LabelStats::max);
            __m512 weight = to_floats(weights);
            const __mmask16 varies = _mm512_cmp_ps_mask(min, max, _CMP_LT_OQ);
            __mmask16 doubts = near_threshold(max, kTouch);
            if (varies == 0 && doubts == 0) {  // one value of each: as a whole on one side of every threshold
                for (std::size_t j = 0; j < kThresholds; ++j) {
                    const __mmask16 all_left = _mm512_cmp_ps_mask(threshold(j), max, _CMP_GE_OQ);
                    left[j] = _mm512_mask_add_ps(left[j], all_left, left[j], weight);
                }
                continue;
            }
            // weight times variance, in steps
            Lanes squares = times(load(i, n_heavy_, &LabelStats::m2), {scale, scale});
            squares.a = _mm512_max_pd(squares.a, _mm512_mul_pd(weights.a, floor));
            squares.b = _mm512_max_pd(squares.b, _mm512_mul_pd(weights.b, floor));
            const __m512 spreads = to_floats(times(times(squares, per_step_), per_step_));
            // the constant comes second: it is the result where the other is NaN, for want of weight
            const __m512 steep = _mm512_min_ps(_mm512_mul_ps(weight, _mm512_rsqrt14_ps(_mm512_mul_ps(weight, spreads))),
                                               _mm512_set1_ps(kSteep));
            const __m512 mean = positions(i, &LabelStats::mean);
            doubts |= near_threshold(min, kTouch) |
                      (_mm512_mask_cmp_ps_mask(varies, steep, _mm512_set1_ps(kSteep), _CMP_GE_OQ) &
                       near_threshold(mean, kCrowd));
            if (doubts != 0) {
                add_carefully(i, doubts);
                weight = _mm512_maskz_mov_ps(static_cast<__mmask16>(~doubts), weight);
            }
            const __m512 center = _mm512_mul_ps(mean, steep);
            for (std::size_t j = 0; j < kThresholds; ++j) {
                const __mmask16 not_all_left = _mm512_cmp_ps_mask(threshold(j), max, _CMP_NGE_UQ);
                const __mmask16 not_all_right = _mm512_cmp_ps_mask(threshold(j), min, _CMP_NLT_UQ);
                __m512 z = _mm512_fmsub_ps(threshold(j), steep, center);
                z = _mm512_mask_max_ps(near, not_all_right, z, near);
                z = _mm512_mask_min_ps(far, not_all_left, z, far);
                const __m512 u = _mm512_mul_ps(z, z);
                const __m512 below = _mm512_fmadd_ps(z, polynomial_of(u, BOOSTLINE_COARSE_BELOW), half);
                left[j] = _mm512_fmadd_ps(weight, below, left[j]);
                over[j] = _mm512_fmadd_ps(weight, polynomial_of(u, BOOSTLINE_COARSE_ENTROPY), over[j]);
            }
        }
        for (std::size_t j = 0; j < kThresholds; ++j) {
            left_[j] = left[j];
            over_[j] = over[j];
        }
        store_sums(sum, shares_);
        add_rest();
    }

    BOOSTLINE_WIDE void find_gains(float share_low, float share_high, const GainRanges& found) {
        const __m512 heavy = to_floats(spread(shares_, 0xffff)), rest = to_floats(spread(rest_, 0xffff));
        const __m512 whole = _mm512_add_ps(heavy, rest), none = _mm512_set1_ps(-1.0f);
        const __m512 half = _mm512_mul_ps(whole, _mm512_set1_ps(0.5f)),
                     inverse = _mm512_div_ps(_mm512_set1_ps(1.0f), whole);
        const __m512 per_heavy = _mm512_div_ps(_mm512_set1_ps(1.0f), heavy);
        const __m512 heavy_share = _mm512_mul_ps(heavy, inverse);
        const __m512 least = _mm512_mul_ps(whole, _mm512_set1_ps(share_low));
        const __m512 enough = _mm512_mul_ps(whole, _mm512_set1_ps(share_high));
        if (has_careful_)
            for (std::size_t j = 0; j < kThresholds; ++j) {
                left_[j] = _mm512_add_ps(left_[j], _mm512_load_ps(careful_left_[j]));
                over_[j] = _mm512_add_ps(over_[j], _mm512_load_ps(careful_over_[j]));
            }
        if constexpr (kTogether == 4)
            for (__m512* sums : {left_, over_}) gather_labels(sums);
        __m512 best_low = none, best_high = none;
        for (std::size_t j = 0; j < kThresholds; j += kTogether) {
            const __m512 left = left_[j], zero = _mm512_setzero_ps();
            const __m512 right = _mm512_max_ps(_mm512_sub_ps(heavy, left), zero);
            const __m512 over = _mm512_mul_ps(over_[j], inverse), side = entropy_of(_mm512_mul_ps(left, per_heavy));
            const __m512 gain = _mm512_fmsub_ps(side, heavy_share, over);
            __m512 most = gain, lighter = _mm512_min_ps(left, right);
            best_high = _mm512_mask_max_ps(best_high, _mm512_cmp_ps_mask(lighter, enough, _CMP_GT_OQ), best_high, gain);
            if constexpr (kFirstLook) {  // the rest as it would be best: the sides are as equal as they can be
                const __m512 l = _mm512_max_ps(left, _mm512_min_ps(half, _mm512_add_ps(left, rest)));
                const __m512 r = _mm512_max_ps(_mm512_sub_ps(whole, l), zero);
                most = _mm512_sub_ps(entropy_of(_mm512_mul_ps(l, inverse)), over);
                lighter = _mm512_min_ps(l, r);
            }
            best_low = _mm512_mask_max_ps(best_low, _mm512_cmp_ps_mask(lighter, least, _CMP_GT_OQ), best_low, most);
        }
        if constexpr (kTogether == 4) {
            const auto of_labels = [](__m512 x) BOOSTLINE_WIDE {
                x = _mm512_max_ps(x, _mm512_shuffle_f32x4(x, x, 0x4e));
                return _mm512_max_ps(x, _mm512_shuffle_f32x4(x, x, 0xb1));
            };
            best_low = of_labels(best_low);
            best_high = of_labels(best_high);
        }
        _mm512_storeu_ps(found.total + first_, whole);
        _mm512_storeu_ps(found.possible + first_, best_low);
        _mm512_storeu_ps(found.sure + first_, best_high);
    }

  private:
    BOOSTLINE_WIDE_INLINE static __m512 threshold(std::size_t j) { return _mm512_set1_ps(static_cast<float>(j + 1)); }

    // The four labels of each covariate in one sum; then four thresholds share a vector, the first of their places.
    BOOSTLINE_WIDE static void gather_labels(__m512* sums) {
        for (std::size_t j = 0; j < kThresholds; ++j) {
            sums[j] = _mm512_add_ps(sums[j], _mm512_shuffle_f32x4(sums[j], sums[j], 0x4e));
            sums[j] = _mm512_add_ps(sums[j], _mm512_shuffle_f32x4(sums[j], sums[j], 0xb1));
            if (j % 4 != 0)
                sums[j - j % 4] =
                    _mm512_mask_mov_ps(sums[j - j % 4], static_cast<__mmask16>(0xfu << (j % 4 * 4)), sums[j]);
        }
    }
};

template <bool kFirstLook>
BOOSTLINE_WIDE void screen(const LabelStats* labels, const double* weights_of_labels, std::size_t n_heavy,
                           std::size_t n_labels, const LeafRange& range, double scale, float share_low,
                           float share_high, const GainRanges& found) {
    std::size_t first = 0;
    const WordWeights weights(weights_of_labels, weights_of_labels != nullptr && has_words() ? n_heavy : 0, scale);
    const auto look = [&](auto pack) BOOSTLINE_WIDE {
        if (!weights.is_fine || !pack.add_labels(weights)) pack.add_labels();
        pack.find_gains(share_low, share_high, found);
    };
    for (; first + 12 < range.n; first += 16) look(Pack<1, kFirstLook>(labels, n_heavy, n_labels, range, first, scale));
    for (; first < range.n; first += 4) look(Pack<4, kFirstLook>(labels, n_heavy, n_labels, range, first, scale));
}

}  // namespace

bool has_wide_split_screen() {
    static const bool found =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return found;
}

void screen_widely(const LabelStats* labels, const double* weights, std::size_t n_labels, double weight,
                   const LeafRange& range, float share_low, float share_high, const GainRanges& found) {
    screen<false>(labels, weights, n_labels, n_labels, range, weight > 0.0 ? 1.0 / weight : 1.0, share_low, share_high,
                  found);
}

void screen_at_first(const LabelStats* labels, const double* weights, std::size_t n_heavy, std::size_t n_labels,
                     double weight, const LeafRange& range, float share_low, float share_high,
                     const GainRanges& found) {
    screen<true>(labels, weights, n_heavy, n_labels, range, weight > 0.0 ? 1.0 / weight : 1.0, share_low, share_high,
                 found);
}

BOOSTLINE_WIDE WidestLead widest_lead(const GainRanges& found, std::size_t n) {
    const __m512 zero = _mm512_setzero_ps(), none = _mm512_set1_ps(-1.0f);
    __m512 totals = zero;
    for (std::size_t f = 0; f < n; f += kLanes16)
        totals = _mm512_mask_max_ps(totals, lanes_below(n - f), totals, _mm512_loadu_ps(found.total + f));
    const float heaviest = _mm512_reduce_max_ps(totals);
    const __m512 inverse = _mm512_set1_ps(1.0f / heaviest);
    __m512 largest = zero;
    for (std::size_t f = 0; f < n; f += kLanes16) {
        const __m512 share = _mm512_mul_ps(_mm512_loadu_ps(found.total + f), inverse);
        for (float* gains : {found.possible + f, found.sure + f}) {
            const __m512 gain = _mm512_mask_mov_ps(none, lanes_below(n - f), _mm512_loadu_ps(gains));
            const __mmask16 is_one = _mm512_cmp_ps_mask(gain, none, _CMP_GT_OQ);
            _mm512_storeu_ps(gains, _mm512_mask_max_ps(none, is_one, _mm512_mul_ps(gain, share), zero));
        }
        largest = _mm512_max_ps(largest, _mm512_loadu_ps(found.sure + f));
    }
    const __m512 first = _mm512_set1_ps(_mm512_reduce_max_ps(largest));
    // the second largest is as large as the first if two covariates have that
    __m512 next = zero;
    unsigned n_first = 0;
    for (std::size_t f = 0; f < n; f += kLanes16) {
        const __m512 sure = _mm512_loadu_ps(found.sure + f);
        const __mmask16 is_first = _mm512_cmp_ps_mask(sure, first, _CMP_EQ_OQ);
        n_first += static_cast<unsigned>(__builtin_popcount(is_first));
        next = _mm512_mask_max_ps(next, static_cast<__mmask16>(~is_first), next, sure);
    }
    const __m512 second = n_first > 1 ? first : _mm512_set1_ps(_mm512_reduce_max_ps(next));
    __m512 lead = zero;
    for (std::size_t f = 0; f < n; f += kLanes16) {
        const __m512 sure = _mm512_loadu_ps(found.sure + f);
        const __m512 best_other = _mm512_mask_mov_ps(first, _mm512_cmp_ps_mask(sure, first, _CMP_EQ_OQ), second);
        lead = _mm512_max_ps(lead, _mm512_sub_ps(_mm512_loadu_ps(found.possible + f), best_other));
    }
    return {static_cast<double>(_mm512_reduce_max_ps(lead)), static_cast<double>(heaviest)};
}

}  // namespace boostline

#else

namespace boostline {
bool has_wide_split_screen() { return false; }
void screen_widely(const LabelStats*, const double*, std::size_t, double, const LeafRange&, float, float,
                   const GainRanges&) {}
void screen_at_first(const LabelStats*, const double*, std::size_t, std::size_t, double, const LeafRange&, float, float,
                     const GainRanges&) {}
WidestLead widest_lead(const GainRanges&, std::size_t) { return {0.0, 0.0}; }
}  // namespace boostline

#endif
