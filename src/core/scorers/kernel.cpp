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

namespace boostline {
namespace {

class KernelScorer final : public Scorer {
  public:
    static constexpr std::size_t kFirstFit = 32;  // rows; before, scores are the means of the labels
    static constexpr double kJitter = 1e-3;       // on the kernel at the end of the exact phase: rows may repeat
    static constexpr double kLeastImportance = 1e-9;

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
            next_.made = std::make_unique<KernelScorer>(*this);
            next_.made->make_room_for_row();
            next_.made->keep(targets, importance, raw);
            next_.made->fit();
        } else {
            make_room_for_row();
        }
    }
    void cancel() noexcept override { next_.reset(); }
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
               query_.memory_bytes() +
               (importance_.capacity() + labels_.capacity() + kernel_.capacity() + solution_.capacity() +
                residual_.capacity()) *
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
        combine_rows(importance_.data(), n_rows_, labels_.data(), n_labels_, raw);
        for (std::size_t l = 0; l < n_labels_ && total > 0.0; ++l) raw[l] /= total;
    }

    // Room for one more row, as it is in query_.
    void make_room_for_row() {
        landmarks_.make_room_for(query_);
        make_room(importance_, 1);
        make_room(labels_, n_labels_);
        if (!is_fit()) return;
        residual_.resize(n_labels_);
        make_room(model_.weights(), n_labels_);
        model_.covariance().make_room_for_border();
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
        const double noise = ridge_ / importance;
        solution_.resize(kernel_.size());
        model_.covariance().multiply(kernel_.data(), solution_.data());
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
        PackedSymmetric kernel(n_rows_);
        std::vector<double> scratch;
        for (std::size_t i = 0; i < n_rows_; ++i) landmarks_.kernel_of_centre(i, scratch, kernel.row(i));
        if (last) kernel.add_diagonal(kJitter);
        for (double lift = kJitter;; lift *= 10.0) {
            PackedSymmetric noisy = kernel, plain = last ? kernel : PackedSymmetric();
            for (std::size_t i = 0; i < n_rows_; ++i) noisy.row(i)[i] += ridge_ / importance_[i];
            if (noisy.invert() && plain.invert()) {
                solve(noisy);
                if (last)
                    finish(std::move(plain), noisy);
                else
                    model_.covariance() = std::move(noisy);
                return;
            }
            kernel.add_diagonal(lift);
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
    double border_ = 0.0;  // r of find_border
    Next next_;            // what a fit leads to
};

const RegisterScorer registered("kernel", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    return std::make_unique<KernelScorer>(s.n_labels, s.n_features, static_cast<std::int32_t>(s.count("n_landmarks")),
                                          s.number("ridge"));
});

}  // namespace
}  // namespace boostline
