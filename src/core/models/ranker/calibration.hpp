// From scores to probabilities: an additive logistic model, fitted online to scores that were given before their
// example was learned.
//
// The scores of an example are first made a distribution q over the labels. Then, for every label l,
//
//   logit P(label l is relevant) = line of l(curve(x + slope(concentration of the votes) (x - pivot) + intercept)),
//   x = logit q[l],
//   intercept = level(concentration of the scores) + sums(ln of the votes' sum),
//
// where curve, slope, level and sums are piecewise linear, shared by all labels and fitted by Newton steps. The curve
// rises (isotonic). Intercept and slope say how many labels to expect in a row and how much the differences between its
// scores count. The concentration of shares q is ln sum q^2; that of the votes is their mean by the learners' weights,
// and so is their sum before they were normalised, which is about the number of labels that the learners expect.
//
// With many labels only some are used in each row: the relevant ones, those with the highest scores, and of the others
// every n-th in turn, which counts n times.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/archive.hpp"
#include "core/base/example.hpp"
#include "core/base/math.hpp"
#include "core/base/top_labels.hpp"
#include "core/kernels/sums.hpp"
#include "core/kernels/votes.hpp"
#include "core/models/ranker/f1_cut.hpp"
#include "core/models/ranker/label_line.hpp"
#include "core/models/ranker/piecewise_linear.hpp"

namespace boostline {

class Calibration {
  public:
    // Whether the scores are a distribution already; otherwise their distances from the row's mean are made one.
    Calibration(std::int32_t n_labels, bool is_distribution) : is_distribution_(is_distribution) {
        grow_labels(n_labels);
        curve_.find_rising(kMinSlope);
    }

    void grow_labels(std::int32_t n) {
        const auto k = static_cast<std::size_t>(n);
        labels_.resize(k);
        if (!(rows_ > 0.0)) n_known_ = k;
        q_.resize(is_distribution_ ? 0 : k);
        is_highest_.resize(k, 0);
        x_.resize(k <= kFewLabels ? k : 0);
        p_.resize(x_.size());
    }

    // What describes a row by its votes: their concentration, and the ln of their sum before they were normalised.
    struct Votes {
        double concentration = 0.0, log_sum = 0.0;
    };

    // The k scores become P(relevant), all of them strictly between 0 and 1.
    void probabilities(double* scores, const Votes& votes) const noexcept {
        const Distribution q = distribution(scores, scores);
        const Row row = described(q, votes);
        const std::size_t k = labels_.size();
        logits(scores, k, q.scale);  // q is in the place of the scores
        for (std::size_t l = 0; l < k; ++l)
            scores[l] = labels_[l].at(curve_.rising_at(curve_.place(row.at(scores[l]))));
        sigmoids(scores, k);
    }

    // Scores given before the example was learned, and its labels.
    void learn(const double* scores, const Votes& votes, const Labels& labels) noexcept {
        if (!(labels.importance > 0.0)) return;
        const Distribution q = distribution(scores, q_.data());
        if (!std::isfinite(q.concentration)) return;  // scores that are not finite teach nothing
        Row row = described(q, votes);
        rows_ += 1.0;
        n_known_ = labels_.size();
        begin_row(1.0 - 1.0 / std::min(kFirstMemory + kNewestRows * rows_, kMemory));
        if (labels_.size() <= kFewLabels)
            learn_all(q, labels, row);
        else
            learn_some(q, labels, row);
        level_.add(row.level, row.gradient, row.curvature);
        sums_.add(row.sums, row.gradient, row.curvature);
        slope_.add(row.slope, row.tilt_gradient, row.tilt_curvature);
        // Four functions step for the same error: together they must not go too far, while little holds them back.
        const double share = (1.0 + 2.0 * std::min(1.0, rows_ / kFirstRows)) / 3.0;
        for_each([&](auto& function) { function.end_row(share); });
        curve_.find_rising(kMinSlope);
        const double n_relevant = static_cast<double>(labels.relevant.size());
        cut_.add(row.n_right * labels.importance, (row.n_named + n_relevant) * labels.importance, kSharedCutMemory);
    }

    // One with the same settings that has learned nothing.
    Calibration as_new() const { return Calibration(static_cast<std::int32_t>(labels_.size()), is_distribution_); }

    // Probability above which labels are named, so that micro-F1 is large.
    double micro_threshold() const { return cut_.of(kFirstThreshold, kFirstWeight); }
    // The same for macro-F1: the mean of the thresholds for each label's own F1, over labels with evidence. One
    // threshold for all labels keeps the named ones a prefix of the ranking.
    double macro_threshold() const {
        const double micro = micro_threshold();
        double total = 0.0, n = 0.0;
        for (const LabelLine& l : labels_)
            if (l.cut.all > 0.0) total += l.cut.of(micro, kSharedWeight), n += 1.0;
        return n > 0.0 ? total / n : micro;
    }

    double rows() const { return rows_; }
    // Labels when the last row was learned; the others take no part in what describes a row.
    std::size_t n_known() const { return n_known_; }

    // Nothing before the first row.
    void save(Archive& out) const {
        if (!(rows_ > 0.0)) return;
        std::vector<double> shared{rows_, static_cast<double>(n_known_), cut_.right, cut_.all};
        for_each([&](const auto& function) { function.write(shared); });
        out.add("calibration_shared", shared);
        out.add<double>("calibration_labels", labels_.size() * LabelLine::kState, [&](auto&& write) {
            for (const LabelLine& l : labels_) l.save(write);
        });
    }
    void load(const ArchiveView& in) {
        if (!in.has("calibration_shared")) return;
        std::vector<double> shared;
        std::size_t n = 4;
        for_each([&](const auto& function) { n += function.kState; });
        in.read("calibration_shared", n, shared);
        rows_ = shared[0];
        require(is_count(shared[1]) && shared[1] > 0.0 && shared[1] <= static_cast<double>(labels_.size()), "",
                "calibration_shared");
        n_known_ = static_cast<std::size_t>(shared[1]);
        cut_ = {shared[2], shared[3]};
        const double* next = shared.data() + 4;
        for_each([&](auto& function) { next = function.read(next); });
        curve_.find_rising(kMinSlope);
        ArrayReader<double> labels(in, "calibration_labels", labels_.size() * LabelLine::kState);
        for (LabelLine& l : labels_) l.load(labels);
    }
    void check() const {
        require(is_count(rows_), "", "calibration_shared");
        const double k = static_cast<double>(labels_.size());
        const double most = (kMemory + 1.0) * k * kMaxLogit * kMaxLogit * LabelLine::kMostSlope *
                            LabelLine::kMostSlope * (1.0 + kMaxTilt) * (1.0 + kMaxTilt);
        for_each([&](const auto& function) { function.check(most, "calibration_shared"); });
        cut_.check((kSharedCutMemory + 1.0) * 2.0 * k, "calibration_shared");
        for (const LabelLine& l : labels_) l.check("calibration_labels");
    }

    std::size_t memory_bytes() const {  // beyond sizeof
        return labels_.capacity() * sizeof(LabelLine) + is_highest_.capacity() +
               (q_.capacity() + x_.capacity() + p_.capacity()) * sizeof(double);
    }

  private:
    // Memories and priors were chosen on held-out train rows of eight sets, six shuffles each (mediamill three).
    // The memory of the functions: so many rows, and a share of all rows, as a model becomes surer all the time;
    // not more than the last number.
    static constexpr double kFirstMemory = 500.0, kNewestRows = 0.1, kMemory = 8000.0;
    static constexpr double kFirstRows = 100.0;
    static constexpr double kMinSlope = 0.05;                 // of the curve
    static constexpr double kPivot = -2.0;                    // the logit that no slope moves
    static constexpr double kMinTilt = -0.8, kMaxTilt = 4.0;  // of the row's slope, beyond 1
    static constexpr double kMaxLogit = 50.0;                 // from the pivot: all that a slope is learned from
    static constexpr double kCutMemory = 400.0;               // rows in which the label was named or relevant
    static constexpr double kSharedCutMemory = 4000.0;        // rows
    static constexpr double kFirstThreshold = 1.0 / 3.0, kFirstWeight = 3.0;  // before there is evidence
    static constexpr double kSharedWeight = 2.0;    // weight of the common threshold in that of a label
    static constexpr double kSharpness = 2.0;       // of scores that are no distribution, per standard deviation
    static constexpr std::size_t kFewLabels = 256;  // up to so many all are used in each row
    static constexpr std::size_t kHighest = 64;     // of more: so many with the highest scores,
    static constexpr std::size_t kInTurn = 64;      // and so many in turn
    static constexpr double kRounding = 1e-13;

    using Curve = PiecewiseLinear<24>;     // over logits of q from -11 to 5
    using Function = PiecewiseLinear<17>;  // over logarithms

    // q, in proportion to `values`: of thousands of labels few are used.
    struct Distribution {
        const double* values;
        double scale, concentration;  // ln sum q^2
    };
    // What belongs to all labels of a row, and the derivatives of their loss in its intercept and slope.
    struct Row {
        Function::Place level, sums, slope;
        double intercept, tilt, micro_threshold;
        double gradient = 0.0, curvature = 0.0, tilt_gradient = 0.0, tilt_curvature = 0.0;
        double n_named = 0.0, n_right = 0.0;
        double at(double x) const { return x + tilt * (x - kPivot) + intercept; }
    };
    template <class Task>
    void for_each(Task&& task) {
        task(curve_), task(level_), task(sums_), task(slope_);
    }
    template <class Task>
    void for_each(Task&& task) const {
        task(curve_), task(level_), task(sums_), task(slope_);
    }
    void begin_row(double keep) noexcept {
        for_each([&](auto& function) { function.begin_row(keep); });
    }
    Row described(const Distribution& q, const Votes& votes) const noexcept {
        Row row{level_.place(q.concentration),
                sums_.place(votes.log_sum),
                slope_.place(votes.concentration),
                0.0,
                0.0,
                micro_threshold()};
        row.intercept = level_.at(row.level) + sums_.at(row.sums);
        row.tilt = std::min(std::max(slope_.at(row.slope), kMinTilt), kMaxTilt);
        return row;
    }

    // `room` for k numbers may be the scores themselves. Labels without any row so far take no part in what sums to 1:
    // the probabilities of the others stay as they are until then.
    Distribution distribution(const double* scores, double* room) const noexcept {
        const std::size_t k = labels_.size();
        double total = sum(scores, n_known_);
        if (!is_distribution_) {
            const auto n = static_cast<double>(n_known_);
            const double mean = total / n, largest = range_of(scores, k).high;
            double squares = 0.0;
            for (std::size_t l = 0; l < n_known_; ++l) squares += (scores[l] - mean) * (scores[l] - mean);
            const double deviation = std::sqrt(squares / n);
            // Equal scores differ from their mean by rounding: that is no order.
            const double scale = deviation > std::fabs(mean) * kRounding ? kSharpness / deviation : 0.0;
            for (std::size_t l = 0; l < k; ++l) room[l] = exp_(scale * (scores[l] - largest));
            scores = room;
            total = sum(scores, n_known_);
        }
        const double scale = total > 0.0 ? 1.0 / total : 0.0;
        return {scores, scale, log_(std::max(dot(scores, scores, n_known_) * (scale * scale), 1e-300))};
    }

    // Logarithms and exponentials of all labels at once.
    void learn_all(const Distribution& q, const Labels& labels, Row& row) noexcept {
        const std::size_t k = labels_.size();
        std::copy_n(q.values, k, x_.begin());
        logits(x_.data(), k, q.scale);
        for (std::size_t l = 0; l < k; ++l) p_[l] = labels_[l].at(curve_.rising_at(curve_.place(row.at(x_[l]))));
        sigmoids(p_.data(), k);
        for (const bool is_relevant : {true, false})
            for (const std::int32_t index : is_relevant ? labels.relevant : labels.irrelevant) {
                const auto l = static_cast<std::size_t>(index);
                step(l, x_[l], p_[l], is_relevant, labels.importance, row);
            }
    }

    void learn_some(const Distribution& q, const Labels& labels, Row& row) noexcept {
        const std::size_t k = labels_.size(), stride = (k + kInTurn - 1) / kInTurn;
        const auto learn_label = [&](std::int64_t index, bool is_relevant, double weight) {
            const auto l = static_cast<std::size_t>(index);
            const double x = logit(q.values[l] * q.scale);
            step(l, x, sigmoid(labels_[l].at(curve_.rising_at(curve_.place(row.at(x))))), is_relevant, weight, row);
        };
        // Labels that are neither relevant nor irrelevant are unknown.
        const auto is_irrelevant = [&](std::int64_t l) {
            return std::binary_search(labels.irrelevant.begin(), labels.irrelevant.end(), static_cast<std::int32_t>(l));
        };
        std::array<std::int64_t, kHighest> highest;
        top_labels(q.values, k, kHighest, highest.data());
        for (const std::int32_t l : labels.relevant) learn_label(l, true, labels.importance);
        for (const std::int64_t l : highest) {
            is_highest_[static_cast<std::size_t>(l)] = 1;
            if (is_irrelevant(l)) learn_label(l, false, labels.importance);
        }
        for (std::size_t l = static_cast<std::size_t>(rows_) % stride; l < k; l += stride)
            if (is_highest_[l] == 0 && is_irrelevant(static_cast<std::int64_t>(l)))
                learn_label(static_cast<std::int64_t>(l), false, labels.importance * static_cast<double>(stride));
        for (const std::int64_t l : highest) is_highest_[static_cast<std::size_t>(l)] = 0;
    }

    // With the probability p that was given to a label with the logit x.
    void step(std::size_t l, double x, double p, bool is_relevant, double weight, Row& row) noexcept {
        const double gradient = weight * ((is_relevant ? 1.0 : 0.0) - p), curvature = weight * (p * (1.0 - p) + 1e-12);
        if (p > row.micro_threshold) {
            row.n_named += 1.0;
            row.n_right += is_relevant ? 1.0 : 0.0;
        }
        const bool is_named = p > labels_[l].cut.of(row.micro_threshold, kSharedWeight);
        if (is_named || is_relevant)
            labels_[l].cut.add(is_named && is_relevant ? weight : 0.0,
                               weight * ((is_named ? 1.0 : 0.0) + (is_relevant ? 1.0 : 0.0)), kCutMemory);
        const Curve::Place place = curve_.place(row.at(x));
        const double slope = labels_[l].slope, by = slope * curve_.rise_at(place);
        const double from_pivot = by * std::max(x - kPivot, -kMaxLogit);
        curve_.add(place, gradient * slope, curvature * slope * slope);
        row.gradient += gradient * by;
        row.curvature += curvature * by * by;
        row.tilt_gradient += gradient * from_pivot;
        row.tilt_curvature += curvature * from_pivot * from_pivot;
        labels_[l].learn(curve_.rising_at(place), gradient, curvature);
    }

    bool is_distribution_;
    double rows_ = 0.0;
    std::size_t n_known_ = 0;  // labels when the last row was learned
    Curve curve_{-11.0, 16.0 / 23.0, 1.0, 30.0};
    Function level_{-8.0, 0.5, 0.0, 2.0};   // over ln sum q^2
    Function sums_{-4.0, 0.5, 0.0, 5.0};    // over the votes' ln sum
    Function slope_{-8.0, 0.5, 0.0, 50.0};  // over ln sum v^2
    F1Cut cut_;
    std::vector<LabelLine> labels_;
    // Derived, and of the row at hand.
    std::vector<double> q_;
    std::vector<std::uint8_t> is_highest_;
    std::vector<double> x_, p_;  // of few labels
};

}  // namespace boostline
