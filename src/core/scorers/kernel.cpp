// Kernel ridge regression of the labels, one row at a time, with a limit on the cost of a row.
//
// The first `n_landmarks` rows become centres of the kernel: until then the model is exact kernel ridge regression on
// all rows, f(x) = sum_i a_i k(x, x_i) with a = (K + ridge / w)^-1 Y. The scale of the features and the width of the
// kernel are taken anew, and the inverse rebuilt, after 32, 64, 128, ... rows; in between the inverse grows by a
// border. From then on centres, scale and width stay, and the a_i are learnt by recursive least squares on the kernel
// values, which goes on from the same solution: its covariance is (K W K + ridge K)^-1 = (K^-1 - (K + ridge / w)^-1) /
// ridge.
#include "core/landmarks.hpp"
#include "core/least_squares.hpp"
#include "core/scorer_kinds.hpp"
#include "core/thread_pool.hpp"

namespace boostline {
namespace {

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

    // A fit needs memory here and there, so it is made in a copy, which takes the place of this one.
    void prepare(const Row& x, const Targets& targets, double importance, const double* raw) override {
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
    void cancel() noexcept override { next_.reset(); }

    void score_block(const Row* x, std::size_t n, std::size_t k, double* raw) const override {
        if (!is_fit() || !landmarks_.is_dense()) return Scorer::score_block(x, n, k, raw);
        static thread_local KernelBlock block;
        const std::size_t width = padded(landmarks_.size());
        for (std::size_t at = 0; at < n; at += kRowsTogether) {
            const std::size_t m = std::min(kRowsTogether, n - at);
            landmarks_.kernel_block(x + at, m, block, width);
            model_.score_block(block.kernel.data(), width, m, raw + at * k);
        }
    }

    // Up to the next fit.
    std::size_t make_room_for_block(const Row* x, const Lesson*, std::size_t n) override {
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
    void learn_block(const Row* x, const Lesson* lessons, std::size_t n, std::size_t k, double* raw) override {
        for (std::size_t at = 0; at < n;) {
            if (n_rows_ == n_landmarks_)
                at += learn_with_landmarks(x + at, lessons + at, n - at, raw + at * k);
            else if (is_fit() && landmarks_.is_dense())
                at += learn_growing(x + at, lessons + at, n - at, k, raw + at * k);
            else
                learn_one(x[at], lessons[at], raw + at * k), ++at;
        }
    }
    void learn(const Row&, const Targets& targets, double importance, const double* raw) noexcept override {
        importance = std::max(importance, kLeastImportance);
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

    void grow_labels(std::int32_t n) override {
        const auto wide = static_cast<std::size_t>(n);
        if (n_labels_ == 0)
            labels_.assign(importance_.size() * wide, 0.0);
        else
            widen(labels_, n_labels_, wide, 0.0);
        model_.grow_labels(wide);
        n_labels_ = wide;
    }
    // Features that come when the landmarks are complete are not looked at: no landmark has a value of theirs.
    void grow_features(std::int64_t n, bool were_missing) override {
        n_features_ = static_cast<std::size_t>(n);
        if (n_rows_ == n_landmarks_) return;
        if (n_rows_ > 0) scale_.grow(n_features_, were_missing);
        landmarks_.grow(n_features_, were_missing);
    }
    void reset() noexcept override {
        n_rows_ = 0;
        scale_ = FeatureScale();
        landmarks_.clear(n_features_);
        model_ = RecursiveLeastSquares(0, n_labels_, ridge_);
        release(importance_);
        release(labels_);
        next_.reset();
    }
    std::size_t memory_bytes() const override {
        return sizeof(*this) + scale_.memory_bytes() + landmarks_.memory_bytes() + model_.memory_bytes() +
               query_.memory_bytes() + block_.memory_bytes() +
               (importance_.capacity() + labels_.capacity() + kernel_.capacity() + solution_.capacity() +
                residual_.capacity() + base_.capacity()) *
                   sizeof(double);
    }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<KernelScorer>(*this); }

    void save(Archive& out, const std::string& prefix) const override {
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
    }
    void load(const ArchiveView& in, const std::string& prefix) override {
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
        *this = std::move(fresh);
    }
    void check(const std::string& prefix) const override {
        scale_.check(prefix + "scale.");
        landmarks_.check(prefix + "landmarks.");
        if (is_fit()) model_.check(prefix);
        check_rows(prefix);
    }

    std::size_t n_rows() const { return n_rows_; }  // no more than n_landmarks
    const RecursiveLeastSquares& model() const { return model_; }

  private:
    void check_rows(const std::string& prefix) const {
        check_within(importance_, kLeastImportance, 1.0, prefix, "importance");
        check_within(labels_, -kLargest, kLargest, prefix, "labels");
    }
    KernelScorer as_new() const {
        return KernelScorer(static_cast<std::int32_t>(n_labels_), static_cast<std::int64_t>(n_features_),
                            static_cast<std::int32_t>(n_landmarks_), ridge_);
    }

    // With the rows so far and the one at hand, and room for that, but no model of them.
    KernelScorer with_rows_alone() const {
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

    // Both follow from the number of rows alone, and so need no place in the saved state.
    bool is_fit() const { return n_rows_ >= std::min(kFirstFit, n_landmarks_); }
    bool is_time_to_fit(std::size_t n_rows) const {
        std::size_t next = kFirstFit;
        while (next < n_rows) next *= 2;
        return n_rows == next || n_rows == n_landmarks_;
    }

    void score_with(const Row& x, KernelQuery& query, std::vector<double>& kernel, double* raw) const {
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

    // Room for n more rows, with so many entries together.
    void make_room_for_rows(std::size_t n_entries, std::size_t n) {
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

    // Rows of a block. The centres stay: all rows up to the next flush of the covariance together.
    std::size_t learn_with_landmarks(const Row* x, const Lesson* lessons, std::size_t n, double* raw) {
        const std::size_t width = padded(landmarks_.size());
        n = std::min(n, model_.covariance().n_until_flush());
        if (landmarks_.is_dense()) {
            landmarks_.kernel_block(x, n, block_, width);
        } else {
            block_.kernel.resize(n * width);
            for (std::size_t r = 0; r < n; ++r) {
                landmarks_.kernel(x[r], query_, kernel_);
                std::copy(kernel_.begin(), kernel_.end(), &block_.kernel[r * width]);
            }
        }
        model_.learn_block(block_.kernel.data(), lessons, n, raw);
        return n;
    }
    // Rows become centres on the way; their kernel with those before them, and its product with the base of the
    // inverse, are found for all at once. Ends early after a fit.
    std::size_t learn_growing(const Row* x, const Lesson* lessons, std::size_t n, std::size_t k, double* raw) {
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
    void learn_one(const Row& x, const Lesson& lesson, double* raw) {
        score_to_learn(x, raw);
        if (!(lesson.importance > 0.0)) return;
        const double importance = std::max(lesson.importance, kLeastImportance);
        query_.entries.assign(x, n_features_);
        if (is_fit() && !find_border(importance))
            fit_or_lift(lesson, importance, raw);
        else
            learn(x, lesson.targets, importance, raw);
    }
    // Where there is no memory for a fit, the row is taken with the least that r can be, and the next one is looked at
    // again.
    void fit_or_lift(const Lesson& lesson, double importance, const double* raw) noexcept {
        try {
            make_next(lesson.targets, importance, raw);
            next_.made->make_room_for_rows(kMostTogether * query_.entries.size(), kMostTogether);
        } catch (const std::bad_alloc&) {
            next_.reset();
            border_ = 0.5 * ridge_ / importance;
        }
        learn(Row(), lesson.targets, importance, raw);
    }
    void make_next(const Targets& targets, double importance, const double* raw) {
        next_.made = std::make_unique<KernelScorer>(with_rows_alone());
        next_.made->keep(targets, importance, raw);
        next_.made->fit();
    }
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
    void add_border(const double* raw) noexcept {
        const std::size_t n = model_.n_inputs();
        std::vector<double>& a = model_.weights();
        for (std::size_t l = 0; l < n_labels_; ++l) residual_[l] = (labels_[n * n_labels_ + l] - raw[l]) / border_;
        add_outer(-1.0, solution_.data(), n, residual_.data(), n_labels_, a.data());
        a.insert(a.end(), residual_.begin(), residual_.end());
        model_.covariance().border(solution_.data(), border_);
        landmarks_.add(query_);
    }

    // Scale, width, inverse and a_i from all rows so far. A kernel matrix is positive semidefinite and ridge / w
    // positive, so the inverses exist; should rounding say otherwise, more is added to the diagonal.
    void fit() {
        landmarks_.fit(scale_);
        const bool last = n_rows_ == n_landmarks_;
        for (double lift = kJitter;; lift *= 10.0) {
            PackedSymmetric noisy(n_rows_);
            landmarks_.kernel_of_centres(
                [&](std::size_t i, const double* values) { std::copy_n(values, i + 1, noisy.row(i)); });
            if (last) noisy.add_diagonal(kJitter);
            for (double added = kJitter; added < lift; added *= 10.0) noisy.add_diagonal(added);
            PackedSymmetric plain = last ? noisy : PackedSymmetric();
            for (std::size_t i = 0; i < n_rows_; ++i) noisy.row(i)[i] += ridge_ / importance_[i];
            bool is_noisy_sound = false, is_plain_sound = false;
            share(2, [&](int i) { i == 0 ? is_noisy_sound = noisy.invert() : is_plain_sound = plain.invert(); });
            if (!is_noisy_sound || !is_plain_sound) continue;
            solve(noisy);
            if (last) return finish(std::move(plain), noisy);
            // No later than after as many rows more everything is found anew: what is rounded does not add up.
            model_.covariance() = std::move(noisy);
            model_.covariance().make_coarse(true);
            return;
        }
    }

    void solve(const PackedSymmetric& inverse) {
        model_.weights().assign(n_rows_ * n_labels_, 0.0);
        if (n_rows_ > 0)
            packed_times_matrix(inverse.row(0), n_rows_, labels_.data(), n_labels_, model_.weights().data());
    }

    // The end of the exact phase: what only it needs is freed.
    void finish(PackedSymmetric plain, const PackedSymmetric& inverse) {
        for (std::size_t i = 0; i < n_rows_; ++i) {
            double* row = plain.row(i);
            const double* other = inverse.row(i);
            for (std::size_t j = 0; j <= i; ++j) row[j] = (row[j] - other[j]) / ridge_;
        }
        model_.covariance() = std::move(plain);
        landmarks_.freeze();
        scale_ = FeatureScale();
        model_.weights().shrink_to_fit();
        importance_ = labels_ = solution_ = residual_ = std::vector<double>();
    }

    std::size_t n_labels_, n_features_, n_landmarks_;
    double ridge_;
    std::size_t n_rows_ = 0;  // seen, up to n_landmarks_
    FeatureScale scale_;      // empty before the first row and after the last landmark
    Landmarks landmarks_;
    RecursiveLeastSquares model_;              // while n_rows_ < n_landmarks_ its covariance is (K + ridge / w)^-1
    std::vector<double> importance_, labels_;  // of the rows, until n_landmarks_

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

const RegisterScorer registered("kernel", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    return std::make_unique<KernelScorer>(s.n_labels, s.n_features, static_cast<std::int32_t>(s.count("n_landmarks")),
                                          s.number("ridge"));
});

}  // namespace
}  // namespace boostline
