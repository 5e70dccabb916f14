// The recommended booster: for few and strong learners of every kind. The paper's weights live in [-2, 2] and start at
// 0, which suits a hundred weak trees; strong learners want large weights of unlike size at once. Here the votes are
// mixed, s = sum of w_m q_m with w on the simplex (portfolio.hpp). Each learner's vote takes part at two
// temperatures, in proportion to h and h^2: how far large votes are to be trusted is learned like everything else.
// One vote more is the geometric mean of them all (log_pool.hpp).
// If q irrelevant labels reach s[l], then (q + 1) s[l] <= 1; so the loss that the weights follow, -ln s[l], bounds the
// rank loss of the ranking that is given.
//
// After a drift alarm a fresh model learns beside the old one, and serves as soon as it is better (trial.hpp): the
// other of the two is the rival here. Both are whole models, so either can go without a trace in the other.
#pragma once

#include <limits>
#include <optional>

#include "core/base/math.hpp"
#include "core/kernels/votes.hpp"
#include "core/learners/scorer.hpp"
#include "core/models/paper/booster.hpp"
#include "core/models/ranker/drift_alarm.hpp"
#include "core/models/ranker/log_pool.hpp"
#include "core/models/ranker/portfolio.hpp"
#include "core/models/ranker/trial.hpp"

namespace boostline {

class LabelRanker final : public Booster {
  public:
    // The prior is where the weights start, one per vote, in proportion.
    LabelRanker(std::int32_t n_labels, std::int64_t n_features, Learners learners, std::uint64_t seed,
                const std::vector<double>& prior)
        : Booster(n_labels, n_features, std::move(learners), seed, /*scores_are_distribution=*/true,
                  /*shares_costs=*/true),
          pool_(prior.size()),
          portfolio_(at_every_temperature(prior)) {
        if (prior.size() != static_cast<std::size_t>(n_votes_))
            throw std::invalid_argument("the prior needs one weight per vote");
        learner_weights_.resize(prior.size());
        pool_slopes_.resize(prior.size());
        power_sums_.resize(portfolio_.size());
        resize_round();
        use_weights();
    }

    // Whether a fresh model is tried when the loss has risen and stays high. Learners written in Python cannot be made
    // as new: with them it is not.
    void watch_drift(bool watch) { watches_drift_ = watch && !learners_.has_serial(); }

    void learn_block(Example* rows, std::size_t n, double* scores, std::size_t stride,
                     bool with_probabilities = false) override;

    void grow_labels(std::int32_t n) override {
        Booster::grow_labels(n);
        resize_round();
        if (rival_) rival_->grow_labels(n);
    }
    void grow_features(std::int64_t n, bool were_missing) override {
        Booster::grow_features(n, were_missing);
        if (rival_) rival_->grow_features(n, were_missing);
    }
    void learn_probabilities(bool learn) override {
        Booster::learn_probabilities(learn);
        if (rival_) rival_->learn_probabilities(learn);
    }
    void set_threads(int n) override {
        Booster::set_threads(n);
        if (rival_) rival_->set_threads(n);
    }
    void set_max_bytes(std::size_t learner, const std::vector<std::size_t>& of_votes) override {
        Booster::set_max_bytes(learner, of_votes);
        if (rival_) rival_->set_max_bytes(learner, of_votes);
    }

    std::size_t memory_bytes() const override {
        const std::size_t doubles = logs_.capacity() + pooled_.capacity() + power_sums_.capacity() +
                                    scores_.capacity() + relevant_votes_.capacity() + pool_slopes_.capacity() +
                                    label_counts_.capacity() + null_.capacity() + played_.capacity() +
                                    nulls_played_.capacity();
        return (rival_ ? rival_->memory_bytes() : 0) + Booster::memory_bytes() + doubles * sizeof(double) +
               portfolio_.memory_bytes() + pool_.memory_bytes();
    }

    std::unique_ptr<Booster> clone(bool share_serial) const override {
        auto copy = std::make_unique<LabelRanker>(*this);
        if (rival_) copy->rival_.reset(static_cast<LabelRanker*>(rival_->clone(false).release()));
        return detached(std::move(copy), share_serial);
    }

    void save(Archive& out) const override {
        Booster::save(out);
        portfolio_.save(out);
        pool_.save(out);
        out.add("surrogate", std::vector<double>{surrogate_.loss, surrogate_.rank_loss, surrogate_.weight});
        out.add("label_counts", label_counts_);
        out.add_one("label_total", label_total_);
        out.add("drift_alarm", alarm_.values());
        out.add_one("restarts", n_restarts_);
        out.add("trial", rival_ ? trial_.values() : std::vector<double>{});
        if (!rival_) return;
        PrefixedArchive own(out, "rival.");
        rival_->save(own);
        for (std::size_t i = 0; i < learners().size(); ++i) {
            PrefixedArchive part(own, std::to_string(i) + ".");
            rival_->learners()[i]->save(part);
        }
    }
    void check() const override {
        Booster::check();
        portfolio_.check(static_cast<double>(clock_));
        pool_.check();
        constexpr double kMostLoss = 1e3;  // -ln of the least vote is far below
        check_within(surrogate_.loss, 0.0, kMostLoss * most_loss(), "", "surrogate");
        check_within(surrogate_.weight, 0.0, most_loss(), "", "surrogate");
        check_within(surrogate_.rank_loss, 0.0, surrogate_.weight * (1.0 + 1e-6), "", "surrogate");
        check_within(label_counts_, 0.0, kMostRows, "", "label_counts");
        check_within(label_total_, 0.0, kMostRows * static_cast<double>(n_labels_), "", "label_total");
        alarm_.check(static_cast<double>(clock_));
        require(n_restarts_ >= 0 && static_cast<std::uint64_t>(n_restarts_) <= clock_, "", "restarts");
        if (!rival_) return;
        trial_.check();
        rival_->check();
        for (const auto& learner : rival_->learners()) learner->check();
    }

    // What the geometric mean adds is shared among the votes by their exponents.
    void contributions(const double* votes, double* out) const override {
        const auto k = static_cast<std::size_t>(n_labels_), n = static_cast<std::size_t>(n_votes_);
        std::fill(out, out + n * k, 0.0);
        std::vector<double> pooled(k), shared(k, 0.0), logs(n * k), sums(portfolio_.size());
        pool(votes, logs.data(), pooled.data(), sums.data());
        add_vote_to(pooled.data(), k, n_votes_, &sums[n * kTemperatures], shared.data());
        for (std::size_t v = 0; v < n; ++v) {
            const double share = pool_.share(v);
            for (std::size_t j = 0; j < k; ++j) out[v * k + j] = share * shared[j];
            add_vote_to(votes + v * k, k, static_cast<std::int32_t>(v), &sums[v * kTemperatures], out + v * k);
        }
    }

  protected:
    void load_own(const ArchiveView& in) override {
        Booster::load_own(in);
        portfolio_.load(in);
        pool_.load(in);
        std::vector<double> surrogate;
        in.read("surrogate", 3, surrogate);
        surrogate_ = {surrogate[0], surrogate[1], surrogate[2]};
        in.read("label_counts", static_cast<std::size_t>(n_labels_), label_counts_);
        label_total_ = in.read_one<double>("label_total");
        std::vector<double> values;
        in.read("drift_alarm", DriftAlarm::kValues, values);
        alarm_.set(values);
        n_restarts_ = in.read_one<std::int64_t>("restarts");
        rival_.reset();
        if (in.size<double>("trial") == 0) return;
        in.read("trial", Trial::kValues, values);
        trial_.set(values);
        rival_ = fresh();
        const PrefixedView own(in, "rival.");
        rival_->load(own);
        for (std::size_t i = 0; i < learners().size(); ++i)
            rival_->learners()[i]->load(PrefixedView(own, std::to_string(i) + "."));
    }
    void after_load() override {
        portfolio_.after_load();
        use_weights();
    }

    bool has_prefixes() const override { return false; }
    // A row without any relevant label, or with nothing else, still says something of every label.
    bool learns_without_pairs(const Labels& labels) const override {
        return !labels.relevant.empty() || !labels.irrelevant.empty();
    }
    std::int32_t experts_needed(std::uint64_t) const override { return n_votes_; }

    // In a round of learning, what was found out about the votes is kept for `prepare`.
    void follow(const double* votes, const double*, std::uint64_t, double* scores,
                Calibration::Votes* described) const override {
        const auto k = static_cast<std::size_t>(n_labels_);
        if (votes == votes_in_round()) {
            look_at_votes();
            *described = describe(votes, power_sums_.data());
            std::copy(scores_.begin(), scores_.end(), scores);
            return;
        }
        static thread_local Look look;
        look.logs.resize(static_cast<std::size_t>(n_votes_) * k);
        look.pooled.resize(k);
        look.power_sums.resize(portfolio_.size());
        look_at(votes, look.logs.data(), look.pooled.data(), look.power_sums.data(), scores);
        if (described != nullptr) *described = describe(votes, look.power_sums.data());
    }

    void prepare(const Labels& labels) override {
        const auto k = static_cast<std::size_t>(n_labels_);
        relevant_votes_.resize(labels.relevant.size() * portfolio_.size());
        if (!has_looked_) look_at_votes();
        has_looked_ = false;
        for (std::size_t i = 0; i < pool_slopes_.size(); ++i) {
            double of_relevant = 0.0;
            for (const std::int32_t l : labels.relevant) of_relevant += logs_[i * k + static_cast<std::size_t>(l)];
            pool_slopes_[i] =
                dot(pooled_.data(), &logs_[i * k], k) - of_relevant / static_cast<double>(labels.relevant.size());
        }
        for (std::size_t l = 0; l < labels.relevant.size(); ++l) {
            double* q = &relevant_votes_[l * portfolio_.size()];
            const auto label = static_cast<std::size_t>(labels.relevant[l]);
            for (std::int32_t i = 0; i <= n_votes_; ++i) {
                const double u = any_vote(i)[label] + floor();
                const std::size_t m = static_cast<std::size_t>(i) * kTemperatures;
                q[m] = u / power_sums_[m];
                q[m + 1] = u * u / power_sums_[m + 1];
            }
        }
        // The gradient of f in ln s, where s is kept normalised, is c (s - 1 / |Y| on Y).
        null_.clear();
        for (const std::int32_t l : labels.relevant)
            null_.push_back((label_counts_[static_cast<std::size_t>(l)] + 1.0) /
                            (label_total_ + static_cast<double>(n_labels_)));
        if (watches_drift_ || is_rival_) make_room_to_judge(labels.relevant.size());
        const double c = scale(labels);
        double* costs = cost_row(0);
        for (std::size_t j = 0; j < k; ++j) costs[j] = scores_[j] * c;
        for (const std::int32_t l : labels.relevant)
            costs[l] = (scores_[static_cast<std::size_t>(l)] - 1.0 / static_cast<double>(labels.relevant.size())) * c;
    }

    bool make_own_room(const Example* rows, std::size_t n) override {
        std::size_t most = 0;
        for (std::size_t r = 0; r < n; ++r) most = std::max(most, rows[r].labels.relevant.size());
        relevant_votes_.reserve(most * portfolio_.size());
        null_.reserve(most);
        make_room_to_judge(most * kMostTogether);
        return true;
    }

    // The same for all learners. What stands for expert i here is learner i alone.
    void compute_costs(int i, const Labels& labels, PairScratch& scratch) override {
        rank_losses_[static_cast<std::size_t>(i)] = i == 0 ? 0.0 : scratch.rank_loss_alone(vote_row(i - 1), labels);
    }

    void update(const Labels& labels, double) noexcept override {
        portfolio_.learn(relevant_votes_.data(), null_.data(), labels.relevant.size(),
                         labels.importance * scale(labels), played_loss_);
        for (const std::int32_t l : labels.relevant) label_counts_[static_cast<std::size_t>(l)] += labels.importance;
        label_total_ += labels.importance * static_cast<double>(labels.relevant.size());
        pool_.learn(pool_slopes_.data(), labels.importance * scale(labels));
        use_weights();
    }
    void keep_own_record(const Labels& labels, double rank_loss) noexcept override {
        const double weight = labels.importance * scale(labels), n = static_cast<double>(labels.relevant.size());
        const double least = n > 1.0 ? log_(n) : 0.0;  // of the mean of -ln s over n labels, since s sums to 1
        played_loss_ = portfolio_.record(relevant_votes_.data(), labels.relevant.size(), weight);
        surrogate_.loss += weight * std::max(played_loss_ - least, 0.0);
        surrogate_.rank_loss += weight * spread(labels) * rank_loss;
        surrogate_.weight += weight * spread(labels);
        if (watches_drift_ || is_rival_) {
            for (const std::int32_t l : labels.relevant) played_.push_back(scores_[static_cast<std::size_t>(l)]);
            nulls_played_.insert(nulls_played_.end(), null_.begin(), null_.end());
        }
        if (watches_drift_ && !rival_ && !alarm_at_ && labels.importance > 0.0 && alarm_.add(rank_loss))
            alarm_at_ = clock_;
    }

    void restore_own(const Booster& earlier) override {
        Booster::restore_own(earlier);
        const auto& other = dynamic_cast<const LabelRanker&>(earlier);
        portfolio_ = other.portfolio_;
        pool_ = other.pool_;
        surrogate_ = other.surrogate_;
        label_counts_ = other.label_counts_;
        label_total_ = other.label_total_;
        use_weights();
    }

  private:
    // Sums over all rows: of c (mean of -ln s[l] - ln |Y|), which bounds the second, the rank losses times c spread;
    // and of c spread, which is the row's importance where spread >= 1.
    struct Surrogate {
        double loss = 0.0, rank_loss = 0.0, weight = 0.0;
    };

    static std::vector<double> at_every_temperature(const std::vector<double>& prior) {
        std::vector<double> all;
        for (const double p : prior) all.insert(all.end(), kTemperatures, p);
        all.insert(all.end(), kTemperatures, *std::max_element(prior.begin(), prior.end()));  // the pooled vote
        return all;
    }

    // Calls task(first, n) for the labels, so few at a time that what is known of them stays in the caches.
    template <class Task>
    void in_pieces(Task&& task) const {
        constexpr std::size_t kPiece = 1024;
        const auto k = static_cast<std::size_t>(n_labels_);
        for (std::size_t first = 0; first < k; first += kPiece) task(first, std::min(kPiece, k - first));
    }
    // Of a row's votes, n_votes x k, their geometric mean; leaves their logarithms and the sums of their powers, those
    // of the mean last.
    void pool(const double* votes, double* logs, double* pooled, double* sums) const {
        const auto k = static_cast<std::size_t>(n_labels_), n_votes = pool_.exponents().size();
        std::fill(sums, sums + portfolio_.size(), 0.0);
        const auto add_sums = [&](const double* vote, std::size_t n, std::size_t i) {
            double powers[kTemperatures];
            power_sums(vote, n, floor(), powers);
            for (std::size_t t = 0; t < kTemperatures; ++t) sums[i * kTemperatures + t] += powers[t];
        };
        double most = -std::numeric_limits<double>::infinity(), total = 0.0;
        in_pieces([&](std::size_t first, std::size_t n) {
            double* z = pooled + first;
            std::fill(z, z + n, 0.0);
            for (std::size_t i = 0; i < n_votes; ++i) {
                const double* vote = votes + i * k + first;
                log_votes(vote, n, floor(), logs + i * k + first);
                add_logs(logs + i * k + first, n, pool_.exponents()[i], z);
                add_sums(vote, n, i);
            }
            most = std::max(most, range_of(z, n).high);
        });
        in_pieces([&](std::size_t first, std::size_t n) { total += exp_less(pooled + first, n, most); });
        in_pieces([&](std::size_t first, std::size_t n) {
            multiply(pooled + first, n, 1.0 / total);
            add_sums(pooled + first, n, n_votes);
        });
    }
    // The scores of a row, and what they are made of.
    void look_at(const double* votes, double* logs, double* pooled, double* sums, double* scores) const {
        const auto k = static_cast<std::size_t>(n_labels_);
        pool(votes, logs, pooled, sums);
        in_pieces([&](std::size_t first, std::size_t n) {
            std::fill(scores + first, scores + first + n, 0.0);
            for (std::int32_t i = 0; i <= n_votes_; ++i) {
                const auto vote = static_cast<std::size_t>(i);
                add_vote_to((i < n_votes_ ? votes + vote * k : pooled) + first, n, i, sums + vote * kTemperatures,
                            scores + first);
            }
        });
    }
    void look_at_votes() const {
        look_at(votes_in_round(), logs_.data(), pooled_.data(), power_sums_.data(), scores_.data());
        has_looked_ = true;
    }
    // Means by the learners' weights: of ln sum v^2, and of what the votes summed to before they were normalised, over
    // the learners that report it. New labels take no part.
    Calibration::Votes describe(const double* votes, const double* sums) const noexcept {
        const std::size_t k = static_cast<std::size_t>(n_labels_), n_known = calibration().n_known();
        const double* before = votes + learner_weights_.size() * k;
        double concentration = 0.0, total = 0.0, number = 0.0, reporting = 0.0;
        for (std::size_t i = 0; i < learner_weights_.size(); ++i) {
            const double w = learner_weights_[i] + kLeastWeight, *powers = sums + i * kTemperatures;
            double of_known[kTemperatures], share = 1.0;
            if (n_known < k) {
                power_sums(votes + i * k, n_known, floor(), of_known);
                share = of_known[0] / powers[0];
                powers = of_known;
            }
            concentration += w * log_(powers[1] / (powers[0] * powers[0]));
            total += w;
            if (!(before[i] > 0.0)) continue;
            number += w * log_(std::max(share * before[i], kLeastSum));
            reporting += w;
        }
        return {concentration / total, reporting > 0.0 ? number / reporting : 0.0};
    }
    // Of the row at hand; the pooled one comes after the others.
    const double* any_vote(std::int32_t i) { return i < n_votes_ ? vote_row(i) : pooled_.data(); }
    void resize_round() {
        const auto k = static_cast<std::size_t>(n_labels_);
        logs_.resize(static_cast<std::size_t>(n_votes_) * k);
        pooled_.resize(k);
        scores_.resize(k);
        label_counts_.resize(k, 0.0);
        has_looked_ = false;
    }

    static constexpr double kLeastWeight = 1e-3, kLeastSum = 0.05;  // in the description of a row

    // Added to every vote, so that ln s is finite.
    double floor() const { return 0.01 / static_cast<double>(n_labels_); }

    // rank loss <= (mean of -ln s[l] - ln |Y|) / spread: theorem 11 of docs/theory.md
    static double spread(const Labels& labels) {
        return log_(1.0 + static_cast<double>(labels.irrelevant.size()) / static_cast<double>(labels.relevant.size()));
    }
    // c of f: so that f counts rows as the rank loss does, where that keeps f exp-concave.
    static double scale(const Labels& labels) { return std::min(1.0, 1.0 / spread(labels)); }

    // Of n labels; the sums are over all of them.
    void add_vote_to(const double* vote, std::size_t n, std::int32_t i, const double* sums, double* scores) const {
        const std::size_t m = static_cast<std::size_t>(i) * kTemperatures;
        double a[kTemperatures];
        for (std::size_t t = 0; t < kTemperatures; ++t) a[t] = portfolio_.weights()[m + t] / sums[t];
        add_powers(vote, n, floor(), a, scores);
    }

    // A learner's weight is that of its vote at all temperatures, and its share in that of the pooled vote.
    void use_weights() noexcept {
        for (std::size_t i = 0; i < learner_weights_.size(); ++i) {
            learner_weights_[i] = 0.0;
            const double share = pool_.share(i);
            for (std::size_t t = 0; t < kTemperatures; ++t)
                learner_weights_[i] += portfolio_.weights()[i * kTemperatures + t] +
                                       portfolio_.weights()[learner_weights_.size() * kTemperatures + t] * share;
        }
    }

    // A new model with the same settings.
    std::shared_ptr<LabelRanker> fresh() const;
    // The rows that this model has learned since `first` are learned by its rival as well.
    void teach_rival(Example* rows, std::size_t n, std::uint64_t first) noexcept;
    void judge(const Example* rows, std::size_t n) noexcept;
    void exchange_with_rival() noexcept;
    void end_trial() noexcept;
    void make_room_to_judge(std::size_t n) {
        make_room(played_, n);
        make_room(nulls_played_, n);
    }

    LogPool pool_;
    Portfolio portfolio_;
    Surrogate surrogate_;
    std::vector<double> label_counts_;  // how often each label was relevant, by importance
    double label_total_ = 0.0;          // their sum
    bool watches_drift_ = false, is_rival_ = false;
    DriftAlarm alarm_;
    std::optional<std::uint64_t> alarm_at_;  // the clock before the row that raised it, in the block at hand
    std::int64_t n_restarts_ = 0;
    Trial trial_;
    std::shared_ptr<LabelRanker> rival_;  // while a trial runs: the one that does not serve
    // Scores of the relevant labels in the block at hand, row after row, and their frequencies before.
    std::vector<double> played_, nulls_played_;
    struct Look {
        std::vector<double> logs, pooled, power_sums;
    };
    // Of the row that is being learned; what `follow` finds out is kept for `prepare`.
    mutable std::vector<double> logs_, pooled_, power_sums_, scores_;
    mutable bool has_looked_ = false;
    std::vector<double> relevant_votes_, pool_slopes_, null_;
    double played_loss_ = 0.0;
};

}  // namespace boostline
