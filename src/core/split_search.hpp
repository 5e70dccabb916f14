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
                                                  float* BOOSTLINE_RESTRICT possible, float* BOOSTLINE_RESTRICT sure) {
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
            possible[first + l] = best_low;
            sure[first + l] = best_high;
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
        if (leaf.n_covariates < kGroup) {
            some_.resize(leaf.n_covariates);
            for (std::size_t f = 0; f < some_.size(); ++f) some_[f] = f;
            add_whole_groups(padded(leaf, some_));
        } else {
            add_whole_groups(leaf);
        }
        set_shares(*std::max_element(total_.begin(), total_.end()));
    }
    // Of these covariates alone, kGroup at most.
    void add_some(const LeafStats& leaf, const std::vector<std::size_t>& covariates) {
        all_total_.assign(leaf.n_covariates, 0.0);
        for (const LabelStats& s : leaf.labels)
            for (std::size_t f = 0; f < leaf.n_covariates; ++f) all_total_[f] += s.weight[f];
        add_whole_groups(padded(leaf, covariates));
        set_shares(*std::max_element(all_total_.begin(), all_total_.end()));
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
    void set_shares(double seen_most) {
        for (std::size_t f = 0; f < n_; ++f) share_seen_[f] = total_[f] / seen_most;
    }

    // These covariates, and for the rest of a group covariates that no label has seen.
    const LeafStats& padded(const LeafStats& leaf, const std::vector<std::size_t>& covariates) {
        const std::size_t n_labels = leaf.labels.size();
        padding_.resize((n_labels + 1) * LabelStats::kArrays * kGroup);
        padded_.labels.clear();
        const auto next = [&](std::size_t i) {
            const LabelStats wide = LabelStats::in(padding_.data() + i * LabelStats::kArrays * kGroup, kGroup);
            wide.clear(kGroup);
            return wide;
        };
        const auto copy = [&](const double* from, double* to) {
            for (std::size_t i = 0; i < covariates.size(); ++i) to[i] = from[covariates[i]];
        };
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

    std::vector<std::size_t> some_;
    std::vector<double> all_total_;  // per covariate of the leaf
    std::vector<double> padding_;
    LeafStats padded_;
};

class SplitSearch : private SplitSums<double> {
  public:
    // `runner_up` is found among the covariates that are looked at.
    Split best(const LeafStats& leaf) {
        add_up(leaf);
        return best_of_sums();
    }
    // Of these covariates, in ascending order, kGroup at most.
    Split best_among(const LeafStats& leaf, const std::vector<std::size_t>& covariates) {
        add_some(leaf, covariates);
        Split split = best_of_sums();
        if (split.covariate >= 0)
            split.covariate = static_cast<std::int32_t>(covariates[static_cast<std::size_t>(split.covariate)]);
        return split;
    }

  private:
    Split best_of_sums() {
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
        if (!can_look_at(leaf)) return kNoBound;
        return has_wide_split_screen() ? wide_lead(leaf, leaf.labels, kAll, read_weights(leaf)) : narrow_lead(leaf);
    }

    // Whether that is at most `bound`, which some of the labels may show already.
    bool rules_out(const LeafStats& leaf, double bound) {
        if (!has_wide_split_screen() || !can_look_at(leaf)) return largest_lead(leaf) <= bound;
        const double weight = read_weights(leaf);
        const std::size_t n_heavy = sort_by_weight(leaf.labels, weight, kRestOfBound * bound);
        return (n_heavy < leaf.labels.size() && wide_lead(leaf, labels_, n_heavy, weight) <= bound) ||
               wide_lead(leaf, leaf.labels, kAll, weight) <= bound;
    }

    // The covariates that may have the largest gain, ascending; all of them if that cannot be told.
    const std::vector<std::size_t>& candidates(const LeafStats& leaf) {
        candidates_.clear();
        const bool looked = largest_lead(leaf) < kNoBound;
        const double best = looked ? static_cast<double>(*std::max_element(sure_.begin(), sure_.end())) : 0.0;
        for (std::size_t f = 0; f < leaf.n_covariates; ++f)
            if (!looked || static_cast<double>(possible_[f]) + 2.0 * kCoarseError + kGainTie >= best)
                candidates_.push_back(f);
        return candidates_;
    }

  private:
    // A share is wrong by 2.4e-4 at most, so its entropy by 1.6e-3 where both sides have a hundredth; divisions
    // by 1.8e-3.
    static constexpr double kCoarseError = 4e-3, kShareError = 5e-4;
    static constexpr auto kLow = static_cast<float>(kMinBranchShare - kShareError);
    static constexpr auto kHigh = static_cast<float>(kMinBranchShare + kShareError);
    static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
    static constexpr double kNoBound = std::numeric_limits<double>::infinity();
    // Labels of so much of the weight, for each bit of the bound, are left for later: most tries fail by far.
    static constexpr double kRestOfBound = 0.28;

    // Sums of very many or very large or small numbers are not exact enough in single precision; and the weight
    // times the sum of squares of a covariate must be finite.
    static bool can_look_at(const LeafStats& leaf) {
        constexpr std::size_t kMostLabels = 10'000;
        constexpr double kNarrowest = 1e-200, kWidest = 1e100;
        bool can = leaf.labels.size() <= kMostLabels;
        for (std::size_t f = 0; f < leaf.n_covariates; ++f) {
            const double width = leaf.high[f] - leaf.low[f];
            can &= !(width > kWidest || (width > 0.0 && width < kNarrowest));
        }
        return can;
    }
    static bool is_ordinary(double weight) {
        constexpr double kLightest = 1e-30, kHeaviest = 1e30;
        return weight > kLightest && weight < kHeaviest;
    }

    // Returns their sum: the leaf's weight, or far less if the first covariate is missing nearly always.
    double read_weights(const LeafStats& leaf) {
        double sum = 0.0;
        weights_.resize(leaf.labels.size());
        for (std::size_t i = 0; i < weights_.size(); ++i) sum += weights_[i] = leaf.labels[i].weight[0];
        return sum;
    }

    // Light labels last, by powers of two: as many as have `share` of the weight at most. Returns how many are not
    // among them; all of them, without sorting, if that would save little.
    std::size_t sort_by_weight(const std::vector<LabelStats>& labels, double total, double share) {
        constexpr std::size_t kPowers = 16;
        double in_power[kPowers] = {0.0};
        std::size_t n_in_power[kPowers] = {0};
        const std::size_t n = labels.size();
        powers_.resize(n);
        const auto exponent = [](double x) { return static_cast<std::int64_t>(bit_cast<std::uint64_t>(x) >> 52); };
        const std::int64_t of_total = exponent(total);
        for (std::size_t i = 0; i < n; ++i) {
            const std::int64_t below = of_total - exponent(weights_[i]);
            powers_[i] = static_cast<std::uint8_t>(std::min<std::int64_t>(below, kPowers - 1));
            in_power[powers_[i]] += weights_[i];
            ++n_in_power[powers_[i]];
        }
        std::size_t first_light = kPowers, n_left = n;
        for (double rest = in_power[kPowers - 1]; first_light > 1 && rest <= share * total;
             rest += in_power[first_light - 1])
            n_left -= n_in_power[--first_light];
        if (n_left + n_left / 4 >= n) return n;
        labels_.resize(n);
        std::size_t n_heavy = 0, n_light = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t light = powers_[i] >= first_light ? 1 : 0;
            labels_[light != 0 ? n - 1 - n_light : n_heavy] = labels[i];
            n_heavy += 1 - light;
            n_light += light;
        }
        return n_heavy;
    }

    // A first look at so many labels, or a full one at all.
    double wide_lead(const LeafStats& leaf, const std::vector<LabelStats>& labels, std::size_t n_heavy, double weight) {
        n_ = leaf.n_covariates;
        for (auto* column : {&shares_, &possible_, &sure_}) column->resize(n_);
        const GainRanges found{shares_.data(), possible_.data(), sure_.data()};
        const LeafRange range{leaf.low, leaf.high, n_};
        if (n_heavy == kAll)
            screen_widely(labels.data(), labels.size(), weight, range, kLow, kHigh, found);
        else
            screen_at_first(labels.data(), n_heavy, labels.size(), weight, range, kLow, kHigh, found);
        const auto most = static_cast<double>(*std::max_element(shares_.begin(), shares_.end()));
        if (!is_ordinary(most * (weight > 0.0 ? weight : 1.0))) return kNoBound;
        return widest_lead(found, n_) + 2.0 * kCoarseError;
    }

    double narrow_lead(const LeafStats& leaf) {
        add_up(leaf);
        possible_.resize(n_);
        sure_.resize(n_);
        find_gain_ranges(total_.data(), n_, kLow, kHigh, left_weight_.data(), left_over_.data(), possible_.data(),
                         sure_.data());
        const double weight = *std::max_element(total_.begin(), total_.end());
        if (!is_ordinary(weight)) return kNoBound;
        for (std::size_t f = 0; f < n_; ++f)
            for (float* gain : {&possible_[f], &sure_[f]})
                if (*gain > -1.0f) *gain = std::max(*gain * static_cast<float>(total_[f] / weight), 0.0f);
        float first = 0.0f, second = 0.0f;  // a covariate without candidates counts 0
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
        float lead = 0.0f;
        for (std::size_t f = 0; f < n_; ++f) lead = std::max(lead, possible_[f] - (f == leader ? second : first));
        return static_cast<double>(lead) + 2.0 * kCoarseError;
    }

    std::vector<float> shares_, possible_,
        sure_;                        // of the weight; what a covariate's largest gain is at most, at least
    std::vector<LabelStats> labels_;  // heavy ones first
    std::vector<std::size_t> candidates_;
    std::vector<double> weights_;       // of the labels as they come
    std::vector<std::uint8_t> powers_;  // of two, by which a label is lighter than all
};

}  // namespace boostline
