// The coarse sums of a split search, compiled with -ffp-contract=fast (CMakeLists.txt): nothing else may be in this
// unit. Their rounding cannot reach a result, so they need not give the same bits everywhere: machines with AVX-512
// have their own, in which trees spend less than half the time.
#include "core/kernels/split_sums.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(BOOSTLINE_NO_DISPATCH)
#define BOOSTLINE_WIDE __attribute__((target("avx512f,avx512dq,avx512vl")))
#include <immintrin.h>
#endif

namespace boostline {
namespace {

BOOSTLINE_VECTORISED void add_labels_plainly(const LabelStats* labels, std::size_t n_labels, const LeafRange& range,
                                             double* thresholds, double* total, float* left_weight, float* left_over) {
    for (std::size_t g = 0; g < n_groups(range.n); ++g) place_thresholds(range, g, thresholds + g * kGroupCells);
    add_all_labels<float>(labels, n_labels, range.n, thresholds, total, left_weight, left_over);
}

#ifdef BOOSTLINE_WIDE

// Positions are measured in steps between thresholds from the covariate's smallest value: the thresholds are 1, 2, ..,
// 10 then, and single precision does for what is computed at each of them. A vector has eight covariates at two
// thresholds.
//
// At threshold j a label is at z = j * steepness - center standard deviations of its own; but far out where the
// threshold is not between its smallest and its largest value: z is kept below (j - smallest) * kCliff and above
// (j - largest) * kCliff.
constexpr float kCliff = 1e6f;
// With a position rounded to 5e-7, z is wrong by 3e-5 at most, and by a share of 6e-5. A steeper label is 0 or 1 at
// every threshold that is not nearer than kCrowd; then any steepness from kSteep on says the same.
constexpr float kSteep = 32.0f, kCrowd = 0.12f, kTouch = 2e-5f;
constexpr std::size_t kVectors = kThresholds / 2;
static_assert(kGroup == 8 && kThresholds % 2 == 0 && kSteep * kCrowd > kCoarseFar);

// Whether positions are so near to a threshold that rounding may take them to the other side.
BOOSTLINE_WIDE inline __mmask8 near_threshold(__m256 position, float distance) {
    const __m256 whole = _mm256_roundscale_ps(position, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m256 off = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), _mm256_sub_ps(position, whole));
    return _mm256_cmp_ps_mask(off, _mm256_set1_ps(distance), _CMP_LT_OQ) &
           _mm256_cmp_ps_mask(whole, _mm256_set1_ps(0.5f), _CMP_GT_OQ) &
           _mm256_cmp_ps_mask(whole, _mm256_set1_ps(kThresholds + 0.5f), _CMP_LT_OQ);
}

BOOSTLINE_WIDE inline __m512 polynomial_of(__m512 u, float a, float b, float c, float d, float e, float f) {
    __m512 sum = _mm512_fmadd_ps(_mm512_set1_ps(a), u, _mm512_set1_ps(b));
    sum = _mm512_fmadd_ps(sum, u, _mm512_set1_ps(c));
    sum = _mm512_fmadd_ps(sum, u, _mm512_set1_ps(d));
    sum = _mm512_fmadd_ps(sum, u, _mm512_set1_ps(e));
    return _mm512_fmadd_ps(sum, u, _mm512_set1_ps(f));
}

// Of each covariate: how far it is between two thresholds, and the inverse of that.
struct Steps {
    double *step, *per_step;
};

BOOSTLINE_WIDE void add_group(const LabelStats* labels, std::size_t n_labels, std::size_t n_to_come,
                              const LeafRange& range, const Steps& steps, std::size_t g, double* total,
                              float* left_weight, float* left_over) {
    const std::size_t first = first_of_group(g, range.n);
    const __m512d low = _mm512_loadu_pd(range.low + first);
    const __m512d step = _mm512_loadu_pd(steps.step + first), per_step = _mm512_loadu_pd(steps.per_step + first);
    const __m512 far = _mm512_set1_ps(kCoarseFar), near = _mm512_set1_ps(-kCoarseFar), half = _mm512_set1_ps(0.5f);
    __m512d sum = _mm512_setzero_pd();
    __m512 position[kVectors], cliff[kVectors], left[kVectors], over[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
        const auto j = static_cast<float>(2 * v + 1);
        position[v] = _mm512_mask_blend_ps(0xff00, _mm512_set1_ps(j), _mm512_set1_ps(j + 1.0f));
        cliff[v] = _mm512_mul_ps(position[v], _mm512_set1_ps(kCliff));
        left[v] = over[v] = _mm512_setzero_ps();
    }
    const auto scaled = [&](const double* x) BOOSTLINE_WIDE {
        return _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_sub_pd(_mm512_loadu_pd(x + first), low), per_step));
    };
    for (std::size_t i = 0; i < n_labels; ++i) {
        const LabelStats& s = labels[i];
        if (i < n_to_come) labels[i + n_labels].prefetch(range.n);
        const __m512d w = _mm512_loadu_pd(s.weight + first);
        sum = _mm512_add_pd(sum, w);
        const __m256 min = scaled(s.min), max = scaled(s.max);
        const __m512 weight = _mm512_broadcast_f32x8(_mm512_cvtpd_ps(w));
        const __mmask8 varies = _mm256_cmp_ps_mask(min, max, _CMP_LT_OQ);
        __mmask8 doubts = near_threshold(max, kTouch);
        if (varies == 0 && doubts == 0) {  // one value of each covariate: as a whole on one side of every threshold
            const __m512 end = _mm512_broadcast_f32x8(max);
            for (std::size_t v = 0; v < kVectors; ++v)
                left[v] =
                    _mm512_mask_add_ps(left[v], _mm512_cmp_ps_mask(position[v], end, _CMP_GE_OQ), left[v], weight);
            continue;
        }
        const __m512d m2 = _mm512_loadu_pd(s.m2 + first);
        const __m512d spread = _mm512_max_pd(m2, _mm512_mul_pd(w, _mm512_set1_pd(kVarianceFloor)));
        const __m512d inverse = _mm512_mul_pd(w, _mm512_rsqrt14_pd(_mm512_mul_pd(w, spread)));
        // the constant comes second: it is the result where the other is NaN, for want of weight
        const __m256 steep =
            _mm512_cvtpd_ps(_mm512_min_pd(_mm512_mul_pd(inverse, step), _mm512_set1_pd(static_cast<double>(kSteep))));
        const __m256 mean = scaled(s.mean);
        doubts |= near_threshold(min, kTouch) | (_mm256_cmp_ps_mask(steep, _mm256_set1_ps(kSteep), _CMP_GE_OQ) &
                                                 varies & near_threshold(mean, kCrowd));
        if (doubts != 0) {
            double thresholds[kGroupCells];
            place_thresholds(range, g, thresholds);
            add_varying_group<float>(s, first, thresholds, left_weight, left_over);
            continue;
        }
        const __m512 steepness = _mm512_broadcast_f32x8(steep);
        const __m512 center = _mm512_broadcast_f32x8(_mm256_mul_ps(mean, steep));
        const __m512 start = _mm512_broadcast_f32x8(_mm256_mul_ps(min, _mm256_set1_ps(kCliff)));
        const __m512 end = _mm512_broadcast_f32x8(_mm256_mul_ps(max, _mm256_set1_ps(kCliff)));
        for (std::size_t v = 0; v < kVectors; ++v) {
            __m512 z = _mm512_fmsub_ps(position[v], steepness, center);
            z = _mm512_min_ps(z, _mm512_sub_ps(cliff[v], start));
            z = _mm512_max_ps(z, _mm512_sub_ps(cliff[v], end));
            z = _mm512_max_ps(_mm512_min_ps(z, far), near);
            const __m512 u = _mm512_mul_ps(z, z);
            const __m512 below = _mm512_fmadd_ps(z, polynomial_of(u, BOOSTLINE_COARSE_BELOW), half);
            left[v] = _mm512_fmadd_ps(weight, below, left[v]);
            over[v] = _mm512_fmadd_ps(weight, polynomial_of(u, BOOSTLINE_COARSE_ENTROPY), over[v]);
        }
    }
    _mm512_storeu_pd(total, _mm512_add_pd(_mm512_loadu_pd(total), sum));
    for (std::size_t v = 0; v < kVectors; ++v) {
        float* to_left = left_weight + v * 2 * kGroup;
        float* to_over = left_over + v * 2 * kGroup;
        _mm512_storeu_ps(to_left, _mm512_add_ps(_mm512_loadu_ps(to_left), left[v]));
        _mm512_storeu_ps(to_over, _mm512_add_ps(_mm512_loadu_ps(to_over), over[v]));
    }
}

// A few labels at a time: what they know is read from memory once, and the sums stay in registers for a while.
constexpr std::size_t kBatch = 8;

void add_labels_widely(const LabelStats* labels, std::size_t n_labels, const LeafRange& range, double* room,
                       double* total, float* left_weight, float* left_over) {
    const Steps steps{room, room + range.n};
    double* const totals = room + 2 * range.n;  // of the groups, which may overlap
    for (std::size_t i = 0; i < n_groups(range.n) * kGroup; ++i) totals[i] = 0.0;
    for (std::size_t f = 0; f < range.n; ++f) {
        const double step = (range.high[f] - range.low[f]) * (1.0 / (kThresholds + 1));
        steps.step[f] = step;
        steps.per_step[f] = step > 0.0 ? 1.0 / step : 0.0;
    }
    for (std::size_t i = 0; i < n_labels; i += kBatch) {
        const std::size_t size = n_labels - i < kBatch ? n_labels - i : kBatch, after = n_labels - i - size;
        for (std::size_t g = 0; g < n_groups(range.n); ++g)
            add_group(labels + i, size, g == 0 ? after : 0, range, steps, g, totals + g * kGroup,
                      left_weight + g * kGroupCells, left_over + g * kGroupCells);
    }
    for (std::size_t g = 0; g < n_groups(range.n); ++g)
        for (std::size_t l = 0; l < kGroup; ++l) total[first_of_group(g, range.n) + l] = totals[g * kGroup + l];
}

bool has_wide_vectors() {
    static const bool found =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return found;
}

#endif

}  // namespace

void add_labels(const LabelStats* labels, std::size_t n_labels, const LeafRange& range, double* thresholds,
                double* total, float* left_weight, float* left_over) {
#ifdef BOOSTLINE_WIDE
    if (has_wide_vectors())
        return add_labels_widely(labels, n_labels, range, thresholds, total, left_weight, left_over);
#endif
    add_labels_plainly(labels, n_labels, range, thresholds, total, left_weight, left_over);
}

}  // namespace boostline
