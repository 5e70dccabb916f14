#include "core/learners/tree/split_search.hpp"

#include <algorithm>
#include <limits>

namespace boostline {
namespace {

constexpr double kMinBranchShare = 0.01;  // each side needs more than this share of the weight
// Gains that differ by no more are tied, and the first wins: covariates that tie in exact arithmetic are common in
// small leaves, and rounding must not choose between them.
constexpr double kGainTie = 1e-9;

// In single precision a share is wrong by 2.4e-4 at most, so its entropy by 1.6e-3 where both sides have a hundredth,
// and divisions by 1.8e-3.
constexpr double kNoBound = std::numeric_limits<double>::infinity();
constexpr double kCoarseError = 4e-3, kShareError = 5e-4;

// Sums of very many or very large or small numbers are not exact enough in single precision; and the weight times the
// sum of squares of a covariate must be finite.
bool can_screen(const LeafStats& leaf) {
    constexpr std::size_t kMostLabels = 10'000;
    constexpr double kNarrowest = 1e-200, kWidest = 1e100;
    bool can = leaf.labels.size() <= kMostLabels;
    for (std::size_t f = 0; f < leaf.n_covariates; ++f) {
        const double width = leaf.high[f] - leaf.low[f];
        can &= !(width > kWidest || (width > 0.0 && width < kNarrowest));
    }
    return can;
}

}  // namespace

Masses split_label(const LabelStats& s, std::size_t f, double threshold) {
    const double weight = s.weight[f];
    if (threshold >= s.max[f]) return {weight, 0.0};
    if (threshold < s.min[f]) return {0.0, weight};
    const double z = (threshold - s.mean[f]) * inverse_deviation(weight, s.m2[f]);
    return {weight * normal_cdf(z), weight * normal_cdf(-z)};  // both positive
}

Split SplitSearch::best(const LeafStats& leaf) {
    const LeafStats& whole = leaf.n_covariates < kGroup ? with_whole_groups(leaf) : leaf;
    start(whole, left_weight_, left_over_);
    add_labels(whole.labels.data(), whole.labels.size(), {whole.low, whole.high, n_}, thresholds_.data(), total_.data(),
               left_weight_.data(), left_over_.data());
    gain_.resize(left_weight_.size());
    best_of_.resize(n_);
    const double seen_most = *std::max_element(total_.begin(), total_.end());
    share_seen_.resize(n_);
    for (std::size_t f = 0; f < n_; ++f) share_seen_[f] = total_[f] / seen_most;
    compute_gains(total_.data(), share_seen_.data(), n_, left_weight_.data(), left_over_.data(), gain_.data());
    find_largest_gains(total_.data(), n_, kMinBranchShare, left_weight_.data(), gain_.data(), best_of_.data());
    Split split;
    const double best = *std::max_element(best_of_.begin(), best_of_.end());
    if (best < 0.0) return split;
    std::size_t f = 0, j = 0;
    while (best_of_[f] < best - kGainTie) ++f;
    while (!is_heavy(f, j) || gain_[cell(f, j)] < best_of_[f] - kGainTie) ++j;
    split.covariate = static_cast<std::int32_t>(f);
    split.threshold = thresholds_[cell(f, j)];
    split.gain = gain_[cell(f, j)];
    for (std::size_t other = 0; other < n_; ++other)
        if (other != f) split.runner_up = std::max(split.runner_up, best_of_[other]);
    return split;
}

bool SplitSearch::rules_out(const LeafStats& leaf, double bound) {
    // Labels of so much of the weight, for each bit of the bound, are left out at first: most tries fail by far.
    constexpr double kRestOfBound = 0.28;
    if (!leave_out_light_labels(leaf, kRestOfBound * bound)) return largest_lead(leaf) <= bound;
    start(heavy_, coarse_left_, coarse_over_);
    add_coarsely(heavy_);
    if (coarse_lead(rest_.data()) <= bound) return true;
    add_coarsely(light_);
    return coarse_lead(nullptr) <= bound;
}

// Of the lightest ones as many as have this share of the weight at most. Returns whether that saves much.
bool SplitSearch::leave_out_light_labels(const LeafStats& leaf, double share) {
    constexpr std::size_t kFewLabels = 16;
    constexpr std::int64_t kBins = 24;  // of half powers of two below the weight of all labels
    const std::size_t n = leaf.labels.size(), n_covariates = leaf.n_covariates;
    if (n < kFewLabels || n_covariates < kGroup || !can_screen(leaf)) return false;
    const auto bits = [](double x) { return static_cast<std::int64_t>(bit_cast<std::uint64_t>(x) >> 51); };
    double total = 0.0, in_bin[kBins] = {0.0};
    for (const LabelStats& label : leaf.labels) total += label.weight[0];
    bins_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double weight = leaf.labels[i].weight[0];
        bins_[i] = static_cast<std::uint8_t>(std::min(bits(total) - bits(weight), kBins - 1));
        in_bin[bins_[i]] += weight;
    }
    std::int64_t first_light = kBins;
    for (double rest = in_bin[kBins - 1]; first_light > 1 && rest <= share * total; rest += in_bin[first_light - 1])
        --first_light;
    for (LeafStats* part : {&heavy_, &light_}) {
        part->labels.clear();
        part->low = leaf.low;
        part->high = leaf.high;
        part->n_covariates = n_covariates;
    }
    for (std::size_t i = 0; i < n; ++i) (bins_[i] < first_light ? heavy_ : light_).labels.push_back(leaf.labels[i]);
    if (5 * heavy_.labels.size() > 4 * n) return false;
    rest_.assign(n_covariates, 0.0);
    for (const LabelStats& label : light_.labels)
        for (std::size_t f = 0; f < n_covariates; ++f) rest_[f] += label.weight[f];
    return true;
}

double SplitSearch::largest_lead(const LeafStats& leaf) {
    if (!can_screen(leaf)) return kNoBound;
    const LeafStats& whole = leaf.n_covariates < kGroup ? with_whole_groups(leaf) : leaf;
    start(whole, coarse_left_, coarse_over_);
    add_coarsely(whole);
    return coarse_lead(nullptr);
}

void SplitSearch::add_coarsely(const LeafStats& leaf) {
    add_labels_coarsely(leaf.labels.data(), leaf.labels.size(), {leaf.low, leaf.high, n_}, thresholds_.data(),
                        total_.data(), coarse_left_.data(), coarse_over_.data());
}

double SplitSearch::coarse_lead(const double* rest) {
    constexpr double kLightest = 1e-30, kHeaviest = 1e30;
    possible_.resize(n_);
    sure_.resize(n_);
    find_gain_ranges(total_.data(), rest, n_, static_cast<float>(kMinBranchShare - kShareError),
                     static_cast<float>(kMinBranchShare + kShareError), coarse_left_.data(), coarse_over_.data(),
                     possible_.data(), sure_.data());
    const auto whole = [&](std::size_t f) { return rest == nullptr ? total_[f] : total_[f] + rest[f]; };
    double weight = 0.0;
    for (std::size_t f = 0; f < n_; ++f) weight = std::max(weight, whole(f));
    if (!(weight > kLightest && weight < kHeaviest)) return kNoBound;
    float first = 0.0f, second = 0.0f;  // a covariate without candidates counts 0
    std::size_t leader = 0;
    for (std::size_t f = 0; f < n_; ++f) {
        for (float* gain : {&possible_[f], &sure_[f]})
            if (*gain > -1.0f) *gain = std::max(*gain * static_cast<float>(whole(f) / weight), 0.0f);
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

// Before labels are added up.
template <class Real>
void SplitSearch::start(const LeafStats& leaf, std::vector<Real>& left_weight, std::vector<Real>& left_over) {
    n_ = leaf.n_covariates;
    const std::size_t cells = n_groups(n_) * kGroupCells;
    thresholds_.resize(cells);
    total_.assign(n_, 0.0);
    left_weight.assign(cells, Real(0));
    left_over.assign(cells, Real(0));
}

const LeafStats& SplitSearch::with_whole_groups(const LeafStats& leaf) {
    constexpr std::size_t kWidth = LabelStats::kArrays * kGroup;
    const std::size_t n_labels = leaf.labels.size(), n = leaf.n_covariates;
    padding_.resize((n_labels + 1) * kWidth);
    padded_.labels.clear();
    for (std::size_t i = 0; i <= n_labels; ++i) {
        padded_.labels.push_back(LabelStats::in(&padding_[i * kWidth], kGroup));
        padded_.labels.back().clear(kGroup);
    }
    for (std::size_t i = 0; i < n_labels; ++i)
        for (auto array : {&LabelStats::weight, &LabelStats::mean, &LabelStats::m2, &LabelStats::min, &LabelStats::max})
            std::copy_n(leaf.labels[i].*array, n, padded_.labels[i].*array);
    const LabelStats range = padded_.labels.back();  // the range of all labels
    padded_.labels.pop_back();
    std::copy_n(leaf.low, n, range.min);
    std::copy_n(leaf.high, n, range.max);
    padded_.low = range.min;
    padded_.high = range.max;
    padded_.n_covariates = kGroup;
    return padded_;
}

bool SplitSearch::is_heavy(std::size_t f, std::size_t j) const {
    const double left = left_weight_[cell(f, j)], least = kMinBranchShare * total_[f];
    return left > least && total_[f] - left > least;
}

}  // namespace boostline
