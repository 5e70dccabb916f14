// Kernel ridge regression (kernel.hpp): what is saved and grown.
#include "core/learners/kernel/kernel.hpp"

namespace boostline {

void KernelScorer::grow_labels(std::int32_t n) {
    const auto wide = static_cast<std::size_t>(n);
    if (n_labels_ == 0)
        labels_.assign(importance_.size() * wide, 0.0);
    else
        widen(labels_, n_labels_, wide, 0.0);
    model_.grow_labels(wide);
    n_labels_ = wide;
}

void KernelScorer::grow_features(std::int64_t n, bool were_missing) {
    n_features_ = static_cast<std::size_t>(n);
    if (n_rows_ == n_landmarks_) return;
    if (n_rows_ > 0) scale_.grow(n_features_, were_missing);
    landmarks_.grow(n_features_, were_missing);
}

void KernelScorer::reset() noexcept {
    n_rows_ = 0;
    scale_ = FeatureScale();
    landmarks_.clear(n_features_);
    model_ = RecursiveLeastSquares(0, n_labels_, ridge_);
    release(importance_);
    release(labels_);
    release(renewed_scores_);
    next_.reset();
}

void KernelScorer::fields(Fields& f) {
    f.object(*this);
    f.whole("n_rows", n_rows_, 0.0, static_cast<double>(n_landmarks_));
    const bool is_full = n_rows_ == n_landmarks_;
    f.part("landmarks.", landmarks_, n_rows_, is_fit(), is_full);
    if (!is_full) {
        f.expect<double>("scale.mean", n_features_);
        if (f.loads()) scale_ = FeatureScale(n_features_);
        FeatureScale as_new(f.saves() && n_rows_ == 0 ? n_features_ : 0);
        f.part("scale.", f.saves() && n_rows_ == 0 ? as_new : scale_);
        f.array("importance", importance_, n_rows_, {kLeastImportance, 1.0});
        f.array("labels", labels_, n_rows_ * n_labels_, within(kLargest));
    }
    if (is_fit() || f.counts()) f.part("", model_, n_rows_);
    if (f.loads() && is_fit() && !is_full) model_.covariance().make_coarse(true);
    f.part("", query_);
    f.part("", block_);
    f.memory(kernel_, solution_, residual_, base_, renewed_scores_);
}

}  // namespace boostline
