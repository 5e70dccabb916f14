#include "core/kernels/matrices.hpp"

#include <algorithm>

namespace boostline {

template <std::size_t kWidth>
BOOSTLINE_INLINE void combine_columns(const double* BOOSTLINE_RESTRICT z, std::size_t n,
                                      const double* BOOSTLINE_RESTRICT w, std::size_t stride,
                                      double* BOOSTLINE_RESTRICT out) {
    double sums[kWidth] = {0.0};
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < kWidth; ++c) sums[c] += z[i] * w[i * stride + c];
    for (std::size_t c = 0; c < kWidth; ++c) out[c] = sums[c];
}

BOOSTLINE_VECTORISED void add_multiple(double a, const double* BOOSTLINE_RESTRICT x, std::size_t n,
                                       double* BOOSTLINE_RESTRICT y) {
    for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

BOOSTLINE_VECTORISED void packed_multiply(const double* BOOSTLINE_RESTRICT cells, std::size_t n_padded,
                                          const double* BOOSTLINE_RESTRICT x, double* BOOSTLINE_RESTRICT y) {
    for (std::size_t i = 0; i < n_padded; ++i) y[i] = 0.0;
    for (std::size_t i = 0; i < n_padded; i += 4) {
        const std::size_t whole = i / 8 * 8, length = whole + 8;
        const double* BOOSTLINE_RESTRICT r0 = cells + packed_row(i);
        const double* BOOSTLINE_RESTRICT r1 = r0 + length;
        const double* BOOSTLINE_RESTRICT r2 = r1 + length;
        const double* BOOSTLINE_RESTRICT r3 = r2 + length;
        const double x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
        double a0[kLanes] = {0.0}, a1[kLanes] = {0.0}, a2[kLanes] = {0.0}, a3[kLanes] = {0.0};
        for (std::size_t c = 0; c < whole; c += kLanes)
            for (std::size_t l = 0; l < kLanes; ++l) {
                const double p0 = r0[c + l], p1 = r1[c + l], p2 = r2[c + l], p3 = r3[c + l], v = x[c + l];
                a0[l] += p0 * v;
                a1[l] += p1 * v;
                a2[l] += p2 * v;
                a3[l] += p3 * v;
                y[c + l] += (p0 * x0 + p1 * x1) + (p2 * x2 + p3 * x3);
            }
        y[i] += combine_lanes(a0);
        y[i + 1] += combine_lanes(a1);
        y[i + 2] += combine_lanes(a2);
        y[i + 3] += combine_lanes(a3);
        const double* row = r0;
        for (std::size_t r = i; r < i + 4; ++r, row += length) {  // the triangle on the diagonal
            for (std::size_t c = whole; c < r; ++c) {
                y[r] += row[c] * x[c];
                y[c] += row[c] * x[r];
            }
            y[r] += row[r] * x[r];
        }
    }
}

BOOSTLINE_VECTORISED void packed_subtract(double* BOOSTLINE_RESTRICT cells, std::size_t n_padded,
                                          const double* BOOSTLINE_RESTRICT vectors, std::size_t stride,
                                          const double* BOOSTLINE_RESTRICT factor, std::size_t n_vectors) {
    constexpr std::size_t kStrip = 128;
    for (std::size_t from = 0; from < n_padded; from += kStrip)
        for (std::size_t i = from; i < n_padded; i += 2) {
            const std::size_t length = i / 8 * 8 + 8, to = std::min(length, from + kStrip);
            double* BOOSTLINE_RESTRICT r0 = cells + packed_row(i);
            double* BOOSTLINE_RESTRICT r1 = r0 + length;
            for (std::size_t j = 0; j < n_vectors; j += 4) {
                const double* BOOSTLINE_RESTRICT g0 = vectors + j * stride;
                const double* BOOSTLINE_RESTRICT g1 = g0 + stride;
                const double* BOOSTLINE_RESTRICT g2 = g1 + stride;
                const double* BOOSTLINE_RESTRICT g3 = g2 + stride;
                const double a0 = factor[j] * g0[i], a1 = factor[j + 1] * g1[i];
                const double a2 = factor[j + 2] * g2[i], a3 = factor[j + 3] * g3[i];
                const double b0 = factor[j] * g0[i + 1], b1 = factor[j + 1] * g1[i + 1];
                const double b2 = factor[j + 2] * g2[i + 1], b3 = factor[j + 3] * g3[i + 1];
                for (std::size_t c = from; c < to; ++c) {
                    r0[c] = (((r0[c] - a0 * g0[c]) - a1 * g1[c]) - a2 * g2[c]) - a3 * g3[c];
                    r1[c] = (((r1[c] - b0 * g0[c]) - b1 * g1[c]) - b2 * g2[c]) - b3 * g3[c];
                }
            }
        }
}

BOOSTLINE_VECTORISED void combine_rows(const double* z, std::size_t n, const double* w, std::size_t k, double* out) {
    std::size_t c = 0;
    for (; c + 32 <= k; c += 32) combine_columns<32>(z, n, w + c, k, out + c);
    for (; c + 8 <= k; c += 8) combine_columns<8>(z, n, w + c, k, out + c);
    for (; c + 4 <= k; c += 4) combine_columns<4>(z, n, w + c, k, out + c);
    for (; c + 2 <= k; c += 2) combine_columns<2>(z, n, w + c, k, out + c);
    for (; c < k; ++c) combine_columns<1>(z, n, w + c, k, out + c);
}

BOOSTLINE_VECTORISED void add_outer(double factor, const double* BOOSTLINE_RESTRICT g, std::size_t n,
                                    const double* BOOSTLINE_RESTRICT e, std::size_t k, double* BOOSTLINE_RESTRICT w) {
    for (std::size_t i = 0; i < n; ++i) {
        const double a = factor * g[i];
        for (std::size_t c = 0; c < k; ++c) w[i * k + c] += a * e[c];
    }
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
