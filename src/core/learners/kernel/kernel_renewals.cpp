// Kernel ridge regression (kernel.hpp): scores of past rows, found anew for members that keep them.
#include "core/learners/kernel/kernel.hpp"

namespace boostline {

void KernelScorer::renew_centres(const PackedSymmetric& inverse) {
    const std::vector<double>& a = model_.weights();
    renewals_.clear();
    renewals_.batches.push_back({0, n_rows_});
    renewals_.scores.resize(n_rows_ * n_labels_);
    for (std::size_t i = 0, at = 0; i < n_rows_; ++i) {
        renewals_.ages.push_back(n_rows_ - 1 - i);
        const double own = inverse.row(i)[i];
        for (std::size_t l = 0; l < n_labels_; ++l, ++at)
            renewals_.scores[at] = PointBlocks::to_float(labels_[at] - a[at] / own);
    }
}

RowSweep KernelScorer::new_sweep() const {
    const std::size_t d = landmarks_.n_features();
    if (n_renewed_ == 0 || !landmarks_.is_dense() || d == 0) return RowSweep();
    return RowSweep(std::min(n_renewed_, kMostSwept / d), d);
}

void KernelScorer::make_room_to_sweep(std::size_t n_rows) {
    if (!sweep_.is_used()) return;
    const std::size_t n_batches = n_rows / kSwept + 1;
    sweep_.make_room(n_rows);
    landmarks_.make_room_for_block(block_, kRowsTogether, landmarks_.size(), padded(landmarks_.size()));
    renewals_.reserve(n_batches, n_batches * kSwept, n_labels_);
    swept_scores_.reserve(kRowsTogether * n_labels_);
}

void KernelScorer::sweep(std::size_t after) noexcept {
    if (n_until_sweep() != kSwept || static_cast<std::size_t>(sweep_.n_added()) < (kSweepFrom - 1) * n_landmarks_)
        return;
    const std::size_t d = landmarks_.n_features(), width = padded(landmarks_.size());
    const std::size_t n = std::min(kSwept, sweep_.size());
    for (std::size_t at = 0, m; at < n; at += m) {
        m = std::min(kRowsTogether, n - at);
        block_.points.resize(m * d);
        for (std::size_t i = 0; i < m; ++i) {
            std::size_t age;
            std::copy_n(sweep_.visit(age), d, &block_.points[i * d]);
            renewals_.ages.push_back(age);
        }
        landmarks_.kernel_of_points(m, block_, width);
        swept_scores_.resize(m * n_labels_);
        model_.score_block(block_.kernel.data(), width, m, swept_scores_.data());
        for (const double score : swept_scores_) renewals_.scores.push_back(PointBlocks::to_float(score));
    }
    renewals_.batches.push_back({after, renewals_.ages.size()});
}

}  // namespace boostline
