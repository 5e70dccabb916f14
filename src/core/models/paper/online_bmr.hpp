// OnlineBMR (Algorithm 2): every learner weighs 1, the last expert is followed, costs come from potentials.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "core/models/paper/booster.hpp"
#include "core/models/paper/edge_search.hpp"

namespace boostline {

// How much one more vote changes a pair's potential: values[n][j] = g_n(d + 1) - g_n(d) at d = origin + j / per_unit,
// with n learners still to come. Linear in between, constant outside. Made in Python (boostline.potentials).
// The exponential loss is unbounded and has a closed form instead: one value per n, times e^d.
struct StepTable {
    bool is_exponential = false;
    double origin = 0.0;
    std::int32_t per_unit = 1;
    std::size_t width = 0;
    std::vector<double> values;  // N rows of width
    double start = 0.0;          // phi^N(0), what is promised for a row
    double edge = 0.0;           // gamma, cut to 1 / |Y|
};

class OnlineBMR final : public Booster {
  public:
    OnlineBMR(std::int32_t n_labels, std::int64_t n_features, Learners learners, std::uint64_t seed)
        : Booster(n_labels, n_features, std::move(learners), seed) {
        learner_weights_.assign(static_cast<std::size_t>(n_votes_), 1.0);
    }

    void check() const override {
        Booster::check();
        check_within(learner_weights_, 1.0, 1.0, "", "learner_weights");
        constexpr double kFinite = 1e300;
        check_within(promised_loss_, -kFinite, kFinite, "", "promised_loss");
        check_within(assumed_gain_, -kFinite, kFinite, "", "assumed_gain");
        if (search_) search_->check();
    }
    void save(Archive& out) const override {
        Booster::save(out);
        out.add_one("promised_loss", promised_loss_);
        out.add_one("assumed_gain", assumed_gain_);
        if (search_) out.add("edge_search", search_->values());
    }

    std::unique_ptr<Booster> clone(bool share_serial) const override {
        return detached(std::make_unique<OnlineBMR>(*this), share_serial);
    }

    // The law of the random walk depends on |Y| (and on nothing else of the example): one table for each.
    // They are made when they are needed. The edge is that of the search, or 0 without one.
    using TableSource =
        std::function<StepTable(std::int32_t n_votes, std::int32_t n_labels, std::int64_t n_relevant, double edge)>;
    void set_table_source(TableSource source) { table_source_ = std::move(source); }
    void grow_labels(std::int32_t n) override {
        Booster::grow_labels(n);
        tables_.clear();  // the law depends on the number of labels, too
        starts_.clear();
    }

    // The edge is searched for from now on. Tables are of one edge, and are forgotten when it changes.
    using StartSource =
        std::function<StartPotentials(std::int32_t n_votes, std::int32_t n_labels, std::int64_t n_relevant)>;
    void search_edge(EdgeSearch search, StartSource source) {
        search_ = std::move(search);
        start_source_ = std::move(source);
    }
    const std::optional<EdgeSearch>& edge_search() const { return search_; }

    // For a loss that does not split into pairs: costs of all learners at once, from (expert scores, labels), N x k.
    // The clock is for the draws of a Monte Carlo estimate, which differ from row to row.
    using CostFunction =
        std::function<void(const double* expert_scores, const Labels& labels, std::uint64_t clock, double* costs)>;
    void set_cost_function(CostFunction function) { cost_function_ = std::move(function); }

  protected:
    std::int32_t experts_needed(std::uint64_t) const override { return n_votes_; }
    void follow(const double*, const double* expert_scores, std::uint64_t, double* scores,
                Calibration::Votes*) const override {
        const auto k = static_cast<std::size_t>(n_labels_);
        const double* row = expert_scores + static_cast<std::size_t>(n_votes_) * k;
        std::copy(row, row + k, scores);
    }

    void prepare(const Labels& labels) override {
        if (cost_function_) {
            cost_function_(expert_row(0), labels, clock_, cost_row(0));
            return;
        }
        const auto n_relevant = static_cast<std::int64_t>(labels.relevant.size());
        table_ = table(n_relevant);
        weight_before_ = record().edge_denominator();
        if (search_) start_ = start_potentials(n_relevant);
    }

    // c^{i+1}[l] = phi^{N-i-1}(s^i + e_l), less the constant phi^{N-i-1}(s^i): only pairs that contain l move.
    void compute_costs(int i, const Labels& labels, PairScratch& scratch) override {
        split_scores(i, labels, scratch);
        if (i == n_votes_ || cost_function_) return;                   // no learner is left, or it is done
        const auto left = static_cast<std::size_t>(n_votes_ - 1 - i);  // learners still to come
        scratch.relevant_sum.resize(scratch.relevant.size());
        scratch.irrelevant_sum.assign(scratch.irrelevant.size(), 0.0);
        if (table_->is_exponential)
            exponential_steps(table_->values[left], scratch);
        else
            table_steps(left, scratch);
        write_costs(i, labels, scratch);
    }

    void update(const Labels&, double) noexcept override {}
    // What a round promises depends on the number of labels, the edge and the importance of that round. So it is added
    // up here, round by round, and not worked out from counts at the end.
    void row_learned(const Labels& labels) noexcept override {
        if (labels.has_pairs() && !cost_function_) {
            const double weight = record().edge_denominator() - weight_before_;
            promised_loss_ += labels.importance * std::min(table_->start, kLargest);
            assumed_gain_ += table_->edge * weight;
            if (search_) search_->add(*start_, labels.importance, weight);
        }
        if (search_ && search_->is_time_to_look(clock_) && search_->look()) tables_.clear();
    }
    void restore_own(const Booster& earlier) override {
        Booster::restore_own(earlier);
        const auto& own = static_cast<const OnlineBMR&>(earlier);
        promised_loss_ = own.promised_loss_;
        assumed_gain_ = own.assumed_gain_;
        search_ = own.search_;
        tables_.clear();  // they may be of another edge
    }
    void load_own(const ArchiveView& in) override {
        Booster::load_own(in);
        promised_loss_ = in.read_one<double>("promised_loss");
        assumed_gain_ = in.read_one<double>("assumed_gain");
        if (!search_) return;
        std::vector<double> values;
        in.read("edge_search", search_->n_values(), values);
        search_->set(values);
    }

  private:
    double searched_edge() const { return search_ ? search_->edge() : 0.0; }

    const StepTable* table(std::int64_t n_relevant) {
        if (const auto found = tables_.find(n_relevant); found != tables_.end()) return found->second.get();
        auto made = std::make_shared<const StepTable>(table_source_(n_votes_, n_labels_, n_relevant, searched_edge()));
        // d - 1 is looked up one unit to the left of d
        const std::size_t least = made->is_exponential ? 1 : static_cast<std::size_t>(std::max(made->per_unit, 0)) + 2;
        if (made->per_unit < 1 || made->width < least ||
            made->values.size() != made->width * static_cast<std::size_t>(n_votes_))
            throw std::invalid_argument("a step table needs n_learners rows of more than one unit each");
        return tables_.emplace(n_relevant, std::move(made)).first->second.get();
    }

    const StartPotentials* start_potentials(std::int64_t n_relevant) {
        if (const auto found = starts_.find(n_relevant); found != starts_.end()) return found->second.get();
        auto made = std::make_shared<const StartPotentials>(start_source_(n_votes_, n_labels_, n_relevant));
        if (made->at_levels.size() != search_->n_levels())
            throw std::invalid_argument("a search for the edge needs a potential for each of its levels");
        return starts_.emplace(n_relevant, std::move(made)).first->second.get();
    }

    StepRow steps(std::size_t left) const {
        return {&table_->values[left * table_->width], table_->origin, table_->per_unit,
                static_cast<std::int32_t>(table_->width) - 2};
    }
    void table_steps(std::size_t left, PairScratch& scratch) const {
        const StepRow row = steps(left);
        for (std::size_t l = 0; l < scratch.relevant.size(); ++l)
            scratch.relevant_sum[l] = add_step_sums(scratch.relevant[l], scratch.irrelevant.data(),
                                                    scratch.irrelevant.size(), row, scratch.irrelevant_sum.data());
    }

    // sum over pairs of factor e^(s[r] - s[l]), which splits into two sums; a step down from d is 1/e of the one up.
    static void exponential_steps(double factor, PairScratch& scratch) {
        constexpr double kInverseE = 0.36787944117144233;
        double relevant = 0.0, irrelevant = 0.0;
        for (const double s : scratch.relevant) relevant += exp_(-s);
        for (const double s : scratch.irrelevant) irrelevant += exp_(s);
        const auto limited = [](double step) { return std::min(step, kLargest); };  // hundreds of votes overflow
        for (std::size_t l = 0; l < scratch.relevant.size(); ++l)
            scratch.relevant_sum[l] = limited(factor * kInverseE * (exp_(-scratch.relevant[l]) * irrelevant));
        for (std::size_t r = 0; r < scratch.irrelevant.size(); ++r)
            scratch.irrelevant_sum[r] = limited(factor * (exp_(scratch.irrelevant[r]) * relevant));
    }

    std::map<std::int64_t, std::shared_ptr<const StepTable>> tables_;
    const StepTable* table_ = nullptr;  // of the round at hand
    TableSource table_source_;
    CostFunction cost_function_;
    std::map<std::int64_t, std::shared_ptr<const StartPotentials>> starts_;
    const StartPotentials* start_ = nullptr;  // of the round at hand, as the next
    double weight_before_ = 0.0;              // the edges' denominators before it
    double promised_loss_ = 0.0;              // sum over the rounds of importance * phi^N(0), at the edge of each
    double assumed_gain_ = 0.0;               // sum of the edge, cut to 1 / |Y|, times the edges' denominators
    StartSource start_source_;
    std::optional<EdgeSearch> search_;
};

}  // namespace boostline
