// TopkAdaptive: Ada.OLMR from top-k feedback. Costs are the gradient of the estimated logistic loss; the steps of the
// weights and the losses of Hedge are divided by the largest estimate that there can be.
#pragma once

#include "core/models/paper/ada_olmr.hpp"
#include "core/models/paper/topk_booster.hpp"

namespace boostline {

class TopkAdaptive final : public TopkBooster {
  public:
    TopkAdaptive(std::int32_t n_labels, std::int64_t n_features, Learners learners, std::uint64_t seed,
                 TopkFeedback feedback, Expert expert)
        : TopkBooster(n_labels, n_features, std::move(learners), seed, feedback), expert_(expert) {
        if (expert == Expert::weighted) throw std::invalid_argument("there is no mean of the experts here");
        learner_weights_.assign(static_cast<std::size_t>(n_votes_), 0.0);
        expert_log_weights_.assign(static_cast<std::size_t>(n_votes_), 0.0);
    }

    std::unique_ptr<Booster> clone(bool share_serial) const override {
        return detached(std::make_unique<TopkAdaptive>(*this), share_serial);
    }
    void save(Archive& out) const override {
        TopkBooster::save(out);
        out.add("expert_log_weights", expert_log_weights_);
    }
    void check() const override {
        TopkBooster::check();
        check_within(learner_weights_, -kWeightLimit, kWeightLimit, "", "learner_weights");
        check_within(expert_log_weights_, -static_cast<double>(clock_) * (1.0 + 1e-6), 0.0, "", "expert_log_weights");
    }
    std::int32_t followed(std::uint64_t t) const override {
        return choose_expert(expert_, expert_log_weights_, seed_, t, n_votes_);
    }

  protected:
    std::int32_t experts_needed(std::uint64_t t) const override { return followed(t); }
    void follow(const double*, const double* expert_scores, std::uint64_t t, double* scores, double*) const override {
        const auto k = static_cast<std::size_t>(n_labels_);
        std::copy_n(expert_scores + static_cast<std::size_t>(followed(t)) * k, k, scores);
    }
    void prepare(const Labels&) override {}

    // c^{i+1}: the gradient of the estimated logistic loss at s^i.
    void compute_costs(int i, const Labels& heard, PairScratch& scratch) override {
        begin_costs(i, heard, scratch);
        for (const Pair& pair : pairs()) {
            const double slope =
                pair.weight * sigmoid(scratch.irrelevant[pair.irrelevant] - scratch.relevant[pair.relevant]);
            scratch.relevant_sum[pair.relevant] += slope;
            scratch.irrelevant_sum[pair.irrelevant] += slope;
        }
        end_costs(i, heard, scratch);
    }

    void update(const Labels& heard, double t) noexcept override {
        const double weight = heard.importance, most = loss_limit();
        const double step = weight * kStep / (most * std::sqrt(t));
        for (std::int32_t i = 0; i < n_votes_; ++i) {
            const auto v = static_cast<std::size_t>(i);
            // as in Ada.OLMR
            const double* h = vote_row(i);
            const double slope = dot(cost_row(i + 1), h, static_cast<std::size_t>(n_labels_), h[0]);
            const double alpha = learner_weights_[v] - step * slope;
            learner_weights_[v] = std::max(-kWeightLimit, std::min(kWeightLimit, alpha));
            expert_log_weights_[v] -= weight * rank_losses_[v + 1] / most;
        }
    }
    void restore_own(const Booster& earlier) override {
        TopkBooster::restore_own(earlier);
        expert_log_weights_ = dynamic_cast<const TopkAdaptive&>(earlier).expert_log_weights_;
    }
    void load_own(const ArchiveView& in) override {
        TopkBooster::load_own(in);
        in.read("expert_log_weights", static_cast<std::size_t>(n_votes_), expert_log_weights_);
    }

  private:
    static constexpr double kWeightLimit = 2.0;        // F = [-2, 2], as in Ada.OLMR
    static constexpr double kStep = 2.82842712474619;  // 2 sqrt 2: the diameter of F over sqrt 2

    static double sigmoid(double d) {
        const double decay = exp_(-std::fabs(d));
        return (d >= 0.0 ? 1.0 : decay) / (1.0 + decay);
    }

    Expert expert_;
    std::vector<double> expert_log_weights_;
};

}  // namespace boostline
