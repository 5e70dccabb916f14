// Kernel ridge regression (kernel.hpp): scores, rows and blocks of rows.
#include "core/learners/kernel/kernel.hpp"

#include "core/learners/scorer_kinds.hpp"

namespace boostline {

void KernelScorer::prepare(const Row& x, const Targets& targets, double importance, const double* raw) {
    if (n_rows_ == n_landmarks_) {
        model_.make_room_to_learn();
        return;
    }
    importance = std::max(importance, kLeastImportance);
    query_.entries.assign(x, n_features_);
    // Not before, for a file may claim any number of features.
    if (n_rows_ == 0 && scale_.n_features() != n_features_) scale_ = FeatureScale(n_features_);
    next_.reset();
    if (is_time_to_fit(n_rows_ + 1) || (is_fit() && !find_border(importance))) {
        make_next(targets, importance, raw);
    } else {
        make_room_for_rows(query_.entries.size(), 1);
    }
}

void KernelScorer::score_block(const Row* x, std::size_t n, std::size_t k, double* raw) const {
    if (!is_fit() || !landmarks_.is_dense()) return Scorer::score_block(x, n, k, raw);
    static thread_local KernelBlock block;
    const std::size_t width = padded(landmarks_.size());
    for (std::size_t at = 0; at < n; at += kRowsTogether) {
        const std::size_t m = std::min(kRowsTogether, n - at);
        landmarks_.kernel_block(x + at, m, block, width);
        model_.score_block(block.kernel.data(), width, m, raw + at * k);
    }
}

std::size_t KernelScorer::make_room_for_block(const Row* x, const Lesson*, std::size_t n) {
    const std::size_t n_now = n_rows_;
    if (n_now == 0) return 0;
    std::size_t ahead = n_now == n_landmarks_ ? n : 0, most = 0, total = 0;
    for (; ahead < n && !is_time_to_fit(n_now + ahead + 1); ++ahead) {
    }
    if (ahead < 2) return 0;
    for (std::size_t r = 0; r < ahead; ++r) {
        const std::size_t entries = std::min(n_features_, x[r].most_entries());
        most = std::max(most, entries);
        total += entries;
    }
    const bool grows = n_now < n_landmarks_;
    const std::size_t n_centres = n_now + (grows ? ahead : 0), width = padded(n_centres);
    kernel_.reserve(width);
    landmarks_.make_room_for_query(query_, most, n_centres);
    if (is_fit() && landmarks_.is_dense())
        landmarks_.make_room_for_block(block_, kRowsTogether, n_centres, width);
    else
        block_.kernel.reserve(kRowsTogether * width);
    if (grows)
        make_room_for_rows(total, ahead);
    else
        model_.make_room_for_block(kRowsTogether);
    return ahead;
}

void KernelScorer::learn_block(const Row* x, const Lesson* lessons, std::size_t n, std::size_t k, double* raw) {
    release(renewed_scores_);
    for (std::size_t at = 0; at < n;) {
        if (n_rows_ == n_landmarks_)
            at += learn_with_landmarks(x, lessons, at, n, raw);
        else if (is_fit() && landmarks_.is_dense())
            at += learn_growing(x + at, lessons + at, n - at, k, raw + at * k);
        else
            learn_one(x[at], lessons[at], raw + at * k), ++at;
    }
}

void KernelScorer::learn(const Row&, const Targets& targets, double importance, const double* raw) noexcept {
    importance = std::max(importance, kLeastImportance);
    release(renewed_scores_);
    if (n_rows_ == n_landmarks_) {
        model_.learn(kernel_.data(), targets.value.data(), importance, raw);
    } else if (next_.made) {
        const std::unique_ptr<KernelScorer> made = std::move(next_.made);
        *this = std::move(*made);
    } else {
        const bool was_fit = is_fit();
        keep(targets, importance, raw);
        if (was_fit) add_border(raw);
    }
}

void KernelScorer::score_with(const Row& x, KernelQuery& query, std::vector<double>& kernel, double* raw) const {
    if (is_fit()) {
        landmarks_.kernel(x, query, kernel);
        model_.score(kernel.data(), raw);
        return;
    }
    double total = 0.0;
    for (const double w : importance_) total += w;
    combine_rows(importance_.data(), 0, 1, n_rows_, labels_.data(), n_labels_, raw);
    for (std::size_t l = 0; l < n_labels_ && total > 0.0; ++l) raw[l] /= total;
}

void KernelScorer::explain(const Row& x, std::size_t label, Evidence& out) const {
    if (!is_fit()) return;
    KernelQuery query;
    std::vector<double> kernel;
    landmarks_.kernel(x, query, kernel);
    out.of_rows.start(0.0);
    for (std::size_t i = 0; i < landmarks_.size(); ++i)
        out.of_rows.add(static_cast<std::int64_t>(i) + 1, kernel[i] * model_.weights()[i * n_labels_ + label]);
}

void KernelScorer::make_room_for_rows(std::size_t n_entries, std::size_t n) {
    landmarks_.make_room_for(n_entries, n);
    make_room(importance_, n);
    make_room(labels_, n * n_labels_);
    if (!is_fit()) return;
    residual_.resize(n_labels_);
    make_room(model_.weights(), n * n_labels_);
    model_.covariance().make_room_for_border(n);
    if (n == 1) return;
    solution_.reserve(padded(n_rows_ + n));
    base_.reserve(kRowsTogether * padded(n_rows_ + n));
}

std::size_t KernelScorer::learn_with_landmarks(const Row* x, const Lesson* lessons, std::size_t at, std::size_t end,
                                               double* raw) {
    const std::size_t width = padded(landmarks_.size());
    const std::size_t n = std::min(end - at, model_.covariance().n_until_flush());
    if (landmarks_.is_dense()) {
        landmarks_.kernel_block(x + at, n, block_, width);
    } else {
        block_.kernel.resize(n * width);
        for (std::size_t r = 0; r < n; ++r) {
            landmarks_.kernel(x[at + r], query_, kernel_);
            std::copy(kernel_.begin(), kernel_.end(), &block_.kernel[r * width]);
        }
    }
    model_.learn_block(block_.kernel.data(), lessons + at, n, raw + at * n_labels_);
    return n;
}

std::size_t KernelScorer::learn_growing(const Row* x, const Lesson* lessons, std::size_t n, std::size_t k,
                                        double* raw) {
    PackedSymmetric& inverse = model_.covariance();
    n = std::min(n, inverse.n_borders_until_flush());
    const std::size_t n_before = landmarks_.size(), width = padded(n_before + n), d = landmarks_.n_features();
    landmarks_.kernel_block(x, n, block_, width);
    landmarks_.place_among(n, block_);
    base_.assign(n * width, 0.0);
    inverse.multiply_base(block_.kernel.data(), width, n, base_.data(), width);
    std::size_t kept[kRowsTogether], n_kept = 0;
    for (std::size_t r = 0; r < n; ++r) {
        double *own = &block_.kernel[r * width], *scores = raw + r * k;
        for (std::size_t j = 0; j < n_kept; ++j) own[n_before + j] = landmarks_.kernel_among(r, kept[j], n, block_);
        model_.score(own, scores);
        if (!(lessons[r].importance > 0.0)) continue;
        const std::size_t length = padded(landmarks_.size());
        kernel_.assign(own, own + length);
        solution_.assign(&base_[r * width], &base_[r * width] + length);
        inverse.add_pending(own, solution_.data());
        query_.entries.assign(x[r], n_features_);
        query_.point.assign(&block_.points[r * d], &block_.points[r * d] + d);
        const double importance = std::max(lessons[r].importance, kLeastImportance);
        if (!is_border_sound(importance)) {
            fit_or_lift(lessons[r], importance, scores);
            return r + 1;
        }
        keep(lessons[r].targets, importance, scores);
        add_border(scores);
        kept[n_kept++] = r;
    }
    return n;
}

void KernelScorer::learn_one(const Row& x, const Lesson& lesson, double* raw) {
    score_to_learn(x, raw);
    if (!(lesson.importance > 0.0)) return;
    const double importance = std::max(lesson.importance, kLeastImportance);
    query_.entries.assign(x, n_features_);
    if (is_fit() && !find_border(importance))
        fit_or_lift(lesson, importance, raw);
    else
        learn(x, lesson.targets, importance, raw);
}

void KernelScorer::fit_or_lift(const Lesson& lesson, double importance, const double* raw) noexcept {
    try {
        make_next(lesson.targets, importance, raw);
        next_.made->make_room_for_rows(kMostTogether * query_.entries.size(), kMostTogether);
    } catch (const std::bad_alloc&) {
        next_.reset();
        border_ = 0.5 * ridge_ / importance;
    }
    learn(Row(), lesson.targets, importance, raw);
}

void KernelScorer::add_border(const double* raw) noexcept {
    const std::size_t n = model_.n_inputs();
    std::vector<double>& a = model_.weights();
    for (std::size_t l = 0; l < n_labels_; ++l) residual_[l] = (labels_[n * n_labels_ + l] - raw[l]) / border_;
    add_outer(-1.0, solution_.data(), n, residual_.data(), n_labels_, a.data());
    a.insert(a.end(), residual_.begin(), residual_.end());
    model_.covariance().border(solution_.data(), border_);
    landmarks_.add(query_);
}

namespace {

const RegisterScorer registered("kernel", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    return std::make_unique<KernelScorer>(s.n_labels, s.n_features, static_cast<std::int32_t>(s.count("n_landmarks")),
                                          s.number("ridge"));
});

}  // namespace
}  // namespace boostline
