// The scores of all experts, each of which is the one before it with another vote.
#pragma once

#include <cstddef>

#include "core/base/portable.hpp"

namespace boostline {

// scores has n + 1 rows of k numbers, of which the first is given: row i + 1 = row i + weights[i] votes[i].
void add_votes(const double* BOOSTLINE_RESTRICT votes, const double* BOOSTLINE_RESTRICT weights, std::size_t n,
               std::size_t k, double* BOOSTLINE_RESTRICT scores);

}  // namespace boostline
