// Products and rank-one changes of the matrices of least squares. A symmetric matrix is packed: only the lower triangle
// is stored, row after row, each row padded to whole lanes.
//
// Each function is compiled for several vector widths; see portable.hpp.
#pragma once

#include <cstddef>

#include "core/portable.hpp"

namespace boostline {

// Vectors that go with a PackedSymmetric have this length, zeros at the end.
constexpr std::size_t padded(std::size_t n) { return (n + 7) / 8 * 8; }

// Row i has padded(i + 1) cells: the rows before it fill i / 8 whole blocks, and part of one.
constexpr std::size_t packed_row(std::size_t i) {
    const std::size_t block = i / 8;
    return 32 * block * (block + 1) + (i % 8) * 8 * (block + 1);
}

// y += a * x
void add_multiple(double a, const double* BOOSTLINE_RESTRICT x, std::size_t n, double* BOOSTLINE_RESTRICT y);

// y = P x. Each stored cell is read once and used for both of its places. Four rows at a time: y is then read and
// written a quarter as often.
void packed_multiply(const double* BOOSTLINE_RESTRICT cells, std::size_t n_padded, const double* BOOSTLINE_RESTRICT x,
                     double* BOOSTLINE_RESTRICT y);

// P -= sum_j factor[j] g_j g_j^T for the n_vectors (a multiple of 4) rows g_j of `vectors`. Columns go in strips whose
// part of the vectors fits the first-level cache. Above the diagonal, rows of a block get numbers nobody reads.
void packed_subtract(double* BOOSTLINE_RESTRICT cells, std::size_t n_padded, const double* BOOSTLINE_RESTRICT vectors,
                     std::size_t stride, const double* BOOSTLINE_RESTRICT factor, std::size_t n_vectors);

// out = z^T W for W of n rows and k columns. Each label's sum runs over the inputs in order.
void combine_rows(const double* z, std::size_t n, const double* w, std::size_t k, double* out);

// W += factor * g e^T
void add_outer(double factor, const double* BOOSTLINE_RESTRICT g, std::size_t n, const double* BOOSTLINE_RESTRICT e,
               std::size_t k, double* BOOSTLINE_RESTRICT w);

// A = P Y, all of n rows; Y and A have k columns.
void packed_times_matrix(const double* BOOSTLINE_RESTRICT cells, std::size_t n, const double* BOOSTLINE_RESTRICT y,
                         std::size_t k, double* BOOSTLINE_RESTRICT a);

}  // namespace boostline
