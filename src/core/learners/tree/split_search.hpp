// The best split of a leaf: for every covariate ten thresholds between its smallest and its largest value, scored by
// the information that the side of the threshold gives about the label. Each label's values are summed up by a
// Gaussian. This is where trees spend their time, so the loops run over covariates, which lie next to each
// other in memory, and vectorise.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/math.hpp"
#include "core/base/portable.hpp"
#include "core/learners/tree/split_sums.hpp"

namespace boostline {

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

class SplitSearch : private SplitSums<double> {
  public:
    // `runner_up` is found among the covariates that are looked at.
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

}  // namespace boostline
