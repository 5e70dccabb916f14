// A first look at a leaf, in single precision: whether any split can be good enough, and of which covariates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/math.hpp"
#include "core/kernels/wide_split_screen.hpp"
#include "core/learners/tree/split_sums.hpp"

namespace boostline {

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

class SplitScreen : private SplitSums<float> {
  public:
    // No covariate beats every other one by more than this: a bound that allows for the error of single precision, in
    // the gains and in which branches count as heavy enough.
    double largest_lead(const LeafStats& leaf) {
        if (!can_look_at(leaf)) return kNoBound;
        return has_wide_split_screen() ? wide_lead(leaf, read_weights(leaf)) : narrow_lead(leaf);
    }

    // Whether that is at most `bound`, which words, or even some of the labels in words, may show already.
    bool rules_out(const LeafStats& leaf, double bound) {
        if (!has_wide_split_screen() || !can_look_at(leaf)) return largest_lead(leaf) <= bound;
        const double weight = read_weights(leaf);
        const std::size_t n_heavy = sort_by_weight(leaf.labels, weight, kRestOfBound * bound);
        if (n_heavy < leaf.labels.size() && wide_lead(leaf, weight, true, n_heavy) <= bound) return true;
        const double in_words = wide_lead(leaf, weight, true);
        return in_words <= bound || (in_words - 4.0 * kWordError <= bound && wide_lead(leaf, weight) <= bound);
    }

    // The covariates that may have the largest gain, ascending; all of them if that cannot be told.
    const std::vector<std::size_t>& candidates(const LeafStats& leaf) {
        candidates_.clear();
        const bool looked = largest_lead(leaf) < kNoBound;
        const auto n = static_cast<std::ptrdiff_t>(leaf.n_covariates);
        const double best = looked ? static_cast<double>(*std::max_element(sure_.begin(), sure_.begin() + n)) : 0.0;
        for (std::size_t f = 0; f < leaf.n_covariates; ++f)
            if (!looked || static_cast<double>(possible_[f]) + 2.0 * kCoarseError + kGainTie >= best)
                candidates_.push_back(f);
        return candidates_;
    }

  private:
    // A share is wrong by 2.4e-4 at most, so its entropy by 1.6e-3 where both sides have a hundredth, and by 3e-4 with
    // the polynomial of wide_split_screen.cpp; divisions by 1.8e-3.
    static constexpr double kCoarseError = 4e-3, kShareError = 5e-4;
    // In words, by 4.1e-4 (wide_split_words.hpp), 3.1e-3 and 1.6e-3, and weights make 2e-3 of difference.
    static constexpr double kWordError = 7e-3;
    static constexpr auto kLow = static_cast<float>(kMinBranchShare - kShareError);
    static constexpr auto kHigh = static_cast<float>(kMinBranchShare + kShareError);
    static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
    static constexpr double kNoBound = std::numeric_limits<double>::infinity();
    // Labels of so much of the weight, for each bit of the bound, are left for later: most tries fail by far.
    static constexpr double kRestOfBound = 0.2;

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
        constexpr std::size_t kPowers = 16, kFewLabels = 16;
        if (labels.size() < kFewLabels) return labels.size();
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
        sorted_weights_.resize(n);
        std::size_t n_heavy = 0, n_light = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t light = powers_[i] >= first_light ? 1 : 0;
            const std::size_t at = light != 0 ? n - 1 - n_light : n_heavy;
            labels_[at] = labels[i];
            sorted_weights_[at] = weights_[i];
            n_heavy += 1 - light;
            n_light += light;
        }
        return n_heavy;
    }

    // A full look at all labels, or a first one at so many of those that have been sorted.
    double wide_lead(const LeafStats& leaf, double weight, bool in_words = false, std::size_t n_heavy = kAll) {
        n_ = leaf.n_covariates;
        for (auto* column : {&shares_, &possible_, &sure_}) column->resize(n_ + kRoomAfter);
        const GainRanges found{shares_.data(), possible_.data(), sure_.data()};
        const LeafRange range{leaf.low, leaf.high, n_};
        if (n_heavy == kAll)
            screen_widely(leaf.labels.data(), in_words ? weights_.data() : nullptr, leaf.labels.size(), weight, range,
                          kLow, kHigh, found);
        else
            screen_at_first(labels_.data(), sorted_weights_.data(), n_heavy, labels_.size(), weight, range, kLow, kHigh,
                            found);
        const auto [lead, heaviest] = widest_lead(found, n_);
        return is_ordinary(heaviest * (weight > 0.0 ? weight : 1.0))
                   ? lead + 2.0 * (in_words ? kWordError : kCoarseError)
                   : kNoBound;
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
    std::vector<double> weights_;         // of the labels as they come
    std::vector<double> sorted_weights_;  // of those above
    std::vector<std::uint8_t> powers_;    // of two, by which a label is lighter than all
};

}  // namespace boostline
