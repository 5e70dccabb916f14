// Kernel ridge regression (kernel.hpp): everything anew from all rows so far, after 32, 64, 128, ... rows.
#include "core/base/thread_pool.hpp"
#include "core/learners/kernel/kernel.hpp"

namespace boostline {

KernelScorer KernelScorer::with_rows_alone() const {
    KernelScorer copy = as_new();
    copy.n_rows_ = n_rows_;
    copy.scale_ = scale_;
    copy.landmarks_ = landmarks_;
    copy.importance_ = importance_;
    copy.labels_ = labels_;
    copy.query_.entries = query_.entries;
    copy.landmarks_.make_room_for(query_.entries.size(), 1);
    make_room(copy.importance_, 1);
    make_room(copy.labels_, n_labels_);
    return copy;
}

void KernelScorer::make_next(const Targets& targets, double importance, const double* raw) {
    next_.made = std::make_unique<KernelScorer>(with_rows_alone());
    next_.made->keep(targets, importance, raw);
    next_.made->fit();
}

void KernelScorer::fit() {
    landmarks_.fit(scale_);
    const bool last = n_rows_ == n_landmarks_;
    for (double lift = kJitter;; lift *= 10.0) {
        const auto kernel_of_rows = [&] {
            PackedSymmetric kernel(n_rows_);
            landmarks_.kernel_of_centres(
                [&](std::size_t i, const double* values) { std::copy_n(values, i + 1, kernel.row(i)); });
            if (last) kernel.add_diagonal(kJitter);
            for (double added = kJitter; added < lift; added *= 10.0) kernel.add_diagonal(added);
            return kernel;
        };
        PackedSymmetric noisy, plain;
        bool is_noisy_sound = false, is_plain_sound = !last;
        if (last && n_sharing() == 1) plain = kernel_of_rows();
        share(last ? 2 : 1, [&](int i) {
            if (i == 0) {
                noisy = last && n_sharing() == 1 ? plain : kernel_of_rows();
                for (std::size_t r = 0; r < n_rows_; ++r) noisy.row(r)[r] += ridge_ / importance_[r];
                is_noisy_sound = noisy.invert();
            } else {  // another thread would only wait for a copy
                if (n_sharing() > 1) plain = kernel_of_rows();
                is_plain_sound = plain.invert();
            }
        });
        if (!is_noisy_sound || !is_plain_sound) continue;
        solve(noisy);
        if (renews_scores_ && is_time_to_fit(n_rows_)) renew_centres(noisy);
        if (last) return finish(std::move(plain), noisy);
        // No later than after as many rows more everything is found anew: what is rounded does not add up.
        model_.covariance() = std::move(noisy);
        model_.covariance().make_coarse(true);
        return;
    }
}

// weights = inverse times labels, eight rows at a time.
void KernelScorer::solve(const PackedSymmetric& inverse) {
    const std::size_t n = n_rows_;
    std::vector<double>& weights = model_.weights();
    weights.assign(n * n_labels_, 0.0);
    std::vector<double> rows(8 * n);
    for (std::size_t i = 0; i < n; i += 8) {
        const std::size_t m = std::min<std::size_t>(n - i, 8);
        for (std::size_t r = 0; r < m; ++r) std::copy_n(inverse.row(i + r), i + r + 1, &rows[r * n]);
        for (std::size_t j = i; j < n; ++j)
            for (std::size_t r = 0; r < m && i + r < j; ++r) rows[r * n + j] = inverse.row(j)[i + r];
        combine_rows(rows.data(), n, m, n, labels_.data(), n_labels_, &weights[i * n_labels_]);
    }
}

void KernelScorer::renew_centres(const PackedSymmetric& inverse) {
    const std::vector<double>& a = model_.weights();
    renewed_scores_.resize(n_rows_ * n_labels_);
    for (std::size_t i = 0, at = 0; i < n_rows_; ++i) {
        const double own = inverse.row(i)[i];
        for (std::size_t l = 0; l < n_labels_; ++l, ++at)
            renewed_scores_[at] = PointBlocks::to_float(labels_[at] - a[at] / own);
    }
}

void KernelScorer::finish(PackedSymmetric plain, const PackedSymmetric& inverse) {
    for (std::size_t i = 0; i < n_rows_; ++i) {
        double* row = plain.row(i);
        const double* other = inverse.row(i);
        for (std::size_t j = 0; j <= i; ++j) row[j] = (row[j] - other[j]) / ridge_;
    }
    model_.covariance() = std::move(plain);
    landmarks_.freeze();
    scale_ = FeatureScale();
    model_.weights().shrink_to_fit();
    for (auto* spent : {&importance_, &labels_, &solution_, &residual_}) release(*spent);
}

}  // namespace boostline
