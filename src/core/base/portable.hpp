// Compiler facts used by every other header.
//
// Hot loops are compiled several times, for plain x86-64 and for wide vectors, and the loader picks one
// at run time. All clones give the same bits: multiply and add are not fused (-ffp-contract=off), sums
// run in a fixed number of lanes (kLanes), and no libm function is called whose result differs between
// machines (see math.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__ELF__) && !defined(BOOSTLINE_NO_IFUNCS)
#define BOOSTLINE_VECTORISED __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define BOOSTLINE_VECTORISED
#endif

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

BOOSTLINE_INLINE double combine_lanes(const double* lanes) {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

}  // namespace boostline
