// The best split of a leaf: for every covariate ten thresholds between its smallest and its largest value, scored by
// the information that the side of the threshold gives about the label. Each label's values are summed up by a
// Gaussian. The loops are in kernels/splits.hpp.
//
// The gain is the information between label and side, H(side) - sum over labels of (w / W) H(side | label): each label
// adds to two numbers per cell, and needs one evaluation of the normal distribution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/kernels/splits.hpp"

namespace boostline {

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

// The weights of a label at or below the threshold and above it.
struct Masses {
    double left, right;
};
Masses split_label(const LabelStats& s, std::size_t f, double threshold);

class SplitSearch {
  public:
    Split best(const LeafStats& leaf);

    // Whether a screen of the leaf in single precision shows that no covariate beats every other one by more than the
    // bound, as for nearly all tries. Light labels are left out at first.
    bool rules_out(const LeafStats& leaf, double bound);
    // No covariate beats every other one by more than this: it allows for the errors of single precision, in the gains
    // and in which branches count as heavy enough.
    double largest_lead(const LeafStats& leaf);

  private:
    // Its covariates; to fill a group, covariates that no label has seen.
    const LeafStats& with_whole_groups(const LeafStats& leaf);
    bool leave_out_light_labels(const LeafStats& leaf, double share);
    template <class Real>
    void start(const LeafStats& leaf, std::vector<Real>& left_weight, std::vector<Real>& left_over);
    void add_coarsely(const LeafStats& leaf);
    // The bound from the coarse sums; `rest` is the weight of labels that are not in them for each covariate, or null.
    double coarse_lead(const double* rest);
    // Where the j-th threshold of covariate f is.
    std::size_t cell(std::size_t f, std::size_t j) const {
        const std::size_t group = f / kGroup;
        return group * kGroupCells + j * kGroup + (f - first_of_group(group, n_));
    }
    bool is_heavy(std::size_t f, std::size_t j) const;

    std::size_t n_ = 0;                                                // covariates
    std::vector<double> total_, share_seen_, best_of_;                 // per covariate
    std::vector<double> thresholds_, left_weight_, left_over_, gain_;  // per cell
    std::vector<float> coarse_left_, coarse_over_;                     // per cell
    std::vector<float> possible_, sure_;  // what a covariate's largest gain is at most, at least
    std::vector<double> padding_;
    LeafStats padded_, heavy_, light_;
    std::vector<double> rest_;
    std::vector<std::uint8_t> bins_;
};

}  // namespace boostline
