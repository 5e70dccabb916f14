// Scorers that learn from the scores of other members of a committee instead of the features: their row is the sum of the
// members' scores, one feature per label.
#pragma once

#include "least_squares.hpp"
#include "nearest_memory.hpp"
#include "scorer.hpp"

namespace boostline {

// Both start anew when labels are added: what they learned is about score vectors of another length. Features do not
// reach them.
class ScoreReader : public Scorer {
  public:
    void grow_features(std::int64_t, bool) override {}
};

// The nearest of the last rows, where near means that the members gave similar scores: a metric that knows of the labels.
class OutputNeighboursScorer final : public ScoreReader {
  public:
    OutputNeighboursScorer(std::int32_t n_labels, std::size_t n_neighbours, std::size_t memory)
        : n_neighbours_(n_neighbours), memory_(memory), nearest_(fresh(static_cast<std::size_t>(n_labels))) {}

    std::string kind() const override { return "output_neighbours"; }
    Vote vote() const override { return Vote::proportional; }
    void score(const Row& x, double* raw) const override { nearest_.score(x.dense, raw); }
    void learn(const Row& x, const Targets& targets, double importance, const double*) override {
        nearest_.add(x.dense, targets.value.data(), importance);
    }
    void grow_labels(std::int32_t n) override { nearest_ = fresh(static_cast<std::size_t>(n)); }
    void reset() override { nearest_.clear(); }
    std::size_t memory_bytes() const override { return sizeof(*this) + nearest_.memory_bytes(); }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<OutputNeighboursScorer>(*this); }
    void save(Archive& out, const std::string& prefix) const override { nearest_.save(out, prefix); }
    void load(const ArchiveView& in, const std::string& prefix) override { nearest_.load(in, prefix); }
    void check(const std::string& prefix) const override { nearest_.check(prefix); }

  private:
    NearestMemory fresh(std::size_t n_labels) const { return NearestMemory(n_labels, n_labels, n_neighbours_, memory_); }

    std::size_t n_neighbours_, memory_;
    NearestMemory nearest_;
};

// Least squares on the members' scores of all labels: it knows which labels go together (stacking).
class StackScorer final : public ScoreReader {
  public:
    StackScorer(std::int32_t n_labels, double ridge) : ridge_(ridge), model_(fresh(static_cast<std::size_t>(n_labels))) {}

    std::string kind() const override { return "stack"; }
    Vote vote() const override { return Vote::soft_clip; }
    void score(const Row& x, double* raw) const override {
        static thread_local std::vector<double> inputs;
        with_constant(x, inputs);
        model_.score(inputs.data(), raw);
    }
    void learn(const Row& x, const Targets& targets, double importance, const double* raw) override {
        with_constant(x, inputs_);
        model_.learn(inputs_.data(), targets.value.data(), importance, raw);
    }
    void grow_labels(std::int32_t n) override { model_ = fresh(static_cast<std::size_t>(n)); }
    void reset() override { model_ = fresh(model_.n_labels()); }
    std::size_t memory_bytes() const override {
        return sizeof(*this) + model_.memory_bytes() + inputs_.capacity() * sizeof(double);
    }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<StackScorer>(*this); }
    void save(Archive& out, const std::string& prefix) const override { model_.save(out, prefix); }
    void load(const ArchiveView& in, const std::string& prefix) override { model_.load(in, prefix, model_.n_labels() + 1); }
    void check(const std::string& prefix) const override { model_.check(prefix); }

  private:
    RecursiveLeastSquares fresh(std::size_t n_labels) const { return RecursiveLeastSquares(n_labels + 1, n_labels, ridge_); }
    static void with_constant(const Row& x, std::vector<double>& inputs) {
        inputs.assign(x.dense, x.dense + x.n_features);
        inputs.push_back(1.0);
    }

    double ridge_;
    RecursiveLeastSquares model_;
    std::vector<double> inputs_;
};

}  // namespace boostline
