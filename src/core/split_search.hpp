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
#include "core/kernels/wide_split_screen.hpp"
#include "core/label_stats.hpp"
#include "core/math.hpp"
#include "core/portable.hpp"

namespace boostline {

constexpr double kMinBranchShare = 0.01;  // each side needs more than this share of the weight
// Gains that differ by no more are tied, and the first wins: covariates that tie in exact arithmetic are common in
// small leaves, and rounding must not choose between them.
constexpr double kGainTie = 1e-9;

// Gains in bits, times the covariate's share of the weight (which missing values lower).
BOOSTLINE_VECTORISED static void compute_gains(const double* BOOSTLINE_RESTRICT total,
                                               const double* BOOSTLINE_RESTRICT share_seen, std::size_t n,
                                               const double* BOOSTLINE_RESTRICT left_weight,
                                               const double* BOOSTLINE_RESTRICT left_over,
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

// The largest gain of each covariate over splits both of whose sides have more than `share` of its weight; -1 if there
// is none (so for a covariate that is constant or never seen: one side is empty).
BOOSTLINE_VECTORISED static void find_largest_gains(const double* BOOSTLINE_RESTRICT total, std::size_t n, double share,
                                                    const double* BOOSTLINE_RESTRICT left_weight,
                                                    const double* BOOSTLINE_RESTRICT gain,
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

// Both steps at once, for what the largest gain of a covariate may be (in single precision): with each side above
// `share_low` of the weight, or above `share_high`.
BOOSTLINE_VECTORISED static void find_gain_ranges(const double* BOOSTLINE_RESTRICT total, std::size_t n,
                                                  float share_low, float share_high,
                                                  const float* BOOSTLINE_RESTRICT left_weight,
                                                  const float* BOOSTLINE_RESTRICT left_over,
                                                  double* BOOSTLINE_RESTRICT possible,
                                                  double* BOOSTLINE_RESTRICT sure) {
    for (std::size_t g = 0; g < n_groups(n); ++g) {
        const std::size_t first = first_of_group(g, n);
        // per cell, so that no loop is short: gcc unrolls short ones instead of vectorising them
        float whole[kGroupCells], whole_term[kGroupCells], right[kGroupCells], low[kGroupCells], high[kGroupCells];
        for (std::size_t j = 0; j < kThresholds; ++j)
            for (std::size_t l = 0; l < kGroup; ++l) whole[j * kGroup + l] = static_cast<float>(total[first + l]);
        for (std::size_t l = 0; l < kGroup; ++l) whole_term[l] = x_log2_x(whole[l]);
        for (std::size_t j = 1; j < kThresholds; ++j)
            for (std::size_t l = 0; l < kGroup; ++l) whole_term[j * kGroup + l] = whole_term[l];
        const float* BOOSTLINE_RESTRICT left = left_weight + g * kGroupCells;
        const float* BOOSTLINE_RESTRICT over = left_over + g * kGroupCells;
        for (std::size_t i = 0; i < kGroupCells; ++i) {
            const float remaining = whole[i] - left[i];
            right[i] = remaining > 0.0f ? remaining : 0.0f;
        }
        for (std::size_t i = 0; i < kGroupCells; ++i) {
            const float lighter = left[i] < right[i] ? left[i] : right[i];
            const float gain = (whole_term[i] - x_log2_x(left[i]) - x_log2_x(right[i]) - over[i]) / whole[i];
            low[i] = lighter > share_low * whole[i] ? gain : -1.0f;
            high[i] = lighter > share_high * whole[i] ? gain : -1.0f;
        }
        for (std::size_t l = 0; l < kGroup; ++l) {
            float best_low = -1.0f, best_high = -1.0f;
            for (std::size_t i = l; i < kGroupCells; i += kGroup) {
                best_low = low[i] > best_low ? low[i] : best_low;
                best_high = high[i] > best_high ? high[i] : best_high;
            }
            possible[first + l] = static_cast<double>(best_low);
            sure[first + l] = static_cast<double>(best_high);
        }
    }
}

BOOSTLINE_VECTORISED static void add_labels(const LabelStats* labels, std::size_t n_labels, const LeafRange& range,
                                            double* thresholds, double* total, double* left_weight, double* left_over) {
    for (std::size_t g = 0; g < n_groups(range.n); ++g) place_thresholds(range, g, thresholds + g * kGroupCells);
    add_all_labels<double>(labels, n_labels, range.n, thresholds, total, left_weight, left_over);
}

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
class SplitSums {
  protected:
    void add_up(const LeafStats& leaf) {
        if (leaf.n_covariates < kGroup)
            add_whole_groups(padded(leaf));
        else
            add_whole_groups(leaf);
    }

    std::size_t n_ = 0;                       // covariates
    std::vector<double> total_, share_seen_;  // per covariate
    std::vector<double> thresholds_;          // per cell
    std::vector<Real> left_weight_, left_over_;

  private:
    void add_whole_groups(const LeafStats& leaf) {
        n_ = leaf.n_covariates;
        const std::size_t cells = n_groups(n_) * kGroupCells;
        thresholds_.resize(cells);
        share_seen_.resize(n_);
        total_.assign(n_, 0.0);
        left_weight_.assign(cells, Real(0));
        left_over_.assign(cells, Real(0));
        add_labels(leaf.labels.data(), leaf.labels.size(), {leaf.low, leaf.high, n_}, thresholds_.data(), total_.data(),
                   left_weight_.data(), left_over_.data());
        const double seen_most = *std::max_element(total_.begin(), total_.end());
        for (std::size_t f = 0; f < n_; ++f) share_seen_[f] = total_[f] / seen_most;
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

    std::vector<double> padding_;
    LeafStats padded_;
};

class SplitSearch : private SplitSums<double> {
  public:
    Split best(const LeafStats& leaf) {
        add_up(leaf);
        gain_.resize(left_weight_.size());
        best_of_.resize(n_);
        compute_gains(total_.data(), share_seen_.data(), n_, left_weight_.data(), left_over_.data(), gain_.data());
        find_largest_gains(total_.data(), n_, kMinBranchShare, left_weight_.data(), gain_.data(), best_of_.data());
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

  private:
    // Where the j-th threshold of covariate f is.
    std::size_t cell(std::size_t f, std::size_t j) const {
        const std::size_t group = f / kGroup;
        return group * kGroupCells + j * kGroup + (f - first_of_group(group, n_));
    }

    bool heavy(std::size_t f, std::size_t j) const {
        const double left = left_weight_[cell(f, j)], least = kMinBranchShare * total_[f];
        return left > least && total_[f] - left > least;
    }

    std::vector<double> best_of_;  // per covariate
    std::vector<double> gain_;     // per cell
};

class SplitScreen : private SplitSums<float> {
  public:
    // No covariate beats every other one by more than this: a bound that allows for the error of single precision, in
    // the gains and in which branches count as heavy enough.
    double largest_lead(const LeafStats& leaf) {
        // A share is wrong by 2.4e-4 at most, so its entropy by 1.6e-3 where both sides have a hundredth; divisions
        // by 1.8e-3.
        constexpr double kCoarseError = 4e-3, kShareError = 5e-4;
        // Sums of very many or very large or small numbers are not exact enough in single precision; and the weight
        // times the sum of squares of a covariate must be finite.
        constexpr std::size_t kMostLabels = 10'000;
        constexpr double kLightest = 1e-30, kHeaviest = 1e30, kNarrowest = 1e-200, kWidest = 1e100;
        constexpr double kNoBound = std::numeric_limits<double>::infinity();
        if (leaf.labels.size() > kMostLabels) return kNoBound;
        for (std::size_t f = 0; f < leaf.n_covariates; ++f) {
            const double width = leaf.high[f] - leaf.low[f];
            if (width > kWidest || (width > 0.0 && width < kNarrowest)) return kNoBound;
        }
        constexpr auto kLow = static_cast<float>(kMinBranchShare - kShareError);
        constexpr auto kHigh = static_cast<float>(kMinBranchShare + kShareError);
        if (has_wide_split_screen()) {
            n_ = leaf.n_covariates;
            for (auto* column : {&total_, &possible_, &sure_}) column->resize(n_);
            screen_widely(leaf.labels.data(), leaf.labels.size(), {leaf.low, leaf.high, n_}, kLow, kHigh,
                          {total_.data(), possible_.data(), sure_.data()});
        } else {
            add_up(leaf);
            possible_.resize(n_);
            sure_.resize(n_);
            find_gain_ranges(total_.data(), n_, kLow, kHigh, left_weight_.data(), left_over_.data(), possible_.data(),
                             sure_.data());
        }
        const double weight = *std::max_element(total_.begin(), total_.end());
        if (!(weight > kLightest && weight < kHeaviest)) return kNoBound;
        for (std::size_t f = 0; f < n_; ++f)
            for (double* gain : {&possible_[f], &sure_[f]})
                if (*gain > -1.0) *gain = std::max(*gain * (total_[f] / weight), 0.0);
        double first = 0.0, second = 0.0;  // a covariate without candidates counts 0
        std::size_t leader = 0;
        for (std::size_t f = 0; f < n_; ++f) {
            if (sure_[f] > first) {
                second = first;
                first = sure_[f];
                leader = f;
            } else if (sure_[f] > second) {
                second = sure_[f];
            }
        }
        double lead = 0.0;
        for (std::size_t f = 0; f < n_; ++f) lead = std::max(lead, possible_[f] - (f == leader ? second : first));
        return lead + 2.0 * kCoarseError;
    }

  private:
    std::vector<double> possible_, sure_;  // what the largest gain of a covariate is at most, and at least
};

}  // namespace boostline
