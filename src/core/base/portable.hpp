// Compiler facts used by every other header.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__GNUC__)
#define BOOSTLINE_INLINE inline __attribute__((always_inline))
#define BOOSTLINE_RESTRICT __restrict__
#define BOOSTLINE_PREFETCH(address) __builtin_prefetch(address)
#else
#define BOOSTLINE_INLINE inline
#define BOOSTLINE_RESTRICT
#define BOOSTLINE_PREFETCH(address) ((void)(address))
#endif

namespace boostline {

// Every long sum is kept in this many partial sums, combined in one order, whatever the vector width.
constexpr int kLanes = 8;

// Features lie within this limit (boostline/contract/rows.py), and all other numbers of a learner but for sums of
// squares: products of two are finite then.
constexpr double kLargest = 1e100;

BOOSTLINE_INLINE double combine_lanes(const double* lanes) {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

}  // namespace boostline
