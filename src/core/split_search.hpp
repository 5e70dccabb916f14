// The best split of a leaf: for every covariate ten thresholds between its smallest and its largest value, scored by
// the information that the side of the threshold gives about the label. Each label's values are summed up by a
// Gaussian. This is where trees spend their time, so the loops run over covariates, which lie next to each
// other in memory, and vectorise.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "math.hpp"
#include "portable.hpp"

namespace boostline {

constexpr int kThresholds = 10;
constexpr double kVarianceFloor = 1e-12;
constexpr double kMinBranchShare = 0.01;  // each side needs more than this share of the weight
// Gains that differ by no more are tied, and the first wins: covariates that tie in exact arithmetic are common in small
// leaves, and rounding must not choose between them.
constexpr double kGainTie = 1e-9;

// What a leaf knows of one label, for F covariates: five arrays of length F, one after the other.
//
//   weight[F] | mean[F] | m2[F] | min[F] | max[F]        m2: weighted sum of squared deviations (Welford)
struct LabelStats {
    double* weight;
    double* mean;
    double* m2;
    double* min;
    double* max;

    static constexpr std::size_t kArrays = 5;
    static LabelStats in(double* block, std::size_t n_covariates) {
        return {block, block + n_covariates, block + 2 * n_covariates, block + 3 * n_covariates,
                block + 4 * n_covariates};
    }
    void clear(std::size_t n_covariates) const {
        for (std::size_t f = 0; f < n_covariates; ++f) {
            weight[f] = mean[f] = m2[f] = 0.0;
            min[f] = std::numeric_limits<double>::infinity();
            max[f] = -std::numeric_limits<double>::infinity();
        }
    }
};

BOOSTLINE_INLINE double inverse_deviation(double weight, double m2) {
    double variance = m2 / weight;
    variance = variance > kVarianceFloor ? variance : kVarianceFloor;
    return 1.0 / std::sqrt(variance);
}

// The weights of a label at or below the threshold and above it.
struct Masses {
    double left, right;
};
inline Masses split_label(const LabelStats& s, std::size_t f, double threshold) {
    const double weight = s.weight[f];
    if (threshold >= s.max[f]) return {weight, 0.0};
    if (threshold < s.min[f]) return {0.0, weight};
    const double z = (threshold - s.mean[f]) * inverse_deviation(weight, s.m2[f]);
    return {weight * normal_cdf(z), weight * normal_cdf(-z)};  // both positive
}

// Adds one observation with importance q; a NaN covariate is left out.
BOOSTLINE_VECTORISED static void observe(LabelStats s, const double* BOOSTLINE_RESTRICT x, std::size_t n, double q) {
    double* BOOSTLINE_RESTRICT weight = s.weight;
    double* BOOSTLINE_RESTRICT mean = s.mean;
    double* BOOSTLINE_RESTRICT m2 = s.m2;
    double* BOOSTLINE_RESTRICT min = s.min;
    double* BOOSTLINE_RESTRICT max = s.max;
    for (std::size_t f = 0; f < n; ++f) {
        const double value = x[f];
        const bool known = value == value;
        const double new_weight = weight[f] + q;
        const double delta = value - mean[f];
        const double new_mean = mean[f] + delta * (q / new_weight);
        const double new_m2 = m2[f] + q * delta * (value - new_mean);
        weight[f] = known ? new_weight : weight[f];
        mean[f] = known ? new_mean : mean[f];
        m2[f] = known ? new_m2 : m2[f];
        min[f] = value < min[f] ? value : min[f];
        max[f] = value > max[f] ? value : max[f];
    }
}

// Where each threshold lies among the values of a label, in standard deviations; far out when all of them are on one side.
BOOSTLINE_VECTORISED static void standardise(LabelStats s, std::size_t n, const double* BOOSTLINE_RESTRICT thresholds,
                                             double* BOOSTLINE_RESTRICT inverse_sd, double* BOOSTLINE_RESTRICT z) {
    const double* BOOSTLINE_RESTRICT mean = s.mean;
    const double* BOOSTLINE_RESTRICT min = s.min;
    const double* BOOSTLINE_RESTRICT max = s.max;
    for (std::size_t f = 0; f < n; ++f) inverse_sd[f] = inverse_deviation(s.weight[f], s.m2[f]);
    for (std::size_t j = 0; j < kThresholds; ++j)
        for (std::size_t f = 0; f < n; ++f) {
            const double threshold = thresholds[j * n + f];
            const double inside = threshold < min[f] ? -kFarOut : (threshold - mean[f]) * inverse_sd[f];
            z[j * n + f] = threshold >= max[f] ? kFarOut : inside;
        }
}

// The hot loop of split search: z becomes the share left of the threshold, `bits` the entropy of that split.
BOOSTLINE_VECTORISED static void split_shares(double* BOOSTLINE_RESTRICT z, double* BOOSTLINE_RESTRICT bits,
                                              std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const NormalSplit split = normal_split(z[i]);
        z[i] = split.below;
        bits[i] = split.entropy;
    }
}

BOOSTLINE_VECTORISED static void add_label(const double* BOOSTLINE_RESTRICT weight, std::size_t n,
                                           const double* BOOSTLINE_RESTRICT share, const double* BOOSTLINE_RESTRICT bits,
                                           double* BOOSTLINE_RESTRICT left_weight, double* BOOSTLINE_RESTRICT left_over) {
    for (std::size_t j = 0; j < kThresholds; ++j)
        for (std::size_t f = 0; f < n; ++f) {
            left_weight[j * n + f] += weight[f] * share[j * n + f];
            left_over[j * n + f] += weight[f] * bits[j * n + f];
        }
}

// A label each of whose covariates has had one value only is on one side as a whole: its split costs no bits.
BOOSTLINE_VECTORISED static void add_constant_label(const double* BOOSTLINE_RESTRICT weight,
                                                    const double* BOOSTLINE_RESTRICT max, std::size_t n,
                                                    const double* BOOSTLINE_RESTRICT thresholds,
                                                    double* BOOSTLINE_RESTRICT left_weight) {
    for (std::size_t j = 0; j < kThresholds; ++j)
        for (std::size_t f = 0; f < n; ++f)
            left_weight[j * n + f] += thresholds[j * n + f] >= max[f] ? weight[f] : 0.0;
}

// Gains in bits; -1 where a side is too light. `share_seen` is the covariate's share of the weight (missing values).
BOOSTLINE_VECTORISED static void gains(const double* BOOSTLINE_RESTRICT total, const double* BOOSTLINE_RESTRICT share_seen,
                                       std::size_t n, const double* BOOSTLINE_RESTRICT left_weight,
                                       double* BOOSTLINE_RESTRICT left_over) {
    for (std::size_t j = 0; j < kThresholds; ++j)
        for (std::size_t f = 0; f < n; ++f) {
            const double whole = total[f], left = left_weight[j * n + f], right = whole - left;
            const double side = x_log2_x(whole) - x_log2_x(left) - x_log2_x(right);
            const double gain = (side - left_over[j * n + f]) / whole * share_seen[f];
            const bool heavy = (left > kMinBranchShare * whole) & (right > kMinBranchShare * whole);
            left_over[j * n + f] = heavy ? (gain > 0.0 ? gain : 0.0) : -1.0;
        }
}

struct Split {
    std::int32_t covariate = -1;  // -1: no candidate
    double threshold = 0.0;
    double gain = 0.0;
    double runner_up = 0.0;  // the best gain of another covariate, 0 if there is none
};

// The gain is the information between label and side, H(side) - sum over labels of (w / W) H(side | label): each label
// adds to two numbers per cell, and needs one evaluation of normal_split.
class SplitSearch {
  public:
    Split best(const std::vector<LabelStats>& labels, std::size_t n) {
        prepare(labels, n);
        for (const LabelStats& s : labels) {
            if (varies(s, n)) {
                standardise(s, n, thresholds_.data(), inverse_sd_.data(), share_.data());
                split_shares(share_.data(), bits_.data(), share_.size());
                add_label(s.weight, n, share_.data(), bits_.data(), left_weight_.data(), left_over_.data());
            } else {
                add_constant_label(s.weight, s.max, n, thresholds_.data(), left_weight_.data());
            }
        }
        return choose(n);
    }

  private:
    void prepare(const std::vector<LabelStats>& labels, std::size_t n) {
        const std::size_t cells = n * kThresholds;
        low_.assign(n, std::numeric_limits<double>::infinity());
        high_.assign(n, -std::numeric_limits<double>::infinity());
        total_.assign(n, 0.0);
        for (const LabelStats& s : labels)
            for (std::size_t f = 0; f < n; ++f) {
                low_[f] = s.min[f] < low_[f] ? s.min[f] : low_[f];
                high_[f] = s.max[f] > high_[f] ? s.max[f] : high_[f];
                total_[f] += s.weight[f];
            }
        thresholds_.resize(cells);
        for (int j = 0; j < kThresholds; ++j)
            for (std::size_t f = 0; f < n; ++f)
                thresholds_[static_cast<std::size_t>(j) * n + f] =
                    low_[f] + (high_[f] - low_[f]) * (j + 1) / (kThresholds + 1);
        inverse_sd_.resize(n);
        share_seen_.resize(n);
        best_of_.resize(n);
        share_.resize(cells);
        bits_.resize(cells);
        left_weight_.assign(cells, 0.0);
        left_over_.assign(cells, 0.0);
    }

    static bool varies(const LabelStats& s, std::size_t n) {
        bool any = false;
        for (std::size_t f = 0; f < n; ++f) any |= s.min[f] < s.max[f];
        return any;
    }

    Split choose(std::size_t n) {
        const double seen_most = *std::max_element(total_.begin(), total_.end());
        for (std::size_t f = 0; f < n; ++f) share_seen_[f] = total_[f] / seen_most;
        gains(total_.data(), share_seen_.data(), n, left_weight_.data(), left_over_.data());
        for (std::size_t f = 0; f < n; ++f) {
            best_of_[f] = -1.0;
            if (!(low_[f] < high_[f])) continue;
            for (std::size_t j = 0; j < kThresholds; ++j) best_of_[f] = std::max(best_of_[f], left_over_[j * n + f]);
        }
        const double best = *std::max_element(best_of_.begin(), best_of_.end());
        Split split;
        if (best < 0.0) return split;
        std::size_t f = 0, j = 0;
        while (best_of_[f] < best - kGainTie) ++f;
        while (left_over_[j * n + f] < best_of_[f] - kGainTie) ++j;
        split.covariate = static_cast<std::int32_t>(f);
        split.threshold = thresholds_[j * n + f];
        split.gain = left_over_[j * n + f];
        for (std::size_t other = 0; other < n; ++other)
            if (other != f) split.runner_up = std::max(split.runner_up, best_of_[other]);
        return split;
    }

    std::vector<double> low_, high_, total_, share_seen_, inverse_sd_, best_of_;   // per covariate
    std::vector<double> thresholds_, share_, bits_, left_weight_, left_over_;  // per threshold and covariate
};

}  // namespace boostline
