#include "core/kernels/matrices.hpp"

#define BOOSTLINE_LOOPS "core/kernels/matrices.inl"
#include "core/kernels/each_width.hpp"

namespace boostline {

void packed_multiply(const double* cells, std::size_t n_padded, const double* x, std::size_t x_stride,
                     std::size_t n_rows, double* y, std::size_t y_stride) {
    BOOSTLINE_AT_WIDTH(packed_multiply(cells, n_padded, x, x_stride, n_rows, y, y_stride))
}
void packed_subtract(double* cells, std::size_t n_padded, const double* vectors, std::size_t stride,
                     const double* factor, std::size_t n_vectors) {
    BOOSTLINE_AT_WIDTH(packed_subtract(cells, n_padded, vectors, stride, factor, n_vectors))
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

BOOSTLINE_VECTORISED void packed_times_matrix(const double* BOOSTLINE_RESTRICT cells, std::size_t n,
                                              const double* BOOSTLINE_RESTRICT y, std::size_t k,
                                              double* BOOSTLINE_RESTRICT a) {
    for (std::size_t i = 0; i < n * k; ++i) a[i] = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double* BOOSTLINE_RESTRICT row = cells + packed_row(i);
        for (std::size_t j = 0; j < i; ++j) {
            const double p = row[j];
            for (std::size_t c = 0; c < k; ++c) {
                a[i * k + c] += p * y[j * k + c];
                a[j * k + c] += p * y[i * k + c];
            }
        }
        for (std::size_t c = 0; c < k; ++c) a[i * k + c] += row[i] * y[i * k + c];
    }
}

}  // namespace boostline
