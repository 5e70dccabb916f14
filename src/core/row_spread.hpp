// What the votes on a row say of the number of its relevant labels. Of each vote it is known how concentrated it is,
// ln sum v^2, and how flat, the mean of ln (k v), for votes v on k labels that sum to 1; the rest is a linear function
// of these, fitted by Newton steps. A vote that spreads over many labels may mean that it knows nothing, or that many
// are relevant: that differs from learner to learner. Flat votes are 0, however many labels there are by now.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/archive.hpp"
#include "core/math.hpp"

namespace boostline {

class RowSpread {
  public:
    static constexpr std::size_t kMostVotes = 16;  // of more, the first ones
    static constexpr std::size_t kMost = 2 * kMostVotes;

    // Votes that are the same for all rows say nothing of one, and are left out.
    explicit RowSpread(std::vector<std::size_t> votes) : votes_(std::move(votes)) {
        if (votes_.size() > kMostVotes) votes_.resize(kMostVotes);
        n_ = 2 * votes_.size();
        means_.resize(n_, 0.0);
        weights_.resize(n_, 0.0);
        gradient_.resize(n_, 0.0);
        matrix_.resize(n_ * n_, 0.0);
        solved_.resize(n_ * n_);
        from_mean_.resize(n_);
    }

    std::size_t size() const { return n_; }
    const std::vector<std::size_t>& votes() const { return votes_; }

    // What describes the i-th of these votes, on k labels, by its sums of v, v^2 and ln v.
    static void describe(std::size_t i, std::size_t k, double total, double squares, double logs,
                         double* out) noexcept {
        out[2 * i] = within(log_(squares / (total * total)));
        out[2 * i + 1] = within(logs / static_cast<double>(k) - log_(total / static_cast<double>(k)));
    }

    double at(const double* x) const noexcept {
        double level = 0.0;
        for (std::size_t i = 0; i < n_; ++i) level += weights_[i] * (x[i] - means_[i]);
        return std::min(std::max(trust() * level, -kMostLevel), kMostLevel);
    }

    // All votes become others: what was usual counts less, and nothing if most labels are new.
    void grow_labels(std::size_t from, std::size_t to) noexcept {
        const double share = static_cast<double>(from) / static_cast<double>(std::max<std::size_t>(to, 1));
        rows_ *= share * share * share;
    }

    void begin_row(double keep) noexcept {
        for (double& m : matrix_) m *= keep;
    }
    // With the derivatives of the row's loss in its level, after so many rows.
    void learn(const double* x, double gradient, double curvature, double rows) noexcept {
        for (std::size_t i = 0; i < n_; ++i) {
            from_mean_[i] = trust() * (x[i] - means_[i]);
            means_[i] += (x[i] - means_[i]) / (rows_ + 1.0);
        }
        rows_ = std::min(rows_ + 1.0, kMeanMemory);
        for (std::size_t i = 0; i < n_; ++i) {
            const double by = curvature * from_mean_[i];
            for (std::size_t j = 0; j <= i; ++j) matrix_[i * n_ + j] += by * from_mean_[j];
            gradient_[i] += gradient * from_mean_[i];
        }
        if (static_cast<std::int64_t>(rows) % kRowsOfStep == 0) step();
    }

    // Nothing before the first row: files from before votes were looked at have none of this.
    void save(Archive& out) const {
        if (n_ == 0 || !(rows_ > 0.0)) return;
        std::vector<double> all{rows_};
        for (const auto* part : {&means_, &weights_, &gradient_, &matrix_})
            all.insert(all.end(), part->begin(), part->end());
        out.add("calibration_votes", all);
    }
    void load(const ArchiveView& in) {
        if (n_ == 0 || !in.has("calibration_votes")) return;
        std::vector<double> all;
        in.read("calibration_votes", n_ * (n_ + 3) + 1, all);
        rows_ = all[0];
        const double* next = all.data() + 1;
        for (auto* part : {&means_, &weights_, &gradient_, &matrix_}) {
            std::copy(next, next + part->size(), part->begin());
            next += part->size();
        }
    }
    void check(double most_curvature) const {
        constexpr const char* kName = "calibration_votes";
        check_within(rows_, 0.0, kMeanMemory, "", kName);
        check_within(means_, -kMostLog, kMostLog, "", kName);
        check_within(weights_, -kMostWeight, kMostWeight, "", kName);
        check_within(gradient_, -kMostGradient, kMostGradient, "", kName);
        for (std::size_t i = 0; i < n_; ++i) {
            check_within(matrix_[i * n_ + i], 0.0, 4.0 * most_curvature * kMostLog * kMostLog, "", kName);
            for (std::size_t j = i + 1; j < n_; ++j) require(matrix_[i * n_ + j] == 0.0, "", kName);
        }
        std::vector<double> solved(solved_.size());
        require(decompose(solved.data()), "", kName);  // as every matrix of sums of squares: it can be solved for
    }

    std::size_t memory_bytes() const {  // beyond sizeof
        return votes_.capacity() * sizeof(std::size_t) +
               (means_.capacity() + weights_.capacity() + gradient_.capacity() + matrix_.capacity() +
                solved_.capacity() + from_mean_.capacity()) *
                   sizeof(double);
    }

  private:
    static constexpr double kPrior = 20.0;           // in units of p (1 - p), times the square of a logarithm
    static constexpr double kMeanMemory = 1000.0;    // rows; votes become sharper with time
    static constexpr double kFirstRows = 10.0;       // before, means are little known
    static constexpr std::int64_t kRowsOfStep = 16;  // the equations are solved for so many rows together
    static constexpr double kMostLog = 30.0, kMostWeight = 100.0, kMostLevel = 10.0, kMostGradient = 1e12;

    double trust() const { return rows_ / (rows_ + kFirstRows); }
    // Votes that are no numbers, or nothing at all, say nothing.
    static double within(double x) { return x > -kMostLog && x < kMostLog ? x : 0.0; }

    // The matrix and its prior as L D L^T; whether D is positive.
    bool decompose(double* solved) const noexcept {
        bool is_positive = true;
        for (std::size_t i = 0; i < n_; ++i) {
            double* row = solved + i * n_;
            for (std::size_t j = 0; j < i; ++j) {
                double s = matrix_[i * n_ + j];
                for (std::size_t m = 0; m < j; ++m) s -= row[m] * solved[j * n_ + m];
                row[j] = s;  // L D, until the row is done
            }
            double d = matrix_[i * n_ + i] + kPrior;
            for (std::size_t j = 0; j < i; ++j) {
                const double with_pivot = row[j];
                row[j] = with_pivot / solved[j * n_ + j];
                d -= with_pivot * row[j];
            }
            row[i] = d;
            is_positive = is_positive && d > 0.0;
        }
        return is_positive;
    }
    void step() noexcept {
        decompose(solved_.data());
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j < i; ++j) gradient_[i] -= solved_[i * n_ + j] * gradient_[j];
        for (std::size_t i = 0; i < n_; ++i) gradient_[i] /= solved_[i * n_ + i];
        for (std::size_t i = n_; i-- > 0;) {
            for (std::size_t j = i + 1; j < n_; ++j) gradient_[i] -= solved_[j * n_ + i] * gradient_[j];
            weights_[i] = std::min(std::max(weights_[i] + gradient_[i], -kMostWeight), kMostWeight);
        }
        std::fill(gradient_.begin(), gradient_.end(), 0.0);
    }

    std::vector<std::size_t> votes_;
    std::size_t n_;
    double rows_ = 0.0;                                        // that the means are over
    std::vector<double> means_, weights_, gradient_, matrix_;  // the matrix: on and below its diagonal
    std::vector<double> solved_, from_mean_;                   // of the row at hand
};

}  // namespace boostline
