// Sums over the pairs (relevant l, irrelevant r) of an example. Scores come split into the two groups, next to each
// other in memory; d = s[r] - s[l] is positive where the pair is ranked wrongly.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernels/level.hpp"
#include "core/kernels/sums.hpp"

namespace boostline {

// A piecewise linear function of d, constant outside its table: given at d = origin + j / per_unit, where per_unit is a
// whole number, so that d and d - 1 lie at the same place within their cells.
struct StepRow {
    const double* values;
    double origin;
    std::int32_t per_unit;
    std::int32_t last_cell;  // there is one more value than cells
};

// Where a pair is in the table.
struct StepPlace {
    std::int32_t cell;
    double fraction;
};
BOOSTLINE_INLINE StepPlace place_of(double relevant, double irrelevant, const StepRow& row) {
    const double per_unit = static_cast<double>(row.per_unit), end = static_cast<double>(row.last_cell) + 1.0;
    double position = (irrelevant - relevant - row.origin) * per_unit;
    position = position > per_unit ? position : per_unit;  // also for NaN, which must not become an index
    position = position < end ? position : end;
    const auto found = static_cast<std::int32_t>(position);
    const std::int32_t cell = found < row.last_cell ? found : row.last_cell;
    return {cell, position - static_cast<double>(cell)};
}

// Number of wrongly ranked pairs, ties one half.
BOOSTLINE_KERNEL(count_inversions, double(const double* relevant, std::size_t n_relevant, const double* irrelevant,
                                          std::size_t n_irrelevant));

BOOSTLINE_KERNEL(exp_differences, void(const double* scores, std::size_t n, double from, double* out));

// Adds e_r / (e_r + e_l) to each irrelevant label's sum and returns the sum over r.
BOOSTLINE_KERNEL(add_sigmoids,
                 double(double e_relevant, const double* e_irrelevant, std::size_t n, double* irrelevant_sum));

// For one relevant label: adds step(s[r] - s[l]) to each irrelevant label's sum and returns the sum over r of
// step(s[r] - s[l] - 1). Any d is at least one unit inside the table; if it were not, the nearest that is would be
// taken.
BOOSTLINE_KERNEL(add_step_sums, double(double relevant, const double* irrelevant, std::size_t n, const StepRow& row,
                                       double* irrelevant_sum));

// The scores of all experts, each of which is the one before it with another vote: scores has n + 1 rows of k numbers,
// of which the first is given, and row i + 1 = row i + weights[i] votes[i].
BOOSTLINE_KERNEL(add_votes,
                 void(const double* votes, const double* weights, std::size_t n, std::size_t k, double* scores));

}  // namespace boostline
