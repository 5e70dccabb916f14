#include "core/kernels/splits.hpp"

#include "core/kernels/split_sums.hpp"
#include "core/kernels/vectors.hpp"

namespace boostline::BOOSTLINE_LEVEL {

// One vector of covariates, or one covariate. Nothing is stored under a mask: what that has written cannot be read at
// once.
template <class Vector>
static BOOSTLINE_INLINE void observe_some(const LabelStats& s, const double* x, std::size_t f, double q) {
    const auto value = load_as<Vector>(x + f), by = q - Vector{};
    const auto old_weight = load_as<Vector>(s.weight + f), old_mean = load_as<Vector>(s.mean + f);
    const auto old_m2 = load_as<Vector>(s.m2 + f), old_min = load_as<Vector>(s.min + f);
    const auto old_max = load_as<Vector>(s.max + f);
    const auto new_weight = old_weight + by, delta = value - old_mean;
    const auto new_mean = old_mean + delta * (by / new_weight);
    const auto new_m2 = old_m2 + by * delta * (value - new_mean);
    store(s.weight + f, value == value ? new_weight : old_weight);
    store(s.mean + f, value == value ? new_mean : old_mean);
    store(s.m2 + f, value == value ? new_m2 : old_m2);
    store(s.min + f, value < old_min ? value : old_min);
    store(s.max + f, value > old_max ? value : old_max);
}
void observe(const LabelStats& s, const double* x, std::size_t n, double q) {
    std::size_t f = 0;
    for (; f + kDoubles <= n; f += kDoubles) observe_some<Doubles>(s, x, f, q);
    for (; f + 4 <= n; f += 4) observe_some<FourDoubles>(s, x, f, q);
    for (; f < n; ++f) observe_some<double>(s, x, f, q);
}

void widen_range(double* BOOSTLINE_RESTRICT low, double* BOOSTLINE_RESTRICT high, const double* min, const double* max,
                 std::size_t n) {
    for (std::size_t f = 0; f < n; ++f) {
        low[f] = min[f] < low[f] ? min[f] : low[f];
        high[f] = max[f] > high[f] ? max[f] : high[f];
    }
}

void add_labels(const LabelStats* labels, std::size_t n_labels, const LeafRange& range, double* thresholds,
                double* total, double* left_weight, double* left_over) {
    add_all_labels<double>(labels, n_labels, range, thresholds, total, left_weight, left_over);
}

void compute_gains(const double* BOOSTLINE_RESTRICT total, const double* BOOSTLINE_RESTRICT share_seen, std::size_t n,
                   const double* BOOSTLINE_RESTRICT left_weight, const double* BOOSTLINE_RESTRICT left_over,
                   double* BOOSTLINE_RESTRICT gain) {
    for (std::size_t g = 0; g < n_groups(n); ++g) {
        double whole[kGroup], whole_term[kGroup], share[kGroup];
        for (std::size_t l = 0; l < kGroup; ++l) {
            whole[l] = total[first_of_group(g, n) + l];
            whole_term[l] = x_log2_x(whole[l]);
            share[l] = share_seen[first_of_group(g, n) + l];
        }
        for (std::size_t j = 0; j < kThresholds; ++j) {
            const std::size_t row = g * kGroupCells + j * kGroup;
            for (std::size_t l = 0; l < kGroup; ++l) {
                const double left = left_weight[row + l];
                double right = whole[l] - left;
                right = right > 0.0 ? right : 0.0;
                const double side = whole_term[l] - x_log2_x(left) - x_log2_x(right);
                const double bits = (side - left_over[row + l]) / whole[l] * share[l];
                gain[row + l] = bits > 0.0 ? bits : 0.0;
            }
        }
    }
}

void find_largest_gains(const double* BOOSTLINE_RESTRICT total, std::size_t n, double share,
                        const double* BOOSTLINE_RESTRICT left_weight, const double* BOOSTLINE_RESTRICT gain,
                        double* BOOSTLINE_RESTRICT best) {
    for (std::size_t g = 0; g < n_groups(n); ++g) {
        const std::size_t first = first_of_group(g, n);
        double largest[kGroup], whole[kGroup], least[kGroup], candidate[kGroup];
        for (std::size_t l = 0; l < kGroup; ++l) {
            largest[l] = -1.0;
            whole[l] = total[first + l];
            least[l] = share * total[first + l];
        }
        for (std::size_t j = 0; j < kThresholds; ++j) {
            const std::size_t row = g * kGroupCells + j * kGroup;
            for (std::size_t l = 0; l < kGroup; ++l) candidate[l] = gain[row + l];
            for (std::size_t l = 0; l < kGroup; ++l) {
                const double left = left_weight[row + l], right = whole[l] - left;
                const double lighter = left < right ? left : right;
                candidate[l] = lighter > least[l] ? candidate[l] : -1.0;
                largest[l] = candidate[l] > largest[l] ? candidate[l] : largest[l];
            }
        }
        for (std::size_t l = 0; l < kGroup; ++l) best[first + l] = largest[l];
    }
}

template <bool kHasRest>
static void find_ranges(const double* BOOSTLINE_RESTRICT total, const double* BOOSTLINE_RESTRICT rest, std::size_t n,
                        float share_low, float share_high, const float* BOOSTLINE_RESTRICT left_weight,
                        const float* BOOSTLINE_RESTRICT left_over, float* BOOSTLINE_RESTRICT possible,
                        float* BOOSTLINE_RESTRICT sure) {
    for (std::size_t g = 0; g < n_groups(n); ++g) {
        const std::size_t first = first_of_group(g, n);
        // per cell, so that no loop is short: gcc unrolls short ones instead of vectorising them
        float part[kGroupCells], part_term[kGroupCells], whole[kGroupCells], whole_term[kGroupCells];
        float low[kGroupCells], high[kGroupCells];
        for (std::size_t j = 0; j < kThresholds; ++j)
            for (std::size_t l = 0; l < kGroup; ++l) {
                part[j * kGroup + l] = static_cast<float>(total[first + l]);
                if (kHasRest) whole[j * kGroup + l] = static_cast<float>(total[first + l] + rest[first + l]);
            }
        for (std::size_t l = 0; l < kGroup; ++l) part_term[l] = x_log2_x(part[l]);
        if (kHasRest)
            for (std::size_t l = 0; l < kGroup; ++l) whole_term[l] = x_log2_x(whole[l]);
        for (std::size_t j = 1; j < kThresholds; ++j)
            for (std::size_t l = 0; l < kGroup; ++l) {
                part_term[j * kGroup + l] = part_term[l];
                if (kHasRest) whole_term[j * kGroup + l] = whole_term[l];
            }
        const float* BOOSTLINE_RESTRICT of_left = left_weight + g * kGroupCells;
        const float* BOOSTLINE_RESTRICT of_over = left_over + g * kGroupCells;
        for (std::size_t i = 0; i < kGroupCells; ++i) {
            const float left = of_left[i], over = of_over[i], all = kHasRest ? whole[i] : part[i];
            const float remaining = part[i] - left, right = remaining > 0.0f ? remaining : 0.0f;
            float lighter = left < right ? left : right;
            float gain = (part_term[i] - x_log2_x(left) - x_log2_x(right) - over) / all;
            high[i] = lighter > share_high * all ? gain : -1.0f;
            if (kHasRest) {
                const float most = left + (all - part[i]), half = 0.5f * all;
                const float nearest = half < most ? half : most, one = left > nearest ? left : nearest;
                const float others = all - one, other = others > 0.0f ? others : 0.0f;
                lighter = one < other ? one : other;
                gain = (whole_term[i] - x_log2_x(one) - x_log2_x(other) - over) / all;
            }
            low[i] = lighter > share_low * all ? gain : -1.0f;
        }
        for (std::size_t l = 0; l < kGroup; ++l) {
            float best_low = -1.0f, best_high = -1.0f;
            for (std::size_t i = l; i < kGroupCells; i += kGroup) {
                best_low = low[i] > best_low ? low[i] : best_low;
                best_high = high[i] > best_high ? high[i] : best_high;
            }
            possible[first + l] = best_low;
            sure[first + l] = best_high;
        }
    }
}

void find_gain_ranges(const double* total, const double* rest, std::size_t n, float share_low, float share_high,
                      const float* left_weight, const float* left_over, float* possible, float* sure) {
    rest == nullptr ? find_ranges<false>(total, rest, n, share_low, share_high, left_weight, left_over, possible, sure)
                    : find_ranges<true>(total, rest, n, share_low, share_high, left_weight, left_over, possible, sure);
}

std::int32_t find_label(const std::int32_t* records, std::size_t n, std::int32_t label) {
    std::int32_t found = -1;
    for (std::size_t i = 0; i < n; ++i) found = records[4 * i + 2] == label ? static_cast<std::int32_t>(i) : found;
    return found;
}

}  // namespace boostline::BOOSTLINE_LEVEL
