// TopkBMR: OnlineBMR from top-k feedback. Costs are estimates of those that all pairs would give. How many labels are
// relevant is not heard, so the potentials are those of one relevant label: for a convex loss no others are larger.
#pragma once

#include "core/models/paper/online_bmr.hpp"
#include "core/models/paper/topk_booster.hpp"

namespace boostline {

class TopkBMR final : public TopkBooster {
  public:
    TopkBMR(std::int32_t n_labels, std::int64_t n_features, Learners learners, std::uint64_t seed,
            TopkFeedback feedback)
        : TopkBooster(n_labels, n_features, std::move(learners), seed, feedback) {
        learner_weights_.assign(static_cast<std::size_t>(n_votes_), 1.0);
    }

    std::unique_ptr<Booster> clone(bool share_serial) const override {
        return detached(std::make_unique<TopkBMR>(*this), share_serial);
    }
    void check() const override {
        TopkBooster::check();
        check_within(learner_weights_, 1.0, 1.0, "", "learner_weights");
        check_within(promised_, 0.0, 1e300, "", "promised_loss");
    }
    void save(Archive& out) const override {
        TopkBooster::save(out);
        out.add_one("promised_loss", promised_);
    }

    // For the present number of labels.
    void set_table(StepTable table) {
        const std::size_t least = table.is_exponential ? 1 : static_cast<std::size_t>(std::max(table.per_unit, 0)) + 2;
        if (table.per_unit < 1 || table.width < least ||
            table.values.size() != table.width * static_cast<std::size_t>(n_votes_))
            throw std::invalid_argument("a step table needs n_learners rows of more than one unit each");
        table_ = std::make_shared<const StepTable>(std::move(table));
    }

  protected:
    std::int32_t experts_needed(std::uint64_t) const override { return n_votes_; }
    void follow(const double*, const double* expert_scores, std::uint64_t, double* scores, double*) const override {
        const auto k = static_cast<std::size_t>(n_labels_);
        std::copy_n(expert_scores + static_cast<std::size_t>(n_votes_) * k, k, scores);
    }
    void prepare(const Labels&) override {}

    // c^{i+1}[l] = phi^{N-i-1}(s^i + e_l), less the constant phi^{N-i-1}(s^i), where phi is the estimate.
    void compute_costs(int i, const Labels& heard, PairScratch& scratch) override {
        begin_costs(i, heard, scratch);
        if (i == n_votes_) return;
        const auto left = static_cast<std::size_t>(n_votes_ - 1 - i);
        for (const Pair& pair : pairs()) {
            const double relevant = scratch.relevant[pair.relevant], irrelevant = scratch.irrelevant[pair.irrelevant];
            double up = 0.0, down = 0.0;  // what one more vote changes: of the irrelevant label, of the relevant one
            if (table_->is_exponential) {
                up = std::min(table_->values[left] * exp_(irrelevant - relevant), kLargest);
                down = kInverseE * up;
            } else {
                const StepRow row{&table_->values[left * table_->width], table_->origin, table_->per_unit,
                                  static_cast<std::int32_t>(table_->width) - 2};
                down = add_steps(relevant, &irrelevant, 1, row, {irrelevant, irrelevant}, &up);
            }
            scratch.relevant_sum[pair.relevant] += pair.weight * down;
            scratch.irrelevant_sum[pair.irrelevant] += pair.weight * up;
        }
        end_costs(i, heard, scratch);
    }
    void update(const Labels&, double) noexcept override {}

    // g_N(0) for each pair: what is promised if all learners have the edge.
    void keep_own_record(const Labels& heard, double loss) noexcept override {
        TopkBooster::keep_own_record(heard, loss);
        for (const Pair& pair : pairs()) promised_ += heard.importance * pair.weight * table_->start;
    }
    void restore_own(const Booster& earlier) override {
        TopkBooster::restore_own(earlier);
        promised_ = dynamic_cast<const TopkBMR&>(earlier).promised_;
    }
    void load_own(const ArchiveView& in) override {
        TopkBooster::load_own(in);
        promised_ = in.read_one<double>("promised_loss");
    }

  private:
    static constexpr double kInverseE = 0.36787944117144233;

    std::shared_ptr<const StepTable> table_;
    double promised_ = 0.0;
};

}  // namespace boostline
