// The best split of a leaf among a few covariates: the numbers that split_search.hpp finds, where nobody needs to know
// how good the other covariates are. A vector has thresholds of one covariate or of two, not covariates.
#pragma once

#include <algorithm>
#include <vector>

#include "core/base/math.hpp"
#include "core/base/portable.hpp"
#include "core/kernels/split_sums.hpp"
#include "core/learners/tree/leaf_stats.hpp"

namespace boostline {

// For each threshold of n covariates, side by side; whole vectors of them, the last of which may be of none.
struct FewCells {
    std::size_t n_covariates, n;  // n: thresholds, and what fills up the last vector
    double *threshold, *left_weight, *left_over, *z, *weight;
};

BOOSTLINE_VECTORISED static void add_to_cells(const LabelStats& s, const std::size_t* covariates,
                                              const FewCells& cells) {
    double* BOOSTLINE_RESTRICT left_weight = cells.left_weight;
    double* BOOSTLINE_RESTRICT left_over = cells.left_over;
    double* BOOSTLINE_RESTRICT z = cells.z;
    double* BOOSTLINE_RESTRICT weights = cells.weight;
    for (std::size_t i = 0; i < cells.n_covariates; ++i) {
        const std::size_t f = covariates[i];
        const double min = s.min[f], max = s.max[f], mean = s.mean[f], weight = s.weight[f];
        const double inverse_sd = inverse_deviation(weight, s.m2[f]);
        for (std::size_t j = 0; j < kThresholds; ++j) {
            const double threshold = cells.threshold[i * kThresholds + j];
            const double inside = (threshold - mean) * inverse_sd;
            const double not_left = threshold < min ? -kFarOut : inside;
            z[i * kThresholds + j] = threshold >= max ? kFarOut : not_left;
            weights[i * kThresholds + j] = weight;
        }
    }
    for (std::size_t i = 0; i < cells.n; ++i) {
        const NormalSplit split = normal_split(z[i]);
        left_weight[i] += weights[i] * split.below;
        left_over[i] += weights[i] * split.entropy;
    }
}

BOOSTLINE_VECTORISED static void find_gains(std::size_t n, const double* BOOSTLINE_RESTRICT whole,
                                            const double* BOOSTLINE_RESTRICT share,
                                            const double* BOOSTLINE_RESTRICT left_weight,
                                            const double* BOOSTLINE_RESTRICT left_over,
                                            double* BOOSTLINE_RESTRICT gain) {
    for (std::size_t i = 0; i < n; ++i) {
        double right = whole[i] - left_weight[i];
        right = right > 0.0 ? right : 0.0;
        const double side = x_log2_x(whole[i]) - x_log2_x(left_weight[i]) - x_log2_x(right);
        const double bits = (side - left_over[i]) / whole[i] * share[i];
        gain[i] = bits > 0.0 ? bits : 0.0;
    }
}

class FewSplits {
  public:
    // Of these covariates, in ascending order.
    Split best(const LeafStats& leaf, const std::vector<std::size_t>& covariates) {
        make_room(leaf, covariates);
        const FewCells cells{covariates.size(), n_,         column(kThreshold), column(kLeftWeight),
                             column(kLeftOver), column(kZ), column(kWeight)};
        for (std::size_t l = 0; l < leaf.labels.size(); ++l) {
            const LabelStats& s = leaf.labels[l];
            for (std::size_t f = 0; f < leaf.n_covariates; ++f) total_[f] += s.weight[f];
            const bool varies =
                std::any_of(covariates.begin(), covariates.end(), [&](std::size_t f) { return s.min[f] < s.max[f]; });
            varies ? add_to_cells(s, covariates.data(), cells) : add_constant(s, covariates);
        }
        return best_of_cells(covariates);
    }

  private:
    enum Column { kThreshold, kLeftWeight, kLeftOver, kZ, kWeight, kWhole, kShare, kGain, kColumns };
    double* column(Column c) { return room_.data() + static_cast<std::size_t>(c) * n_; }

    void make_room(const LeafStats& leaf, const std::vector<std::size_t>& covariates) {
        n_ = (covariates.size() * kThresholds + kLanes - 1) / kLanes * kLanes;
        room_.assign(n_ * kColumns, 0.0);
        total_.assign(leaf.n_covariates, 0.0);
        double* next = column(kThreshold);
        for (const std::size_t f : covariates)
            for (int j = 0; j < kThresholds; ++j)
                *next++ = leaf.low[f] + (leaf.high[f] - leaf.low[f]) * static_cast<double>(j + 1) / (kThresholds + 1);
    }

    // One value of each covariate: as a whole on one side.
    void add_constant(const LabelStats& s, const std::vector<std::size_t>& covariates) {
        const double* threshold = column(kThreshold);
        double* left_weight = column(kLeftWeight);
        for (const std::size_t f : covariates)
            for (int j = 0; j < kThresholds; ++j) *left_weight++ += *threshold++ >= s.max[f] ? s.weight[f] : 0.0;
    }

    Split best_of_cells(const std::vector<std::size_t>& covariates) {
        const double seen_most = *std::max_element(total_.begin(), total_.end());
        std::fill_n(column(kWhole), n_, 1.0);
        for (std::size_t i = 0; i < covariates.size(); ++i) {
            const double whole = total_[covariates[i]];
            std::fill_n(column(kWhole) + i * kThresholds, kThresholds, whole);
            std::fill_n(column(kShare) + i * kThresholds, kThresholds, whole / seen_most);
        }
        find_gains(n_, column(kWhole), column(kShare), column(kLeftWeight), column(kLeftOver), column(kGain));
        const double *gain = column(kGain), *left = column(kLeftWeight);
        const auto is_heavy = [&](std::size_t i, std::size_t j) {
            const double whole = total_[covariates[i]], least = kMinBranchShare * whole;
            return left[i * kThresholds + j] > least && whole - left[i * kThresholds + j] > least;
        };
        best_of_.assign(covariates.size(), -1.0);
        for (std::size_t i = 0; i < covariates.size(); ++i)
            for (std::size_t j = 0; j < kThresholds; ++j)
                if (is_heavy(i, j)) best_of_[i] = std::max(best_of_[i], gain[i * kThresholds + j]);
        Split split;
        const double best = *std::max_element(best_of_.begin(), best_of_.end());
        if (best < 0.0) return split;
        std::size_t i = 0, j = 0;
        while (best_of_[i] < best - kGainTie) ++i;
        while (!is_heavy(i, j) || gain[i * kThresholds + j] < best_of_[i] - kGainTie) ++j;
        split.covariate = static_cast<std::int32_t>(covariates[i]);
        split.threshold = column(kThreshold)[i * kThresholds + j];
        split.gain = gain[i * kThresholds + j];
        return split;
    }

    std::size_t n_ = 0;            // cells
    std::vector<double> room_;     // the columns
    std::vector<double> total_;    // per covariate of the leaf
    std::vector<double> best_of_;  // per covariate that is looked at
};

}  // namespace boostline
