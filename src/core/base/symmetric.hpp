// A symmetric matrix for recursive least squares: products with a vector, rank-one changes, growth, inverse.
//
// Only the lower triangle is stored, row after row, each row padded to whole lanes. So the matrix cannot lose its
// symmetry, and takes half the memory traffic, which is what its operations cost. All loops give the same bits at every
// vector width.
//
// It may have a copy of itself in single precision, with which products are made: half the traffic, and twice as many
// numbers in a vector. What is rounded in a product is not carried on, as all changes are made to the cells.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/fields.hpp"
#include "core/base/thread_pool.hpp"
#include "core/kernels/matrices.hpp"
#include "core/kernels/sums.hpp"

namespace boostline {

class PackedSymmetric {
  public:
    // Rank-one changes wait until there are this many, then one sweep over the matrix applies them all: a sweep costs
    // about the same memory traffic for one as for sixteen.
    static constexpr std::size_t kPending = 16;
    static constexpr std::size_t kGrowth = 64;  // vectors of pending changes get longer by this much
    // Numbers between such vectors: whole pages apart, they would share few places in the first cache.
    static constexpr std::size_t kApart = 8;

    explicit PackedSymmetric(std::size_t n = 0, double diagonal = 0.0) : n_(n), cells_(packed_row(padded(n)), 0.0) {
        add_diagonal(diagonal);
    }

    std::size_t size() const { return n_; }
    std::size_t n_pending() const { return n_pending_; }

    // Whether products are made in single precision, from now on. Gets the memory for it.
    void make_coarse(bool coarse) {
        is_coarse_ = coarse;
        if (coarse) {
            coarse_.resize(coarse_row(coarse_padded(n_)), 0.0f);
            make_coarse_room(n_);
        } else {
            std::vector<float>().swap(coarse_);
            std::vector<float>().swap(coarse_rows_);
        }
        is_copy_old_ = true;
    }

    // Cells 0..i of a row; without what is pending: call flush() before reading.
    double* row(std::size_t i) {
        is_copy_old_ = true;
        return &cells_[packed_row(i)];
    }
    const double* row(std::size_t i) const { return &cells_[packed_row(i)]; }

    void add_diagonal(double value) {
        for (std::size_t i = 0; i < n_; ++i) row(i)[i] += value;
    }
    void scale(double by) {
        flush();
        for (double& cell : cells_) cell *= by;
        is_copy_old_ = true;
    }

    // y = P x; both have padded(size()) entries, x zero beyond size().
    void multiply(const double* x, double* y) const {
        multiply_base(x, 0, 1, y, 0);
        add_pending(x, y);
    }
    // The same in two steps, of which the first can be taken for many rows at once: it stays as it is until the next
    // flush. Rows of x and of y are a stride apart.
    void multiply_base(const double* x, std::size_t x_stride, std::size_t n_rows, double* y,
                       std::size_t y_stride) const {
        if (!is_coarse_) return packed_multiply(cells_.data(), padded(n_), x, x_stride, n_rows, y, y_stride);
        refresh_copy();
        const std::size_t length = padded(n_), width = coarse_padded(n_);
        for (std::size_t first = 0; first < n_rows; first += kPending) {
            const std::size_t n = std::min(kPending, n_rows - first);
            float *from = coarse_rows_.data(), *to = from + kPending * width;
            for (std::size_t r = 0; r < n; ++r) {
                const double* own = x + (first + r) * x_stride;
                for (std::size_t i = 0; i < length; ++i) from[r * width + i] = static_cast<float>(own[i]);
                std::fill(from + r * width + length, from + (r + 1) * width, 0.0f);
            }
            coarse_multiply(coarse_.data(), width, from, width, n, to, width);
            for (std::size_t r = 0; r < n; ++r) std::copy_n(to + r * width, length, y + (first + r) * y_stride);
        }
    }
    void add_pending(const double* x, double* y) const {
        const std::size_t length = padded(n_);
        for (std::size_t j = 0; j < n_pending_; ++j) {
            const double* g = &pending_[j * stride_];
            add_multiple(-factor_[j] * dot(g, x, length), g, length, y);
        }
    }

    // So that `subtract`, or `border`, needs no memory.
    void make_room_to_subtract() { make_pending_ready(n_); }
    void make_room_for_border(std::size_t n_rows = 1) {
        make_pending_ready(n_ + n_rows);
        const std::size_t needed = packed_row(padded(n_ + n_rows));
        if (needed > cells_.capacity()) cells_.reserve(std::max(needed, 2 * cells_.capacity()));
        if (!is_coarse_) return;
        const std::size_t copied = coarse_row(coarse_padded(n_ + n_rows));
        if (copied > coarse_.capacity()) coarse_.reserve(std::max(copied, 2 * coarse_.capacity()));
        make_coarse_room(n_ + n_rows);
    }

    // P -= factor g g^T
    void subtract(const double* g, double factor) {
        reserve_pending(n_);
        std::copy_n(g, n_, &pending_[n_pending_ * stride_]);
        factor_[n_pending_++] = factor;
        if (n_pending_ == kPending) flush();
    }

    // How many rows it takes at most, of either kind, until the next flush.
    std::size_t n_until_flush() const { return kPending - n_pending_; }
    std::size_t n_borders_until_flush() const { return std::min(kPending - n_pending_, kGrowth - n_ % kGrowth); }

    // Makes the inverse of a matrix Q^-1 that of [Q^-1, q; q^T, s] one row larger, where b = Q q and r = s - q^T b:
    // that is [Q, 0; 0, 0] + v v^T / r with v = (b, -1), one more rank-one change. b has size() entries.
    void border(const double* b, double r) {
        reserve_pending(n_ + 1);
        if (n_ % 8 == 0) cells_.resize(packed_row(n_ + 8), 0.0);
        if (is_coarse_ && n_ % 16 == 0) coarse_.resize(coarse_row(n_ + 16), 0.0f);
        double* g = &pending_[n_pending_ * stride_];
        std::copy_n(b, n_, g);
        g[n_++] = -1.0;
        factor_[n_pending_++] = -1.0 / r;
        if (n_pending_ == kPending || n_ % kGrowth == 0) flush();  // however much room there is
    }

    void flush() {
        if (n_pending_ == 0) return;
        subtract_all(pending_.data(), stride_, factor_.data(), n_pending_, is_coarse_ ? coarse_.data() : nullptr);
        is_copy_old_ = false;
        std::fill(pending_.begin(), pending_.end(), 0.0);
        std::fill(factor_.begin(), factor_.end(), 0.0);
        n_pending_ = 0;
    }

    // Makes room for `count` rows and columns at `at`, zero but for their diagonal. The rows and columns before are
    // multiplied by `factor`.
    void insert(std::size_t at, std::size_t count, double diagonal, double factor) {
        flush();
        PackedSymmetric wide(n_ + count);
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                const double scale = (i < at ? factor : 1.0) * (j < at ? factor : 1.0);
                wide.row(i < at ? i : i + count)[j < at ? j : j + count] = row(i)[j] * scale;
            }
        for (std::size_t i = at; i < at + count; ++i) wide.row(i)[i] = diagonal;
        *this = std::move(wide);
    }

    // In place: a diagonal matrix of the same size.
    void set_diagonal(double value) noexcept {
        std::fill(cells_.begin(), cells_.end(), 0.0);
        std::fill(pending_.begin(), pending_.end(), 0.0);
        std::fill(factor_.begin(), factor_.end(), 0.0);
        n_pending_ = 0;
        is_copy_old_ = true;
        add_diagonal(value);
    }

    bool has_positive_diagonal() const {  // of the cells, without what is pending
        for (std::size_t i = 0; i < n_; ++i)
            if (!(row(i)[i] > 0.0)) return false;
        return true;
    }

    // The inverse, in place; false (and nonsense inside) unless the matrix is positive definite. Sweeps sixteen rows at
    // a time: with B these rows, L the Cholesky factor of P_BB and G = P_.B L^-T, the rest becomes P - G G^T, the
    // columns P_.B become G L^-1 and P_BB becomes -(L L^T)^-1. After all rows this is -P^-1. Nearly all the work is in
    // P - G G^T.
    bool invert() {
        flush();
        const std::size_t length = padded(n_);
        std::vector<double> panel(kPending * (length + kApart)), ones(kPending, 1.0);
        for (std::size_t from = 0; from < n_; from += kPending)
            if (!sweep(from, std::min(kPending, n_ - from), panel, ones, length)) return false;
        for (double& cell : cells_) cell = -cell;
        is_copy_old_ = true;
        return true;
    }

    // What is pending is part of the state: applied now or later it rounds differently.
    void fields(Fields& f, std::size_t n) {
        const std::size_t n_pending = f.size<double>("pending_factor", n_pending_);
        if (f.loads()) make_like(f, n, n_pending);
        f.pieces<double>("cells", n * (n + 1) / 2, within(kLargest), [&](auto&& visit) {
            for (std::size_t i = 0; i < n; ++i) visit(&cells_[packed_row(i)], i + 1);
        });
        f.matrix("pending", pending_, n_pending, n, stride_, within(kLargest));
        f.matrix("pending_factor", factor_, 1, n_pending, n_pending, within(kLargest));
        f.memory(cells_, next_pending_, coarse_, coarse_rows_);
    }

  private:
    // The matrix of a file, before its numbers.
    void make_like(const Fields& f, std::size_t n, std::size_t n_pending) {
        f.require(n_pending < kPending && (n > 0 || n_pending == 0), "pending_factor");
        f.expect<double>("cells", n * (n + 1) / 2);
        f.expect<double>("pending", n_pending * n);
        if (n != n_) *this = PackedSymmetric(n);  // else into the room that is there
        if (n_pending > 0) reserve_pending(n);
        n_pending_ = n_pending;
        is_copy_old_ = true;
    }
    // In and out of products.
    void make_coarse_room(std::size_t n) {
        const std::size_t needed = 2 * kPending * coarse_padded(n);
        if (coarse_rows_.size() < needed)
            coarse_rows_.resize(std::max(needed, 2 * kPending * coarse_padded(n + kGrowth)));
    }
    // When cells have been written to other than by a flush.
    void refresh_copy() const {
        if (!is_copy_old_) return;
        packed_subtract(const_cast<double*>(cells_.data()), 0, padded(n_), nullptr, 0, nullptr, 0, coarse_.data());
        is_copy_old_ = false;
    }

    // Longer vectors for what is to be pending, beside those that are: what is pending is applied when they are needed,
    // not before.
    void make_pending_ready(std::size_t n) {
        if (n + kApart <= stride_) return;
        factor_.resize(kPending, 0.0);
        const std::size_t wanted = kPending * ((n + kGrowth - 1) / kGrowth * kGrowth + kApart);
        if (next_pending_.size() < wanted) next_pending_.resize(wanted, 0.0);
    }
    void reserve_pending(std::size_t n) {
        if (n + kApart <= stride_) return;
        make_pending_ready(n);
        flush();
        pending_.swap(next_pending_);
        std::vector<double>().swap(next_pending_);
        stride_ = pending_.size() / kPending;
    }

    // Threads that have nothing else to do take pieces of about the same size.
    void subtract_all(const double* vectors, std::size_t stride, const double* factor, std::size_t n_vectors,
                      float* coarse) {
        constexpr std::size_t kWorthThreads = 256;
        const int n_pieces = n_ < kWorthThreads || n_sharing() == 1 ? 1 : 4 * n_sharing();
        const auto start_of = [&](int piece) {
            const double part = std::sqrt(static_cast<double>(piece) / static_cast<double>(n_pieces));
            return piece == n_pieces ? padded(n_) : static_cast<std::size_t>(part * static_cast<double>(n_)) / 8 * 8;
        };
        share(n_pieces, [&](int piece) {
            packed_subtract(cells_.data(), start_of(piece), start_of(piece + 1), vectors, stride, factor, n_vectors,
                            coarse);
        });
    }

    bool sweep(std::size_t from, std::size_t m, std::vector<double>& panel, const std::vector<double>& ones,
               std::size_t length) {
        static_assert(kPending == kPanel, "a panel has the rows of a sweep");
        double chol[kPending][kPending], inverse[kPending][kPending] = {};
        for (std::size_t j = 0; j < m; ++j)
            for (std::size_t c = 0; c <= j; ++c) {
                double sum = row(from + j)[from + c];
                for (std::size_t p = 0; p < c; ++p) sum -= chol[j][p] * chol[c][p];
                if (c < j) {
                    chol[j][c] = sum / chol[c][c];
                } else {
                    if (!(sum > 0.0) || !(sum <= 1e300)) return false;
                    chol[j][j] = std::sqrt(sum);
                }
            }
        std::fill(panel.begin(), panel.end(), 0.0);
        double* const g = panel.data();
        const std::size_t stride = length + kApart;
        for (std::size_t j = 0; j < m; ++j) std::copy_n(row(from + j), from, g + j * stride);
        for (std::size_t i = from + m; i < n_; ++i)
            for (std::size_t j = 0; j < m; ++j) g[j * stride + i] = row(i)[from + j];
        solve_panel(g, length, stride, m, chol[0], false);  // G
        subtract_all(g, stride, ones.data(), kPending, nullptr);
        solve_panel(g, length, stride, m, chol[0], true);  // G L^-1
        for (std::size_t j = 0; j < m; ++j) std::copy_n(g + j * stride, from, row(from + j));
        for (std::size_t i = from + m; i < n_; ++i)
            for (std::size_t j = 0; j < m; ++j) row(i)[from + j] = g[j * stride + i];
        for (std::size_t j = 0; j < m; ++j)  // L^-1
            for (std::size_t c = 0; c <= j; ++c) {
                double sum = c == j ? 1.0 : 0.0;
                for (std::size_t p = c; p < j; ++p) sum -= chol[j][p] * inverse[p][c];
                inverse[j][c] = sum / chol[j][j];
            }
        for (std::size_t j = 0; j < m; ++j)
            for (std::size_t c = 0; c <= j; ++c) {
                double sum = 0.0;
                for (std::size_t p = j; p < m; ++p) sum += inverse[p][j] * inverse[p][c];
                row(from + j)[from + c] = -sum;
            }
        return true;
    }

    std::size_t n_ = 0, stride_ = 0, n_pending_ = 0;
    std::vector<double> cells_;             // never read above the diagonal
    std::vector<double> next_pending_;      // zero
    std::vector<double> pending_, factor_;  // kPending vectors of stride_, zero where unused; their factors
    bool is_coarse_ = false;
    mutable bool is_copy_old_ = true;
    mutable std::vector<float> coarse_, coarse_rows_;  // the copy; rows of a product
};

}  // namespace boostline
