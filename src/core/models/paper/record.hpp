// What a booster has counted while it learned: edges, losses, sizes of label sets. The theory is stated in terms of
// these sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/archive.hpp"
#include "core/base/example.hpp"
#include "core/kernels/sums.hpp"

namespace boostline {

// Of the round at hand: votes and costs are N x k, the others have one number for each learner.
struct Round {
    const double* votes;
    const double* costs;  // or k, if all learners have the same
    bool shares_costs;
    const double* cost_widths;    // largest less smallest cost
    const double* expert_losses;  // rank losses of experts 1 .. N
    double loss;                  // rank loss of the scores that were given
};

class Record {
  public:
    Record(std::int32_t n_votes, std::int32_t n_labels) {
        for (auto* column : {&edge_numerator_, &edge_denominator_, &largest_weight_, &expert_loss_})
            column->resize(static_cast<std::size_t>(n_votes), 0.0);
        grow_labels(n_labels);
    }
    void grow_labels(std::int32_t n) { set_sizes_.resize(static_cast<std::size_t>(n) + 1, 0); }

    void add_row_without_pairs() { rows_without_pairs_ += 1; }
    void add(const Labels& labels, const Round& round) noexcept {
        const double weight = labels.importance;
        const std::size_t k = labels.is_relevant.size();
        const auto n_relevant = static_cast<double>(labels.relevant.size());
        double mean = 0.0, relevant = 0.0;
        for (std::size_t i = 0; i < expert_loss_.size(); ++i) {
            const double* c = round.costs + (round.shares_costs ? 0 : i * k);
            if (i == 0 || !round.shares_costs) {
                mean = sum(c, k) / static_cast<double>(k);
                relevant = 0.0;
                for (const std::int32_t l : labels.relevant) relevant += c[l];
            }
            edge_numerator_[i] += weight * (mean - dot(c, round.votes + i * k, k));
            edge_denominator_[i] += weight * (n_relevant * mean - relevant);
            expert_loss_[i] += weight * round.expert_losses[i];
            largest_weight_[i] = std::max(largest_weight_[i], round.cost_widths[i]);
        }
        suffered_loss_ += weight * round.loss;
        set_sizes_[labels.relevant.size()] += 1;
    }

    // All learners' edges together.
    double edge_numerator() const { return sum(edge_numerator_.data(), edge_numerator_.size()); }
    double edge_denominator() const { return sum(edge_denominator_.data(), edge_denominator_.size()); }

    std::size_t memory_bytes() const {  // beyond sizeof
        return 4 * expert_loss_.capacity() * sizeof(double) + set_sizes_.capacity() * sizeof(std::int64_t);
    }

    void save(Archive& out) const {
        out.add_one("rows_without_pairs", rows_without_pairs_);
        out.add_one("rows_merged", rows_merged_);
        out.add("label_set_sizes", set_sizes_);
        out.add_one("suffered_loss", suffered_loss_);
        out.add("edge_numerator", edge_numerator_);
        out.add("edge_denominator", edge_denominator_);
        out.add("largest_weight", largest_weight_);
        out.add("expert_loss", expert_loss_);
    }
    void load(const ArchiveView& in) {
        const std::size_t n = expert_loss_.size();
        rows_without_pairs_ = in.read_one<std::int64_t>("rows_without_pairs");
        rows_merged_ = in.read_one<std::int64_t>("rows_merged");
        in.read("label_set_sizes", set_sizes_.size(), set_sizes_);
        suffered_loss_ = in.read_one<double>("suffered_loss");
        in.read("edge_numerator", n, edge_numerator_);
        in.read("edge_denominator", n, edge_denominator_);
        in.read("largest_weight", n, largest_weight_);
        in.read("expert_loss", n, expert_loss_);
    }
    // After so many examples, of which nobody can have lost more than `most_loss`.
    void check(std::uint64_t clock, double most_loss) const {
        // Every example has a pair to rank, or none, or was merged: the counts add up to the clock, and none can
        // overflow later.
        constexpr auto kMost = static_cast<std::int64_t>(kMostRows);
        std::int64_t counted = 0;
        const auto count = [&](std::int64_t n, const char* name) {
            require(n >= 0 && n <= kMost && (counted += n) <= kMost, "", name);
        };
        count(rows_without_pairs_, "rows_without_pairs");
        count(rows_merged_, "rows_merged");
        for (const std::int64_t n : set_sizes_) count(n, "label_set_sizes");
        if (static_cast<std::uint64_t>(counted) != clock)
            throw std::invalid_argument("the array 'clock' does not fit to the counts of examples");
        constexpr double kFinite = 1e300;
        check_within(suffered_loss_, 0.0, most_loss, "", "suffered_loss");
        check_within(expert_loss_, 0.0, most_loss, "", "expert_loss");
        check_within(edge_numerator_, -kFinite, kFinite, "", "edge_numerator");
        check_within(edge_denominator_, -kFinite, kFinite, "", "edge_denominator");
        check_within(largest_weight_, 0.0, kFinite, "", "largest_weight");
    }

  private:
    std::vector<double> edge_numerator_;    // sum of w (mean cost - c . h)
    std::vector<double> edge_denominator_;  // sum of w (|Y| mean cost - sum over Y of c): ||w^i||_1 for Ada.OLMR
    std::vector<double> largest_weight_;    // w^{i*}: largest max - min of a raw cost vector
    std::vector<double> expert_loss_;       // M_i: cumulative rank loss of expert i
    double suffered_loss_ = 0.0;
    std::int64_t rows_without_pairs_ = 0;
    std::int64_t rows_merged_ = 0;         // came as merged statistics (boostline.scale): not ranked before
    std::vector<std::int64_t> set_sizes_;  // how often |Y| was 0, 1, .., k among the other rows
};

}  // namespace boostline
