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
    sweep_.forget_rows();  // whoever keeps scores starts again
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
    sweep_ = RowSweep();
    renewals_.clear();
    next_.reset();
}

std::size_t KernelScorer::memory_bytes() const {
    return sizeof(*this) + scale_.memory_bytes() + landmarks_.memory_bytes() + model_.memory_bytes() +
           query_.memory_bytes() + block_.memory_bytes() + sweep_.memory_bytes() + renewals_.memory_bytes() +
           (importance_.capacity() + labels_.capacity() + kernel_.capacity() + solution_.capacity() +
            residual_.capacity() + base_.capacity() + swept_scores_.capacity()) *
               sizeof(double);
}

void KernelScorer::save(Archive& out, const std::string& prefix) const {
    out.add_one(prefix + "n_rows", static_cast<std::int64_t>(n_rows_));
    landmarks_.save(out, prefix + "landmarks.");
    if (n_rows_ < n_landmarks_) {
        if (n_rows_ > 0)
            scale_.save(out, prefix + "scale.");
        else
            FeatureScale(n_features_).save(out, prefix + "scale.");
        out.add(prefix + "importance", importance_);
        out.add(prefix + "labels", labels_);
    }
    if (is_fit()) model_.save(out, prefix);
    sweep_.save(out, prefix + "sweep.");
}

void KernelScorer::load(const ArchiveView& in, const std::string& prefix) {
    KernelScorer fresh = as_new();
    const auto n_rows = in.read_one<std::int64_t>(prefix + "n_rows");
    require(n_rows >= 0 && static_cast<std::uint64_t>(n_rows) <= n_landmarks_, prefix, "n_rows");
    fresh.n_rows_ = static_cast<std::size_t>(n_rows);
    const bool full = fresh.n_rows_ == n_landmarks_;
    fresh.landmarks_ = Landmarks::load(in, prefix + "landmarks.", n_features_, fresh.n_rows_, fresh.is_fit(), full);
    if (!full) {
        in.expect<double>(prefix + "scale.mean", n_features_);
        fresh.scale_ = FeatureScale(n_features_);
        fresh.scale_.load(in, prefix + "scale.");
        in.read(prefix + "importance", fresh.n_rows_, fresh.importance_);
        in.read(prefix + "labels", fresh.n_rows_ * n_labels_, fresh.labels_);
    }
    if (fresh.is_fit()) fresh.model_.load(in, prefix, fresh.n_rows_);
    if (fresh.is_fit() && !full) fresh.model_.covariance().make_coarse(true);
    fresh.check_rows(prefix);
    if (full) fresh.sweep_ = fresh.new_sweep();
    fresh.sweep_.load(in, prefix + "sweep.");
    fresh.sweep_.check(static_cast<float>(Standardise::kClip), prefix + "sweep.");
    *this = std::move(fresh);
}

}  // namespace boostline
