// Ridge regression of the labels on the standardised features, exact after every row (recursive least squares). For few
// features: a row costs their number squared.
#include "core/learners/feature_scale.hpp"
#include "core/learners/kernel/least_squares.hpp"
#include "core/learners/scorer_kinds.hpp"

namespace boostline {
namespace {

class RidgeScorer final : public Scorer {
  public:
    RidgeScorer(std::int32_t n_labels, std::int64_t n_features, double ridge, double forgetting = 1.0)
        : scale_(static_cast<std::size_t>(n_features)),
          model_(static_cast<std::size_t>(n_features) + 1, static_cast<std::size_t>(n_labels), ridge, forgetting) {}

    std::string kind() const override { return "ridge"; }
    Vote vote() const override { return Vote::soft_clip; }

    void score(const Row& x, double* raw) const override { score_block(&x, 1, model_.n_labels(), raw); }
    void score_block(const Row* x, std::size_t n, std::size_t k, double* raw) const override {
        static thread_local std::vector<double> inputs, moments;
        constexpr std::size_t kTogether = 16;
        const std::size_t d = scale_.n_features(), width = model_.n_inputs();
        inputs.resize(kTogether * width);
        moments.resize(2 * d);
        scale_.moments(moments.data(), moments.data() + d);
        for (std::size_t at = 0; at < n; at += kTogether) {
            const std::size_t m = std::min(kTogether, n - at);
            for (std::size_t r = 0; r < m; ++r) standardise(x[at + r], moments, &inputs[r * width]);
            model_.score_block(inputs.data(), width, m, raw + at * k);
        }
    }
    void explain(const Row& x, std::size_t label, Evidence& out) const override {
        const std::size_t d = scale_.n_features(), k = model_.n_labels();
        std::vector<double> moments(2 * d), inputs(d + 1);
        scale_.moments(moments.data(), moments.data() + d);
        standardise(x, moments, inputs.data());
        out.of_features.start(model_.weights()[d * k + label]);
        for (std::size_t f = 0; f < d; ++f)
            out.of_features.add(static_cast<std::int64_t>(f), inputs[f] * model_.weights()[f * k + label]);
    }
    void score_to_learn(const Row& x, double* raw) override {
        inputs_.resize(model_.n_inputs());
        standardise(x, inputs_.data());
        model_.score(inputs_.data(), raw);
    }
    void prepare(const Row& x, const Targets&, double, const double*) override {
        entries_.assign(x, scale_.n_features());
        model_.make_room_to_learn();
    }
    std::size_t make_room_for_block(const Row*, const Lesson*, std::size_t n) override {
        inputs_.reserve(n * padded(model_.n_inputs()));
        moments_.reserve(2 * scale_.n_features());
        entries_.reserve(scale_.n_features());
        model_.make_room_for_block(n);
        return n;
    }
    // The scale does not wait for the model.
    void learn_block(const Row* x, const Lesson* lessons, std::size_t n, std::size_t, double* raw) override {
        const std::size_t width = padded(model_.n_inputs());
        inputs_.assign(n * width, 0.0);
        for (std::size_t r = 0; r < n; ++r) {
            standardise(x[r], &inputs_[r * width]);
            if (!(lessons[r].importance > 0.0)) continue;
            entries_.assign(x[r], scale_.n_features());
            scale_.learn(entries_);
        }
        model_.learn_block(inputs_.data(), lessons, n, raw);
    }
    // Learns with the inputs that score_to_learn saw: the scale takes in the row afterwards.
    void learn(const Row&, const Targets& targets, double importance, const double* raw) noexcept override {
        model_.learn(inputs_.data(), targets.value.data(), importance, raw);
        scale_.learn(entries_);
    }

    void grow_labels(std::int32_t n) override { model_.grow_labels(static_cast<std::size_t>(n)); }
    void grow_features(std::int64_t n_new, bool were_missing) override {
        const std::size_t d = scale_.n_features(), n = static_cast<std::size_t>(n_new);
        model_.insert_inputs(d, n - d, root(d) / root(n));
        scale_.grow(n, were_missing);
    }
    void reset() noexcept override {
        scale_.clear();
        model_.reset();
    }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<RidgeScorer>(*this); }

    void fields(Fields& f) override {
        f.object(*this);
        f.part("scale.", scale_);
        f.part("", model_, scale_.n_features() + 1);
        f.part("", entries_);
        f.memory(inputs_, moments_);
    }

  private:
    static double root(std::size_t n_features) {
        return std::sqrt(static_cast<double>(std::max<std::size_t>(n_features, 1)));
    }

    // [u, 1]: u the standardised features, clipped, over the root of their number, so that |u| is about 1 whatever it
    // is. A missing feature counts as its mean.
    void standardise(const Row& x, double* inputs) {
        const std::size_t d = scale_.n_features();
        moments_.resize(2 * d);
        scale_.moments(moments_.data(), moments_.data() + d);
        standardise(x, moments_, inputs);
    }
    // With the means and inverse deviations.
    void standardise(const Row& x, const std::vector<double>& moments, double* inputs) const {
        const std::size_t d = scale_.n_features();
        standardise_over(x.dense, moments.data(), moments.data() + d, d, root(d), inputs);
        inputs[d] = 1.0;
    }

    FeatureScale scale_;
    RecursiveLeastSquares model_;
    // Of the row between score_to_learn and learn.
    std::vector<double> inputs_, moments_;
    Entries entries_;
};

const RegisterScorer registered("ridge", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    return std::make_unique<RidgeScorer>(s.n_labels, s.n_features, s.number("ridge"), s.number("forgetting"));
});

}  // namespace
}  // namespace boostline
