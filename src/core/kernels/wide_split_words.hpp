// The sums of a first look at a split, in words of 16 bits, for machines with AVX-512 and VNNI: two labels share the
// lanes that one has in single precision, and the normal distribution and its entropy are looked up in registers.
#pragma once

#include <cstdint>

#include "core/kernels/wide_split_lanes.hpp"

#define BOOSTLINE_WORDS __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx512vnni")))

namespace boostline {

// Shares and entropies are in units of 1 / kWordOne. A position z is in units of kCoarseFar / 2^15, its upper six bits
// are the cell of a table, the lower ten the way through it. Straight lines between the cells' ends, moved by half of
// what they would be off in the middle, are wrong by 1.8e-4 and 7e-4; beyond kCoarseFar by 1.2e-4 and 1.6e-3; rounding
// adds 2e-4 to both.
constexpr int kWordOne = 8192;
constexpr float kWordUnits = 32768.0f / kCoarseFar;

struct WordTables {
    static constexpr int kCells = 64, kFraction = 1024;
    // From the cell's lower end, and the rise to its upper one for each 1 / 32768; cells of negative positions last.
    alignas(64) std::int16_t below[kCells], below_rise[kCells], entropy[kCells], entropy_rise[kCells];

    static const WordTables& get() {
        static const WordTables tables;
        return tables;
    }

  private:
    WordTables() {
        fill([](double z) { return normal_split(z).below; }, 0.0, 1.0, below, below_rise);
        fill([](double z) { return normal_split(z).entropy; }, 0.0, 0.0, entropy, entropy_rise);
    }

    template <class Function>
    static void fill(const Function& f, double far_left, double far_right, std::int16_t* values, std::int16_t* rises) {
        constexpr int kHalf = kCells / 2;
        const auto at = [&](int i) { return f(static_cast<double>(kCoarseFar) / kHalf * i); };
        const auto end_of = [&](int i) {
            const double value = i == -kHalf  ? 0.5 * (at(i) + far_left)
                                 : i == kHalf ? 0.5 * (at(i) + far_right)
                                              : at(i) - (at(i - 1) - 2.0 * at(i) + at(i + 1)) / 16.0;
            return static_cast<int>(value * kWordOne + 0.5);
        };
        for (int i = -kHalf; i < kHalf; ++i) {
            const int cell = (i + kCells) % kCells;
            values[cell] = static_cast<std::int16_t>(end_of(i));
            rises[cell] = static_cast<std::int16_t>((end_of(i + 1) - end_of(i)) * (32768 / kFraction));
        }
    }
};

// Two labels, or two groups of labels, side by side in every vector.
struct WordPair {
    __m512i start[2][2];  // positions at the first and the sixth threshold: of lanes of low and of high halves
    __m512i step[2];      // from one threshold to the next
    __m512i min, max;     // the first threshold that is not below the smallest value, and the largest one
    __m512i weight;
};

// Adds n pairs to the sums of each threshold, or begins these: weights times shares and entropies.
BOOSTLINE_WORDS inline void add_pairs_of_labels(const WordPair* pairs, std::size_t n, bool is_first, __m512i* left,
                                                __m512i* over) {
    constexpr std::size_t kHalf = kThresholds / 2;
    const WordTables& tables = WordTables::get();
    const auto table = [](const std::int16_t* values, int half)
                           BOOSTLINE_WORDS { return _mm512_load_si512(values + 32 * half); };
    const __m512i below0 = table(tables.below, 0), below1 = table(tables.below, 1);
    const __m512i below_rise0 = table(tables.below_rise, 0), below_rise1 = table(tables.below_rise, 1);
    const __m512i entropy0 = table(tables.entropy, 0), entropy1 = table(tables.entropy, 1);
    const __m512i entropy_rise0 = table(tables.entropy_rise, 0), entropy_rise1 = table(tables.entropy_rise, 1);
    const __m512i fraction_bits = _mm512_set1_epi16(WordTables::kFraction - 1);
    const __m512i far_left = _mm512_set1_epi16(-32768), far_right = _mm512_set1_epi16(32767);
    for (std::size_t half = 0; half < 2; ++half) {
        __m512i l[kHalf], o[kHalf];
        for (std::size_t j = 0; j < kHalf; ++j) {
            l[j] = is_first ? _mm512_setzero_si512() : left[half * kHalf + j];
            o[j] = is_first ? _mm512_setzero_si512() : over[half * kHalf + j];
        }
        for (std::size_t i = 0; i < n; ++i) {
            const WordPair& pair = pairs[i];
            __m512i a = pair.start[half][0], b = pair.start[half][1];
            for (std::size_t j = 0; j < kHalf; ++j) {
                const __m512i threshold = _mm512_set1_epi16(static_cast<short>(half * kHalf + j + 1));
                __m512i z = _mm512_packs_epi32(a, b);
                a = _mm512_add_epi32(a, pair.step[0]);
                b = _mm512_add_epi32(b, pair.step[1]);
                z = _mm512_mask_mov_epi16(z, _mm512_cmpgt_epi16_mask(pair.min, threshold), far_left);
                z = _mm512_mask_mov_epi16(z, _mm512_cmple_epi16_mask(pair.max, threshold), far_right);
                const __m512i cell = _mm512_srli_epi16(z, 10), way = _mm512_and_si512(z, fraction_bits);
                const __m512i below = _mm512_add_epi16(
                    _mm512_permutex2var_epi16(below0, cell, below1),
                    _mm512_mulhrs_epi16(way, _mm512_permutex2var_epi16(below_rise0, cell, below_rise1)));
                const __m512i entropy = _mm512_add_epi16(
                    _mm512_permutex2var_epi16(entropy0, cell, entropy1),
                    _mm512_mulhrs_epi16(way, _mm512_permutex2var_epi16(entropy_rise0, cell, entropy_rise1)));
                l[j] = _mm512_dpwssd_epi32(l[j], below, pair.weight);
                o[j] = _mm512_dpwssd_epi32(o[j], entropy, pair.weight);
            }
        }
        for (std::size_t j = 0; j < kHalf; ++j) {
            left[half * kHalf + j] = l[j];
            over[half * kHalf + j] = o[j];
        }
    }
}

inline bool has_words() {
    static const bool found = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni");
    return found;
}

// What the labels of a first look weigh, in words; is_fine: whether that is exact enough.
struct WordWeights {
    static constexpr std::size_t kMost = 256, kEight = 8;
    alignas(64) std::int16_t words[kMost + 2 * kEight];
    alignas(64) float inverse[kMost + 2 * kEight];  // one by the weight
    double share = 0.0;                             // of all of them
    double unit = 0.0;                              // share that a word of 1 stands for
    bool is_fine = false;

    BOOSTLINE_WORDS WordWeights(const double* weights, std::size_t n, double scale) {
        // A word is off by half a unit. A label's share counts log2(100) bits at most, as both sides have a hundredth.
        constexpr double kMostWord = 32767.0, kMostSum = 250'000.0, kMostError = 2e-3, kMostBits = 6.7;
        constexpr double kLightest = 1e-6, kHeaviest = 1e12;  // of a leaf: then no single number is out of range
        if (n == 0 || n > kMost || !(scale < 1.0 / kLightest && scale > 1.0 / kHeaviest)) return;
        const __m512d one = _mm512_set1_pd(1.0);
        __m512d sum = _mm512_setzero_pd(), most = _mm512_setzero_pd();
        for (std::size_t i = 0; i < n + kEight; i += kEight) {  // one vector more than there are, for the last group
            const __mmask8 lanes = lanes_of(n, i);
            const __m512d weight = _mm512_mask_loadu_pd(one, lanes, weights + i);
            sum = _mm512_mask_add_pd(sum, lanes, sum, weight);
            most = _mm512_mask_max_pd(most, lanes, most, weight);
            _mm256_store_ps(inverse + i, _mm512_cvtpd_ps(_mm512_div_pd(one, weight)));
        }
        share = _mm512_reduce_add_pd(sum) * scale;
        const double by_heaviest = kMostWord / (_mm512_reduce_max_pd(most) * scale), by_sum = kMostSum / share;
        const double per_share = by_heaviest < by_sum ? by_heaviest : by_sum;
        if (!(static_cast<double>(n) * 0.5 * kMostBits <= kMostError * per_share * share)) return;
        const __m512d to_words = _mm512_set1_pd(scale * per_share);
        __m256i total = _mm256_setzero_si256();
        for (std::size_t i = 0; i < n + kEight; i += kEight) {
            const __m512d weight = _mm512_maskz_loadu_pd(lanes_of(n, i), weights + i);
            const __m256i word = _mm512_cvtpd_epi32(_mm512_mul_pd(weight, to_words));
            total = _mm256_add_epi32(total, word);
            _mm_store_si128(reinterpret_cast<__m128i*>(words + i), _mm256_cvtepi32_epi16(word));
        }
        unit = share / _mm512_reduce_add_epi32(_mm512_zextsi256_si512(total));
        is_fine = true;
    }

  private:
    static __mmask8 lanes_of(std::size_t n, std::size_t i) {
        return static_cast<__mmask8>(i >= n ? 0u : n - i < kEight ? (1u << (n - i)) - 1u : 0xffu);
    }
};

// PackedLabels whose sums may be found in words.
template <std::size_t kTogether>
class PackInWords : protected PackedLabels<kTogether> {
  protected:
    using Labels = PackedLabels<kTogether>;
    using Labels::add_carefully, Labels::add_rest, Labels::load, Labels::positions, Labels::spread;
    using Labels::first_, Labels::has_careful_, Labels::labels_, Labels::left_, Labels::low_, Labels::mask_,
        Labels::n_heavy_, Labels::over_, Labels::per_step_, Labels::range_, Labels::shares_;

  public:
    using Labels::Labels;

    // In words; false if weights differ between covariates.
    BOOSTLINE_WORDS bool add_labels(const WordWeights& weights) {
        constexpr double kNear = 32.0;  // steps from 0: then single numbers are as good as differences of double ones
        const Lanes start = times(low_, per_step_);
        const auto is_far = [](__m512d x) BOOSTLINE_WORDS {
            return _mm512_cmp_pd_mask(_mm512_abs_pd(x), _mm512_set1_pd(kNear), _CMP_NLE_UQ);
        };
        return (is_far(start.a) | is_far(start.b)) == 0 ? add_words<true>(weights, to_floats(start))
                                                        : add_words<false>(weights, _mm512_setzero_ps());
    }
    template <bool kIsNear>
    BOOSTLINE_WORDS bool add_words(const WordWeights& weights, __m512 start) {
        constexpr std::size_t kPairs = 16;
        WordPair pairs[kPairs];
        __m512i left[kThresholds], over[kThresholds];
        const Lanes squared = times(per_step_, per_step_);
        const __m512 floor =
            to_floats(times(squared, {_mm512_set1_pd(kVarianceFloor), _mm512_set1_pd(kVarianceFloor)}));
        const Steps steps{to_floats(per_step_), start, floor, squared};
        __mmask8 uneven = 0;
        std::size_t n_pairs = 0;
        bool is_first = true;
        for (std::size_t i = 0; i < n_heavy_; i += 2 * kTogether) {
            if (first_ == 0)
                for (std::size_t l = i + kAhead; l < i + kAhead + 2 * kTogether && l < n_heavy_; ++l)
                    labels_[l].prefetch(range_.n);
            const bool is_last = kTogether == 1 && i + 1 == n_heavy_;
            const std::size_t next = is_last ? i : i + kTogether;
            const Measured a = measure<kIsNear>(i, weights, steps, uneven);
            const Measured b = measure<kIsNear>(next, weights, steps, uneven);
            WordPair& pair = pairs[n_pairs++];
            pair.start[0][0] = _mm512_unpacklo_epi32(a.first, b.first);
            pair.start[0][1] = _mm512_unpackhi_epi32(a.first, b.first);
            pair.start[1][0] = _mm512_unpacklo_epi32(a.sixth, b.sixth);
            pair.start[1][1] = _mm512_unpackhi_epi32(a.sixth, b.sixth);
            pair.step[0] = _mm512_unpacklo_epi32(a.step, b.step);
            pair.step[1] = _mm512_unpackhi_epi32(a.step, b.step);
            const auto side_by_side = [](__m512i x, __m512i y)
                                          BOOSTLINE_WORDS { return _mm512_or_si512(x, _mm512_slli_epi32(y, 16)); };
            pair.min = side_by_side(a.min, b.min);
            pair.max = side_by_side(a.max, b.max);
            pair.weight =
                side_by_side(words_of(i, weights), is_last ? _mm512_setzero_si512() : words_of(i + kTogether, weights));
            if (a.doubts != 0) {
                add_carefully(i, a.doubts);
                pair.weight = _mm512_mask_and_epi32(pair.weight, a.doubts, pair.weight, _mm512_set1_epi32(~0xffff));
            }
            if (b.doubts != 0 && !is_last) {
                add_carefully(i + kTogether, b.doubts);
                pair.weight = _mm512_mask_and_epi32(pair.weight, b.doubts, pair.weight, _mm512_set1_epi32(0xffff));
            }
            if (n_pairs == kPairs || i + 2 * kTogether >= n_heavy_) {
                add_pairs_of_labels(pairs, n_pairs, is_first, left, over);
                n_pairs = 0;
                is_first = false;
            }
        }
        if (uneven != 0) {
            has_careful_ = false;
            return false;
        }
        const __m512 unit = _mm512_set1_ps(static_cast<float>(weights.unit / kWordOne));
        for (std::size_t j = 0; j < kThresholds; ++j) {
            left_[j] = _mm512_mul_ps(_mm512_cvtepi32_ps(left[j]), unit);
            over_[j] = _mm512_mul_ps(_mm512_cvtepi32_ps(over[j]), unit);
        }
        for (double& share : shares_) share = weights.share;
        add_rest();
        return true;
    }

  private:
    struct Steps {
        __m512 per_step, start, floor;  // start: the smallest value in steps; floor: of the variance
        Lanes squared;
    };
    struct Measured {
        __m512i first, sixth, step, min, max;  // as in WordPair
        __mmask16 doubts;
    };
    template <bool kIsNear>
    BOOSTLINE_WORDS BOOSTLINE_INLINE Measured measure(std::size_t i, const WordWeights& weights, const Steps& steps,
                                                      __mmask8& uneven) const {
        Measured m;
        const auto position = [&](double* LabelStats::* array) BOOSTLINE_WORDS {
            if constexpr (!kIsNear) return positions(i, array);
            return _mm512_fmsub_ps(to_floats(load(i, n_heavy_, array)), steps.per_step, steps.start);
        };
        const auto between = [](__m512 x) BOOSTLINE_WORDS {
            return _mm512_min_ps(_mm512_max_ps(x, _mm512_set1_ps(0.5f)), _mm512_set1_ps(kThresholds + 0.5f));
        };
        const auto touches = [](__m512 x) BOOSTLINE_WORDS {
            const __m512 off = _mm512_reduce_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
            return _mm512_cmp_ps_mask(_mm512_abs_ps(off), _mm512_set1_ps(kTouch), _CMP_LT_OQ);
        };
        const auto up = [](__m512 x) BOOSTLINE_WORDS {
            return _mm512_cvt_roundps_epi32(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
        };
        const __m512 min = between(position(&LabelStats::min)), max = between(position(&LabelStats::max));
        m.min = up(min);
        m.max = up(max);
        const __m512 of_weight =
            _mm512_mul_ps(to_floats(times(load(i, n_heavy_, &LabelStats::m2), steps.squared)), inverse_of(i, weights));
        // the second is the result where the first is NaN
        const __m512 variance = _mm512_max_ps(of_weight, steps.floor);
        const __m512 steep = _mm512_min_ps(_mm512_rsqrt14_ps(variance), _mm512_set1_ps(kSteep));
        const __m512 mean = position(&LabelStats::mean);
        m.doubts = touches(min) | touches(max);
        const __mmask16 is_steep =
            _mm512_cmp_ps_mask(steep, _mm512_set1_ps(kSteep), _CMP_GE_OQ) & _mm512_cmp_ps_mask(min, max, _CMP_LT_OQ);
        if (is_steep != 0) m.doubts |= is_steep & near_threshold(mean, kCrowd);
        const __m512 center = _mm512_mul_ps(mean, steep), units = _mm512_set1_ps(kWordUnits);
        const auto at = [&](float threshold) BOOSTLINE_WORDS {
            const __m512 z = _mm512_fmsub_ps(_mm512_set1_ps(threshold), steep, center);
            return _mm512_cvtps_epi32(_mm512_mul_ps(z, units));
        };
        m.first = at(1.0f);
        m.sixth = at(6.0f);
        m.step = _mm512_cvtps_epi32(_mm512_mul_ps(steep, units));
        uneven |= find_uneven(i);
        return m;
    }
    BOOSTLINE_WIDE_INLINE __m512i words_of(std::size_t i, const WordWeights& weights) const {
        if constexpr (kTogether == 1) return _mm512_set1_epi32(weights.words[i]);
        const __m128i four = _mm_cvtepi16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(weights.words + i)));
        return _mm512_permutexvar_epi32(label_of_lane(), _mm512_castsi128_si512(four));
    }
    BOOSTLINE_WIDE_INLINE __m512 inverse_of(std::size_t i, const WordWeights& weights) const {
        if constexpr (kTogether == 1) return _mm512_set1_ps(weights.inverse[i]);
        return _mm512_permutexvar_ps(label_of_lane(), _mm512_castps128_ps512(_mm_loadu_ps(weights.inverse + i)));
    }
    BOOSTLINE_WIDE_INLINE static __m512i label_of_lane() {
        return _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    }
    // Covariates that weigh less than the first, or more: some of their values are missing.
    BOOSTLINE_WIDE_INLINE __mmask8 find_uneven(std::size_t i) const {
        if constexpr (kTogether == 1) {
            const double* weight = labels_[i].weight;
            const Lanes all = spread(weight + first_, mask_);
            const __m512d same = _mm512_set1_pd(weight[0]);
            return _mm512_mask_cmp_pd_mask(static_cast<__mmask8>(mask_), all.a, same, _CMP_NEQ_UQ) |
                   _mm512_mask_cmp_pd_mask(static_cast<__mmask8>(mask_ >> 8), all.b, same, _CMP_NEQ_UQ);
        }
        __mmask8 uneven = 0;
        for (std::size_t l = i; l < i + kTogether && l < n_heavy_; ++l) {
            const double* weight = labels_[l].weight;
            const auto lanes = static_cast<__mmask8>(mask_);
            const __m256d four = _mm256_maskz_loadu_pd(lanes, weight + first_);
            uneven |= _mm256_mask_cmp_pd_mask(lanes, four, _mm256_set1_pd(weight[0]), _CMP_NEQ_UQ);
        }
        return uneven;
    }
};

}  // namespace boostline
