// Distances between rows, and what is made of them.
//
// Each function is compiled for several vector widths; see portable.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/portable.hpp"

namespace boostline {

struct Standardise {
    const double* mean;
    const double* inverse;  // of the deviation; 0: constant
    double root;            // 1 / sqrt(number of features that are not constant)

    BOOSTLINE_INLINE double operator()(std::size_t f, double x) const {
        constexpr double kClip = 5.0;
        double u = (x - mean[f]) * inverse[f];
        u = u < kClip ? u : (u == u ? kClip : 0.0);  // missing: as the mean
        return (u > -kClip ? u : -kClip) * root;
    }
};

// Points are stored in blocks of this many, coordinate by coordinate: the loop over the points of a block vectorises
// and every distance is summed in the order of the coordinates, whatever the vector width.
constexpr std::size_t kPointBlock = 16;

void standardise_dense(Standardise unit, const double* BOOSTLINE_RESTRICT x, std::size_t d,
                       double* BOOSTLINE_RESTRICT u);

void squared_distances(const double* BOOSTLINE_RESTRICT u, const double* BOOSTLINE_RESTRICT rows, std::size_t n,
                       std::size_t d_padded, double* BOOSTLINE_RESTRICT out);

void exponential_kernel(double* BOOSTLINE_RESTRICT values, std::size_t n, double width);

// Squared distances of a point to all points of n_blocks blocks. Points are in single precision (half the memory to
// walk, which is what takes the time), distances in double.
void squared_distances(const float* BOOSTLINE_RESTRICT points, std::size_t n_blocks, std::size_t n_inputs,
                       const double* BOOSTLINE_RESTRICT point, double* BOOSTLINE_RESTRICT distances);

void add_targets(const std::int8_t* BOOSTLINE_RESTRICT targets, const double* BOOSTLINE_RESTRICT frequency,
                 std::size_t n, double weight, double* BOOSTLINE_RESTRICT sums);

}  // namespace boostline
