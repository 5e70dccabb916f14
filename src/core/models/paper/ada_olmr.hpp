// Ada.OLMR (Algorithm 3): online gradient descent on the learners' weights, Hedge over the experts.
#pragma once

#include "core/base/math.hpp"
#include "core/base/philox.hpp"
#include "core/models/paper/booster.hpp"

namespace boostline {

// Which expert's scores are given: one drawn by its Hedge weight (the paper's), the Hedge-weighted mean of all, the
// one with the smallest loss so far, or the last.
enum class Expert { draw, weighted, best, last };

// How a learner's weight moves: by slope / sqrt(t), the paper's, or by 2 sqrt(2) slope / sqrt(sum of slope^2), which
// needs no bound on the slopes and has a regret that shrinks with them (docs/theory.md).
enum class Steps { paper, adagrad };

// i_t, counted from 1. A draw depends on (seed, t) alone, so that asking twice gives the same expert.
inline std::int32_t choose_expert(Expert expert, const std::vector<double>& log_weights, std::uint64_t seed,
                                  std::uint64_t t, std::int32_t last) {
    if (expert == Expert::last || expert == Expert::weighted) return last;
    const auto best = std::max_element(log_weights.begin(), log_weights.end());
    if (expert == Expert::best) return static_cast<std::int32_t>(best - log_weights.begin()) + 1;
    // A piece of the weights at a time; where there is one piece only, it is found once.
    constexpr std::size_t kPiece = 128;
    double weights[kPiece], total = 0.0, sum = 0.0;
    const std::size_t n = log_weights.size();
    const auto find = [&](std::size_t first) {
        const std::size_t size = std::min(kPiece, n - first);
        exp_differences(log_weights.data() + first, size, *best, weights);
        return size;
    };
    for (std::size_t first = 0; first < n; first += kPiece)
        for (std::size_t i = 0, size = find(first); i < size; ++i) total += weights[i];
    const double target = philox_uniform(seed, t) * total;
    for (std::size_t first = 0; first < n; first += kPiece) {
        const std::size_t size = n > kPiece ? find(first) : n;
        for (std::size_t i = 0; i < size; ++i) {
            sum += weights[i];
            if (sum > target) return static_cast<std::int32_t>(first + i) + 1;
        }
    }
    return static_cast<std::int32_t>(n);
}

class AdaOLMR final : public Booster {
  public:
    AdaOLMR(std::int32_t n_labels, std::int64_t n_features, Learners learners, std::uint64_t seed, Expert expert,
            Steps steps)
        : Booster(n_labels, n_features, std::move(learners), seed), expert_(expert), steps_(steps) {
        const auto n = static_cast<std::size_t>(n_votes_);
        learner_weights_.assign(n, 0.0);
        expert_log_weights_.assign(n, 0.0);
        if (steps_ == Steps::adagrad)
            for (auto* column : {&slope_squares_, &vote_spreads_, &spreads_now_}) column->assign(n, 0.0);
    }

    std::unique_ptr<Booster> clone(bool share_serial) const override {
        return detached(std::make_unique<AdaOLMR>(*this), share_serial);
    }
    const std::vector<double>& expert_log_weights() const { return expert_log_weights_; }

    void save(Archive& out) const override {
        Booster::save(out);
        out.add("expert_log_weights", expert_log_weights_);
        if (steps_ != Steps::adagrad) return;
        out.add("slope_squares", slope_squares_);
        out.add("vote_spreads", vote_spreads_);
    }
    void check() const override {
        Booster::check();
        check_within(learner_weights_, -kWeightLimit, kWeightLimit, "", "learner_weights");
        check_within(expert_log_weights_, -most_loss(), 0.0, "", "expert_log_weights");
        check_within(slope_squares_, 0.0, most_loss(), "", "slope_squares");
        check_within(vote_spreads_, 0.0, most_loss(), "", "vote_spreads");
    }

    std::int32_t followed(std::uint64_t t) const override {
        return choose_expert(expert_, expert_log_weights_, seed_, t, n_votes_);
    }

    std::vector<double> effective_weights() const override {
        if (expert_ != Expert::weighted) return Booster::effective_weights();
        // learner i is in all experts j >= i
        const double best = *std::max_element(expert_log_weights_.begin(), expert_log_weights_.end());
        std::vector<double> weights = learner_weights_;
        double mass = 0.0;
        for (std::size_t i = weights.size(); i-- > 0;) {
            mass += exp_(expert_log_weights_[i] - best);
            weights[i] *= mass;
        }
        for (double& w : weights) w /= mass;
        return weights;
    }

  protected:
    void load_own(const ArchiveView& in) override {
        Booster::load_own(in);
        in.read("expert_log_weights", static_cast<std::size_t>(n_votes_), expert_log_weights_);
        if (steps_ != Steps::adagrad) return;
        in.read("slope_squares", static_cast<std::size_t>(n_votes_), slope_squares_);
        in.read("vote_spreads", static_cast<std::size_t>(n_votes_), vote_spreads_);
    }

    void restore_own(const Booster& earlier) override {
        Booster::restore_own(earlier);
        const auto& other = dynamic_cast<const AdaOLMR&>(earlier);
        expert_log_weights_ = other.expert_log_weights_;
        slope_squares_ = other.slope_squares_;
        vote_spreads_ = other.vote_spreads_;
    }

    std::int32_t experts_needed(std::uint64_t t) const override { return followed(t); }

    void follow(const double*, const double* expert_scores, std::uint64_t t, double* scores,
                Calibration::Votes*) const override {
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
    bool make_own_room(const Example*, std::size_t) override { return true; }

    // c^{i+1}: the gradient of the pairwise logistic loss at s^i.
    void compute_costs(int i, const Labels& labels, PairScratch& scratch) override {
        split_scores(i, labels, scratch);
        const std::size_t n_relevant = scratch.relevant.size(), n_irrelevant = scratch.irrelevant.size();
        scratch.relevant_sum.resize(n_relevant);
        scratch.irrelevant_sum.assign(n_irrelevant, 0.0);
        scratch.e_relevant.resize(n_relevant);
        scratch.e_irrelevant.resize(n_irrelevant);
        const Range of_relevant = range_of(scratch.relevant.data(), n_relevant);
        const Range of_irrelevant = range_of(scratch.irrelevant.data(), n_irrelevant);
        const double low = std::min(of_relevant.low, of_irrelevant.low);
        const double high = std::max(of_relevant.high, of_irrelevant.high);
        // sigmoid(s[r] - s[l]) = e_r / (e_r + e_l) needs one exponential per label instead of one per pair, as long as
        // all of them are in range together.
        const bool shared = high - low < 600.0;
        if (shared) {
            const double middle = 0.5 * (low + high);
            exp_differences(scratch.relevant.data(), n_relevant, middle, scratch.e_relevant.data());
            exp_differences(scratch.irrelevant.data(), n_irrelevant, middle, scratch.e_irrelevant.data());
        }
        const double* h = steps_ == Steps::adagrad && i < n_votes_ ? vote_row(i) : nullptr;
        double spread = 0.0;
        for (std::size_t l = 0; l < n_relevant; ++l) {
            if (!shared)
                exp_differences(scratch.irrelevant.data(), n_irrelevant, scratch.relevant[l],
                                scratch.e_irrelevant.data());
            scratch.relevant_sum[l] = add_sigmoids(shared ? scratch.e_relevant[l] : 1.0, scratch.e_irrelevant.data(),
                                                   n_irrelevant, scratch.irrelevant_sum.data());
            if (h != nullptr)
                spread += vote_spread(h, h[labels.relevant[l]], shared ? scratch.e_relevant[l] : 1.0,
                                      scratch.e_irrelevant, labels);
        }
        if (h != nullptr) spreads_now_[static_cast<std::size_t>(i)] = labels.pair_weight() * spread;
        write_costs(i, labels, scratch);
    }

    void update(const Labels& labels, double t) noexcept override {
        const double weight = labels.importance, step = weight / std::sqrt(t);
        for (std::int32_t i = 0; i < n_votes_; ++i) {
            const auto v = static_cast<std::size_t>(i);
            // f'(alpha) = c^{i+1} . h^i. Costs sum to 0, so a constant may be taken from the votes: then a uniform vote
            // gives 0 and not 1e-17, whose sign would rank all labels in the next round.
            const double* h = vote_row(i);
            const double slope = centred_dot(cost_row(i + 1), h, static_cast<std::size_t>(n_labels_), h[0]);
            const double alpha =
                learner_weights_[v] - (steps_ == Steps::paper ? step * slope : adagrad(v, weight * slope));
            if (steps_ == Steps::adagrad) vote_spreads_[v] += weight * spreads_now_[v];
            learner_weights_[v] = std::max(-kWeightLimit, std::min(kWeightLimit, alpha));
            expert_log_weights_[v] -= weight * rank_losses_[v + 1];
        }
    }

  private:
    static constexpr double kWeightLimit = 2.0;  // F = [-2, 2] in Algorithm 3

    // The step of AdaGrad on an interval of the length 4.
    double adagrad(std::size_t v, double slope) noexcept {
        constexpr double kRate = 2.8284271247461903;  // 2 sqrt 2
        slope_squares_[v] += slope * slope;
        return slope_squares_[v] > 0.0 ? kRate * slope / std::sqrt(slope_squares_[v]) : 0.0;
    }

    // The sum over the irrelevant labels r of p (1 - p) (h[l] - h[r])^2, p = sigmoid(s[r] - s[l]).
    static double vote_spread(const double* h, double h_relevant, double e_relevant,
                              const std::vector<double>& e_irrelevant, const Labels& labels) {
        double sum = 0.0;
        for (std::size_t r = 0; r < e_irrelevant.size(); ++r) {
            const double difference = h_relevant - h[labels.irrelevant[r]];
            const double p = e_irrelevant[r] / (e_irrelevant[r] + e_relevant);
            sum += p * (1.0 - p) * difference * difference;
        }
        return sum;
    }

    Expert expert_;
    Steps steps_;
    std::vector<double> expert_log_weights_;  // log v
    // With AdaGrad: sums of f'^2; of p (1 - p) (h[l] - h[r])^2, p = sigmoid(s[r] - s[l]), over the pairs, and that of
    // the round at hand.
    std::vector<double> slope_squares_, vote_spreads_, spreads_now_;
};

}  // namespace boostline
