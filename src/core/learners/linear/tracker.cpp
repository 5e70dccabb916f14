// One logistic regression for each label, on standardised features, by one step for each row, as long as at the start:
// it never comes to rest, so it follows a stream that wanders. Nothing is kept but the weights. The step is
// 4 step (y - p) / (1 + |u|^2) along the row u: with `step` at 1 it would undo about the whole error of an uncertain
// row, whatever the number of features (normalised least mean squares, for a sigmoid whose slope is at most 1/4).
#include "core/kernels/label_steps.hpp"
#include "core/kernels/sums.hpp"
#include "core/learners/feature_scale.hpp"
#include "core/learners/scorer_kinds.hpp"

namespace boostline {
namespace {

// Arrays over labels are padded to whole groups of kLanes, so that no loop has a remainder.
inline std::size_t padded_labels(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

class TrackerScorer final : public Scorer {
  public:
    TrackerScorer(std::int32_t n_labels, std::int64_t n_features, double step)
        : n_labels_(static_cast<std::size_t>(n_labels)), step_(step), scale_(static_cast<std::size_t>(n_features)) {
        weights_.assign(scale_.n_features() * width(), 0.0);
        bias_.assign(width(), kFirstBias);
    }

    std::string kind() const override { return "tracker"; }
    Vote vote() const override { return Vote::proportional; }
    bool learns_without_pairs() const override { return true; }

    void score(const Row& x, double* raw) const override {
        static thread_local Scratch scratch;
        score(x, scratch, raw);
    }
    void score_to_learn(const Row& x, double* raw) override { score(x, scratch_, raw); }
    void explain(const Row& x, std::size_t label, Evidence& out) const override {
        Scratch scratch;
        standardise(x, scratch);
        out.of_features.start(bias_[label]);
        for (std::size_t f = 0; f < scale_.n_features(); ++f)
            out.of_features.add(static_cast<std::int64_t>(f), scratch.inputs[f] * weights_[f * width() + label]);
    }
    void prepare(const Row& x, const Targets&, double, const double*) override {
        scratch_.entries.assign(x, scale_.n_features());
    }
    std::size_t make_room_for_block(const Row*, const Lesson*, std::size_t n) override {
        scratch_.resize(scale_.n_features(), width());
        scratch_.entries.reserve(scale_.n_features());
        return n;
    }
    // Learns with the inputs that score_to_learn saw: the scale takes in the row afterwards.
    void learn(const Row&, const Targets& targets, double importance, const double*) noexcept override {
        const std::size_t d = scale_.n_features();
        std::vector<double>& steps = scratch_.probabilities;
        const double length =
            importance * (4.0 * step_ / (1.0 + dot(scratch_.inputs.data(), scratch_.inputs.data(), d)));
        for (std::size_t j = 0; j < n_labels_; ++j) {
            const double y = static_cast<double>(targets.value[j]);
            steps[j] = targets.value[j] < 0 ? 0.0 : length * (y - steps[j]);  // nothing is learnt of an unknown label
        }
        std::fill(steps.begin() + static_cast<std::ptrdiff_t>(n_labels_), steps.end(), 0.0);
        for (std::size_t j = 0; j < n_labels_; ++j) bias_[j] += steps[j];
        tracker_step(scratch_.inputs.data(), d, steps.data(), width(), weights_.data());
        scale_.learn(scratch_.entries);
    }

    void grow_labels(std::int32_t n_new) override {
        const auto n = static_cast<std::size_t>(n_new);
        if (const std::size_t wide = padded_labels(n); wide != width()) {
            widen(weights_, width(), wide, 0.0);
            bias_.resize(wide, kFirstBias);
        }
        n_labels_ = n;
    }
    void grow_features(std::int64_t n, bool were_missing) override {
        scale_.grow(static_cast<std::size_t>(n), were_missing);
        weights_.resize(scale_.n_features() * width(), 0.0);
    }
    void reset() noexcept override {
        scale_.clear();
        std::fill(weights_.begin(), weights_.end(), 0.0);
        std::fill(bias_.begin(), bias_.end(), kFirstBias);
    }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<TrackerScorer>(*this); }

    void fields(Fields& f) override {
        f.object(*this);
        f.part("scale.", scale_);
        f.matrix("weights", weights_, scale_.n_features(), n_labels_, width(), within(kLargestWeight));
        f.matrix("bias", bias_, 1, n_labels_, width(), within(kLargestWeight));
        f.part("", scratch_);
    }

  private:
    static constexpr double kFirstBias = -3.0;  // most labels are rare
    // A step is less than 4, so it does not move such a weight, which only a file can have: what loads can be saved.
    static constexpr double kLargestWeight = 1152921504606846976.0;  // 2^60

    struct Scratch {
        Entries entries;
        std::vector<double> inputs, moments, probabilities;

        void resize(std::size_t n_features, std::size_t n_labels) {
            inputs.resize(n_features);
            moments.resize(2 * n_features);
            probabilities.resize(n_labels);
        }
        void fields(Fields& f) {
            f.part("", entries);
            f.memory(inputs, moments, probabilities);
        }
    };

    std::size_t width() const { return padded_labels(n_labels_); }

    void standardise(const Row& x, Scratch& scratch) const {
        const std::size_t d = scale_.n_features();
        scratch.resize(d, width());
        scale_.moments(scratch.moments.data(), scratch.moments.data() + d);
        standardise_over(x.dense, scratch.moments.data(), scratch.moments.data() + d, d, 1.0, scratch.inputs.data());
    }
    void score(const Row& x, Scratch& scratch, double* raw) const {
        standardise(x, scratch);
        tracker_forward(scratch.inputs.data(), scale_.n_features(), weights_.data(), bias_.data(), width(),
                        scratch.probabilities.data());
        std::copy_n(scratch.probabilities.data(), n_labels_, raw);
    }

    std::size_t n_labels_;
    double step_;
    FeatureScale scale_;
    std::vector<double> weights_;  // of each feature, one for each label
    std::vector<double> bias_;
    Scratch scratch_;  // of the row that is being learnt
};

const RegisterScorer registered("tracker", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    return std::make_unique<TrackerScorer>(s.n_labels, s.n_features, s.number("step"));
});

}  // namespace
}  // namespace boostline
