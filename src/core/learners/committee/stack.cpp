// Least squares on the scores that other members of a committee give to all labels: it knows which labels go together
// (stacking). Its row is the sum of those members' scores, one feature per label; it starts anew when labels are added,
// as what it learned is about score vectors of another length.
#include "core/learners/kernel/least_squares.hpp"
#include "core/learners/scorer_kinds.hpp"

namespace boostline {
namespace {

class StackScorer final : public Scorer {
  public:
    StackScorer(std::int32_t n_labels, double ridge)
        : ridge_(ridge), model_(fresh(static_cast<std::size_t>(n_labels))) {}

    std::string kind() const override { return "stack"; }
    Vote vote() const override { return Vote::soft_clip; }
    void score(const Row& x, double* raw) const override {
        static thread_local std::vector<double> inputs;
        with_constant(x, inputs);
        model_.score(inputs.data(), raw);
    }
    void score_to_learn(const Row& x, double* raw) override {
        with_constant(x, inputs_);
        model_.score(inputs_.data(), raw);
    }
    void prepare(const Row&, const Targets&, double, const double*) override { model_.make_room_to_learn(); }
    std::size_t make_room_for_block(const Row*, const Lesson*, std::size_t n) override {
        inputs_.reserve(n * padded(model_.n_inputs()));
        model_.make_room_for_block(n);
        return n;
    }
    void learn_block(const Row* x, const Lesson* lessons, std::size_t n, std::size_t, double* raw) override {
        const std::size_t width = padded(model_.n_inputs());
        inputs_.assign(n * width, 0.0);
        for (std::size_t r = 0; r < n; ++r) with_constant(x[r], &inputs_[r * width]);
        model_.learn_block(inputs_.data(), lessons, n, raw);
    }
    void learn(const Row&, const Targets& targets, double importance, const double* raw) noexcept override {
        model_.learn(inputs_.data(), targets.value.data(), importance, raw);
    }
    void grow_labels(std::int32_t n) override { model_ = fresh(static_cast<std::size_t>(n)); }
    void grow_features(std::int64_t, bool) override {}  // they do not reach it
    void reset() noexcept override { model_.reset(); }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<StackScorer>(*this); }
    void fields(Fields& f) override {
        f.object(*this);
        f.part("", model_, model_.n_labels() + 1);
        f.memory(inputs_);
    }

  private:
    RecursiveLeastSquares fresh(std::size_t n_labels) const {
        return RecursiveLeastSquares(n_labels + 1, n_labels, ridge_);
    }
    static void with_constant(const Row& x, std::vector<double>& inputs) {
        inputs.resize(static_cast<std::size_t>(x.n_features) + 1);
        with_constant(x, inputs.data());
    }
    // Members that learned something score within a few units; a forged file may hold weights that score 1e17, whose
    // squares leave nothing of the covariance but rounding.
    static void with_constant(const Row& x, double* inputs) {
        constexpr double kLargestScore = 1e6;
        for (std::int64_t i = 0; i < x.n_features; ++i)
            inputs[i] = std::min(std::max(x.dense[i], -kLargestScore), kLargestScore);
        inputs[x.n_features] = 1.0;
    }

    double ridge_;
    RecursiveLeastSquares model_;
    std::vector<double> inputs_;
};

const RegisterScorer registered("stack", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    return std::make_unique<StackScorer>(s.n_labels, s.number("ridge"));
});

}  // namespace
}  // namespace boostline
