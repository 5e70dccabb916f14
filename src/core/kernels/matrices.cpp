#include "core/kernels/matrices.hpp"

#include <algorithm>
#include <vector>

#define BOOSTLINE_LOOPS "core/kernels/matrices.inl"
#include "core/kernels/each_width.hpp"

namespace boostline {

void packed_multiply(const double* cells, std::size_t n_padded, const double* x, std::size_t x_stride,
                     std::size_t n_rows, double* y, std::size_t y_stride) {
    BOOSTLINE_AT_WIDTH(packed_multiply(cells, n_padded, x, x_stride, n_rows, y, y_stride))
}
void coarse_multiply(const float* cells, std::size_t n_padded, const float* x, std::size_t x_stride, std::size_t n_rows,
                     float* y, std::size_t y_stride) {
    BOOSTLINE_AT_WIDTH(coarse_multiply(cells, n_padded, x, x_stride, n_rows, y, y_stride))
}
void packed_subtract(double* cells, std::size_t first, std::size_t end, const double* vectors, std::size_t stride,
                     const double* factor, std::size_t n_vectors, float* coarse) {
    BOOSTLINE_AT_WIDTH(packed_subtract(cells, first, end, vectors, stride, factor, n_vectors, coarse))
}
void solve_panel(double* panel, std::size_t length, std::size_t stride, std::size_t m, const double* chol, bool back) {
    BOOSTLINE_AT_WIDTH(solve_panel(panel, length, stride, m, chol, back))
}
void combine_rows(const double* z, std::size_t stride, std::size_t n_rows, std::size_t n, const double* w,
                  std::size_t k, double* out) {
    BOOSTLINE_AT_WIDTH(combine_rows(z, stride, n_rows, n, w, k, out))
}
void add_outer(double factor, const double* g, std::size_t n, const double* e, std::size_t k,
               double* w){BOOSTLINE_AT_WIDTH(add_outer(factor, g, n, e, k, w))}

BOOSTLINE_VECTORISED
    void add_multiple(double a, const double* BOOSTLINE_RESTRICT x, std::size_t n, double* BOOSTLINE_RESTRICT y) {
    for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

void packed_times_matrix(const double* cells, std::size_t n, const double* y, std::size_t k, double* a) {
    std::vector<double> rows(8 * n);  // of P, whole
    for (std::size_t i = 0; i < n; i += 8) {
        const std::size_t m = n - i < 8 ? n - i : 8;
        for (std::size_t r = 0; r < m; ++r) std::copy_n(cells + packed_row(i + r), i + r + 1, &rows[r * n]);
        for (std::size_t j = i; j < n; ++j)
            for (std::size_t r = 0; r < m && i + r < j; ++r) rows[r * n + j] = cells[packed_row(j) + i + r];
        combine_rows(rows.data(), n, m, n, y, k, a + i * k);
    }
}

}  // namespace boostline
