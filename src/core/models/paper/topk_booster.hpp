// What boosters that learn from top-k feedback share: they show some labels, hear of those alone, and estimate sums
// over all pairs by weighted sums over the pairs that they hear of. Losses are in units of m - 1 pairs, so that an
// example with one relevant label loses its rank loss.
#pragma once

#include "core/models/paper/booster.hpp"
#include "core/models/paper/topk_feedback.hpp"

namespace boostline {

class TopkBooster : public Booster {
  public:
    TopkBooster(std::int32_t n_labels, std::int64_t n_features, Learners learners, std::uint64_t seed,
                TopkFeedback feedback)
        : Booster(n_labels, n_features, std::move(learners), seed), feedback_(feedback) {}

    // What is shown for a row with these scores; `turn` counts examples from 0.
    void show(const double* scores, std::uint64_t turn, std::vector<std::int32_t>& shown) const {
        feedback_.show(scores, seed_, turn, shown);
    }
    std::int32_t n_shown() const { return feedback_.n_shown(); }

    void grow_labels(std::int32_t n) override {
        TopkFeedback larger = feedback_;
        larger.set_labels(n);
        Booster::grow_labels(n);
        feedback_ = larger;
    }

    void save(Archive& out) const override {
        Booster::save(out);
        out.add_one("heard_weight", heard_weight_);
    }
    void check() const override {
        Booster::check();
        check_within(heard_weight_, 0.0, most_loss(), "", "heard_weight");
    }

  protected:
    struct Pair {
        std::size_t relevant, irrelevant;  // places in the lists of what was heard
        double weight;
    };
    const std::vector<Pair>& pairs() const { return pairs_; }

    const Labels& hear(const Labels& labels, const double* scores) override {
        if (labels.shown.empty())
            feedback_.show(scores, seed_, clock_, shown_);
        else
            shown_ = labels.shown;
        drawn_.assign(static_cast<std::size_t>(n_labels_), kNotShown);
        for (const std::int32_t one : shown_) drawn_[static_cast<std::size_t>(label_of(one))] = was_drawn(one);
        const auto is_hidden = [&](std::int32_t l) { return drawn_[static_cast<std::size_t>(l)] == kNotShown; };
        heard_.importance = labels.importance;
        heard_.is_relevant.assign(static_cast<std::size_t>(n_labels_), 0);
        heard_.relevant.clear();
        heard_.irrelevant.clear();
        std::remove_copy_if(labels.relevant.begin(), labels.relevant.end(), std::back_inserter(heard_.relevant),
                            is_hidden);
        std::remove_copy_if(labels.irrelevant.begin(), labels.irrelevant.end(), std::back_inserter(heard_.irrelevant),
                            is_hidden);
        for (const std::int32_t l : heard_.relevant) heard_.is_relevant[static_cast<std::size_t>(l)] = 1;
        weigh_pairs();
        return heard_;
    }

    // The estimate of the rank loss of all pairs.
    double loss_of(const double* scores, const Labels& heard, PairScratch&) const override {
        double loss = 0.0;
        for (const Pair& pair : pairs_) {
            const double d = scores[heard.irrelevant[pair.irrelevant]] - scores[heard.relevant[pair.relevant]];
            loss += d > 0.0 ? pair.weight : (d == 0.0 ? 0.5 * pair.weight : 0.0);
        }
        return loss;
    }
    // |Y| is not heard. The potentials are those of one relevant label, which are the largest.
    double counted_relevant(const Labels&) const override { return 1.0; }
    double loss_limit() const override { return feedback_.most_weight() / unit(); }

    void keep_own_record(const Labels& heard, double) noexcept override {
        double total = 0.0;
        for (const Pair& pair : pairs_) total += pair.weight;
        heard_weight_ += heard.importance * total;
    }
    void restore_own(const Booster& earlier) override {
        Booster::restore_own(earlier);
        heard_weight_ = dynamic_cast<const TopkBooster&>(earlier).heard_weight_;
    }
    void load_own(const ArchiveView& in) override {
        Booster::load_own(in);
        heard_weight_ = in.read_one<double>("heard_weight");
    }
    void restart_weights() noexcept override {}

    // Splits the scores of expert i into `scratch`, notes its loss, and makes room for sums.
    void begin_costs(int i, const Labels& heard, PairScratch& scratch) {
        rank_losses_[static_cast<std::size_t>(i)] = loss_of(expert_row(i), heard, scratch);
        scratch.split(expert_row(i), heard);
        scratch.relevant_sum.assign(scratch.relevant.size(), 0.0);
        scratch.irrelevant_sum.assign(scratch.irrelevant.size(), 0.0);
    }
    // What was not heard of costs 0, between the irrelevant and the relevant labels.
    void end_costs(int i, const Labels& heard, const PairScratch& scratch) {
        double* c = cost_row(i);
        std::fill(c, c + n_labels_, 0.0);
        for (std::size_t l = 0; l < heard.relevant.size(); ++l) c[heard.relevant[l]] = -scratch.relevant_sum[l];
        for (std::size_t r = 0; r < heard.irrelevant.size(); ++r) c[heard.irrelevant[r]] = scratch.irrelevant_sum[r];
    }

  private:
    static constexpr std::uint8_t kNotShown = 2;

    double unit() const { return static_cast<double>(n_labels_ - 1); }

    void weigh_pairs() {
        pairs_.clear();
        const auto drawn = [&](std::int32_t l) { return drawn_[static_cast<std::size_t>(l)] == 1; };
        for (std::size_t l = 0; l < heard_.relevant.size(); ++l)
            for (std::size_t r = 0; r < heard_.irrelevant.size(); ++r)
                pairs_.push_back(
                    {l, r, feedback_.pair_weight(drawn(heard_.relevant[l]), drawn(heard_.irrelevant[r])) / unit()});
    }

    TopkFeedback feedback_;
    double heard_weight_ = 0.0;  // sum over the rows of the weights of all heard pairs
    // Of the row at hand.
    std::vector<std::int32_t> shown_;
    std::vector<std::uint8_t> drawn_;  // of each label: among the best, drawn, not shown
    Labels heard_;
    std::vector<Pair> pairs_;
};

}  // namespace boostline
