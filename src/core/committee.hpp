// Several scorers that build upon each other, one vote each: kernel, linear, ridge and neighbours on the features;
// neighbours in the space of the kernel's scores; least squares on the sum of the scores, which knows which labels go
// together (stacking). Each member's scores are computed once and used by all that need them.
#pragma once

#include <optional>

#include "kernel_scorer.hpp"
#include "linear_scorer.hpp"
#include "neighbours_scorer.hpp"
#include "ridge_scorer.hpp"

namespace boostline {

struct CommitteeSettings {
    std::vector<std::string> parts;
    std::uint64_t seed = 0;
    std::size_t n_landmarks = 1000;
    double kernel_ridge = 0.3;
    std::size_t n_replays = 16;
    std::size_t memory = 4000;
    double learning_rate = 0.3;
    double ridge = 3.0;
    std::size_t n_neighbours = 40;
    std::int64_t few_features = 512;  // ridge and neighbours look at no more

    bool has(const char* part) const { return std::find(parts.begin(), parts.end(), part) != parts.end(); }
};

class Committee final : public Learner {
  public:
    Committee(std::int32_t n_labels, std::int64_t n_features, CommitteeSettings settings)
        : settings_(std::move(settings)), n_labels_(static_cast<std::size_t>(n_labels)), n_features_(n_features) {
        make_scorers();
        make_upper();
    }
    Committee(const Committee& other)
        : settings_(other.settings_),
          n_labels_(other.n_labels_),
          n_features_(other.n_features_),
          stacked_(other.stacked_),
          for_few_(other.for_few_),
          nearest_(other.nearest_),
          stack_(other.stack_),
          raw_(other.raw_) {
        for (const auto& scorer : other.scorers_) scorers_.push_back(scorer->clone());
    }

    std::string kind() const override { return "committee"; }
    std::int32_t n_votes() const override { return static_cast<std::int32_t>(settings_.parts.size()); }
    std::unique_ptr<Learner> clone() const override { return std::make_unique<Committee>(*this); }

    void predict(const Row& x, double* votes) const override {
        std::vector<double> raw(settings_.parts.size() * n_labels_);
        for (std::size_t i = 0; i < scorers_.size(); ++i) scorers_[i]->score(x, &raw[i * n_labels_]);
        std::vector<double> input;
        finish(raw, input, votes);
    }
    void predict_to_learn(const Row& x, double* votes) override {
        raw_.resize(settings_.parts.size() * n_labels_);
        for (std::size_t i = 0; i < scorers_.size(); ++i) scorers_[i]->score_to_learn(x, &raw_[i * n_labels_]);
        finish(raw_, stack_input_, votes);
    }

    void learn(const Row& x, const Labels& labels, const double*, const double*) override {
        if (!(labels.importance > 0.0)) return;
        targets_.assign(labels);
        for (std::size_t i = 0; i < scorers_.size(); ++i)
            scorers_[i]->learn(x, targets_, labels.importance, &raw_[i * n_labels_]);
        if (nearest_) nearest_->add(&raw_[0], targets_.value.data(), labels.importance);
        if (stack_) stack_->learn(stack_input_.data(), targets_.value.data(), labels.importance, &raw_[(n_parts() - 1) * n_labels_]);
    }

    // The members above start anew: what they learned is about score vectors of another length.
    void grow_labels(std::int32_t n) override {
        for (const auto& scorer : scorers_) scorer->grow_labels(n);
        n_labels_ = static_cast<std::size_t>(n);
        make_upper();
    }
    void grow_features(std::int64_t n, bool were_missing) override {
        const std::int64_t before = few_features(), few = std::min(n, settings_.few_features);
        for (std::size_t i = 0; i < scorers_.size(); ++i) {
            if (!for_few_[i]) scorers_[i]->grow_features(n, were_missing);
            else if (few > before) scorers_[i]->grow_features(few, were_missing);
        }
        n_features_ = n;
    }
    void reset() override {
        for (const auto& scorer : scorers_) scorer->reset();
        make_upper();
    }

    std::size_t memory_bytes() const override {
        std::size_t total = sizeof(*this) + (raw_.capacity() + stack_input_.capacity()) * sizeof(double);
        for (const auto& scorer : scorers_) total += scorer->memory_bytes();
        if (nearest_) total += nearest_->memory_bytes();
        if (stack_) total += stack_->memory_bytes();
        return total;
    }

    void save(Archive& out) const override {
        for (std::size_t i = 0; i < scorers_.size(); ++i) scorers_[i]->save(out, settings_.parts[i] + ".");
        if (nearest_) nearest_->save(out, "output_neighbours.");
        if (stack_) stack_->save(out, "stack.");
    }
    void load(const ArchiveView& in) override {
        for (std::size_t i = 0; i < scorers_.size(); ++i) scorers_[i]->load(in, settings_.parts[i] + ".");
        if (nearest_) nearest_->load(in, "output_neighbours.");
        if (stack_) stack_->load(in, "stack.", n_labels_ + 1);
    }
    void check() const override {
        for (std::size_t i = 0; i < scorers_.size(); ++i) scorers_[i]->check(settings_.parts[i] + ".");
        if (nearest_) nearest_->check("output_neighbours.");
        if (stack_) stack_->check("stack.");
    }

  private:
    std::size_t n_parts() const { return settings_.parts.size(); }
    std::int64_t few_features() const { return std::min(n_features_, settings_.few_features); }

    void make_scorers() {
        const auto k = static_cast<std::int32_t>(n_labels_);
        const CommitteeSettings& s = settings_;
        const auto add = [&](std::unique_ptr<Scorer> scorer, bool is_stacked, bool for_few) {
            scorers_.push_back(std::move(scorer));
            stacked_.push_back(is_stacked);
            for_few_.push_back(for_few);
        };
        if (s.has("kernel")) add(std::make_unique<KernelScorer>(k, n_features_, s.n_landmarks, s.kernel_ridge), true, false);
        if (s.has("linear"))
            add(std::make_unique<LinearScorer>(k, n_features_, s.seed, s.n_replays, s.memory, s.learning_rate, 0), true, false);
        if (s.has("ridge")) add(std::make_unique<RidgeScorer>(k, few_features(), s.ridge), true, true);
        if (s.has("neighbours"))
            add(std::make_unique<NeighboursScorer>(k, few_features(), s.n_neighbours, s.memory), false, true);
    }
    void make_upper() {
        nearest_.reset();
        stack_.reset();
        if (settings_.has("output_neighbours")) nearest_.emplace(n_labels_, n_labels_, settings_.n_neighbours, settings_.memory);
        if (settings_.has("stack")) stack_.emplace(n_labels_ + 1, n_labels_, settings_.ridge);
        raw_.assign(n_parts() * n_labels_, 0.0);
    }

    // The scores of the members above, from those of the members below; then everybody's votes.
    void finish(std::vector<double>& raw, std::vector<double>& input, double* votes) const {
        std::size_t next = scorers_.size();
        if (nearest_) nearest_->score(&raw[0], &raw[next++ * n_labels_]);
        if (stack_) {
            input.assign(n_labels_ + 1, 0.0);
            for (std::size_t i = 0; i < scorers_.size(); ++i)
                for (std::size_t j = 0; stacked_[i] && j < n_labels_; ++j) input[j] += raw[i * n_labels_ + j];
            input[n_labels_] = 1.0;
            stack_->score(input.data(), &raw[next * n_labels_]);
        }
        for (std::size_t i = 0; i < n_parts(); ++i) {
            const bool is_stack = stack_ && i + 1 == n_parts();
            const Vote vote = i < scorers_.size() ? scorers_[i]->vote() : is_stack ? Vote::soft_clip : Vote::proportional;
            make_votes(vote, &raw[i * n_labels_], n_labels_, votes + i * n_labels_);
        }
    }

    CommitteeSettings settings_;
    std::size_t n_labels_;
    std::int64_t n_features_;
    std::vector<std::unique_ptr<Scorer>> scorers_;
    std::vector<bool> stacked_;  // whether a scorer's scores go into the stack
    std::vector<bool> for_few_;  // whether a scorer's cost bears few features only
    std::optional<NearestMemory> nearest_;
    std::optional<RecursiveLeastSquares> stack_;
    std::vector<double> raw_, stack_input_;  // of the row at hand, parts x labels
    Targets targets_;
};

}  // namespace boostline
