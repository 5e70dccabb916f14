// What the votes on a row say of its scores. Of each vote it is known how concentrated it is, ln sum v^2, and how flat,
// the mean of ln (k v), for votes v on k labels that sum to 1; and what it summed to before it was made to, which is
// about the number of labels that its learner expects. Two linear functions of these are fitted by Newton steps: the
// level of the row says how many of its labels are relevant, its tilt how much the differences between its scores
// count. A vote that spreads over many labels may mean that it knows nothing, or that many are relevant: that differs
// from learner to learner. Flat votes are 0, however many labels there are by now.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/archive.hpp"
#include "core/base/math.hpp"

namespace boostline {

class RowSpread {
  public:
    static constexpr std::size_t kMostVotes = 16;  // of more, the first ones
    static constexpr std::size_t kEach = 3;        // numbers that describe a vote
    static constexpr std::size_t kMost = kEach * kMostVotes;
    static constexpr double kLeastTilt = -0.8, kMostTilt = 4.0;

    // Votes that are the same for all rows say nothing of one, and are left out.
    explicit RowSpread(std::vector<std::size_t> votes) : votes_(std::move(votes)) {
        if (votes_.size() > kMostVotes) votes_.resize(kMostVotes);
        n_ = kEach * votes_.size();
        means_.resize(n_, 0.0);
        for (Fit& fit : fits_) fit.resize(n_);
        solved_.resize(n_ * n_);
        from_mean_.resize(n_);
    }

    std::size_t size() const { return n_; }
    const std::vector<std::size_t>& votes() const { return votes_; }

    // What describes the i-th of these votes, on k labels, by its sums of v, v^2 and ln v, and what it summed to
    // before.
    static void describe(std::size_t i, std::size_t k, double total, double squares, double logs, double before,
                         double* out) noexcept {
        out += kEach * i;
        out[0] = within(log_(squares / (total * total)));
        out[1] = within(logs / static_cast<double>(k) - log_(total / static_cast<double>(k)));
        out[2] = within(log_(std::max(before, kLeastSum)));
    }

    // Logits so far away from the pivot are all that a tilt is learned from.
    static double within_tilt(double c) { return std::min(std::max(c, -kMostLogit), kMostLogit); }

    // As far as votes are not trusted, levels vary all the same, which makes for more labels: e^level has the mean
    // e^(variance / 2).
    double level(const double* x) const noexcept {
        const double said = std::min(std::max(trust() * at(fits_[0], x), -kMostLevel), kMostLevel);
        return said + 0.5 * (1.0 - trust() * trust()) * variance_;
    }
    double tilt(const double* x) const noexcept {
        return std::min(std::max(trust() * at(fits_[1], x), kLeastTilt), kMostTilt);
    }

    // All votes become others: what was usual counts less, and nothing if most labels are new.
    void grow_labels(std::size_t from, std::size_t to) noexcept {
        const double share = static_cast<double>(from) / static_cast<double>(std::max<std::size_t>(to, 1));
        rows_ *= share * share * share;
    }

    // Derivatives of a row's loss.
    struct Slopes {
        double gradient = 0.0, curvature = 0.0;
    };
    // In its level and its tilt, after so many rows; what was before counts `keep`.
    void learn(const double* x, double keep, const Slopes& level, const Slopes& tilt, double rows) noexcept {
        const double said = trust() * at(fits_[0], x);
        variance_ += trust() * (std::min(said * said, kMostVariance) - variance_) / (rows_ + 1.0);
        for (std::size_t i = 0; i < n_; ++i) {
            from_mean_[i] = trust() * (x[i] - means_[i]);
            means_[i] += (x[i] - means_[i]) / (rows_ + 1.0);
        }
        rows_ = std::min(rows_ + 1.0, kMeanMemory);
        add(level, keep, fits_[0]);
        add(tilt, keep, fits_[1]);
        if (static_cast<std::int64_t>(rows) % kRowsOfStep != 0) return;
        step(fits_[0], kLevelPrior);
        step(fits_[1], kTiltPrior);
    }
    void forget(double keep) noexcept {
        for (Fit& fit : fits_)
            for (double& m : fit.matrix) m *= keep;
    }

    // Nothing before the first row.
    void save(Archive& out) const {
        if (n_ == 0 || !(rows_ > 0.0)) return;
        std::vector<double> all{rows_, variance_};
        all.insert(all.end(), means_.begin(), means_.end());
        for (const Fit& fit : fits_)
            for (const auto* part : {&fit.weights, &fit.gradient, &fit.matrix})
                all.insert(all.end(), part->begin(), part->end());
        out.add("calibration_votes", all);
    }
    void load(const ArchiveView& in) {
        if (n_ == 0 || !in.has("calibration_votes")) return;
        std::vector<double> all;
        in.read("calibration_votes", n_ * (2 * n_ + 5) + 2, all);
        rows_ = all[0];
        variance_ = all[1];
        const double* next = all.data() + 2;
        const auto read = [&](std::vector<double>& part) {
            std::copy(next, next + part.size(), part.begin());
            next += part.size();
        };
        read(means_);
        for (Fit& fit : fits_)
            for (auto* part : {&fit.weights, &fit.gradient, &fit.matrix}) read(*part);
    }
    void check(double most_curvature) const {
        constexpr const char* kName = "calibration_votes";
        check_within(rows_, 0.0, kMeanMemory, "", kName);
        check_within(variance_, 0.0, kMostVariance, "", kName);
        check_within(means_, -kMostLog, kMostLog, "", kName);
        const double most = 4.0 * most_curvature * kMostLog * kMostLog;
        check(fits_[0], kLevelPrior, most, kName);
        check(fits_[1], kTiltPrior, most * kMostLogit * kMostLogit, kName);
    }

    std::size_t memory_bytes() const {  // beyond sizeof
        std::size_t total = means_.capacity() + solved_.capacity() + from_mean_.capacity();
        for (const Fit& fit : fits_) total += fit.weights.capacity() + fit.gradient.capacity() + fit.matrix.capacity();
        return votes_.capacity() * sizeof(std::size_t) + total * sizeof(double);
    }

  private:
    static constexpr double kLevelPrior = 20.0;      // in units of p (1 - p), times the square of a logarithm
    static constexpr double kTiltPrior = 200.0;      // the same, times the square of a logit
    static constexpr double kMeanMemory = 1000.0;    // rows; votes become sharper with time
    static constexpr double kFirstRows = 10.0;       // before, means are little known
    static constexpr double kLeastSum = 0.05;        // labels; fewer are none
    static constexpr std::int64_t kRowsOfStep = 16;  // the equations are solved for so many rows together
    static constexpr double kMostLog = 30.0, kMostWeight = 100.0, kMostLevel = 10.0, kMostVariance = 4.0,
                            kMostGradient = 1e15;
    static constexpr double kMostLogit = 50.0;

    // A linear function: its weights, the gradient since the last step, and the second derivatives on and below the
    // diagonal of their matrix.
    struct Fit {
        std::vector<double> weights, gradient, matrix;

        void resize(std::size_t n) {
            weights.resize(n, 0.0);
            gradient.resize(n, 0.0);
            matrix.resize(n * n, 0.0);
        }
    };

    double trust() const { return rows_ / (rows_ + kFirstRows); }
    // Votes that are no numbers, or nothing at all, say nothing.
    static double within(double x) { return x > -kMostLog && x < kMostLog ? x : 0.0; }

    double at(const Fit& fit, const double* x) const noexcept {
        double total = 0.0;
        for (std::size_t i = 0; i < n_; ++i) total += fit.weights[i] * (x[i] - means_[i]);
        return total;
    }
    void add(const Slopes& slopes, double keep, Fit& fit) noexcept {
        for (std::size_t i = 0; i < n_; ++i) {
            const double by = slopes.curvature * from_mean_[i];
            double* row = &fit.matrix[i * n_];
            for (std::size_t j = 0; j <= i; ++j) row[j] = row[j] * keep + by * from_mean_[j];
            fit.gradient[i] += slopes.gradient * from_mean_[i];
        }
    }
    // The matrix and its prior as L D L^T; whether D is positive.
    bool decompose(const Fit& fit, double prior, double* solved) const noexcept {
        bool is_positive = true;
        std::array<double, kMost> column;
        std::copy(fit.matrix.begin(), fit.matrix.end(), solved);
        for (std::size_t i = 0; i < n_; ++i) solved[i * n_ + i] += prior;
        for (std::size_t j = 0; j < n_; ++j) {
            const double pivot = solved[j * n_ + j];
            is_positive = is_positive && pivot > 0.0;
            for (std::size_t i = j + 1; i < n_; ++i) column[i] = solved[i * n_ + j];
            for (std::size_t i = j + 1; i < n_; ++i) {
                double* row = solved + i * n_;
                const double by = row[j] = column[i] / pivot;
                for (std::size_t m = j + 1; m <= i; ++m) row[m] -= by * column[m];
            }
        }
        return is_positive;
    }
    void step(Fit& fit, double prior) noexcept {
        decompose(fit, prior, solved_.data());
        auto& gradient = fit.gradient;
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j < i; ++j) gradient[i] -= solved_[i * n_ + j] * gradient[j];
        for (std::size_t i = 0; i < n_; ++i) gradient[i] /= solved_[i * n_ + i];
        for (std::size_t i = n_; i-- > 0;) {
            for (std::size_t j = i + 1; j < n_; ++j) gradient[i] -= solved_[j * n_ + i] * gradient[j];
            fit.weights[i] = std::min(std::max(fit.weights[i] + gradient[i], -kMostWeight), kMostWeight);
        }
        std::fill(gradient.begin(), gradient.end(), 0.0);
    }
    void check(const Fit& fit, double prior, double most, const char* name) const {
        check_within(fit.weights, -kMostWeight, kMostWeight, "", name);
        check_within(fit.gradient, -kMostGradient, kMostGradient, "", name);
        for (std::size_t i = 0; i < n_; ++i) {
            check_within(fit.matrix[i * n_ + i], 0.0, most, "", name);
            for (std::size_t j = i + 1; j < n_; ++j) require(fit.matrix[i * n_ + j] == 0.0, "", name);
        }
        std::vector<double> solved(solved_.size());
        require(decompose(fit, prior, solved.data()), "", name);  // as every matrix of sums of squares: solvable
    }

    std::vector<std::size_t> votes_;
    std::size_t n_;
    double rows_ = 0.0;      // that the means are over
    double variance_ = 0.0;  // of what the votes say of the level
    std::vector<double> means_;
    std::array<Fit, 2> fits_;                 // level and tilt
    std::vector<double> solved_, from_mean_;  // of the row at hand
};

}  // namespace boostline
