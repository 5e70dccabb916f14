// From scores to probabilities, learned from scores that were given before their example was learned.
//
// The scores of an example are first made a distribution q over the labels. Then
//
//   logit P(label l is relevant) = offset[l] + slope[l] (c + tilt of the row (c - pivot) + level of the row),
//   c = curve(logit q[l]) + rank_r(logit(r q[l])),
//   level of the row = level(ln sum q^2) + a linear function of what describes its votes (row_spread.hpp),
//
// where r is the label's rank in the row, and the curve, which rises, the level and the functions of the ranks, none of
// which falls, are piecewise linear and shared by all labels: the curve says what a score is worth, the level how many
// labels a row has whose scores are concentrated so much. The tilt is another linear function of what describes the
// votes: it says how much the differences between the scores of this row count. A row with five labels that are surely
// relevant has q near 1/5 for each of them, one with a single such label has q near 1 there: what q says depends on the
// rank, and r q is at most 1. Offsets and slopes belong to one label (label_line.hpp); rare labels share what is known
// of all. Everything takes Newton steps on the logistic loss: one row at a time, with the sum of the second derivatives
// of the last rows.
//
// What this gives for the highest labels of a row is too near 1/2 where a model is sure, and too far from it where it
// is not. One more rising curve, of the logit itself, is fitted to these labels at the end.
//
// Of many labels only some are looked at in each row: the relevant ones, those with the highest scores, and of the
// others every n-th in turn, which counts n times.
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
#include "core/models/ranker/row_spread.hpp"
#include "core/models/ranker/shared_curves.hpp"

namespace boostline {

class Calibration {
  public:
    // Whether the scores are a distribution already; otherwise their distances from the row's mean are made one.
    Calibration(std::int32_t n_labels, bool is_distribution, std::vector<std::size_t> votes_on_rows)
        : is_distribution_(is_distribution), spread_(std::move(votes_on_rows)) {
        grow_labels(n_labels);
    }

    void grow_labels(std::int32_t n) {
        const auto k = static_cast<std::size_t>(n);
        spread_.grow_labels(labels_.size(), k);
        labels_.resize(k);
        if (!(rows_ > 0.0)) n_known_ = k;
        q_.resize(is_distribution_ ? 0 : k);
        ranks_.resize(k, 0);
        guesses_.resize(k <= kFewLabels ? k : 0);
        p_.resize(guesses_.size());
    }

    // What describes a row by its votes.
    const RowSpread& spread() const { return spread_; }

    // The k scores become P(relevant), all of them strictly between 0 and 1. `spreads` describe the row.
    void probabilities(double* scores, const double* spreads) const noexcept {
        const Distribution q = distribution(scores, scores);
        const OfRow of_row = about(shared_.level.place(q.concentration), spreads);
        Highest highest;
        find_highest(q, kRanked, highest);
        logits(scores, labels_.size(), q.scale);  // q is in the place of the scores
        const auto logit_p = [&](std::size_t l, double x, double by_rank) {
            return labels_[l].at(of_row.at(shared_.curve_at(shared_.curve.place(x)) + by_rank));
        };
        std::array<double, kRanked> of_highest;
        for (std::size_t i = 0; i < highest.n; ++i) {
            const auto l = static_cast<std::size_t>(highest.label[i]);
            of_highest[i] = logit_p(l, scores[l], of_rank(highest, i + 1));
        }
        const double of_others = of_rank(highest, 0);
        for (std::size_t l = 0; l < labels_.size(); ++l) scores[l] = logit_p(l, scores[l], of_others);
        for (std::size_t i = 0; i < highest.n; ++i)
            scores[static_cast<std::size_t>(highest.label[i])] = shared_.last_at(shared_.last.place(of_highest[i]));
        sigmoids(scores, labels_.size());
    }

    // Scores given before the example was learned, and what was heard of its labels then.
    void learn(const double* scores, const double* spreads, const Labels& labels) noexcept {
        if (!(labels.importance > 0.0)) return;
        const std::size_t k = labels_.size();
        const Distribution q = distribution(scores, q_.data());
        if (!std::isfinite(q.concentration)) return;  // scores that are no numbers teach nothing
        const auto place = shared_.level.place(q.concentration);
        Row at{q, place, about(place, spreads), {}, {}, 0.0, 0.0, 0.0, {}};
        find_highest(q, k <= kFewLabels ? kRanked : kHighest, at.highest);
        for (std::size_t i = 0; i < at.highest.n; ++i)
            ranks_[static_cast<std::size_t>(at.highest.label[i])] = static_cast<std::uint8_t>(i + 1);
        rows_ += 1.0;
        n_known_ = k;
        const double keep = 1.0 - 1.0 / std::min(kFirstMemory + kNewestRows * rows_, kMemory);
        shared_.begin_row(keep, 1.0 - 1.0 / std::min(rows_ + 1.0, kMemory));
        if (k <= kFewLabels)
            learn_all(labels, at);
        else
            learn_some(labels, at);
        for (std::size_t i = 0; i < at.highest.n; ++i) ranks_[static_cast<std::size_t>(at.highest.label[i])] = 0;
        // Three functions step for the same error: together they must not go too far, while little holds them back.
        const double share = (1.0 + 2.0 * std::min(1.0, rows_ / kFirstRows)) / 3.0;
        shared_.level.add(at.place, at.level.gradient, at.level.curvature);
        shared_.end_row(share);
        at.level.gradient *= share;
        at.tilt.gradient *= share;
        spread_.learn(spreads, keep, at.level, at.tilt, rows_);
        cut_.add(at.n_right * labels.importance, (at.n_named + at.n_relevant) * labels.importance, kSharedCutMemory);
    }

    // The scores are those of a model that starts anew: what is known of them counts little.
    void restart() noexcept {
        rows_ = std::min(rows_, kRowsAfterRestart);
        shared_.forget(kKeptAtRestart);
        spread_.forget(kKeptAtRestart);
    }

    // Thresholds of the probabilities above which labels are named, so that micro-F1 is large.
    double micro_threshold() const { return cut_.of(kFirstThreshold, kFirstWeight); }
    // The same for each label's own F1, and so for macro-F1.
    double macro_threshold(std::size_t l) const { return labels_[l].cut.of(micro_threshold(), kSharedWeight); }

    double rows() const { return rows_; }

    // Nothing before the first row.
    void save(Archive& out) const {
        if (!(rows_ > 0.0)) return;
        std::vector<double> shared{rows_, static_cast<double>(n_known_), cut_.right, cut_.all};
        shared_.write(shared);
        out.add("calibration_shared", shared);
        spread_.save(out);
        out.add<double>("calibration_labels", labels_.size() * LabelLine::kState, [&](auto&& write) {
            for (const LabelLine& l : labels_) l.save(write);
        });
    }
    void load(const ArchiveView& in) {
        if (!in.has("calibration_shared")) return;
        std::vector<double> shared;
        in.read("calibration_shared", 4 + SharedCurves::kState, shared);
        rows_ = shared[0];
        require(is_count(shared[1]) && shared[1] > 0.0 && shared[1] <= static_cast<double>(labels_.size()), "",
                "calibration_shared");
        n_known_ = static_cast<std::size_t>(shared[1]);
        cut_ = {shared[2], shared[3]};
        shared_.read(shared.data() + 4);
        spread_.load(in);
        ArrayReader<double> labels(in, "calibration_labels", labels_.size() * LabelLine::kState);
        for (LabelLine& l : labels_) l.load(labels);
    }
    void check() const {
        require(is_count(rows_), "", "calibration_shared");
        constexpr double kMostTilted = LabelLine::kMostSlope * (1.0 + RowSpread::kMostTilt);
        const double k = static_cast<double>(labels_.size()), most = (kMemory + 1.0) * k * kMostTilted * kMostTilted;
        shared_.check(most, "calibration_shared");
        spread_.check(most);
        cut_.check((kSharedCutMemory + 1.0) * 2.0 * k, "calibration_shared");
        for (const LabelLine& l : labels_) l.check("calibration_labels");
    }

    std::size_t memory_bytes() const {  // beyond sizeof
        return spread_.memory_bytes() + labels_.capacity() * sizeof(LabelLine) +
               (q_.capacity() + p_.capacity()) * sizeof(double) + ranks_.capacity() +
               guesses_.capacity() * sizeof(Guess);
    }

  private:
    // Memories and priors were chosen on held-out train rows of eight sets, six shuffles each (mediamill three).
    // The memory of the shared functions: so many rows, and a share of all rows, as a model becomes surer all the time;
    // not more than the last number. That of the last curve is all rows up to it.
    static constexpr double kFirstMemory = 500.0, kNewestRows = 0.1, kMemory = 8000.0;
    static constexpr double kFirstRows = 100.0;
    static constexpr double kRowsAfterRestart = 100.0, kKeptAtRestart = 0.1;
    static constexpr double kCutMemory = 400.0;         // rows in which the label was named or relevant
    static constexpr double kSharedCutMemory = 4000.0;  // rows
    static constexpr double kPivot = -2.0;              // the logit that no tilt moves
    static constexpr double kFirstThreshold = 1.0 / 3.0, kFirstWeight = 3.0;  // before there is evidence
    static constexpr double kSharedWeight = 2.0;    // what the common threshold counts in that of a label
    static constexpr double kSharpness = 2.0;       // of scores that are no distribution, per standard deviation
    static constexpr std::size_t kFewLabels = 256;  // of so many all are looked at in each row
    static constexpr std::size_t kHighest = 64;     // of more: so many with the highest scores,
    static constexpr std::size_t kInTurn = 64;      // and so many in turn
    static constexpr double kRounding = 1e-13;

    using Curve = SharedCurves::Curve;
    using Level = SharedCurves::Level;
    using OfRank = SharedCurves::OfRank;
    static constexpr std::size_t kRanked = SharedCurves::kRanked;

    // q, in proportion to `values`: of thousands of labels few are looked at.
    struct Distribution {
        const double* values;
        double scale, concentration;  // ln sum q^2
        double operator[](std::size_t l) const { return values[l] * scale; }
    };
    // The labels with the highest q of a row, best first.
    struct Highest {
        std::size_t n = 0;
        std::array<std::int64_t, kHighest> label;
        std::array<OfRank::Place, kRanked + 1> place;  // by rank; the first is that of the others
        const OfRank::Place& place_of(std::size_t rank) const { return place[rank <= kRanked ? rank : 0]; }
    };
    // What belongs to all labels of a row: u = (1 + tilt) c + level - tilt * pivot.
    struct OfRow {
        double by, level;
        double at(double c) const { return by * c + level; }
    };
    struct Row {
        Distribution q;
        Level::Place place;
        OfRow all;
        RowSpread::Slopes level, tilt;
        double n_named, n_right, n_relevant;
        Highest highest;
    };

    // The probability of a label before and after the last curve.
    struct Likely {
        double first, last;
    };
    // What the shared functions say of a label.
    struct Guess {
        Curve::Place place;
        double c, u;
    };

    void find_highest(const Distribution& q, std::size_t most, Highest& highest) const noexcept {
        highest.n = std::min(labels_.size(), most);
        top_labels(q.values, labels_.size(), highest.n, highest.label.data());
        highest.place[0] = {0, 0.0, 0.0};
        const std::size_t n = std::min(highest.n, kRanked);
        std::array<double, kRanked> shares;
        for (std::size_t i = 0; i < n; ++i)
            shares[i] = std::min(static_cast<double>(i + 1) * q[static_cast<std::size_t>(highest.label[i])], 1.0);
        logits(shares.data(), n, 1.0);
        for (std::size_t i = 0; i < n; ++i) highest.place[i + 1] = shared_.of_ranks[0].place(shares[i]);
    }
    OfRow about(const Level::Place& place, const double* spreads) const noexcept {
        const double tilt = spread_.tilt(spreads);
        return {1.0 + tilt, shared_.level_at(place) + spread_.level(spreads) - tilt * kPivot};
    }
    double of_rank(const Highest& highest, std::size_t rank) const noexcept {
        return shared_.of_rank_at(rank, highest.place_of(rank));
    }
    // `room` for k numbers may be the scores themselves. Labels of which nothing has been heard take no part in what
    // sums to 1: what is known of the others stays as it is until then.
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
    void learn_all(const Labels& labels, Row& at) noexcept {
        const std::size_t k = labels_.size();
        std::copy_n(at.q.values, k, p_.begin());
        logits(p_.data(), k, at.q.scale);
        for (std::size_t l = 0; l < k; ++l) {
            guesses_[l] = guess(l, p_[l], at);
            p_[l] = labels_[l].at(guesses_[l].u);
        }
        std::array<double, kRanked> last;
        for (std::size_t i = 0; i < at.highest.n; ++i)
            last[i] = shared_.last_at(shared_.last.place(p_[static_cast<std::size_t>(at.highest.label[i])]));
        sigmoids(p_.data(), k);
        sigmoids(last.data(), at.highest.n);
        const double micro = micro_threshold();
        const auto learn_each = [&](const std::vector<std::int32_t>& of, bool are_relevant) {
            for (const std::int32_t index : of) {
                const auto l = static_cast<std::size_t>(index);
                const double p = ranks_[l] == 0 ? p_[l] : last[ranks_[l] - 1u];
                step(l, guesses_[l], {p_[l], p}, are_relevant, labels.importance, micro, at);
            }
        };
        learn_each(labels.relevant, true);
        learn_each(labels.irrelevant, false);
    }

    void learn_some(const Labels& labels, Row& at) noexcept {
        const std::size_t k = labels_.size(), stride = (k + kInTurn - 1) / kInTurn;
        for (const std::int32_t l : labels.relevant) learn_label(l, true, labels.importance, at);
        // Labels that are neither relevant nor irrelevant are unknown.
        const auto is_irrelevant = [&](std::int64_t l) {
            return std::binary_search(labels.irrelevant.begin(), labels.irrelevant.end(), static_cast<std::int32_t>(l));
        };
        for (std::size_t i = 0; i < at.highest.n; ++i) {
            const std::int64_t l = at.highest.label[i];
            if (is_irrelevant(l)) learn_label(static_cast<std::int32_t>(l), false, labels.importance, at);
        }
        const auto turn = static_cast<std::size_t>(rows_) % stride;
        for (std::size_t l = turn; l < k; l += stride)
            if (ranks_[l] == 0 && is_irrelevant(static_cast<std::int64_t>(l)))
                learn_label(static_cast<std::int32_t>(l), false, labels.importance * static_cast<double>(stride), at);
    }

    void learn_label(std::int32_t index, bool is_relevant, double weight, Row& at) noexcept {
        const auto l = static_cast<std::size_t>(index);
        const Guess g = guess(l, logit(at.q[l]), at);
        const double z = labels_[l].at(g.u), p = sigmoid(z);
        const double last = SharedCurves::is_ranked(ranks_[l]) ? sigmoid(shared_.last_at(shared_.last.place(z))) : p;
        step(l, g, {p, last}, is_relevant, weight, micro_threshold(), at);
    }
    Guess guess(std::size_t l, double logit_q, const Row& at) const noexcept {
        const auto place = shared_.curve.place(logit_q);
        const double c = shared_.curve_at(place) + of_rank(at.highest, ranks_[l]);
        return {place, c, at.all.at(c)};
    }
    void step(std::size_t l, const Guess& guessed, Likely likely, bool is_relevant, double weight, double micro,
              Row& at) noexcept {
        LabelLine& label = labels_[l];
        const auto& [place, c, u] = guessed;
        const std::size_t rank = ranks_[l];
        const double target = is_relevant ? 1.0 : 0.0, first = likely.first, p = likely.last;
        const double error = weight * (target - first), v = weight * (first * (1.0 - first) + 1e-12);
        if (SharedCurves::is_ranked(rank))
            shared_.last.add(shared_.last.place(label.at(u)), weight * (target - p), weight * (p * (1.0 - p)));
        if (p > micro) at.n_named += 1.0;
        if (p > micro && is_relevant) at.n_right += 1.0;
        if (is_relevant) at.n_relevant += 1.0;
        const bool is_named = p > label.cut.of(micro, kSharedWeight);
        if (is_named || is_relevant)
            label.cut.add(is_named && is_relevant ? weight : 0.0,
                          weight * ((is_named ? 1.0 : 0.0) + (is_relevant ? 1.0 : 0.0)), kCutMemory);

        const double gradient = error * label.slope, curvature = v * label.slope * label.slope, by = at.all.by;
        shared_.curve.add(place, gradient * by, curvature * by * by);
        shared_.of_ranks[SharedCurves::group_of(rank)].add(at.highest.place_of(rank), gradient * by,
                                                           curvature * by * by);
        at.level.gradient += gradient;
        at.level.curvature += curvature;
        const double tilted = RowSpread::within_tilt(c - kPivot);
        at.tilt.gradient += gradient * tilted;
        at.tilt.curvature += curvature * tilted * tilted;
        label.learn(u, error, v);
    }

    bool is_distribution_;
    double rows_ = 0.0;
    std::size_t n_known_ = 0;  // labels when the last row was learned
    SharedCurves shared_;
    RowSpread spread_;
    F1Cut cut_;
    std::vector<LabelLine> labels_;
    // Derived, and of the row at hand.
    std::vector<double> q_;
    std::vector<std::uint8_t> ranks_;  // 0 for all but the highest labels
    std::vector<Guess> guesses_;       // of few labels, as the next
    std::vector<double> p_;
};

}  // namespace boostline
