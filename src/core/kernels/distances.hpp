// Distances between rows, and what is made of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernels/level.hpp"

namespace boostline {

struct Standardise {
    static constexpr double kClip = 5.0;
    const double* mean;
    const double* inverse;  // of the deviation; 0: constant
    double root;            // 1 / sqrt(number of features that are not constant)

    BOOSTLINE_INLINE double operator()(std::size_t f, double x) const {
        double u = (x - mean[f]) * inverse[f];
        u = u < kClip ? u : (u == u ? kClip : 0.0);  // missing: as the mean
        return (u > -kClip ? u : -kClip) * root;
    }
};

// Points are stored in blocks of this many, coordinate by coordinate: the loop over the points of a block vectorises
// and every distance is summed in the order of the coordinates, whatever the vector width.
constexpr std::size_t kPointBlock = 16;

BOOSTLINE_KERNEL(standardise_dense, void(Standardise unit, const double* x, std::size_t d, float* u));

// From squared distances to exp(-distance / width) + 1.
BOOSTLINE_KERNEL(exponential_kernel, void(double* values, std::size_t n, double width));
BOOSTLINE_KERNEL(exponential_of_squares, void(const float* squares, std::size_t n, double width, double* out));

// Squared distances of n_queries points, one after the other, to all points of n_blocks blocks: n_blocks * kPointBlock
// for each query, a stride after those of the query before. `squares` has the squared length of every point, summed in
// the order of the coordinates.
BOOSTLINE_KERNEL(squared_distances,
                 void(const float* points, const float* squares, std::size_t n_blocks, std::size_t n_inputs,
                      const float* queries, std::size_t n_queries, float* out, std::size_t stride));

// The same distances of one query to some of the points, which lie row by row.
BOOSTLINE_KERNEL(distances_of_rows,
                 void(const float* rows, const float* squares, std::size_t n_inputs, const float* query, float square,
                      const std::uint32_t* slots, std::size_t n, float* out));

// Writes the places of the values above `above` and up to `most`, in order, and returns how many they are.
BOOSTLINE_KERNEL(find_between,
                 std::size_t(const float* values, std::size_t n, float above, float most, std::uint32_t* places));

// The least of every group of `together` blocks, number by number: n_blocks / together * kPointBlock numbers.
BOOSTLINE_KERNEL(least_of_blocks, void(const float* values, std::size_t n_blocks, std::size_t together, float* out));

BOOSTLINE_KERNEL(largest_of, float(const float* values, std::size_t n));
BOOSTLINE_KERNEL(count_up_to, std::size_t(const float* values, std::size_t n, float most));

// For each of n labels, the sum of the targets of n_rows rows, each times the row's weight, is added to sums. An
// unknown target (-1) counts as the label's frequency.
BOOSTLINE_KERNEL(add_targets, void(const std::int8_t* const* rows, const double* weights, std::size_t n_rows,
                                   const double* frequency, std::size_t n, double* sums));

// parts / wholes, or 0 of nothing.
BOOSTLINE_KERNEL(shares_of, void(const double* parts, const double* wholes, std::size_t n, double* shares));

}  // namespace boostline
