// Products and rank-one changes of the matrices of least squares. A symmetric matrix is packed: only the lower triangle
// is stored, row after row, each row padded to whole lanes.
#pragma once

#include <cstddef>

#include "core/kernels/level.hpp"

namespace boostline {

// Vectors that go with a PackedSymmetric have this length, zeros at the end.
BOOSTLINE_INLINE constexpr std::size_t padded(std::size_t n) { return (n + 7) / 8 * 8; }

// Row i has padded(i + 1) cells: the rows before it fill i / 8 whole blocks, and part of one.
BOOSTLINE_INLINE constexpr std::size_t packed_row(std::size_t i) {
    const std::size_t block = i / 8;
    return 32 * block * (block + 1) + (i % 8) * 8 * (block + 1);
}

// The same for a copy in single precision, in groups of sixteen.
BOOSTLINE_INLINE constexpr std::size_t coarse_padded(std::size_t n) { return (n + 15) / 16 * 16; }
BOOSTLINE_INLINE constexpr std::size_t coarse_row(std::size_t i) {
    const std::size_t block = i / 16;
    return 128 * block * (block + 1) + (i % 16) * 16 * (block + 1);
}

// y += a * x
BOOSTLINE_KERNEL(add_multiple, void(double a, const double* x, std::size_t n, double* y));

// y = P x for n_rows vectors, each a stride after the one before; y of one vector does not depend on the others. Each
// stored cell is used for both of its places, and eight rows of P at a time for all vectors, while they are in the
// caches.
BOOSTLINE_KERNEL(packed_multiply, void(const double* cells, std::size_t n_padded, const double* x, std::size_t x_stride,
                                       std::size_t n_rows, double* y, std::size_t y_stride));
BOOSTLINE_KERNEL(coarse_multiply, void(const float* cells, std::size_t n_padded, const float* x, std::size_t x_stride,
                                       std::size_t n_rows, float* y, std::size_t y_stride));

// P -= sum_j factor[j] g_j g_j^T for the n_vectors (at most 16) rows g_j of `vectors`. Columns go in strips whose
// part of the vectors fits the first-level cache. Above the diagonal, rows of a block get numbers that are not read.
// With no vectors it only rounds the cells to the coarse copy, if there is one. Rows `first` to `end`, multiples of 8.
BOOSTLINE_KERNEL(packed_subtract, void(double* cells, std::size_t first, std::size_t end, const double* vectors,
                                       std::size_t stride, const double* factor, std::size_t n_vectors, float* coarse));

// The m columns of a panel, of `length` numbers (a multiple of 8) and a stride apart, times L^-T, or with `back` times
// L^-1; L has m rows and columns, at most kPanel, and its rows are kPanel apart.
constexpr std::size_t kPanel = 16;
BOOSTLINE_KERNEL(solve_panel, void(double* panel, std::size_t length, std::size_t stride, std::size_t m,
                                   const double* chol, bool back));

// out = z^T W for n_rows vectors z, a stride apart, and W of n rows and k columns. Each label's sum runs over the
// inputs in order.
BOOSTLINE_KERNEL(combine_rows, void(const double* z, std::size_t stride, std::size_t n_rows, std::size_t n,
                                    const double* w, std::size_t k, double* out));

// W += factor * g e^T
BOOSTLINE_KERNEL(add_outer,
                 void(double factor, const double* g, std::size_t n, const double* e, std::size_t k, double* w));

}  // namespace boostline
