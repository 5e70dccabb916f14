// The recommended booster: for few and strong learners of every kind. The paper's weights live in [-2, 2] and start at
// 0, which suits a hundred weak trees; strong learners want large weights of unlike size at once. Here the votes are
// mixed, s = sum of w_i h_i with w on the simplex, and the costs are taken at log s: the pairwise logistic loss then
// does not depend on the scale of s. Three chains differ in how steep that loss is (temperature); their prefixes are
// the experts, and the scores are the mean of all of them by their Hedge weights.
#pragma once

#include "core/booster.hpp"
#include "core/math.hpp"

namespace boostline {

class LabelRanker final : public Booster {
  public:
    // The prior is where the weights start, one per vote, in proportion.
    LabelRanker(std::int32_t n_labels, std::int64_t n_features, Learners learners, std::uint64_t seed,
                std::vector<double> prior)
        : Booster(n_labels, n_features, std::move(learners), seed), prior_(std::move(prior)) {
        if (prior_.size() != static_cast<std::size_t>(n_votes_))
            throw std::invalid_argument("the prior needs one weight per vote");
        double total = 0.0;
        for (const double p : prior_) total += p;
        for (double& p : prior_) p /= total;
        for (auto* column : {&learner_weights_, &mixed_weights_}) column->resize(prior_.size());
        for (auto* column : {&chain_weights_, &expert_log_weights_}) column->resize(kChains * prior_.size());
        restart_weights();
    }

    std::unique_ptr<Booster> clone(bool share_serial) const override {
        return detached(std::make_unique<LabelRanker>(*this), share_serial);
    }

    void save(Archive& out) const override {
        Booster::save(out);
        out.add("chain_weights", chain_weights_);
        out.add("expert_log_weights", expert_log_weights_);
    }
    void check() const override {
        constexpr double kRounding = 1e-6;
        Booster::check();
        check_within(expert_log_weights_, -most_loss(), 0.0, "", "expert_log_weights");
        check_within(chain_weights_, 0.0, 1.0 + kRounding, "", "chain_weights");
        for (std::int32_t c = 0; c < kChains; ++c) {
            double total = 0.0;
            for (std::int32_t i = 0; i < n_votes_; ++i) total += chain(c)[i];
            check_within(total, 1.0 - kRounding, 1.0 + kRounding, "", "chain_weights");
        }
    }

    // What each learner adds to the score per unit of vote.
    std::vector<double> effective_weights() const override { return mixed_weights_; }

  protected:
    void load_own(const ArchiveView& in) override {
        Booster::load_own(in);
        const auto n = static_cast<std::size_t>(kChains * n_votes_);
        in.read("chain_weights", n, chain_weights_);
        in.read("expert_log_weights", n, expert_log_weights_);
    }
    void after_load() override { use_chains(); }

    std::int32_t experts_needed(std::uint64_t) const override { return n_votes_; }

    void follow(const double* votes, const double*, std::uint64_t, double* scores) const override {
        const auto k = static_cast<std::size_t>(n_labels_);
        std::fill(scores, scores + k, 0.0);
        for (std::size_t i = 0; i < mixed_weights_.size(); ++i)
            for (std::size_t j = 0; j < k; ++j) scores[j] += mixed_weights_[i] * votes[i * k + j];
    }

    void prepare(const Labels& labels) override {
        for (auto* column : {&mixed_, &powers_, &slope_}) column->reserve(static_cast<std::size_t>(n_labels_));
        pairs_.reserve(labels);
    }

    // c^{i+1}: the gradient of the pairwise logistic loss at log s^i of the first chain.
    void compute_costs(int i, const Labels& labels, PairScratch& scratch) override {
        split_scores(i, labels, scratch);
        for (double& s : scratch.relevant) s += kLeastScore;
        for (double& s : scratch.irrelevant) s += kLeastScore;
        pair_sigmoids(scratch.relevant, scratch.irrelevant, scratch);
        write_costs(i, labels, scratch);
    }

    void update(const Labels& labels, double) noexcept override {
        for (std::int32_t c = 0; c < kChains; ++c) {
            lose(c, labels);
            move(c, labels);
        }
        use_chains();
    }

    void restart_weights() noexcept override {
        chain_weights_.clear();
        for (std::int32_t c = 0; c < kChains; ++c)
            chain_weights_.insert(chain_weights_.end(), prior_.begin(), prior_.end());
        expert_log_weights_.assign(chain_weights_.size(), 0.0);
        use_chains();
    }
    void restore_own(const Booster& earlier) override {
        Booster::restore_own(earlier);
        chain_weights_ = dynamic_cast<const LabelRanker&>(earlier).chain_weights_;
        expert_log_weights_ = dynamic_cast<const LabelRanker&>(earlier).expert_log_weights_;
        use_chains();
    }

  private:
    static constexpr std::int32_t kChains = 3;
    static constexpr double kTemperatures[kChains] = {1.0, 2.0, 4.0};
    static constexpr double kLeastScore = 1e-9;  // so that log s is finite
    static constexpr double kRate = 0.3;         // of the multiplicative update
    static constexpr double kShare = 1e-4;       // fixed share: no weight is lost for good

    const double* chain(std::int32_t c) const { return &chain_weights_[static_cast<std::size_t>(c * n_votes_)]; }

    // sigmoid(log a_r - log a_l) = a_r / (a_r + a_l), summed over pairs.
    static void pair_sigmoids(const std::vector<double>& relevant, const std::vector<double>& irrelevant,
                              PairScratch& scratch) {
        scratch.relevant_sum.resize(relevant.size());
        scratch.irrelevant_sum.assign(irrelevant.size(), 0.0);
        for (std::size_t l = 0; l < relevant.size(); ++l)
            scratch.relevant_sum[l] =
                add_sigmoids(relevant[l], irrelevant.data(), irrelevant.size(), scratch.irrelevant_sum.data());
    }

    // Hedge over the prefixes of a chain; leaves the whole chain's scores in mixed_.
    void lose(std::int32_t c, const Labels& labels) {
        const auto k = static_cast<std::size_t>(n_labels_);
        mixed_.assign(k, 0.0);
        for (std::int32_t i = 0; i < n_votes_; ++i) {
            const double w = chain(c)[i];
            const double* h = vote_row(i);
            for (std::size_t j = 0; j < k; ++j) mixed_[j] += w * h[j];
            pairs_.split(mixed_.data(), labels);
            expert_log_weights_[static_cast<std::size_t>(c * n_votes_ + i)] -=
                labels.importance * labels.pair_weight() *
                count_inversions(pairs_.relevant.data(), pairs_.relevant.size(), pairs_.irrelevant.data(),
                                 pairs_.irrelevant.size());
        }
    }

    // Multiplicative step on the weights of a chain, against the gradient at temperature * log s. Weights that sum to 1
    // stay so: the gradient has no part along the weights, because the loss does not depend on the scale of s.
    void move(std::int32_t c, const Labels& labels) {
        const auto k = static_cast<std::size_t>(n_labels_);
        for (double& s : mixed_) s += kLeastScore;
        powers_.resize(k);
        for (std::size_t j = 0; j < k; ++j) powers_[j] = exp_(kTemperatures[c] * log_(mixed_[j]));
        pairs_.split(powers_.data(), labels);
        pair_sigmoids(pairs_.relevant, pairs_.irrelevant, pairs_);
        slope_.assign(k, 0.0);
        const double pair_weight = labels.pair_weight();
        for (std::size_t l = 0; l < labels.relevant.size(); ++l) {
            const auto j = static_cast<std::size_t>(labels.relevant[l]);
            slope_[j] = -pair_weight * pairs_.relevant_sum[l] / mixed_[j];
        }
        for (std::size_t r = 0; r < labels.irrelevant.size(); ++r) {
            const auto j = static_cast<std::size_t>(labels.irrelevant[r]);
            slope_[j] = pair_weight * pairs_.irrelevant_sum[r] / mixed_[j];
        }
        double* w = &chain_weights_[static_cast<std::size_t>(c * n_votes_)];
        double total = 0.0;
        for (std::int32_t i = 0; i < n_votes_; ++i) {
            const double step = kRate * labels.importance * dot_labels(slope_.data(), vote_row(i));
            w[i] *= step > 0.0 ? 1.0 / (1.0 + step) : 1.0 - step;
            total += w[i];
        }
        for (std::int32_t i = 0; i < n_votes_; ++i)
            w[i] = (1.0 - kShare) * (w[i] / total) + kShare * prior_[static_cast<std::size_t>(i)];
    }

    // The first chain gives the prefixes of Algorithm 1; the Hedge mean of all normalised experts is linear in the
    // votes.
    void use_chains() {
        learner_weights_.assign(chain(0), chain(0) + n_votes_);
        mixed_weights_.assign(static_cast<std::size_t>(n_votes_), 0.0);
        const double best = *std::max_element(expert_log_weights_.begin(), expert_log_weights_.end());
        double total = 0.0;
        for (std::int32_t c = 0; c < kChains; ++c) {
            // sums from the last expert back: learner i is in all experts j >= i
            double mass = 0.0;
            double prefix = 0.0;
            for (std::int32_t i = 0; i < n_votes_; ++i) prefix += chain(c)[i];
            for (std::int32_t i = n_votes_ - 1; i >= 0; --i) {
                const double p = exp_(expert_log_weights_[static_cast<std::size_t>(c * n_votes_ + i)] - best);
                total += p;
                mass += p / (prefix + kLeastScore);
                mixed_weights_[static_cast<std::size_t>(i)] += mass * chain(c)[i];
                prefix -= chain(c)[i];
            }
        }
        for (double& w : mixed_weights_) w /= total;
    }

    std::vector<double> prior_;
    std::vector<double> chain_weights_;       // kChains x N, each row on the simplex
    std::vector<double> expert_log_weights_;  // kChains x N
    std::vector<double> mixed_weights_;       // derived
    std::vector<double> mixed_, powers_, slope_;
    PairScratch pairs_;
};

}  // namespace boostline
