// Algorithm 1 of the paper, the online boosting schema: a booster and N weak learners. What OnlineBMR and Ada.OLMR
// do differently is in online_bmr.hpp and ada_olmr.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "core/drift_alarm.hpp"
#include "core/kernels/pairs.hpp"
#include "core/kernels/sums.hpp"
#include "core/learner.hpp"
#include "core/thread_pool.hpp"

namespace boostline {

// The scores of one expert, split into relevant and irrelevant labels, and room for sums over pairs.
struct PairScratch {
    std::vector<double> relevant, irrelevant, relevant_sum, irrelevant_sum, e_relevant, e_irrelevant, costs, weights;

    void reserve(const Labels& labels) {
        for (auto* column : {&relevant, &relevant_sum}) column->reserve(labels.relevant.size());
        for (auto* column : {&irrelevant, &irrelevant_sum}) column->reserve(labels.irrelevant.size());
    }
    void split(const double* scores, const Labels& labels) {
        relevant.resize(labels.relevant.size());
        irrelevant.resize(labels.irrelevant.size());
        for (std::size_t i = 0; i < relevant.size(); ++i) relevant[i] = scores[labels.relevant[i]];
        for (std::size_t i = 0; i < irrelevant.size(); ++i) irrelevant[i] = scores[labels.irrelevant[i]];
    }
};

// Sums that say how well each learner does; the theory is stated in terms of them.
struct LearnerRecord {
    std::vector<double> edge_numerator;    // sum of w (mean cost - c . h)
    std::vector<double> edge_denominator;  // sum of w (|Y| mean cost - sum over Y of c): ||w^i||_1 for Ada.OLMR
    std::vector<double> largest_weight;    // w^{i*}: largest max - min of a raw cost vector
    std::vector<double> expert_loss;       // M_i: cumulative rank loss of expert i

    void resize(std::size_t n) {
        for (auto* column : {&edge_numerator, &edge_denominator, &largest_weight, &expert_loss}) column->resize(n, 0.0);
    }
};

class Booster {
  public:
    using Learners = std::vector<std::shared_ptr<Learner>>;

    Booster(std::int32_t n_labels, std::int64_t n_features, Learners learners, std::uint64_t seed)
        : n_labels_(n_labels), n_features_(n_features), seed_(seed), learners_(std::move(learners)) {
        for (const auto& learner : learners_) {
            first_vote_.push_back(n_votes_);
            n_votes_ += learner->n_votes();
            const int i = static_cast<int>(first_vote_.size()) - 1;
            (learner->is_serial() ? serial_ : parallel_).push_back(i);
            (learner->works_in_commit() ? slow_to_commit_ : quick_to_commit_).push_back(i);
        }
        record_.resize(static_cast<std::size_t>(n_votes_));
        set_sizes_.assign(static_cast<std::size_t>(n_labels_) + 1, 0);
        resize_workspace();
    }
    virtual ~Booster() = default;

    std::int32_t n_labels() const { return n_labels_; }
    std::int64_t n_features() const { return n_features_; }
    std::int32_t n_votes() const { return n_votes_; }
    const Learners& learners() const { return learners_; }

    // One round of Algorithm 1. Writes the scores given before learning. If it throws, nothing has been learned, but by
    // learners written in Python.
    void learn(const Row& x, const Labels& labels, double* scores) {
        gather_votes(x);                                                   // line 4
        accumulate();                                                      // line 5
        follow(votes_.data(), expert_scores_.data(), clock_ + 1, scores);  // lines 6 and 7
        if (labels.has_pairs()) {                                          // line 8: the true labels
            prepare(labels);
            pool().run(n_votes_ + 1, 4, [&](int i, int thread) { compute_costs(i, labels, scratch_[thread]); });
            const double loss = rank_loss(scores, labels, scratch_[0]);
            teach(x, labels);  // lines 10 to 12
            finish_round(labels, loss);
        } else {
            rows_without_pairs_ += 1;
            clock_ += 1;
            row_learned(labels);
        }
    }

    // The scores of the expert that is followed at the present clock. Changes nothing.
    void score(const Row& x, double* scores) const {
        const std::int32_t needed = experts_needed(clock_ + 1);
        const auto k = static_cast<std::size_t>(n_labels_);
        std::vector<double> votes(static_cast<std::size_t>(n_votes_) * k);
        std::vector<double> all((static_cast<std::size_t>(needed) + 1) * k, 0.0);
        for (std::size_t i = 0; i < learners_.size() && first_vote_[i] < needed; ++i)
            learners_[i]->predict(x, &votes[static_cast<std::size_t>(first_vote_[i]) * k]);
        for (std::int32_t i = 0; i < needed; ++i) add_vote(i, &votes[static_cast<std::size_t>(i) * k], all.data());
        follow(votes.data(), all.data(), clock_ + 1, scores);
    }

    // The votes of every learner, n_votes x k: what `score` adds up.
    void votes(const Row& x, double* out) const {
        for (std::size_t i = 0; i < learners_.size(); ++i)
            learners_[i]->predict(x,
                                  out + static_cast<std::size_t>(first_vote_[i]) * static_cast<std::size_t>(n_labels_));
    }

    void grow_labels(std::int32_t n) {
        n_labels_ = n;
        for (const auto& learner : learners_) learner->grow_labels(n);
        set_sizes_.resize(static_cast<std::size_t>(n) + 1, 0);
        resize_workspace();
    }

    void grow_features(std::int64_t n, bool were_missing) {
        n_features_ = n;
        for (const auto& learner : learners_) learner->grow_features(n, were_missing);
    }

    // Whether to start anew when the loss has risen for good.
    void watch_drift(bool watch) { watches_drift_ = watch; }

    std::uint64_t clock() const { return clock_; }
    // The expert that is followed at time t, counted from 1.
    virtual std::int32_t followed(std::uint64_t) const { return n_votes_; }
    // What each learner's vote counts in the scores at the present clock.
    virtual std::vector<double> effective_weights() const {
        std::vector<double> weights = learner_weights_;
        for (auto i = static_cast<std::size_t>(followed(clock_ + 1)); i < weights.size(); ++i) weights[i] = 0.0;
        return weights;
    }

    void set_threads(int n) { n_threads_ = n; }
    int n_threads() const { return n_threads_; }

    std::size_t memory_bytes() const {
        std::size_t total = own_bytes();
        for (const auto& learner : learners_) total += learner->memory_bytes();
        return total;
    }

    // With `share_serial` the learners written in Python are not copied: see restore.
    virtual std::unique_ptr<Booster> clone(bool share_serial) const = 0;

    // Goes back to an earlier clone of this booster, which is used up. Learners written in Python stay: whoever called
    // them undoes what they did.
    void restore(Booster& earlier) {
        for (const int i : parallel_)
            std::swap(learners_[static_cast<std::size_t>(i)], earlier.learners_[static_cast<std::size_t>(i)]);
        restore_own(earlier);
    }

    // The booster's own state, without its learners'.
    virtual void save(Archive& out) const {
        out.add("clock", std::vector<std::int64_t>{static_cast<std::int64_t>(clock_)});
        out.add("rows_without_pairs", std::vector<std::int64_t>{rows_without_pairs_});
        out.add("label_set_sizes", set_sizes_);
        out.add("suffered_loss", std::vector<double>{suffered_loss_});
        out.add("learner_weights", learner_weights_);
        out.add("edge_numerator", record_.edge_numerator);
        out.add("edge_denominator", record_.edge_denominator);
        out.add("largest_weight", record_.largest_weight);
        out.add("expert_loss", record_.expert_loss);
        out.add("restarts", std::vector<std::int64_t>{n_restarts_, static_cast<std::int64_t>(restarted_at_)});
        out.add("drift_alarm", alarm_.values());
    }
    // Fills what `check` looks at, and checks it.
    void load(const ArchiveView& in) {
        load_own(in);
        check();
        after_load();
    }
    // As in Learner.
    virtual void check() const {
        // Every example has a pair to rank or none, so the counts add up to the clock; none can run over later.
        constexpr auto kMost = static_cast<std::int64_t>(kMostRows);
        std::int64_t counted = 0;
        const auto count = [&](std::int64_t n, const char* name) {
            require(n >= 0 && n <= kMost && (counted += n) <= kMost, "", name);
        };
        count(rows_without_pairs_, "rows_without_pairs");
        for (const std::int64_t n : set_sizes_) count(n, "label_set_sizes");
        if (static_cast<std::uint64_t>(counted) != clock_)
            throw std::invalid_argument("the array 'clock' does not fit to the counts of examples");
        require(n_restarts_ >= 0 && n_restarts_ <= counted && restarted_at_ <= clock_, "", "restarts");
        constexpr double kFinite = 1e300;
        check_within(suffered_loss_, 0.0, most_loss(), "", "suffered_loss");
        check_within(record_.expert_loss, 0.0, most_loss(), "", "expert_loss");
        check_within(record_.edge_numerator, -kFinite, kFinite, "", "edge_numerator");
        check_within(record_.edge_denominator, -kFinite, kFinite, "", "edge_denominator");
        check_within(record_.largest_weight, 0.0, kFinite, "", "largest_weight");
        alarm_.check(static_cast<double>(clock_));
    }

    // The last round, for tests and for looking inside.
    const std::vector<double>& last_votes() const { return votes_; }
    const std::vector<double>& last_expert_scores() const { return expert_scores_; }
    const std::vector<double>& last_costs() const { return costs_; }

  protected:
    Booster(const Booster&) = default;
    // A copy shares nothing with its original.
    static std::unique_ptr<Booster> detached(std::unique_ptr<Booster> copy, bool share_serial) {
        for (auto& learner : copy->learners_)
            learner = share_serial && learner->is_serial() ? learner->alias() : learner->clone();
        copy->pool_.reset();
        return copy;
    }

    // What an algorithm supplies. Experts are numbered 1 .. N; expert_scores has s^0 .. s^N.
    virtual std::int32_t experts_needed(std::uint64_t t) const = 0;
    virtual void follow(const double* votes, const double* expert_scores, std::uint64_t t, double* scores) const = 0;
    // Costs that are found for all learners at once, and the memory that `update` needs.
    virtual void prepare(const Labels& labels) = 0;
    // Raw costs c^{i+1} at s^i, and the rank loss of expert i, for 0 <= i <= N.
    virtual void compute_costs(int i, const Labels& labels, PairScratch& scratch) = 0;
    // How every compute_costs begins: the scores of expert i go into `scratch`, and its rank loss is noted.
    void split_scores(int i, const Labels& labels, PairScratch& scratch) {
        rank_losses_[static_cast<std::size_t>(i)] = rank_loss(expert_row(i), labels, scratch);
    }
    // Leaves the scores in `scratch`, split.
    static double rank_loss(const double* scores, const Labels& labels, PairScratch& scratch) {
        scratch.split(scores, labels);
        return labels.pair_weight() * count_inversions(scratch.relevant.data(), scratch.relevant.size(),
                                                       scratch.irrelevant.data(), scratch.irrelevant.size());
    }
    // t counts the examples since the last restart, from 1.
    virtual void update(const Labels& labels, double t) noexcept = 0;
    // After every row, with a pair to rank or without; the clock counts it already.
    virtual void row_learned(const Labels&) noexcept {}
    virtual void restart_weights() noexcept = 0;  // as new

    virtual void restore_own(const Booster& earlier) {
        clock_ = earlier.clock_;
        learner_weights_ = earlier.learner_weights_;
        record_ = earlier.record_;
        suffered_loss_ = earlier.suffered_loss_;
        rows_without_pairs_ = earlier.rows_without_pairs_;
        set_sizes_ = earlier.set_sizes_;
        n_restarts_ = earlier.n_restarts_;
        restarted_at_ = earlier.restarted_at_;
        alarm_ = earlier.alarm_;
    }

    virtual void load_own(const ArchiveView& in) {
        const auto n = static_cast<std::size_t>(n_votes_);
        clock_ = static_cast<std::uint64_t>(in.read_one<std::int64_t>("clock"));
        rows_without_pairs_ = in.read_one<std::int64_t>("rows_without_pairs");
        in.read("label_set_sizes", static_cast<std::size_t>(n_labels_) + 1, set_sizes_);
        suffered_loss_ = in.read_one<double>("suffered_loss");
        in.read("learner_weights", n, learner_weights_);
        in.read("edge_numerator", n, record_.edge_numerator);
        in.read("edge_denominator", n, record_.edge_denominator);
        in.read("largest_weight", n, record_.largest_weight);
        in.read("expert_loss", n, record_.expert_loss);
        std::vector<std::int64_t> restarts;
        in.read("restarts", 2, restarts);
        n_restarts_ = restarts[0];
        restarted_at_ = static_cast<std::uint64_t>(restarts[1]);
        std::vector<double> alarm;
        in.read("drift_alarm", DriftAlarm::kValues, alarm);
        alarm_.set(alarm);
    }
    // Works out what follows from the state.
    virtual void after_load() {}

    // Nobody loses more than 1 per example, but for rounding.
    double most_loss() const { return static_cast<double>(clock_) * (1.0 + 1e-6); }

    double* expert_row(std::int32_t i) {
        return &expert_scores_[static_cast<std::size_t>(i) * static_cast<std::size_t>(n_labels_)];
    }
    double* cost_row(std::int32_t i) {
        return &costs_[static_cast<std::size_t>(i) * static_cast<std::size_t>(n_labels_)];
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

    double total_gain() const { return sum(record_.edge_numerator.data(), record_.edge_numerator.size()); }
    double total_weight() const { return sum(record_.edge_denominator.data(), record_.edge_denominator.size()); }
    double dot_labels(const double* a, const double* b) const { return dot(a, b, static_cast<std::size_t>(n_labels_)); }

    std::int32_t n_labels_;
    std::int64_t n_features_;
    std::uint64_t seed_;
    std::int32_t n_votes_ = 0;
    std::uint64_t clock_ = 0;              // examples learned so far
    std::vector<double> learner_weights_;  // alpha
    std::vector<double> rank_losses_;      // of experts 0 .. N in the round at hand
    std::vector<double> cost_widths_;      // largest less smallest cost of each learner in the round at hand

  private:
    void resize_workspace() {
        const auto n = static_cast<std::size_t>(n_votes_), k = static_cast<std::size_t>(n_labels_);
        votes_.assign(n * k, 0.0);
        expert_scores_.assign((n + 1) * k, 0.0);
        costs_.assign((n + 1) * k, 0.0);
        rank_losses_.assign(n + 1, 0.0);
        cost_widths_.assign(n, 0.0);
    }

    ThreadPool& pool() {
        if (!pool_ || pool_->n_threads() != n_threads_ || !pool_->is_usable()) {
            scratch_.resize(static_cast<std::size_t>(n_threads_));
            pool_ = std::make_shared<ThreadPool>(n_threads_);
        }
        return *pool_;
    }

    // Serial learners first: one that calls into Python may fail, and then nothing has changed yet.
    template <class Task>
    void for_each_learner(Task&& task) {
        for (const int i : serial_) task(i, 0);
        pool().run(static_cast<int>(parallel_.size()), 2,
                   [&](int item, int thread) { task(parallel_[static_cast<std::size_t>(item)], thread); });
    }

    void gather_votes(const Row& x) {
        for_each_learner([&](int i, int) {
            learners_[static_cast<std::size_t>(i)]->predict_to_learn(
                x, vote_row(first_vote_[static_cast<std::size_t>(i)]));
        });
    }

    void add_vote(std::int32_t i, const double* BOOSTLINE_RESTRICT vote, double* all) const {
        const auto k = static_cast<std::size_t>(n_labels_);
        const double* BOOSTLINE_RESTRICT before = all + static_cast<std::size_t>(i) * k;
        double* BOOSTLINE_RESTRICT after = all + (static_cast<std::size_t>(i) + 1) * k;
        const double alpha = learner_weights_[static_cast<std::size_t>(i)];
        for (std::size_t j = 0; j < k; ++j) after[j] = before[j] + alpha * vote[j];
    }

    void accumulate() {
        for (std::int32_t i = 0; i < n_votes_; ++i) add_vote(i, vote_row(i), expert_scores_.data());
    }

    // All learners take the row, or none does.
    void teach(const Row& x, const Labels& labels) {
        try {
            prepare_learners(x, labels);
        } catch (...) {
            for (const auto& learner : learners_) learner->cancel();
            throw;
        }
        for (const int i : quick_to_commit_) learners_[static_cast<std::size_t>(i)]->commit(x, labels);
        pool().run(static_cast<int>(slow_to_commit_.size()), 2, [&](int item, int) {
            learners_[static_cast<std::size_t>(slow_to_commit_[static_cast<std::size_t>(item)])]->commit(x, labels);
        });
    }

    // Costs go to the learners normalised to [0, 1], with weight = max - min times the example's importance.
    void prepare_learners(const Row& x, const Labels& labels) {
        for_each_learner([&](int i, int thread) {
            Learner& learner = *learners_[static_cast<std::size_t>(i)];
            PairScratch& scratch = scratch_[static_cast<std::size_t>(thread)];
            const auto k = static_cast<std::size_t>(n_labels_);
            const auto n = static_cast<std::size_t>(learner.n_votes());
            scratch.costs.resize(n * k);
            scratch.weights.resize(n);
            for (std::size_t v = 0; v < n; ++v) {
                const auto vote = static_cast<std::size_t>(first_vote_[static_cast<std::size_t>(i)]) + v;
                const double* raw = cost_row(static_cast<std::int32_t>(vote));
                const auto [low, high] = range_of(raw, k);
                const double width = high - low;
                for (std::size_t j = 0; j < k; ++j)
                    scratch.costs[v * k + j] = width > 0.0 ? (raw[j] - low) / width : 0.0;
                scratch.weights[v] = width * labels.importance;
                cost_widths_[vote] = width;
            }
            learner.prepare(x, labels, scratch.costs.data(), scratch.weights.data());
        });
    }

    // `loss` is the rank loss of the scores that were given.
    void finish_round(const Labels& labels, double loss) noexcept {
        keep_record(labels, loss);
        update(labels, static_cast<double>(clock_ - restarted_at_) + 1.0);  // lines 9 and 13
        clock_ += 1;
        row_learned(labels);
        if (watches_drift_ && labels.importance > 0.0 && alarm_.add(loss)) restart();
    }

    void keep_record(const Labels& labels, double loss) {
        const double weight = labels.importance;
        const double k = static_cast<double>(n_labels_), n_relevant = static_cast<double>(labels.relevant.size());
        for (std::int32_t i = 0; i < n_votes_; ++i) {
            const auto v = static_cast<std::size_t>(i);
            const double* c = cost_row(i);
            const double total = sum(c, static_cast<std::size_t>(n_labels_));
            double relevant = 0.0;
            for (const std::int32_t l : labels.relevant) relevant += c[l];
            record_.edge_numerator[v] += weight * (total / k - dot_labels(c, vote_row(i)));
            record_.edge_denominator[v] += weight * (n_relevant * (total / k) - relevant);
            record_.expert_loss[v] += weight * rank_losses_[v + 1];
            record_.largest_weight[v] = std::max(record_.largest_weight[v], cost_widths_[v]);
        }
        suffered_loss_ += weight * loss;
        set_sizes_[labels.relevant.size()] += 1;
    }

    // The stream has changed: what was learned misleads now. Edges and losses go on counting. Learners written in
    // Python come last: a process may be forked while they run, and everything else is done then.
    void restart() noexcept {
        for (const int i : parallel_) learners_[static_cast<std::size_t>(i)]->reset();
        restart_weights();
        alarm_ = DriftAlarm();
        n_restarts_ += 1;
        restarted_at_ = clock_;
        for (const int i : serial_) learners_[static_cast<std::size_t>(i)]->reset();
    }

    std::size_t own_bytes() const {
        std::size_t doubles = votes_.capacity() + expert_scores_.capacity() + costs_.capacity() +
                              rank_losses_.capacity() + cost_widths_.capacity() + learner_weights_.capacity() +
                              4 * record_.expert_loss.capacity();
        return sizeof(*this) + doubles * sizeof(double) + set_sizes_.capacity() * sizeof(std::int64_t);
    }

    Learners learners_;
    std::vector<std::int32_t> first_vote_;
    std::vector<int> serial_, parallel_;
    std::vector<int> quick_to_commit_, slow_to_commit_;
    std::vector<double> votes_, expert_scores_, costs_;  // h^1.., s^0.., c^1.. of the round at hand
    LearnerRecord record_;
    double suffered_loss_ = 0.0;
    std::int64_t rows_without_pairs_ = 0;
    bool watches_drift_ = false;
    DriftAlarm alarm_;
    std::int64_t n_restarts_ = 0;
    std::uint64_t restarted_at_ = 0;
    std::vector<std::int64_t> set_sizes_;  // how often |Y| was 0, 1, .., k among rows with pairs
    int n_threads_ = 1;
    std::shared_ptr<ThreadPool> pool_;
    std::vector<PairScratch> scratch_;
};

}  // namespace boostline
