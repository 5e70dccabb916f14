#include "core/kernels/vectors.inl"

// Four rows of P, from row i on, for kRows vectors: their cells left of the diagonal block, in both of their places.
template <std::size_t kRows>
inline void multiply_strip(const double* r0, std::size_t length, std::size_t whole, std::size_t i, const double* x,
                           std::size_t x_stride, double* y, std::size_t y_stride) {
    const double *r1 = r0 + length, *r2 = r1 + length, *r3 = r2 + length;
    Doubles a[kRows][4] = {};
    double own[kRows][4];
    for (std::size_t v = 0; v < kRows; ++v)
        for (std::size_t j = 0; j < 4; ++j) own[v][j] = x[v * x_stride + i + j];
    for (std::size_t c = 0; c < whole; c += 8) {
        const Doubles p0 = load(r0 + c), p1 = load(r1 + c), p2 = load(r2 + c), p3 = load(r3 + c);
        for (std::size_t v = 0; v < kRows; ++v) {
            const Doubles other = load(x + v * x_stride + c);
            a[v][0] += p0 * other;
            a[v][1] += p1 * other;
            a[v][2] += p2 * other;
            a[v][3] += p3 * other;
            double* to = y + v * y_stride + c;
            store(to, load(to) + ((p0 * own[v][0] + p1 * own[v][1]) + (p2 * own[v][2] + p3 * own[v][3])));
        }
    }
    for (std::size_t v = 0; v < kRows; ++v)
        for (std::size_t j = 0; j < 4; ++j) {
            double lanes[8];
            store(lanes, a[v][j]);
            y[v * y_stride + i + j] += combine_lanes(lanes);
        }
}

void packed_multiply(const double* cells, std::size_t n_padded, const double* x, std::size_t x_stride,
                     std::size_t n_rows, double* y, std::size_t y_stride) {
    for (std::size_t v = 0; v < n_rows; ++v)
        for (std::size_t i = 0; i < n_padded; ++i) y[v * y_stride + i] = 0.0;
    for (std::size_t i = 0; i < n_padded; i += 8) {
        const std::size_t length = i + 8;
        const double* strip = cells + packed_row(i);
        double block[64];  // on the diagonal, both triangles
        for (std::size_t r = 0; r < 8; ++r)
            for (std::size_t c = 0; c <= r; ++c) block[r * 8 + c] = block[c * 8 + r] = strip[r * length + i + c];
        for (std::size_t half = 0; half < 8; half += 4) {
            const double* r0 = strip + half * length;
            std::size_t v = 0;
            for (; v + 4 <= n_rows; v += 4)
                multiply_strip<4>(r0, length, i, i + half, x + v * x_stride, x_stride, y + v * y_stride, y_stride);
            for (; v < n_rows; ++v)
                multiply_strip<1>(r0, length, i, i + half, x + v * x_stride, x_stride, y + v * y_stride, y_stride);
        }
        for (std::size_t v = 0; v < n_rows; ++v) {
            double* to = y + v * y_stride + i;
            Doubles sums = load(to);
            for (std::size_t c = 0; c < 8; ++c) sums += load(block + c * 8) * x[v * x_stride + i + c];
            store(to, sums);
        }
    }
}

// Eight rows stay in registers while all vectors pass.
void packed_subtract(double* cells, std::size_t n_padded, const double* vectors, std::size_t stride,
                     const double* factor, std::size_t n_vectors) {
    constexpr std::size_t kStrip = 128, kMost = 16, kAhead = 16;
    double scaled[kMost][8];
    for (std::size_t from = 0; from < n_padded; from += kStrip)
        for (std::size_t i = from; i < n_padded; i += 8) {
            const std::size_t length = i + 8, to = length < from + kStrip ? length : from + kStrip;
            double* rows = cells + packed_row(i);
            const double* next = i + 8 < n_padded ? cells + packed_row(i + 8) + from : rows;
            for (std::size_t j = 0; j < n_vectors; ++j)
                for (std::size_t r = 0; r < 8; ++r) scaled[j][r] = factor[j] * vectors[j * stride + i + r];
            for (std::size_t c = from; c < to; c += 8) {
                Doubles p[8];
                for (std::size_t r = 0; r < 8; ++r) p[r] = load(rows + r * length + c);
                // What comes in a while, in these rows or in the next eight: it is too far apart for the processor to
                // guess.
                const double* ahead = c + kAhead < to ? rows + c + kAhead : next + (c + kAhead - to);
                const std::size_t apart = c + kAhead < to ? length : length + 8;
                for (std::size_t r = 0; r < 8; ++r) BOOSTLINE_PREFETCH(ahead + r * apart);
                for (std::size_t j = 0; j < n_vectors; ++j) {
                    const Doubles g = load(vectors + j * stride + c);
                    for (std::size_t r = 0; r < 8; ++r) p[r] -= g * scaled[j][r];
                }
                for (std::size_t r = 0; r < 8; ++r) store(rows + r * length + c, p[r]);
            }
        }
}

// kRows rows and kVectors * 8 columns at a time, from column c on: enough sums side by side that none waits for itself.
template <std::size_t kRows, std::size_t kVectors>
inline void combine_columns(const double* z, std::size_t stride, std::size_t n, const double* w, std::size_t k,
                            double* out) {
    Doubles sums[kRows][kVectors] = {};
    for (std::size_t i = 0; i < n; ++i) {
        Doubles column[kVectors];
        for (std::size_t c = 0; c < kVectors; ++c) column[c] = load(w + i * k + c * 8);
        for (std::size_t r = 0; r < kRows; ++r)
            for (std::size_t c = 0; c < kVectors; ++c) sums[r][c] += column[c] * z[r * stride + i];
    }
    for (std::size_t r = 0; r < kRows; ++r)
        for (std::size_t c = 0; c < kVectors; ++c) store(out + r * k + c * 8, sums[r][c]);
}
// Fewer than eight columns: a vector has the first numbers of the next row as well, which nobody reads. At the end of W
// there is no next row.
template <std::size_t kRows>
inline void combine_few_columns(const double* z, std::size_t stride, std::size_t n, const double* w, std::size_t k,
                                double* out) {
    Doubles sums[kRows] = {};
    const std::size_t n_whole = n * k < 8 ? 0 : (n * k - 8) / k + 1;
    double last[8] = {};
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
// The last eight columns may have been summed before, with the same result.
template <std::size_t kRows>
inline void combine_all_columns(const double* z, std::size_t stride, std::size_t n, const double* w, std::size_t k,
                                double* out) {
    if (k < 8) return combine_few_columns<kRows>(z, stride, n, w, k, out);
    std::size_t c = 0;
    for (; c + 32 <= k; c += 32) combine_columns<kRows, 4>(z, stride, n, w + c, k, out + c);
    for (; c + 16 <= k; c += 16) combine_columns<kRows, 2>(z, stride, n, w + c, k, out + c);
    for (; c + 8 <= k; c += 8) combine_columns<kRows, 1>(z, stride, n, w + c, k, out + c);
    if (c < k) combine_columns<kRows, 1>(z, stride, n, w + k - 8, k, out + k - 8);
}
void combine_rows(const double* z, std::size_t stride, std::size_t n_rows, std::size_t n, const double* w,
                  std::size_t k, double* out) {
    std::size_t r = 0;
    for (; r + 4 <= n_rows; r += 4) combine_all_columns<4>(z + r * stride, stride, n, w, k, out + r * k);
    for (; r < n_rows; ++r) combine_all_columns<1>(z + r * stride, stride, n, w, k, out + r * k);
}

void add_outer(double factor, const double* g, std::size_t n, const double* e, std::size_t k, double* w) {
    if (k < 8) {
        for (std::size_t i = 0; i < n; ++i) {
            const double a = factor * g[i];
            for (std::size_t c = 0; c < k; ++c) w[i * k + c] += a * e[c];
        }
        return;
    }
    const Doubles last_e = load(e + k - 8);
    for (std::size_t i = 0; i < n; ++i, w += k) {
        const double a = factor * g[i];
        const Doubles last = load(w + k - 8) + last_e * a;  // before what it shares with another vector changes
        for (std::size_t c = 0; c + 8 <= k; c += 8) store(w + c, load(w + c) + load(e + c) * a);
        store(w + k - 8, last);
    }
}
