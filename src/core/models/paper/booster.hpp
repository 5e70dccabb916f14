// Algorithm 1 of the paper, the online boosting schema: a booster and N weak learners. What OnlineBMR and Ada.OLMR
// do differently is in online_bmr.hpp and ada_olmr.hpp. Its rounds are in booster_rounds.cpp, blocks of rows in
// booster_blocks.cpp, and what is saved, restored and grown in booster_state.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "core/kernels/pairs.hpp"
#include "core/learners/learner_group.hpp"
#include "core/models/paper/pair_scratch.hpp"
#include "core/models/paper/record.hpp"
#include "core/models/ranker/along_ranking.hpp"
#include "core/models/ranker/calibration.hpp"

namespace boostline {

class Booster {
  public:
    using Learners = LearnerGroup::Learners;

    Booster(std::int32_t n_labels, std::int64_t n_features, Learners learners, std::uint64_t seed,
            bool scores_are_distribution = false, bool shares_costs = false)
        : n_labels_(n_labels),
          n_features_(n_features),
          seed_(seed),
          learners_(std::move(learners)),
          n_votes_(static_cast<std::int32_t>(learners_.n_votes())),
          record_(n_votes_, n_labels),
          shares_costs_(shares_costs),
          calibration_(n_labels, scores_are_distribution),
          along_(static_cast<std::size_t>(n_labels)) {
        resize_workspace();
    }
    virtual ~Booster() = default;

    std::int32_t n_labels() const { return n_labels_; }
    std::int64_t n_features() const { return n_features_; }
    std::int32_t n_votes() const { return n_votes_; }
    const Learners& learners() const { return learners_.all(); }

    // One round of Algorithm 1. Writes the scores from before the update and, on request, P(relevant) after them. If it
    // throws, no learner has changed, except those written in Python.
    void learn(const Row& x, const Labels& labels, double* scores, bool with_probabilities = false);

    // The same for the rows of a block, which learners take together where they can: row r writes to scores +
    // r * stride. If it throws, the rows before the one that failed have been learned.
    virtual void learn_block(Example* rows, std::size_t n, double* scores, std::size_t stride,
                             bool with_probabilities = false);

    // The scores of the expert that is followed at the present clock, of n rows: row r at scores + r * k. Changes
    // nothing.
    void score_block(const Row* x, std::size_t n, double* scores, Calibration::Votes* described = nullptr) const;

    // The same, each followed by what the scores say of P(relevant).
    void probabilities(const Row* x, std::size_t n, double* out) const;
    const Calibration& calibration() const { return calibration_; }

    // The votes of every learner for n rows, n_votes x k each: what `score` adds up.
    void votes(const Row* x, std::size_t n, double* out) const;
    // What they summed to before they were made shares, n_votes each, see Learner.
    void vote_sums(const Row* x, std::size_t n, double* out) const;

    virtual void grow_labels(std::int32_t n);

    virtual void grow_features(std::int64_t n, bool were_missing);

    // Whether probabilities are learned as well. Scores of rows that were learned before say nothing about new rows.
    virtual void learn_probabilities(bool learn) { calibrates_ = learn; }

    std::uint64_t clock() const { return clock_; }
    // The expert that is followed at time t, counted from 1.
    virtual std::int32_t followed(std::uint64_t) const { return n_votes_; }
    // What each vote adds to the scores at the present clock, n_votes x k.
    virtual void contributions(const double* votes, double* out) const {
        const std::vector<double> weights = effective_weights();
        const auto k = static_cast<std::size_t>(n_labels_);
        for (std::size_t i = 0; i < weights.size(); ++i)
            for (std::size_t j = 0; j < k; ++j) out[i * k + j] = weights[i] * votes[i * k + j];
    }
    // What each learner's vote counts in the scores at the present clock.
    virtual std::vector<double> effective_weights() const {
        std::vector<double> weights = learner_weights_;
        for (auto i = static_cast<std::size_t>(followed(clock_ + 1)); i < weights.size(); ++i) weights[i] = 0.0;
        return weights;
    }

    virtual void set_threads(int n) { learners_.set_threads(n); }
    // How many rows `learn_block` should get at once: with threads, it computes the votes of the next rows while it
    // learns the current ones.
    std::size_t n_rows_at_hand() const {
        constexpr std::size_t kMostAtHand = 4 * kMostTogether, kMostLabels = 1 << 20;
        const auto k = static_cast<std::size_t>(std::max(n_labels_, 1));
        if (learners_.n_threads() == 1 || learners_.use_costs()) return kMostTogether;
        return std::clamp(kMostLabels / k, kMostTogether, kMostAtHand);
    }

    // Caps for the votes of a learner.
    virtual void set_max_bytes(std::size_t learner, const std::vector<std::size_t>& of_votes) {
        learners_.all().at(learner)->set_max_bytes(of_votes);
    }
    virtual std::size_t memory_bytes() const;

    // With `share_serial` the learners written in Python are not copied: see restore.
    virtual std::unique_ptr<Booster> clone(bool share_serial) const = 0;

    // Goes back to an earlier clone of this booster, which is used up. Learners written in Python stay: whoever called
    // them undoes what they did.
    void restore(Booster& earlier) {
        learners_.swap_parallel(earlier.learners_);
        restore_own(earlier);
    }

    // The booster's own state, without its learners'.
    virtual void save(Archive& out) const;
    // Fills what `check` looks at, and checks it.
    void load(const ArchiveView& in) {
        load_own(in);
        check();
        after_load();
    }
    // As in Learner.
    virtual void check() const;

    // The last round, for tests and for looking inside. Votes end with their sums, see Learner.
    const std::vector<double>& last_votes() const { return votes_; }
    const std::vector<double>& last_expert_scores() const { return expert_scores_; }
    const std::vector<double>& last_costs() const { return costs_; }

  protected:
    Booster(const Booster&) = default;
    // A copy shares nothing with its original.
    static std::unique_ptr<Booster> detached(std::unique_ptr<Booster> copy, bool share_serial) {
        copy->learners_.detach(share_serial);
        return copy;
    }

    // What an algorithm supplies. Experts are numbered 1 .. N; expert_scores has s^0 .. s^N, if the algorithm looks at
    // sums of the first i votes at all.
    virtual bool has_prefixes() const { return true; }
    virtual std::int32_t experts_needed(std::uint64_t t) const = 0;
    // `described`, if asked for, describes the row by its votes.
    virtual void follow(const double* votes, const double* expert_scores, std::uint64_t t, double* scores,
                        Calibration::Votes* described) const = 0;
    // Whether learners that follow the labels get a row although it has no pair to rank.
    virtual bool learns_without_pairs(const Labels&) const { return false; }
    // Costs that are found for all learners at once, and the memory that `update` needs.
    virtual void prepare(const Labels& labels) = 0;
    // Whether nothing but memory can fail in a round; gets the memory that `prepare` needs for any of these rows.
    virtual bool make_own_room(const Example*, std::size_t) { return false; }
    // Raw costs c^{i+1} at s^i, and the rank loss of expert i, for 0 <= i <= N.
    virtual void compute_costs(int i, const Labels& labels, PairScratch& scratch) = 0;
    // How every compute_costs begins: the scores of expert i go into `scratch`, and its rank loss is noted.
    void split_scores(int i, const Labels& labels, PairScratch& scratch) {
        rank_losses_[static_cast<std::size_t>(i)] = scratch.rank_loss(expert_row(i), labels);
    }
    // t counts the examples, from 1.
    virtual void update(const Labels& labels, double t) noexcept = 0;
    // After every row, with a pair to rank or without; the clock counts it already.
    virtual void row_learned(const Labels&) noexcept {}
    // What an algorithm counts besides, before `update`.
    virtual void keep_own_record(const Labels&, double) noexcept {}

    virtual void restore_own(const Booster& earlier);

    // Goes back to the start: as new.
    void start_again();
    // Learners, weights and calibration change places; what has been counted stays.
    void exchange(Booster& other) noexcept;

    virtual void load_own(const ArchiveView& in);
    // Works out what follows from the state.
    virtual void after_load() {}

    // No expert loses more than 1 per example, except by rounding.
    double most_loss() const { return static_cast<double>(clock_) * (1.0 + 1e-6); }

    const double* votes_in_round() const { return votes_.data(); }
    double* expert_row(std::int32_t i) {
        return &expert_scores_[static_cast<std::size_t>(i) * static_cast<std::size_t>(n_labels_)];
    }
    double* cost_row(std::int32_t i) {
        return &costs_[shares_costs_ ? 0 : static_cast<std::size_t>(i) * static_cast<std::size_t>(n_labels_)];
    }
    double* vote_row(std::int32_t i) {
        return &votes_[static_cast<std::size_t>(i) * static_cast<std::size_t>(n_labels_)];
    }

    // Spreads sums over pairs to a cost vector: w_Y * sum for irrelevant labels, -w_Y * sum for relevant ones.
    void write_costs(int i, const Labels& labels, const PairScratch& scratch) {
        double* c = cost_row(i);
        const double pair_weight = labels.pair_weight();
        std::fill(c, c + n_labels_, 0.0);
        for (std::size_t l = 0; l < labels.relevant.size(); ++l)
            c[labels.relevant[l]] = -pair_weight * scratch.relevant_sum[l];
        for (std::size_t r = 0; r < labels.irrelevant.size(); ++r)
            c[labels.irrelevant[r]] = pair_weight * scratch.irrelevant_sum[r];
    }

    const Record& record() const { return record_; }

    std::int32_t n_labels_;
    std::int64_t n_features_;
    std::uint64_t seed_;
    LearnerGroup learners_;
    std::int32_t n_votes_;
    std::uint64_t clock_ = 0;              // examples learned so far
    std::vector<double> learner_weights_;  // alpha
    std::vector<double> rank_losses_;      // of experts 0 .. N in the round at hand
    std::vector<double> cost_widths_;      // largest less smallest cost of each learner in the round at hand

  private:
    void resize_workspace() {
        const auto n = static_cast<std::size_t>(n_votes_), k = static_cast<std::size_t>(n_labels_);
        votes_.assign(learners_.row_size(k), 0.0);
        expert_scores_.assign((n + 1) * k, 0.0);
        costs_.assign((shares_costs_ ? 1 : n + 1) * k, 0.0);
        rank_losses_.assign(n + 1, 0.0);
        cost_widths_.assign(n, 0.0);
        along_ = AlongRanking(k);
    }

    void accumulate() {
        add_votes(votes_.data(), learner_weights_.data(), static_cast<std::size_t>(n_votes_),
                  static_cast<std::size_t>(n_labels_), expert_scores_.data());
    }

    // take(r, votes and sums) for each of n rows.
    template <class Take>
    void for_votes(const Row* x, std::size_t n, Take&& take) const;
    std::size_t make_room_for_block(const Example* rows, std::size_t n_voted, std::size_t n);
    bool make_room_to_look(const Example* rows, std::size_t n_voted, std::size_t n);
    void look_at_block(const Example* rows, std::size_t n, double* scores, std::size_t stride,
                       bool with_probabilities) noexcept;
    void write_probabilities(const double* scores, const Calibration::Votes& described, AlongRanking& along,
                             double* out) const noexcept {
        std::copy_n(scores, n_labels_, out);
        calibration_.probabilities(out, described);
        along.apply(scores, out);
    }
    void score_piece(const Row* x, std::size_t n, double* scores, Calibration::Votes* described) const;
    void count_without_pairs(const Labels& labels, const double* scores) noexcept {
        if (calibrates_) calibration_.learn(scores, described_, labels);
        record_.add_row_without_pairs();
        clock_ += 1;
        row_learned(labels);
    }

    void gather_votes(const Row& x);

    void find_costs(const Labels& labels);

    // All learners take the row, or none does. Costs go to them normalised to [0, 1], with weight = max - min times the
    // example's importance.
    void teach(const Row& x, const Labels& labels);

    // `loss` is the rank loss of the scores that were given.
    void finish_round(const Labels& labels, double loss) noexcept;

    std::vector<double> votes_, expert_scores_, costs_;  // h^1.. and their sums, s^0.., c^1.. of the round at hand
    std::vector<double> block_votes_, next_votes_;       // h^1.. of every row of the block at hand, and of the next
    Record record_;
    bool shares_costs_;  // all votes have the same costs, which are held once
    Calibration calibration_;
    Calibration::Votes described_;  // of the row that is being learned
    AlongRanking along_;
    bool calibrates_ = true;
    std::vector<PairScratch> scratch_;
};

}  // namespace boostline
