// OnlineBMR (Algorithm 2): every learner weighs 1, the last expert is followed, costs come from potentials.
#pragma once

#include <map>

#include "booster.hpp"

namespace boostline {

// How much one more vote changes a pair's potential: values[n][j] = g_n(d + 1) - g_n(d) at d = origin + j / per_unit,
// with n learners still to come. Linear in between, constant outside. Made in Python (boostline.potentials).
struct StepTable {
    double origin = 0.0;
    double per_unit = 1.0;
    std::size_t width = 0;
    std::vector<double> values;  // N rows of width
};

class OnlineBMR final : public Booster {
  public:
    OnlineBMR(std::int32_t n_labels, std::int64_t n_features, Learners learners, std::uint64_t seed)
        : Booster(n_labels, n_features, std::move(learners), seed) {
        learner_weights_.assign(static_cast<std::size_t>(n_votes_), 1.0);
    }

    std::unique_ptr<Booster> clone(bool share_serial) const override {
        return detached(std::make_unique<OnlineBMR>(*this), share_serial);
    }

    // The law of the random walk depends on |Y| (and on nothing else of the example): one table for each.
    bool has_table(std::int64_t n_relevant) const { return tables_.count(n_relevant) != 0; }
    void set_table(std::int64_t n_relevant, StepTable table) {
        if (table.width < 2 || table.values.size() != table.width * static_cast<std::size_t>(n_votes_))
            throw std::invalid_argument("a step table needs n_learners rows of at least two values");
        tables_[n_relevant] = std::make_shared<StepTable>(std::move(table));
    }
    void forget_tables() { tables_.clear(); }

  protected:
    std::int32_t experts_needed(std::uint64_t) const override { return n_votes_; }
    void follow(const double* expert_scores, std::uint64_t, double* scores) const override {
        const auto k = static_cast<std::size_t>(n_labels_);
        const double* row = expert_scores + static_cast<std::size_t>(n_votes_) * k;
        std::copy(row, row + k, scores);
    }

    void prepare(const Labels& labels) override { table_ = tables_.at(static_cast<std::int64_t>(labels.relevant.size())).get(); }

    // c^{i+1}[l] = phi^{N-i-1}(s^i + e_l), less the constant phi^{N-i-1}(s^i): only pairs that contain l move.
    void compute_costs(int i, const Labels& labels, PairScratch& scratch) override {
        scratch.split(expert_row(i), labels);
        const std::size_t n_relevant = scratch.relevant.size(), n_irrelevant = scratch.irrelevant.size();
        rank_losses_[static_cast<std::size_t>(i)] =
            labels.pair_weight() * count_inversions(scratch.relevant.data(), n_relevant, scratch.irrelevant.data(), n_irrelevant);
        if (i == n_votes_) return;  // nobody is left to be taught
        const double* table = &table_->values[static_cast<std::size_t>(n_votes_ - 1 - i) * table_->width];
        const auto last_cell = static_cast<std::int32_t>(table_->width) - 2;
        scratch.relevant_sum.resize(n_relevant);
        scratch.irrelevant_sum.assign(n_irrelevant, 0.0);
        for (std::size_t l = 0; l < n_relevant; ++l)
            scratch.relevant_sum[l] = add_steps(scratch.relevant[l], scratch.irrelevant.data(), n_irrelevant, table,
                                                table_->origin, table_->per_unit, last_cell, scratch.irrelevant_sum.data());
        write_costs(i, labels, scratch);
    }

    void update(const Labels&, double, double) override {}

  private:
    std::map<std::int64_t, std::shared_ptr<const StepTable>> tables_;
    const StepTable* table_ = nullptr;  // of the round at hand
};

}  // namespace boostline
