// The labels of a leaf in vectors of AVX-512, for a first look at its splits.
#pragma once

#include <immintrin.h>

#include <cstddef>

#include "core/kernels/split_sums.hpp"

#define BOOSTLINE_WIDE __attribute__((target("avx512f,avx512dq,avx512vl")))
#define BOOSTLINE_WIDE_INLINE BOOSTLINE_WIDE BOOSTLINE_INLINE

namespace boostline {

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

// Whether positions are so near to a threshold that rounding may take them to the other side.
BOOSTLINE_WIDE_INLINE __mmask16 near_threshold(__m512 position, float distance) {
    const __m512 whole = _mm512_roundscale_ps(position, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 off = _mm512_abs_ps(_mm512_sub_ps(position, whole));
    const __mmask16 is_one = _mm512_cmp_ps_mask(whole, _mm512_set1_ps(0.5f), _CMP_GT_OQ) &
                             _mm512_cmp_ps_mask(whole, _mm512_set1_ps(kThresholds + 0.5f), _CMP_LT_OQ);
    return _mm512_mask_cmp_ps_mask(is_one, off, _mm512_set1_ps(distance), _CMP_LT_OQ);
}

BOOSTLINE_WIDE_INLINE __m512 to_floats(const Lanes& x) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(x.a)), _mm512_cvtpd_ps(x.b), 1);
}
BOOSTLINE_WIDE_INLINE Lanes times(const Lanes& x, const Lanes& y) {
    return {_mm512_mul_pd(x.a, y.a), _mm512_mul_pd(x.b, y.b)};
}

// Some covariates of a leaf, for kTogether labels at once: of the first n_heavy labels all, of the others their weight.
template <std::size_t kTogether>
class PackedLabels {
  public:
    BOOSTLINE_WIDE PackedLabels(const LabelStats* labels, std::size_t n_heavy, std::size_t n_labels,
                                const LeafRange& range, std::size_t first, double scale)
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

  protected:
    static constexpr std::size_t kCovariates = kLanes16 / kTogether;

    BOOSTLINE_WIDE void add_rest() {
        const __m512d scale = _mm512_set1_pd(scale_);
        Lanes sum{_mm512_setzero_pd(), _mm512_setzero_pd()};
        for (std::size_t i = n_heavy_; i < n_labels_; i += kTogether) {
            const Lanes weights = times(load(i, n_labels_, &LabelStats::weight), {scale, scale});
            sum.a = _mm512_add_pd(sum.a, weights.a);
            sum.b = _mm512_add_pd(sum.b, weights.b);
        }
        store_sums(sum, rest_);
    }

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

}  // namespace boostline
