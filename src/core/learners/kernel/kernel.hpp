// Kernel ridge regression of the labels, one row at a time, with a limit on the cost of a row.
//
// The first `n_landmarks` rows become centres of the kernel: until then the model is exact kernel ridge regression on
// all rows, f(x) = sum_i a_i k(x, x_i) with a = (K + ridge / w)^-1 Y. The scale of the features and the width of the
// kernel are estimated again, and the inverse is recomputed, after 32, 64, 128, ... rows; in between the inverse grows
// by a border. From then on centres, scale and width stay, and the a_i are learnt by recursive least squares on the
// kernel values, which goes on from the same solution: its covariance is (K W K + ridge K)^-1 = (K^-1 - (K + ridge /
// w)^-1) / ridge.
//
// At each fit it renews its scores of all centres, for another member that keeps them: as they would be if the centre
// itself had not been learnt, y_i - a_i / (inverse)_ii.
#pragma once

#include "core/learners/kernel/landmarks.hpp"
#include "core/learners/kernel/least_squares.hpp"
#include "core/learners/scorer.hpp"

namespace boostline {

class KernelScorer final : public Scorer {
  public:
    static constexpr std::size_t kFirstFit = 32;  // rows; before, scores are the means of the labels
    static constexpr double kJitter = 1e-3;       // on the kernel at the end of the exact phase: rows may repeat
    static constexpr double kLeastImportance = 1e-9;
    static constexpr std::size_t kRowsTogether = PackedSymmetric::kPending;

    KernelScorer(std::int32_t n_labels, std::int64_t n_features, std::int32_t n_landmarks, double ridge)
        : n_labels_(static_cast<std::size_t>(n_labels)),
          n_features_(static_cast<std::size_t>(n_features)),
          n_landmarks_(static_cast<std::size_t>(n_landmarks)),
          ridge_(ridge),
          landmarks_(n_features_),
          model_(0, n_labels_, ridge) {
        if (n_landmarks < 1 || !(ridge > 0.0))
            throw std::invalid_argument("a kernel needs landmarks and a positive ridge");
    }

    std::string kind() const override { return "kernel"; }
    Vote vote() const override { return Vote::soft_clip; }

    void score(const Row& x, double* raw) const override {
        static thread_local KernelQuery query;
        static thread_local std::vector<double> kernel;
        score_with(x, query, kernel, raw);
    }
    void score_to_learn(const Row& x, double* raw) override { score_with(x, query_, kernel_, raw); }
    void explain(const Row& x, std::size_t label, Evidence& out) const override;

    // A fit needs memory here and there, so it is made in a copy, which takes the place of this one.
    void prepare(const Row& x, const Targets& targets, double importance, const double* raw) override;
    void cancel() noexcept override { next_.reset(); }

    void score_block(const Row* x, std::size_t n, std::size_t k, double* raw) const override;

    // Up to the next fit.
    std::size_t make_room_for_block(const Row* x, const Lesson*, std::size_t n) override;
    void learn_block(const Row* x, const Lesson* lessons, std::size_t n, std::size_t k, double* raw) override;
    void learn(const Row&, const Targets& targets, double importance, const double* raw) noexcept override;

    const std::vector<float>& renewed_scores() const noexcept override { return renewed_scores_; }
    void renew_scores(bool is_kept) override { renews_scores_ = is_kept; }

    void grow_labels(std::int32_t n) override;
    // Features that come when the landmarks are complete are not looked at: no landmark has a value of theirs.
    void grow_features(std::int64_t n, bool were_missing) override;
    void reset() noexcept override;
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<KernelScorer>(*this); }

    void fields(Fields& f) override;

  private:
    KernelScorer as_new() const {
        KernelScorer fresh(static_cast<std::int32_t>(n_labels_), static_cast<std::int64_t>(n_features_),
                           static_cast<std::int32_t>(n_landmarks_), ridge_);
        fresh.renews_scores_ = renews_scores_;
        return fresh;
    }

    // With the rows so far and the one at hand, and room for that, but no model of them.
    KernelScorer with_rows_alone() const;

    // Both follow from the number of rows alone, and so need no place in the saved state.
    bool is_fit() const { return n_rows_ >= std::min(kFirstFit, n_landmarks_); }
    bool is_time_to_fit(std::size_t n_rows) const {
        std::size_t next = kFirstFit;
        while (next < n_rows) next *= 2;
        return n_rows == next || n_rows == n_landmarks_;
    }

    void score_with(const Row& x, KernelQuery& query, std::vector<double>& kernel, double* raw) const;

    // Room for n more rows, with so many entries together.
    void make_room_for_rows(std::size_t n_entries, std::size_t n);

    // Rows of a block, from row `at` on. The centres stay: all rows up to the next flush of the covariance together.
    std::size_t learn_with_landmarks(const Row* x, const Lesson* lessons, std::size_t at, std::size_t end, double* raw);
    // Rows become centres on the way; their kernel with those before them, and its product with the base of the
    // inverse, are found for all at once. Ends early after a fit.
    std::size_t learn_growing(const Row* x, const Lesson* lessons, std::size_t n, std::size_t k, double* raw);
    void learn_one(const Row& x, const Lesson& lesson, double* raw);
    // Where there is no memory for a fit, the row is taken with the least that r can be, and the next one is looked at
    // again.
    void fit_or_lift(const Lesson& lesson, double importance, const double* raw) noexcept;
    void make_next(const Targets& targets, double importance, const double* raw);
    void keep(const Targets& targets, double importance, const double* raw) noexcept {
        scale_.learn(query_.entries);
        landmarks_.keep(query_.entries);
        importance_.push_back(importance);
        for (std::size_t l = 0; l < n_labels_; ++l)
            labels_.push_back(targets.value[l] < 0 ? raw[l] : static_cast<double>(targets.value[l]));
        ++n_rows_;
    }

    // One more centre: the inverse of K + ridge / w grows by a row, the a_i follow. What the row adds is found first;
    // false when rounding has spoilt the inverse: r is at least ridge / w in exact arithmetic.
    bool find_border(double importance) {
        solution_.resize(kernel_.size());
        model_.covariance().multiply(kernel_.data(), solution_.data());
        return is_border_sound(importance);
    }
    bool is_border_sound(double importance) {
        const double noise = ridge_ / importance;
        border_ = 2.0 + noise - dot(kernel_.data(), solution_.data(), kernel_.size());
        return border_ > 0.5 * noise;
    }
    void add_border(const double* raw) noexcept;

    // Scale, width, inverse and a_i from all rows so far. A kernel matrix is positive semidefinite and ridge / w
    // positive, so the inverses exist; should rounding say otherwise, more is added to the diagonal.
    void fit();

    void solve(const PackedSymmetric& inverse);

    // The end of the exact phase: what only it needs is freed.
    void finish(PackedSymmetric plain, const PackedSymmetric& inverse);

    void renew_centres(const PackedSymmetric& inverse);

    std::size_t n_labels_, n_features_, n_landmarks_;
    double ridge_;
    std::size_t n_rows_ = 0;  // seen, up to n_landmarks_
    FeatureScale scale_;      // empty before the first row and after the last landmark
    Landmarks landmarks_;
    RecursiveLeastSquares model_;              // while n_rows_ < n_landmarks_ its covariance is (K + ridge / w)^-1
    std::vector<double> importance_, labels_;  // of the rows, until n_landmarks_
    bool renews_scores_ = false;               // another member keeps them
    std::vector<float> renewed_scores_;

    // Of the row between score_to_learn and learn.
    struct Next {  // a copy of a scorer copies none
        std::unique_ptr<KernelScorer> made;
        Next() = default;
        Next(Next&&) noexcept = default;
        Next(const Next&) {}
        Next& operator=(Next&&) noexcept = default;
        void reset() { made.reset(); }
    };
    KernelQuery query_;
    std::vector<double> kernel_, solution_, residual_;
    KernelBlock block_;         // of the rows of a block
    std::vector<double> base_;  // their products with the base of the inverse
    double border_ = 0.0;       // r of find_border
    Next next_;                 // what a fit leads to
};

}  // namespace boostline
