// The best split of a leaf: for every covariate ten thresholds between its smallest and its largest value, scored by
// the information that the side of the threshold gives about the label. Each label's values are summed up by a
// Gaussian. This is where trees spend their time, so the loops run over covariates, which lie next to each
// other in memory, and vectorise.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/kernels/split_sums.hpp"
#include "core/label_stats.hpp"
#include "core/math.hpp"
#include "core/portable.hpp"

namespace boostline {

constexpr double kMinBranchShare = 0.01;  // each side needs more than this share of the weight
// Gains that differ by no more are tied, and the first wins: covariates that tie in exact arithmetic are common in
// small leaves, and rounding must not choose between them.
constexpr double kGainTie = 1e-9;

// Gains in bits, times the covariate's share of the weight (which missing values lower).
template <class Real>
BOOSTLINE_INLINE void gains(const double* BOOSTLINE_RESTRICT total, const double* BOOSTLINE_RESTRICT share_seen,
                            std::size_t n, const Real* BOOSTLINE_RESTRICT left_weight,
                            const Real* BOOSTLINE_RESTRICT left_over, Real* BOOSTLINE_RESTRICT gain) {
    for (std::size_t g = 0; g < n_groups(n); ++g) {
        Real whole[kGroup], whole_term[kGroup], share[kGroup];
        for (std::size_t l = 0; l < kGroup; ++l) {
            whole[l] = static_cast<Real>(total[first_of_group(g, n) + l]);
            whole_term[l] = x_log2_x(whole[l]);
            share[l] = static_cast<Real>(share_seen[first_of_group(g, n) + l]);
        }
        for (std::size_t j = 0; j < kThresholds; ++j) {
            const std::size_t row = g * kGroupCells + j * kGroup;
            for (std::size_t l = 0; l < kGroup; ++l) {
                const Real left = left_weight[row + l];
                Real right = whole[l] - left;
                right = right > Real(0) ? right : Real(0);
                const Real side = whole_term[l] - x_log2_x(left) - x_log2_x(right);
                const Real bits = (side - left_over[row + l]) / whole[l] * share[l];
                gain[row + l] = bits > Real(0) ? bits : Real(0);
            }
        }
    }
}

// The largest gain of each covariate over splits both of whose sides have more than `share` of its weight; -1 if there
// is none (so for a covariate that is constant or never seen: one side is empty).
template <class Real>
BOOSTLINE_INLINE void largest_gains(const double* BOOSTLINE_RESTRICT total, std::size_t n, double share,
                                    const Real* BOOSTLINE_RESTRICT left_weight, const Real* BOOSTLINE_RESTRICT gain,
                                    double* BOOSTLINE_RESTRICT best) {
    for (std::size_t g = 0; g < n_groups(n); ++g) {
        const std::size_t first = first_of_group(g, n);
        Real largest[kGroup], whole[kGroup], least[kGroup], candidate[kGroup];
        for (std::size_t l = 0; l < kGroup; ++l) {
            largest[l] = Real(-1);
            whole[l] = static_cast<Real>(total[first + l]);
            least[l] = static_cast<Real>(share * total[first + l]);
        }
        for (std::size_t j = 0; j < kThresholds; ++j) {
            const std::size_t row = g * kGroupCells + j * kGroup;
            for (std::size_t l = 0; l < kGroup; ++l) candidate[l] = gain[row + l];
            for (std::size_t l = 0; l < kGroup; ++l) {
                const Real left = left_weight[row + l], right = whole[l] - left;
                const Real lighter = left < right ? left : right;
                candidate[l] = lighter > least[l] ? candidate[l] : Real(-1);
                largest[l] = candidate[l] > largest[l] ? candidate[l] : largest[l];
            }
        }
        for (std::size_t l = 0; l < kGroup; ++l) best[first + l] = static_cast<double>(largest[l]);
    }
}

// Equally spaced between the smallest and the largest value of each covariate.
BOOSTLINE_VECTORISED static void place_thresholds(const double* BOOSTLINE_RESTRICT low,
                                                  const double* BOOSTLINE_RESTRICT high, std::size_t n,
                                                  double* BOOSTLINE_RESTRICT thresholds) {
    for (std::size_t g = 0; g < n_groups(n); ++g)
        for (std::size_t j = 0; j < kThresholds; ++j)
            for (std::size_t l = 0; l < kGroup; ++l) {
                const std::size_t f = first_of_group(g, n) + l;
                thresholds[g * kGroupCells + j * kGroup + l] =
                    low[f] + (high[f] - low[f]) * static_cast<double>(j + 1) / (kThresholds + 1);
            }
}

// target_clones does not reach templates: one plain function for each precision.
BOOSTLINE_VECTORISED static void add_labels(const LabelStats* labels, std::size_t n_labels, std::size_t n,
                                            const double* thresholds, double* total, double* left_weight,
                                            double* left_over) {
    add_all_labels<double>(labels, n_labels, n, thresholds, total, left_weight, left_over);
}
#define BOOSTLINE_SPLIT_KERNELS(Real)                                                                              \
    BOOSTLINE_VECTORISED static void compute_gains(const double* total, const double* share_seen, std::size_t n,   \
                                                   const Real* left_weight, const Real* left_over, Real* gain) {   \
        gains<Real>(total, share_seen, n, left_weight, left_over, gain);                                           \
    }                                                                                                              \
    BOOSTLINE_VECTORISED static void find_largest_gains(const double* total, std::size_t n, double share,          \
                                                        const Real* left_weight, const Real* gain, double* best) { \
        largest_gains<Real>(total, n, share, left_weight, gain, best);                                             \
    }
BOOSTLINE_SPLIT_KERNELS(double)
BOOSTLINE_SPLIT_KERNELS(float)
#undef BOOSTLINE_SPLIT_KERNELS

// What a search sees of a leaf.
struct LeafStats {
    std::vector<LabelStats> labels;
    const double* low;  // of each covariate over all labels
    const double* high;
    std::size_t n_covariates;
};

struct Split {
    std::int32_t covariate = -1;  // -1: no candidate
    double threshold = 0.0;
    double gain = 0.0;
    double runner_up = 0.0;  // the best gain of another covariate, 0 if there is none
};

// The gain is the information between label and side, H(side) - sum over labels of (w / W) H(side | label): each label
// adds to two numbers per cell, and needs one evaluation of the normal distribution.
template <class Real>
class SplitSearch {
  public:
    Split best(const LeafStats& leaf) {
        evaluate(leaf);
        best_of_covariates(kMinBranchShare, best_of_);
        Split split;
        const double best = *std::max_element(best_of_.begin(), best_of_.end());
        if (best < 0.0) return split;
        std::size_t f = 0, j = 0;
        while (best_of_[f] < best - kGainTie) ++f;
        while (!heavy(f, j) || gain_[cell(f, j)] < best_of_[f] - kGainTie) ++j;
        split.covariate = static_cast<std::int32_t>(f);
        split.threshold = thresholds_[cell(f, j)];
        split.gain = gain_[cell(f, j)];
        for (std::size_t other = 0; other < n_; ++other)
            if (other != f) split.runner_up = std::max(split.runner_up, best_of_[other]);
        return split;
    }

    // No covariate beats every other one by more than this: a bound that allows for the error of single precision, in
    // the gains and in which branches count as heavy enough.
    double largest_lead(const LeafStats& leaf) {
        // A share is wrong by 2e-4 at most, so its entropy by 1.4e-3 where both sides have a hundredth; divisions
        // by 1.7e-3.
        constexpr double kCoarseError = 3.5e-3, kShareError = 5e-4;
        // Sums of very many or very large or small numbers are not exact enough in single precision; and the weight
        // times the sum of squares of a covariate must be finite.
        constexpr std::size_t kMostLabels = 10'000;
        constexpr double kLightest = 1e-30, kHeaviest = 1e30, kWidest = 1e100;
        constexpr double kNoBound = std::numeric_limits<double>::infinity();
        if (leaf.labels.size() > kMostLabels) return kNoBound;
        for (std::size_t f = 0; f < leaf.n_covariates; ++f)
            if (leaf.high[f] - leaf.low[f] > kWidest) return kNoBound;
        evaluate(leaf);
        const double weight = *std::max_element(total_.begin(), total_.end());
        if (!(weight > kLightest && weight < kHeaviest)) return kNoBound;
        best_of_covariates(kMinBranchShare - kShareError, best_of_);         // at least what the gain can be
        best_of_covariates(kMinBranchShare + kShareError, surely_best_of_);  // at most
        double first = 0.0, second = 0.0;                                    // a covariate without candidates counts 0
        std::size_t leader = 0;
        for (std::size_t f = 0; f < n_; ++f) {
            if (surely_best_of_[f] > first) {
                second = first;
                first = surely_best_of_[f];
                leader = f;
            } else if (surely_best_of_[f] > second) {
                second = surely_best_of_[f];
            }
        }
        double lead = 0.0;
        for (std::size_t f = 0; f < n_; ++f) lead = std::max(lead, best_of_[f] - (f == leader ? second : first));
        return lead + 2.0 * kCoarseError;
    }

  private:
    void evaluate(const LeafStats& leaf) {
        if (leaf.n_covariates < kGroup)
            evaluate_whole_groups(padded(leaf));
        else
            evaluate_whole_groups(leaf);
    }

    void evaluate_whole_groups(const LeafStats& leaf) {
        prepare(leaf);
        add_labels(leaf.labels.data(), leaf.labels.size(), n_, thresholds_.data(), total_.data(), left_weight_.data(),
                   left_over_.data());
        const double seen_most = *std::max_element(total_.begin(), total_.end());
        for (std::size_t f = 0; f < n_; ++f) share_seen_[f] = total_[f] / seen_most;
        compute_gains(total_.data(), share_seen_.data(), n_, left_weight_.data(), left_over_.data(), gain_.data());
    }

    // Fewer covariates than a group has: the rest are covariates that no label has seen.
    const LeafStats& padded(const LeafStats& leaf) {
        const std::size_t n = leaf.n_covariates, n_labels = leaf.labels.size();
        padding_.resize((n_labels + 1) * LabelStats::kArrays * kGroup);
        padded_.labels.clear();
        const auto next = [&](std::size_t i) {
            const LabelStats wide = LabelStats::in(padding_.data() + i * LabelStats::kArrays * kGroup, kGroup);
            wide.clear(kGroup);
            return wide;
        };
        for (std::size_t i = 0; i < n_labels; ++i) {
            const LabelStats& s = leaf.labels[i];
            const LabelStats wide = next(i);
            std::copy(s.weight, s.weight + n, wide.weight);
            std::copy(s.mean, s.mean + n, wide.mean);
            std::copy(s.m2, s.m2 + n, wide.m2);
            std::copy(s.min, s.min + n, wide.min);
            std::copy(s.max, s.max + n, wide.max);
            padded_.labels.push_back(wide);
        }
        const LabelStats all = next(n_labels);  // of which the range alone is used
        std::copy(leaf.low, leaf.low + n, all.min);
        std::copy(leaf.high, leaf.high + n, all.max);
        padded_.low = all.min;
        padded_.high = all.max;
        padded_.n_covariates = kGroup;
        return padded_;
    }

    void prepare(const LeafStats& leaf) {
        n_ = leaf.n_covariates;
        const std::size_t cells = n_groups(n_) * kGroupCells;
        thresholds_.resize(cells);
        place_thresholds(leaf.low, leaf.high, n_, thresholds_.data());
        for (auto* column : {&share_seen_, &best_of_, &surely_best_of_}) column->resize(n_);
        gain_.resize(cells);
        total_.assign(n_, 0.0);
        left_weight_.assign(cells, Real(0));
        left_over_.assign(cells, Real(0));
    }

    // Where the j-th threshold of covariate f is.
    std::size_t cell(std::size_t f, std::size_t j) const {
        const std::size_t group = f / kGroup;
        return group * kGroupCells + j * kGroup + (f - first_of_group(group, n_));
    }

    bool heavy(std::size_t f, std::size_t j) const {
        const double left = static_cast<double>(left_weight_[cell(f, j)]), least = kMinBranchShare * total_[f];
        return left > least && total_[f] - left > least;
    }

    void best_of_covariates(double share, std::vector<double>& best) const {
        find_largest_gains(total_.data(), n_, share, left_weight_.data(), gain_.data(), best.data());
    }

    std::size_t n_ = 0;                       // covariates
    std::vector<double> total_, share_seen_;  // per covariate
    std::vector<double> best_of_, surely_best_of_;
    std::vector<double> thresholds_;  // per cell
    std::vector<Real> left_weight_, left_over_, gain_;
    std::vector<double> padding_;
    LeafStats padded_;
};

}  // namespace boostline
