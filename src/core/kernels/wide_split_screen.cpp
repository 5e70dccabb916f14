#include "core/kernels/wide_split_screen.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include <initializer_list>

#define BOOSTLINE_WIDE __attribute__((target("avx512f,avx512dq,avx512vl")))
#define BOOSTLINE_WIDE_INLINE BOOSTLINE_WIDE BOOSTLINE_INLINE

namespace boostline {
namespace {

// A vector has 16 lanes: sixteen covariates of one label, or, for those that remain, four covariates of four labels.
// There is one vector for each threshold.
//
// Positions are measured in steps between thresholds from the covariate's smallest value: the thresholds are 1, 2, ..,
// 10 then, and single precision does for what is computed at each of them. Weights are divided by about the leaf's.
//
// With a position rounded to 5e-7, z is wrong by 3e-5 at most, and by a share of 6e-5. A steeper label is 0 or 1 at
// every threshold that is not nearer than kCrowd; then any steepness from kSteep on says the same.
constexpr float kSteep = 32.0f, kCrowd = 0.12f, kTouch = 2e-5f;
static_assert(kSteep * kCrowd > kCoarseFar);
constexpr std::size_t kLanes16 = 16, kAhead = 3;

struct Lanes {
    __m512d a, b;
};

BOOSTLINE_WIDE_INLINE __mmask16 lanes_below(std::size_t n) {
    return static_cast<__mmask16>(n < kLanes16 ? (1u << n) - 1u : 0xffffu);
}

// Whether positions are so near to a threshold that rounding may take them to the other side.
BOOSTLINE_WIDE_INLINE __mmask16 near_threshold(__m512 position, float distance) {
    const __m512 whole = _mm512_roundscale_ps(position, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 off = _mm512_abs_ps(_mm512_sub_ps(position, whole));
    const __mmask16 is_one = _mm512_cmp_ps_mask(whole, _mm512_set1_ps(0.5f), _CMP_GT_OQ) &
                             _mm512_cmp_ps_mask(whole, _mm512_set1_ps(kThresholds + 0.5f), _CMP_LT_OQ);
    return _mm512_mask_cmp_ps_mask(is_one, off, _mm512_set1_ps(distance), _CMP_LT_OQ);
}

BOOSTLINE_WIDE_INLINE __m512 polynomial_of(__m512 u, float a, float b, float c, float d, float e, float f) {
    __m512 sum = _mm512_fmadd_ps(_mm512_set1_ps(a), u, _mm512_set1_ps(b));
    sum = _mm512_fmadd_ps(sum, u, _mm512_set1_ps(c));
    sum = _mm512_fmadd_ps(sum, u, _mm512_set1_ps(d));
    sum = _mm512_fmadd_ps(sum, u, _mm512_set1_ps(e));
    return _mm512_fmadd_ps(sum, u, _mm512_set1_ps(f));
}

// As x_log2_x in math.hpp.
BOOSTLINE_WIDE_INLINE __m512 x_log2_of(__m512 x) {
    const __m512i bits = _mm512_castps_si512(_mm512_max_ps(x, _mm512_set1_ps(1.17549435e-38f)));
    const __m512i exponent = _mm512_srai_epi32(_mm512_sub_epi32(bits, _mm512_set1_epi32(0x3f3504f3)), 23);
    const __m512 m = _mm512_castsi512_ps(_mm512_sub_epi32(bits, _mm512_slli_epi32(exponent, 23)));
    const __m512 r = _mm512_sub_ps(m, _mm512_set1_ps(1.0f));
    __m512 p = polynomial_of(r, 0.172130747f, -0.269509344f, 0.295634105f, -0.359350379f, 0.480629104f, -0.721364045f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.44269643f));
    return _mm512_mul_ps(x, _mm512_fmadd_ps(p, r, _mm512_cvtepi32_ps(exponent)));
}

BOOSTLINE_WIDE_INLINE __m512 to_floats(const Lanes& x) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(x.a)), _mm512_cvtpd_ps(x.b), 1);
}
BOOSTLINE_WIDE_INLINE Lanes times(const Lanes& x, const Lanes& y) {
    return {_mm512_mul_pd(x.a, y.a), _mm512_mul_pd(x.b, y.b)};
}

// Some covariates of a leaf, for kTogether labels at once: of the first n_heavy labels all, of the others their weight.
template <std::size_t kTogether, bool kFirstLook>
class Pack {
    static constexpr std::size_t kCovariates = kLanes16 / kTogether;

  public:
    BOOSTLINE_WIDE Pack(const LabelStats* labels, std::size_t n_heavy, std::size_t n_labels, const LeafRange& range,
                        std::size_t first, double scale)
        : labels_(labels),
          n_heavy_(n_heavy),
          n_labels_(n_labels),
          range_(range),
          first_(first),
          size_(range.n - first < kCovariates ? range.n - first : kCovariates),
          mask_(static_cast<__mmask16>((1u << size_) - 1u)),
          scale_(scale),
          low_(spread(range.low + first, mask_)) {
        const Lanes high = spread(range.high + first, mask_);
        const auto inverse_step = [](__m512d from, __m512d to) BOOSTLINE_WIDE {
            const __m512d step = _mm512_mul_pd(_mm512_sub_pd(to, from), _mm512_set1_pd(1.0 / (kThresholds + 1)));
            return _mm512_maskz_div_pd(_mm512_cmp_pd_mask(step, _mm512_setzero_pd(), _CMP_GT_OQ), _mm512_set1_pd(1.0),
                                       step);
        };
        per_step_ = {inverse_step(low_.a, high.a), inverse_step(low_.b, high.b)};
    }

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
        sum = {_mm512_setzero_pd(), _mm512_setzero_pd()};
        for (std::size_t i = n_heavy_; i < n_labels_; i += kTogether) {
            const Lanes weights = times(load(i, n_labels_, &LabelStats::weight), {scale, scale});
            sum.a = _mm512_add_pd(sum.a, weights.a);
            sum.b = _mm512_add_pd(sum.b, weights.b);
        }
        store_sums(sum, rest_);
    }

    BOOSTLINE_WIDE void find_gains(float share_low, float share_high, const GainRanges& found) {
        const __m512 heavy = to_floats(spread(shares_, 0xffff)), rest = to_floats(spread(rest_, 0xffff));
        const __m512 whole = _mm512_add_ps(heavy, rest), none = _mm512_set1_ps(-1.0f);
        const __m512 whole_term = x_log2_of(whole), heavy_term = x_log2_of(heavy);
        const __m512 half = _mm512_mul_ps(whole, _mm512_set1_ps(0.5f)),
                     inverse = _mm512_div_ps(_mm512_set1_ps(1.0f), whole);
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
            const __m512 side = _mm512_sub_ps(heavy_term, _mm512_add_ps(x_log2_of(left), x_log2_of(right)));
            const __m512 gain = _mm512_mul_ps(_mm512_sub_ps(side, over_[j]), inverse);
            __m512 most = gain, lighter = _mm512_min_ps(left, right);
            best_high = _mm512_mask_max_ps(best_high, _mm512_cmp_ps_mask(lighter, enough, _CMP_GT_OQ), best_high, gain);
            if constexpr (kFirstLook) {  // the rest as it would be best: the sides are as equal as they can be
                const __m512 l = _mm512_max_ps(left, _mm512_min_ps(half, _mm512_add_ps(left, rest)));
                const __m512 r = _mm512_max_ps(_mm512_sub_ps(whole, l), zero);
                const __m512 equal = _mm512_sub_ps(whole_term, _mm512_add_ps(x_log2_of(l), x_log2_of(r)));
                most = _mm512_mul_ps(_mm512_sub_ps(equal, over_[j]), inverse);
                lighter = _mm512_min_ps(l, r);
            }
            best_low = _mm512_mask_max_ps(best_low, _mm512_cmp_ps_mask(lighter, least, _CMP_GT_OQ), best_low, most);
        }
        alignas(64) float low[kLanes16], high[kLanes16];
        _mm512_store_ps(low, best_low);
        _mm512_store_ps(high, best_high);
        for (std::size_t f = 0; f < size_; ++f) {
            float most_low = low[f], most_high = high[f];
            for (std::size_t l = f + kCovariates; l < kLanes16; l += kCovariates) {
                most_low = low[l] > most_low ? low[l] : most_low;
                most_high = high[l] > most_high ? high[l] : most_high;
            }
            found.total[first_ + f] = static_cast<float>(shares_[f] + rest_[f]);
            found.possible[first_ + f] = most_low;
            found.sure[first_ + f] = most_high;
        }
    }

  private:
    BOOSTLINE_WIDE_INLINE static __m512 threshold(std::size_t j) { return _mm512_set1_ps(static_cast<float>(j + 1)); }

    BOOSTLINE_WIDE_INLINE static Lanes spread(const double* of_covariates, __mmask16 mask) {
        if constexpr (kTogether == 1) {
            return {_mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), of_covariates),
                    _mm512_maskz_loadu_pd(static_cast<__mmask8>(mask >> 8), of_covariates + 8)};
        } else {
            const __m512d four =
                _mm512_broadcast_f64x4(_mm256_maskz_loadu_pd(static_cast<__mmask8>(mask & 0xf), of_covariates));
            return {four, four};
        }
    }

    // Of labels i, i + 1, ..; from `end` on, zeros.
    BOOSTLINE_WIDE_INLINE Lanes load(std::size_t i, std::size_t end, double* LabelStats::* array) const {
        if constexpr (kTogether == 1) {
            return spread(labels_[i].*array + first_, mask_);
        } else {
            const auto four = [&](std::size_t at) BOOSTLINE_WIDE {
                return at < end ? _mm256_maskz_loadu_pd(static_cast<__mmask8>(mask_), labels_[at].*array + first_)
                                : _mm256_setzero_pd();
            };
            return {_mm512_insertf64x4(_mm512_castpd256_pd512(four(i)), four(i + 1), 1),
                    _mm512_insertf64x4(_mm512_castpd256_pd512(four(i + 2)), four(i + 3), 1)};
        }
    }
    BOOSTLINE_WIDE_INLINE __m512 positions(std::size_t i, double* LabelStats::* array) const {
        const Lanes x = load(i, n_heavy_, array);
        return to_floats(times({_mm512_sub_pd(x.a, low_.a), _mm512_sub_pd(x.b, low_.b)}, per_step_));
    }
    // One number for each covariate.
    BOOSTLINE_WIDE void store_sums(Lanes sum, double* sums) const {
        _mm512_store_pd(sums, sum.a);
        _mm512_store_pd(sums + 8, sum.b);
        for (std::size_t f = 0; f < kCovariates; ++f)
            for (std::size_t l = f + kCovariates; l < kLanes16; l += kCovariates) sums[f] += sums[l];
    }

    // Lanes in which a position is too near to a threshold, by way of the thresholds themselves.
    void add_carefully(std::size_t i, unsigned lanes) {
        if (!has_careful_) {
            has_careful_ = true;
            for (std::size_t j = 0; j < kThresholds; ++j)
                for (std::size_t l = 0; l < kLanes16; ++l) careful_left_[j][l] = careful_over_[j][l] = 0.0f;
        }
        for (std::size_t l = 0; l < kLanes16; ++l) {
            const std::size_t label = i + l / kCovariates, f = first_ + l % kCovariates;
            if ((lanes >> l & 1u) == 0 || label >= n_heavy_ || l % kCovariates >= size_) continue;
            const LabelStats& s = labels_[label];
            const double low = range_.low[f], high = range_.high[f];
            const double inverse_sd = Normal<float>::inverse_deviation(s.weight[f], s.m2[f]);
            const auto weight = static_cast<float>(s.weight[f] * scale_);
            for (std::size_t j = 0; j < kThresholds; ++j) {
                const double at = low + (high - low) * static_cast<double>(j + 1) / (kThresholds + 1);
                const double z = at >= s.max[f] ? kFarOut : at < s.min[f] ? -kFarOut : (at - s.mean[f]) * inverse_sd;
                const CoarseSplit split = coarse_split(static_cast<float>(z));
                careful_left_[j][l] += weight * split.below;
                careful_over_[j][l] += weight * split.entropy;
            }
        }
    }

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

    const LabelStats* labels_;
    std::size_t n_heavy_, n_labels_;
    const LeafRange& range_;
    std::size_t first_, size_;  // of the covariates
    __mmask16 mask_;
    double scale_;
    alignas(64) double shares_[kLanes16], rest_[kLanes16];  // the scaled weight of each covariate: heavy labels, others
    Lanes low_, per_step_;
    __m512 left_[kThresholds], over_[kThresholds];
    bool has_careful_ = false;
    alignas(64) float careful_left_[kThresholds][kLanes16], careful_over_[kThresholds][kLanes16];
};

template <bool kFirstLook>
BOOSTLINE_WIDE void screen(const LabelStats* labels, std::size_t n_heavy, std::size_t n_labels, const LeafRange& range,
                           double scale, float share_low, float share_high, const GainRanges& found) {
    std::size_t first = 0;
    for (; first + 12 < range.n; first += 16) {
        Pack<1, kFirstLook> pack(labels, n_heavy, n_labels, range, first, scale);
        pack.add_labels();
        pack.find_gains(share_low, share_high, found);
    }
    for (; first < range.n; first += 4) {
        Pack<4, kFirstLook> pack(labels, n_heavy, n_labels, range, first, scale);
        pack.add_labels();
        pack.find_gains(share_low, share_high, found);
    }
}

}  // namespace

bool has_wide_split_screen() {
    static const bool found =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return found;
}

void screen_widely(const LabelStats* labels, std::size_t n_labels, double weight, const LeafRange& range,
                   float share_low, float share_high, const GainRanges& found) {
    screen<false>(labels, n_labels, n_labels, range, weight > 0.0 ? 1.0 / weight : 1.0, share_low, share_high, found);
}

void screen_at_first(const LabelStats* labels, std::size_t n_heavy, std::size_t n_labels, double weight,
                     const LeafRange& range, float share_low, float share_high, const GainRanges& found) {
    screen<true>(labels, n_heavy, n_labels, range, weight > 0.0 ? 1.0 / weight : 1.0, share_low, share_high, found);
}

BOOSTLINE_WIDE double widest_lead(const GainRanges& found, std::size_t n) {
    const __m512 zero = _mm512_setzero_ps(), none = _mm512_set1_ps(-1.0f);
    __m512 heaviest = zero;
    for (std::size_t f = 0; f < n; f += kLanes16)
        heaviest = _mm512_max_ps(heaviest, _mm512_maskz_loadu_ps(lanes_below(n - f), found.total + f));
    const __m512 inverse = _mm512_set1_ps(1.0f / _mm512_reduce_max_ps(heaviest));
    __m512 largest = zero;
    for (std::size_t f = 0; f < n; f += kLanes16) {
        const __mmask16 lanes = lanes_below(n - f);
        const __m512 share = _mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, found.total + f), inverse);
        for (float* gains : {found.possible + f, found.sure + f}) {
            const __m512 gain = _mm512_mask_loadu_ps(none, lanes, gains);
            const __mmask16 is_one = _mm512_cmp_ps_mask(gain, none, _CMP_GT_OQ);
            _mm512_mask_storeu_ps(gains, lanes, _mm512_mask_max_ps(gain, is_one, _mm512_mul_ps(gain, share), zero));
        }
        largest = _mm512_max_ps(largest, _mm512_mask_loadu_ps(none, lanes, found.sure + f));
    }
    const __m512 first = _mm512_set1_ps(_mm512_reduce_max_ps(largest));
    // the second largest is as large as the first if two covariates have that
    __m512 next = zero;
    unsigned n_first = 0;
    for (std::size_t f = 0; f < n; f += kLanes16) {
        const __m512 sure = _mm512_mask_loadu_ps(none, lanes_below(n - f), found.sure + f);
        const __mmask16 is_first = _mm512_cmp_ps_mask(sure, first, _CMP_EQ_OQ);
        n_first += static_cast<unsigned>(__builtin_popcount(is_first));
        next = _mm512_mask_max_ps(next, static_cast<__mmask16>(~is_first), next, sure);
    }
    const __m512 second = n_first > 1 ? first : _mm512_set1_ps(_mm512_reduce_max_ps(next));
    __m512 lead = zero;
    for (std::size_t f = 0; f < n; f += kLanes16) {
        const __mmask16 lanes = lanes_below(n - f);
        const __m512 sure = _mm512_mask_loadu_ps(none, lanes, found.sure + f);
        const __m512 best_other = _mm512_mask_mov_ps(first, _mm512_cmp_ps_mask(sure, first, _CMP_EQ_OQ), second);
        const __m512 possible = _mm512_mask_loadu_ps(none, lanes, found.possible + f);
        lead = _mm512_max_ps(lead, _mm512_sub_ps(possible, best_other));
    }
    return static_cast<double>(_mm512_reduce_max_ps(lead));
}

}  // namespace boostline

#else

namespace boostline {
bool has_wide_split_screen() { return false; }
void screen_widely(const LabelStats*, std::size_t, double, const LeafRange&, float, float, const GainRanges&) {}
void screen_at_first(const LabelStats*, std::size_t, std::size_t, double, const LeafRange&, float, float,
                     const GainRanges&) {}
double widest_lead(const GainRanges&, std::size_t) { return 0.0; }
}  // namespace boostline

#endif
