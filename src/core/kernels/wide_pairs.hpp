// Costs of one learner from the scores of one expert, all steps in one pass, for machines with AVX-512: the bits of
// what booster.hpp does step by step with pairs.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernels/pairs.hpp"

namespace boostline {

// The scores of an expert, and the labels of an example all of which are known.
struct ScoredLabels {
    const double* scores;
    const std::uint8_t* is_relevant;
    std::size_t n;
    std::size_t n_relevant;
    double pair_weight;
};

// Whether this machine can, and no test has asked for other vectors.
bool has_wide_pairs();
// How many numbers of room the functions need.
constexpr std::size_t room_for_wide_pairs(std::size_t n_labels) { return 5 * (n_labels + 16); }

// What they find besides the costs.
struct PairFacts {
    double inversions = 0.0;  // wrongly ranked pairs
    Range costs{0.0, 0.0};
};

// They may return false, of rare scores: then nothing has been written that counts.
bool write_logistic_costs(const ScoredLabels& of, double* room, double* costs, PairFacts& facts);
bool write_step_costs(const ScoredLabels& of, const StepRow& row, double* room, double* costs, PairFacts& facts);

}  // namespace boostline
