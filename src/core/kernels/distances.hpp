// Distances between rows, and what is made of them.
//
// Each function is compiled for several vector widths; see portable.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/portable.hpp"

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

void standardise_dense(Standardise unit, const double* BOOSTLINE_RESTRICT x, std::size_t d,
                       float* BOOSTLINE_RESTRICT u);

// From squared distances to exp(-distance / width) + 1.
void exponential_kernel(double* BOOSTLINE_RESTRICT values, std::size_t n, double width);
void exponential_kernel(const float* BOOSTLINE_RESTRICT squares, std::size_t n, double width,
                        double* BOOSTLINE_RESTRICT out);

// Squared distances of n_queries points, one after the other, to all points of n_blocks blocks: n_blocks * kPointBlock
// for each query, a stride after those of the query before. `squares` has the squared length of every point, summed in
// the order of the coordinates.
void squared_distances(const float* points, const float* squares, std::size_t n_blocks, std::size_t n_inputs,
                       const float* queries, std::size_t n_queries, float* out, std::size_t stride);

// The same distances of one query to some of the points, which lie row by row.
void distances_of_rows(const float* rows, const float* squares, std::size_t n_inputs, const float* query, float square,
                       const std::uint32_t* slots, std::size_t n, float* out);

// Writes the places of the values above `above` and up to `most`, in order, and returns how many they are.
std::size_t find_between(const float* values, std::size_t n, float above, float most, std::uint32_t* places);

// The least of every group of `together` blocks, number by number: n_blocks / together * kPointBlock numbers.
void least_of_blocks(const float* values, std::size_t n_blocks, std::size_t together, float* out);

float largest_of(const float* values, std::size_t n);
std::size_t count_up_to(const float* values, std::size_t n, float most);

// For each of n labels, the sum of the targets of n_rows rows, each times the row's weight, is added to sums. An
// unknown target (-1) counts as the label's frequency.
void add_targets(const std::int8_t* const* rows, const double* weights, std::size_t n_rows, const double* frequency,
                 std::size_t n, double* sums);

// parts / wholes, or 0 of nothing.
void shares_of(const double* BOOSTLINE_RESTRICT parts, const double* BOOSTLINE_RESTRICT wholes, std::size_t n,
               double* BOOSTLINE_RESTRICT shares);

}  // namespace boostline
