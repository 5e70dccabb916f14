// Sums over the labels of a leaf for every threshold of every covariate, exact or coarse.
#pragma once

#include <algorithm>
#include <vector>

#include "core/kernels/split_sums.hpp"
#include "core/learners/tree/leaf_stats.hpp"

namespace boostline {

BOOSTLINE_VECTORISED static void add_labels(const LabelStats* labels, std::size_t n_labels, const LeafRange& range,
                                            double* thresholds, double* total, double* left_weight, double* left_over) {
    for (std::size_t g = 0; g < n_groups(range.n); ++g) place_thresholds(range, g, thresholds + g * kGroupCells);
    add_all_labels<double>(labels, n_labels, range.n, thresholds, total, left_weight, left_over);
}

// The gain is the information between label and side, H(side) - sum over labels of (w / W) H(side | label): each label
// adds to two numbers per cell, and needs one evaluation of the normal distribution.
template <class Real>
class SplitSums {
  protected:
    void add_up(const LeafStats& leaf) {
        add_whole_groups(leaf.n_covariates < kGroup ? padded(leaf) : leaf);
        const double seen_most = *std::max_element(total_.begin(), total_.end());
        for (std::size_t f = 0; f < n_; ++f) share_seen_[f] = total_[f] / seen_most;
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
    }
    // Its covariates, and for the rest of a group covariates that no label has seen.
    const LeafStats& padded(const LeafStats& leaf) {
        const std::size_t n_labels = leaf.labels.size();
        padding_.resize((n_labels + 1) * LabelStats::kArrays * kGroup);
        padded_.labels.clear();
        const auto next = [&](std::size_t i) {
            const LabelStats wide = LabelStats::in(padding_.data() + i * LabelStats::kArrays * kGroup, kGroup);
            wide.clear(kGroup);
            return wide;
        };
        const auto copy = [&](const double* from, double* to) { std::copy_n(from, leaf.n_covariates, to); };
        for (std::size_t i = 0; i < n_labels; ++i) {
            const LabelStats& s = leaf.labels[i];
            const LabelStats wide = next(i);
            copy(s.weight, wide.weight);
            copy(s.mean, wide.mean);
            copy(s.m2, wide.m2);
            copy(s.min, wide.min);
            copy(s.max, wide.max);
            padded_.labels.push_back(wide);
        }
        const LabelStats all = next(n_labels);  // of which the range alone is used
        copy(leaf.low, all.min);
        copy(leaf.high, all.max);
        padded_.low = all.min;
        padded_.high = all.max;
        padded_.n_covariates = kGroup;
        return padded_;
    }

    std::vector<double> padding_;
    LeafStats padded_;
};

}  // namespace boostline
