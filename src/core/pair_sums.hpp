// Sums over the pairs (relevant l, irrelevant r) of an example. Scores come split into the two groups, next to each
// other in memory; d = s[r] - s[l] is positive where the pair is ranked wrongly.
#pragma once

#include <cmath>
#include <vector>

#include "math.hpp"
#include "portable.hpp"

namespace boostline {

// Number of wrongly ranked pairs, ties one half.
BOOSTLINE_VECTORISED static double count_inversions(const double* BOOSTLINE_RESTRICT relevant, std::size_t n_relevant,
                                                    const double* BOOSTLINE_RESTRICT irrelevant,
                                                    std::size_t n_irrelevant) {
    double total = 0.0;  // multiples of one half: exact in any order
    for (std::size_t l = 0; l < n_relevant; ++l) {
        const double score = relevant[l];
        double count = 0.0;
        double lanes[kLanes] = {0.0};
        const std::size_t whole = n_irrelevant - n_irrelevant % kLanes;
        for (std::size_t r = 0; r < whole; r += kLanes)
            for (int lane = 0; lane < kLanes; ++lane) {
                const double other = irrelevant[r + static_cast<std::size_t>(lane)];
                lanes[lane] += (other > score ? 1.0 : 0.0) + (other == score ? 0.5 : 0.0);
            }
        for (std::size_t r = whole; r < n_irrelevant; ++r)
            count += irrelevant[r] > score ? 1.0 : (irrelevant[r] == score ? 0.5 : 0.0);
        total += count + combine_lanes(lanes);
    }
    return total;
}

BOOSTLINE_VECTORISED static void exp_differences(const double* BOOSTLINE_RESTRICT scores, std::size_t n, double from,
                                                 double* BOOSTLINE_RESTRICT out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = exp_(scores[i] - from);
}

// Adds e_r / (e_r + e_l) to each irrelevant label's sum and returns the sum over r.
BOOSTLINE_VECTORISED static double add_sigmoids(double e_relevant, const double* BOOSTLINE_RESTRICT e_irrelevant,
                                                std::size_t n, double* BOOSTLINE_RESTRICT irrelevant_sum) {
    double lanes[kLanes] = {0.0};
    const std::size_t whole = n - n % kLanes;
    for (std::size_t r = 0; r < whole; r += kLanes)
        for (int lane = 0; lane < kLanes; ++lane) {
            const std::size_t i = r + static_cast<std::size_t>(lane);
            const double p = e_irrelevant[i] / (e_irrelevant[i] + e_relevant);
            irrelevant_sum[i] += p;
            lanes[lane] += p;
        }
    double rest = 0.0;
    for (std::size_t r = whole; r < n; ++r) {
        const double p = e_irrelevant[r] / (e_irrelevant[r] + e_relevant);
        irrelevant_sum[r] += p;
        rest += p;
    }
    return combine_lanes(lanes) + rest;
}

// Looks up a piecewise linear function of d, given at origin + j * step, constant outside.
BOOSTLINE_INLINE double interpolate(const double* table, double position, std::int32_t last_cell) {
    const double end = static_cast<double>(last_cell) + 1.0;
    position = position < 0.0 ? 0.0 : position;
    position = position > end ? end : position;
    std::int32_t cell = static_cast<std::int32_t>(position);
    cell = cell < last_cell ? cell : last_cell;
    const double fraction = position - static_cast<double>(cell);
    return table[cell] + fraction * (table[cell + 1] - table[cell]);
}

// For one relevant label: adds step(s[r] - s[l]) to each irrelevant label's sum and returns the sum over r of
// step(s[r] - s[l] - 1).
BOOSTLINE_VECTORISED static double add_steps(double relevant, const double* BOOSTLINE_RESTRICT irrelevant,
                                             std::size_t n, const double* BOOSTLINE_RESTRICT table, double origin,
                                             double per_unit, std::int32_t last_cell,
                                             double* BOOSTLINE_RESTRICT irrelevant_sum) {
    double lanes[kLanes] = {0.0};
    const std::size_t whole = n - n % kLanes;
    for (std::size_t r = 0; r < whole; r += kLanes)
        for (int lane = 0; lane < kLanes; ++lane) {
            const std::size_t i = r + static_cast<std::size_t>(lane);
            const double position = (irrelevant[i] - relevant - origin) * per_unit;
            irrelevant_sum[i] += interpolate(table, position, last_cell);
            lanes[lane] += interpolate(table, position - per_unit, last_cell);
        }
    double rest = 0.0;
    for (std::size_t r = whole; r < n; ++r) {
        const double position = (irrelevant[r] - relevant - origin) * per_unit;
        irrelevant_sum[r] += interpolate(table, position, last_cell);
        rest += interpolate(table, position - per_unit, last_cell);
    }
    return combine_lanes(lanes) + rest;
}

}  // namespace boostline
