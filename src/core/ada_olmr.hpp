// Ada.OLMR (Algorithm 3): online gradient descent on the learners' weights, Hedge over the experts.
#pragma once

#include "booster.hpp"
#include "philox.hpp"

namespace boostline {

// Which expert's scores are given: one drawn by its Hedge weight (the paper's), the Hedge-weighted mean of all, the
// one with the smallest loss so far, or the last.
enum class Expert { draw, weighted, best, last };

class AdaOLMR final : public Booster {
  public:
    AdaOLMR(std::int32_t n_labels, std::int64_t n_features, Learners learners, std::uint64_t seed, Expert expert,
            double weight_limit)
        : Booster(n_labels, n_features, std::move(learners), seed), expert_(expert), weight_limit_(weight_limit) {
        learner_weights_.assign(static_cast<std::size_t>(n_votes_), 0.0);
        expert_log_weights_.assign(static_cast<std::size_t>(n_votes_), 0.0);
    }

    std::unique_ptr<Booster> clone(bool share_serial) const override {
        return detached(std::make_unique<AdaOLMR>(*this), share_serial);
    }
    const std::vector<double>& expert_log_weights() const { return expert_log_weights_; }

    void save(Archive& out) const override {
        Booster::save(out);
        out["expert_log_weights"] = expert_log_weights_;
    }
    void load(const ArchiveView& in) override {
        Booster::load(in);
        read(in, "expert_log_weights", static_cast<std::size_t>(n_votes_), expert_log_weights_);
    }

    // i_t: drawn by (seed, t), so that asking twice gives the same expert.
    std::int32_t followed(std::uint64_t t) const {
        const auto best = std::max_element(expert_log_weights_.begin(), expert_log_weights_.end());
        if (expert_ == Expert::last) return n_votes_;
        if (expert_ == Expert::best) return static_cast<std::int32_t>(best - expert_log_weights_.begin()) + 1;
        double total = 0.0;
        for (const double v : expert_log_weights_) total += exp_(v - *best);
        const double target = philox_uniform(seed_, t) * total;
        double sum = 0.0;
        for (std::size_t i = 0; i < expert_log_weights_.size(); ++i) {
            sum += exp_(expert_log_weights_[i] - *best);
            if (sum > target) return static_cast<std::int32_t>(i) + 1;
        }
        return n_votes_;
    }

  protected:
    void restore_own(const Booster& earlier) override {
        Booster::restore_own(earlier);
        expert_log_weights_ = dynamic_cast<const AdaOLMR&>(earlier).expert_log_weights_;
    }

    std::int32_t experts_needed(std::uint64_t t) const override {
        return expert_ == Expert::weighted ? n_votes_ : followed(t);
    }

    void follow(const double* expert_scores, std::uint64_t t, double* scores) const override {
        const auto k = static_cast<std::size_t>(n_labels_);
        if (expert_ != Expert::weighted) {
            const double* row = expert_scores + static_cast<std::size_t>(followed(t)) * k;
            std::copy(row, row + k, scores);
            return;
        }
        const double best = *std::max_element(expert_log_weights_.begin(), expert_log_weights_.end());
        double total = 0.0;
        std::fill(scores, scores + k, 0.0);
        for (std::size_t i = 0; i < expert_log_weights_.size(); ++i) {
            const double p = exp_(expert_log_weights_[i] - best);
            total += p;
            for (std::size_t j = 0; j < k; ++j) scores[j] += p * expert_scores[(i + 1) * k + j];
        }
        for (std::size_t j = 0; j < k; ++j) scores[j] /= total;
    }

    void prepare(const Labels&) override {}

    // c^{i+1}: the gradient of the pairwise logistic loss at s^i.
    void compute_costs(int i, const Labels& labels, PairScratch& scratch) override {
        scratch.split(expert_row(i), labels);
        const std::size_t n_relevant = scratch.relevant.size(), n_irrelevant = scratch.irrelevant.size();
        rank_losses_[static_cast<std::size_t>(i)] =
            labels.pair_weight() * count_inversions(scratch.relevant.data(), n_relevant, scratch.irrelevant.data(), n_irrelevant);
        scratch.relevant_sum.resize(n_relevant);
        scratch.irrelevant_sum.assign(n_irrelevant, 0.0);
        scratch.e_relevant.resize(n_relevant);
        scratch.e_irrelevant.resize(n_irrelevant);
        const auto [low_rel, high_rel] = std::minmax_element(scratch.relevant.begin(), scratch.relevant.end());
        const auto [low_irr, high_irr] = std::minmax_element(scratch.irrelevant.begin(), scratch.irrelevant.end());
        const double low = std::min(*low_rel, *low_irr), high = std::max(*high_rel, *high_irr);
        // sigmoid(s[r] - s[l]) = e_r / (e_r + e_l) needs one exponential per label instead of one per pair, as long as
        // all of them are in range together.
        const bool shared = high - low < 600.0;
        if (shared) {
            const double middle = 0.5 * (low + high);
            exp_differences(scratch.relevant.data(), n_relevant, middle, scratch.e_relevant.data());
            exp_differences(scratch.irrelevant.data(), n_irrelevant, middle, scratch.e_irrelevant.data());
        }
        for (std::size_t l = 0; l < n_relevant; ++l) {
            if (!shared)
                exp_differences(scratch.irrelevant.data(), n_irrelevant, scratch.relevant[l], scratch.e_irrelevant.data());
            scratch.relevant_sum[l] = add_sigmoids(shared ? scratch.e_relevant[l] : 1.0, scratch.e_irrelevant.data(),
                                                   n_irrelevant, scratch.irrelevant_sum.data());
        }
        write_costs(i, labels, scratch);
    }

    void update(const Labels&, double weight, double t) override {
        const double step = weight / std::sqrt(t);
        for (std::int32_t i = 0; i < n_votes_; ++i) {
            const auto v = static_cast<std::size_t>(i);
            // f'(alpha) = c^{i+1} . h^i. Costs sum to 0, so a constant may be taken from the votes: then a uniform vote
            // gives 0 and not 1e-17, whose sign would rank all labels in the next round.
            const double* c = cost_row(i + 1);
            const double* h = vote_row(i);
            double slope = 0.0;
            for (std::int32_t j = 0; j < n_labels_; ++j) slope += c[j] * (h[j] - h[0]);
            const double alpha = learner_weights_[v] - step * slope;
            learner_weights_[v] = std::max(-weight_limit_, std::min(weight_limit_, alpha));
            expert_log_weights_[v] -= weight * rank_losses_[v + 1];
        }
    }

  private:
    Expert expert_;
    double weight_limit_;
    std::vector<double> expert_log_weights_;  // log v
};

}  // namespace boostline
