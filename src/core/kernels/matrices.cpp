#include "core/kernels/matrices.hpp"

#include "core/kernels/vectors.hpp"

namespace boostline::BOOSTLINE_LEVEL {

// Columns that pass together: what the rows of a block have of them, on both sides, stays in the first cache.
constexpr std::size_t kTile = 128;
// Vectors that pass together, so many that the sums of four rows of P stay in registers.
constexpr std::size_t kPassing = BOOSTLINE_VECTOR_BYTES == 64 ? 4 : 1;

// Four rows of P, from row i on, and their columns from .. end, left of the diagonal, for kRows vectors: each cell in
// both of its places.
template <std::size_t kRows, class Real>
static inline void multiply_strip(const Real* r0, std::size_t length, std::size_t from, std::size_t end, std::size_t i,
                                  const Real* x, std::size_t x_stride, Real* y, std::size_t y_stride) {
    constexpr std::size_t kCount = sizeof(Lanes<Real>) / sizeof(Real);
    const Real *r1 = r0 + length, *r2 = r1 + length, *r3 = r2 + length;
    Lanes<Real> a[kRows][4] = {};
    Real own[kRows][4];
    for (std::size_t v = 0; v < kRows; ++v)
        for (std::size_t j = 0; j < 4; ++j) own[v][j] = x[v * x_stride + i + j];
    for (std::size_t c = from; c < end; c += kCount) {
        const Lanes<Real> p0 = load_lanes(r0 + c), p1 = load_lanes(r1 + c), p2 = load_lanes(r2 + c),
                          p3 = load_lanes(r3 + c);
        for (std::size_t v = 0; v < kRows; ++v) {
            const Lanes<Real> other = load_lanes(x + v * x_stride + c);
            a[v][0] += p0 * other;
            a[v][1] += p1 * other;
            a[v][2] += p2 * other;
            a[v][3] += p3 * other;
            Real* to = y + v * y_stride + c;
            store(to, load_lanes(to) + ((p0 * own[v][0] + p1 * own[v][1]) + (p2 * own[v][2] + p3 * own[v][3])));
        }
    }
    for (std::size_t v = 0; v < kRows; ++v) add_lanes(a[v][0], a[v][1], a[v][2], a[v][3], y + v * y_stride + i);
}

// Rows of P from row i on, as many as lanes, and one tile of their columns, up to the diagonal.
template <class Real>
static inline void multiply_tile(const Real* rows, std::size_t i, std::size_t from, const Real* x, std::size_t x_stride,
                                 std::size_t n_rows, Real* y, std::size_t y_stride) {
    constexpr std::size_t kCount = sizeof(Lanes<Real>) / sizeof(Real);
    const std::size_t length = i + kCount, end = i < from + kTile ? i : from + kTile;
    for (std::size_t four = 0; four < kCount && from < end; four += 4) {
        const Real* r0 = rows + four * length;
        std::size_t v = 0;
        for (; v + kPassing <= n_rows; v += kPassing)
            multiply_strip<kPassing>(r0, length, from, end, i + four, x + v * x_stride, x_stride, y + v * y_stride,
                                     y_stride);
        for (; kPassing > 2 && v + 2 <= n_rows; v += 2)
            multiply_strip<2>(r0, length, from, end, i + four, x + v * x_stride, x_stride, y + v * y_stride, y_stride);
        for (; v < n_rows; ++v)
            multiply_strip<1>(r0, length, from, end, i + four, x + v * x_stride, x_stride, y + v * y_stride, y_stride);
    }
    if (i >= from + kTile) return;
    Real block[kCount * kCount];  // on the diagonal, both triangles
    for (std::size_t r = 0; r < kCount; ++r)
        for (std::size_t c = 0; c <= r; ++c) block[r * kCount + c] = block[c * kCount + r] = rows[r * length + i + c];
    for (std::size_t v = 0; v < n_rows; ++v) {
        Real* to = y + v * y_stride + i;
        Lanes<Real> sums = load_lanes(to);
        for (std::size_t c = 0; c < kCount; ++c) sums += load_lanes(block + c * kCount) * x[v * x_stride + i + c];
        store(to, sums);
    }
}

// Tile after tile, or for a single row, which walks along P as it lies in memory, strip after strip: every sum has the
// same order in both.
template <class Real, class Start>
static inline void multiply_all(const Real* cells, Start&& row, std::size_t n_padded, const Real* x,
                                std::size_t x_stride, std::size_t n_rows, Real* y, std::size_t y_stride) {
    constexpr std::size_t kCount = sizeof(Lanes<Real>) / sizeof(Real);
    for (std::size_t v = 0; v < n_rows; ++v)
        for (std::size_t i = 0; i < n_padded; ++i) y[v * y_stride + i] = Real(0);
    if (n_rows == 1) {
        for (std::size_t i = 0; i < n_padded; i += kCount)
            for (std::size_t from = 0; from <= i; from += kTile)
                multiply_tile(cells + row(i), i, from, x, x_stride, 1, y, y_stride);
        return;
    }
    for (std::size_t from = 0; from < n_padded; from += kTile)
        for (std::size_t i = from; i < n_padded; i += kCount)
            multiply_tile(cells + row(i), i, from, x, x_stride, n_rows, y, y_stride);
}
void packed_multiply(const double* cells, std::size_t n_padded, const double* x, std::size_t x_stride,
                     std::size_t n_rows, double* y, std::size_t y_stride) {
    multiply_all(cells, packed_row, n_padded, x, x_stride, n_rows, y, y_stride);
}
void coarse_multiply(const float* cells, std::size_t n_padded, const float* x, std::size_t x_stride, std::size_t n_rows,
                     float* y, std::size_t y_stride) {
    multiply_all(cells, coarse_row, n_padded, x, x_stride, n_rows, y, y_stride);
}

// kRows rows of P and kVectors vectors of columns stay in registers while all vectors pass.
// The result is rounded to the `coarse` rows as well, if there are any.
template <std::size_t kRows, std::size_t kVectors>
static inline void subtract_piece(double* rows, std::size_t length, const double* vectors, std::size_t stride,
                                  const double* scaled, std::size_t n_vectors, float* coarse,
                                  std::size_t coarse_length) {
    Doubles p[kRows][kVectors];
    for (std::size_t r = 0; r < kRows; ++r)
        for (std::size_t v = 0; v < kVectors; ++v) p[r][v] = load(rows + r * length + v * kDoubles);
    for (std::size_t j = 0; j < n_vectors; ++j) {
        Doubles g[kVectors];
        for (std::size_t v = 0; v < kVectors; ++v) g[v] = load(vectors + j * stride + v * kDoubles);
        for (std::size_t r = 0; r < kRows; ++r)
            for (std::size_t v = 0; v < kVectors; ++v) p[r][v] -= g[v] * scaled[j * 8 + r];
    }
    for (std::size_t r = 0; r < kRows; ++r)
        for (std::size_t v = 0; v < kVectors; ++v) store(rows + r * length + v * kDoubles, p[r][v]);
    if (coarse == nullptr) return;
    typedef float Rounded __attribute__((vector_size(kDoubles * sizeof(float))));
    for (std::size_t r = 0; r < kRows; ++r)
        for (std::size_t v = 0; v < kVectors; ++v)
            store(coarse + r * coarse_length + v * kDoubles, __builtin_convertvector(p[r][v], Rounded));
}

void packed_subtract(double* cells, std::size_t first, std::size_t end, const double* vectors, std::size_t stride,
                     const double* factor, std::size_t n_vectors, float* coarse) {
    constexpr std::size_t kStrip = 128, kMost = 16, kAhead = 16;
    constexpr std::size_t kRows = BOOSTLINE_VECTOR_BYTES == 64 ? 8 : 4, kPiece = 2 * kDoubles;
    double scaled[kMost * 8];
    for (std::size_t from = 0; from < end; from += kStrip)
        for (std::size_t i = from > first ? from : first; i < end; i += 8) {
            const std::size_t length = i + 8, to = length < from + kStrip ? length : from + kStrip;
            const std::size_t coarse_length = coarse_padded(i + 1);
            double* rows = cells + packed_row(i);
            const double* next = i + 8 < end ? cells + packed_row(i + 8) + from : rows;
            for (std::size_t j = 0; j < n_vectors; ++j)
                for (std::size_t r = 0; r < 8; ++r) scaled[j * 8 + r] = factor[j] * vectors[j * stride + i + r];
            for (std::size_t c = from; c < to; c += kPiece) {
                // What comes in a while, in these rows or in the next eight: it is too far apart for the processor to
                // guess.
                for (std::size_t line = c; line < c + kPiece; line += 8) {
                    const double* ahead = line + kAhead < to ? rows + line + kAhead : next + (line + kAhead - to);
                    const std::size_t apart = line + kAhead < to ? length : length + 8;
                    for (std::size_t r = 0; r < 8; ++r) BOOSTLINE_PREFETCH(ahead + r * apart);
                }
                for (std::size_t r = 0; r < 8; r += kRows) {
                    float* rounded = coarse == nullptr ? nullptr : coarse + coarse_row(i + r) + c;
                    if (c + kPiece <= to)
                        subtract_piece<kRows, 2>(rows + r * length + c, length, vectors + c, stride, scaled + r,
                                                 n_vectors, rounded, coarse_length);
                    else
                        subtract_piece<kRows, 1>(rows + r * length + c, length, vectors + c, stride, scaled + r,
                                                 n_vectors, rounded, coarse_length);
                }
            }
        }
}

// A vector of rows at a time; whatever a column is to lose goes in the order of the columns that it is taken from.
template <bool kBack>
static inline void solve_rows(double* rows, std::size_t stride, std::size_t m, const double* chol) {
    Doubles g[kPanel];
    for (std::size_t j = 0; j < m; ++j) g[j] = load(rows + j * stride);
    for (std::size_t step = 0; step < m; ++step) {
        const std::size_t p = kBack ? m - 1 - step : step;
        // Of those after it (before it, on the way back) only p is left to be taken from.
        if (!kBack) {
            g[p] /= chol[p * kPanel + p];
            for (std::size_t j = p + 1; j < m; ++j) g[j] += g[p] * -chol[j * kPanel + p];
        } else {
            for (std::size_t other = p + 1; other < m; ++other) g[p] += g[other] * -chol[other * kPanel + p];
            g[p] /= chol[p * kPanel + p];
        }
    }
    for (std::size_t j = 0; j < m; ++j) store(rows + j * stride, g[j]);
}
void solve_panel(double* panel, std::size_t length, std::size_t stride, std::size_t m, const double* chol, bool back) {
    for (std::size_t i = 0; i < length; i += kDoubles) {
        if (m == kPanel)  // known to the compiler, so that all stays in registers
            back ? solve_rows<true>(panel + i, stride, kPanel, chol)
                 : solve_rows<false>(panel + i, stride, kPanel, chol);
        else
            back ? solve_rows<true>(panel + i, stride, m, chol) : solve_rows<false>(panel + i, stride, m, chol);
    }
}

// kRows rows and kVectors vectors of columns at a time: enough sums side by side that none waits for itself.
template <std::size_t kRows, std::size_t kVectors>
static inline void combine_columns(const double* z, std::size_t stride, std::size_t n, const double* w, std::size_t k,
                                   double* out) {
    Doubles sums[kRows][kVectors] = {};
    for (std::size_t i = 0; i < n; ++i) {
        Doubles column[kVectors];
        for (std::size_t c = 0; c < kVectors; ++c) column[c] = load(w + i * k + c * kDoubles);
        for (std::size_t r = 0; r < kRows; ++r)
            for (std::size_t c = 0; c < kVectors; ++c) sums[r][c] += column[c] * z[r * stride + i];
    }
    for (std::size_t r = 0; r < kRows; ++r)
        for (std::size_t c = 0; c < kVectors; ++c) store(out + r * k + c * kDoubles, sums[r][c]);
}
// Fewer columns than a vector has: it has the first numbers of the next row as well, which nobody reads. At the end of
// W there is no next row.
template <std::size_t kRows>
static inline void combine_few_columns(const double* z, std::size_t stride, std::size_t n, const double* w,
                                       std::size_t k, double* out) {
    Doubles sums[kRows] = {};
    const std::size_t n_whole = n * k < kDoubles ? 0 : (n * k - kDoubles) / k + 1;
    double last[kDoubles] = {};
    for (std::size_t i = 0; i < n; ++i) {
        if (i >= n_whole)
            for (std::size_t c = 0; c < k; ++c) last[c] = w[i * k + c];
        const Doubles column = load(i < n_whole ? w + i * k : last);
        for (std::size_t r = 0; r < kRows; ++r) sums[r] += column * z[r * stride + i];
    }
    for (std::size_t r = 0; r < kRows; ++r) {
        store(last, sums[r]);
        for (std::size_t c = 0; c < k; ++c) out[r * k + c] = last[c];
    }
}
// The last columns may have been summed before, with the same result.
template <std::size_t kRows>
static inline void combine_all_columns(const double* z, std::size_t stride, std::size_t n, const double* w,
                                       std::size_t k, double* out) {
    if (k < kDoubles) return combine_few_columns<kRows>(z, stride, n, w, k, out);
    constexpr std::size_t kMost = BOOSTLINE_VECTOR_BYTES == 64 ? 4 : 2;  // vectors of four rows that registers hold
    std::size_t c = 0;
    for (; c + kMost * kDoubles <= k; c += kMost * kDoubles)
        combine_columns<kRows, kMost>(z, stride, n, w + c, k, out + c);
    for (; c + kDoubles <= k; c += kDoubles) combine_columns<kRows, 1>(z, stride, n, w + c, k, out + c);
    if (c < k) combine_columns<kRows, 1>(z, stride, n, w + k - kDoubles, k, out + k - kDoubles);
}
void combine_rows(const double* z, std::size_t stride, std::size_t n_rows, std::size_t n, const double* w,
                  std::size_t k, double* out) {
    std::size_t r = 0;
    for (; r + 4 <= n_rows; r += 4) combine_all_columns<4>(z + r * stride, stride, n, w, k, out + r * k);
    for (; r < n_rows; ++r) combine_all_columns<1>(z + r * stride, stride, n, w, k, out + r * k);
}

void add_outer(double factor, const double* g, std::size_t n, const double* e, std::size_t k, double* w) {
    if (k < kDoubles) {
        for (std::size_t i = 0; i < n; ++i) {
            const double a = factor * g[i];
            for (std::size_t c = 0; c < k; ++c) w[i * k + c] += a * e[c];
        }
        return;
    }
    const Doubles last_e = load(e + k - kDoubles);
    for (std::size_t i = 0; i < n; ++i, w += k) {
        const double a = factor * g[i];
        const Doubles last = load(w + k - kDoubles) + last_e * a;  // before what it shares with another vector changes
        for (std::size_t c = 0; c + kDoubles <= k; c += kDoubles) store(w + c, load(w + c) + load(e + c) * a);
        store(w + k - kDoubles, last);
    }
}

void add_multiple(double a, const double* BOOSTLINE_RESTRICT x, std::size_t n, double* BOOSTLINE_RESTRICT y) {
    for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

}  // namespace boostline::BOOSTLINE_LEVEL
