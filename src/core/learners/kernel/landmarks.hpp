// Rows kept as the centres of a kernel machine, and the kernel exp(-|u - u'| / width) + 1 between them and a query,
// where u is the standardised row. The constant 1 stands for the intercept.
//
// u = clip((x - mean) / deviation, +-5) / sqrt(number of features that are not constant). Rows with many zeros are kept
// as the difference to the standardised zero row, which has entries only where x has: distances do not see the shift.
// Which of the two is used depends on the values alone, so that dense and sparse input give the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/math.hpp"
#include "core/base/symmetric.hpp"
#include "core/kernels/distances.hpp"
#include "core/learners/feature_scale.hpp"
#include "core/learners/kernel/kernel_query.hpp"
#include "core/learners/scorer.hpp"

namespace boostline {

// Sum of value[i] * dense[index[i]], in four lanes.
inline double sparse_dot(const std::int32_t* index, const double* value, std::size_t n, const double* dense) {
    double lanes[4] = {0.0};
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (std::size_t l = 0; l < 4; ++l) lanes[l] += value[i + l] * dense[index[i + l]];
    for (; i < n; ++i) lanes[0] += value[i] * dense[index[i]];
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

class Landmarks {
  public:
    explicit Landmarks(std::size_t n_features = 0) : d_(n_features), offset_(1, 0), points_(n_features) {}

    std::size_t size() const { return n_; }  // standardised rows
    bool is_dense() const { return is_dense_; }
    std::size_t n_features() const { return d_; }
    bool is_fit() const { return !mean_.empty() || d_ == 0; }

    // So that `keep` and `add` of n rows, with so many entries together, need no memory.
    void make_room_for(std::size_t n_entries, std::size_t n = 1) {
        make_room(index_, n_entries);
        make_room(value_, n_entries);
        make_room(offset_, n);
        if (!is_fit()) return;
        if (is_dense_) {
            points_.make_room(n);
        } else {
            make_room(unit_, n_entries);
            make_room(square_, n);
        }
    }
    // As new, for so many features.
    void clear(std::size_t n_features) noexcept {
        d_ = n_features;
        n_ = 0;
        is_dense_ = false;
        root_ = width_ = 1.0;
        for (auto* column : {&mean_, &inverse_, &value_, &unit_, &square_}) release(*column);
        points_.clear();
        points_ = PointBlocks(n_features);
        release(index_);
        offset_.resize(1);
    }

    // Keeps a row for the next `fit`.
    void keep(const Entries& row) {
        index_.insert(index_.end(), row.index.begin(), row.index.end());
        value_.insert(value_.end(), row.value.begin(), row.value.end());
        offset_.push_back(static_cast<std::int64_t>(index_.size()));
    }

    // Takes the scale of the features and standardises all rows kept. The first time decides how rows are kept.
    void fit(const FeatureScale& scale);

    // New features come last. Until the next fit they are taken for constant. Not to be called once frozen.
    void grow(std::size_t n_features, bool were_missing) {
        const bool fitted = n_ > 0;
        points_.grow_inputs(n_features);
        if (were_missing) add_missing(n_features);
        if (fitted) {
            mean_.resize(n_features, 0.0);
            inverse_.resize(n_features, 0.0);
        }
        d_ = n_features;
        if (fitted) find_squares();
    }

    // The row just kept, as standardised for a query, becomes a centre without a new fit.
    void add(const KernelQuery& query) {
        if (is_dense_) {
            points_.put(n_++, query.point.data());
            return;
        }
        unit_.insert(unit_.end(), query.unit.begin(), query.unit.end());
        ++n_;
        square_.push_back(square(n_ - 1));
    }

    // No more fits to come: forgets the rows as they were given.
    void freeze() {
        release(value_);
        if (is_dense_) {
            release(index_);
            offset_.resize(1);
        }
        index_.shrink_to_fit();
        offset_.shrink_to_fit();
        unit_.shrink_to_fit();
        points_.shrink_to_fit();
        square_.shrink_to_fit();
    }

    // Standardises a row; writes the kernel with every centre (padded, zeros at the end).
    void kernel(const Row& x, KernelQuery& query, std::vector<double>& out) const {
        const Standardise unit = standard();
        out.resize(padded(n_));
        std::fill(out.begin() + static_cast<std::ptrdiff_t>(n_), out.end(), 0.0);
        if (is_dense_) {
            query.point.resize(d_);
            query.squares.resize(PointBlocks::width(n_));
            standardise_dense(unit, x.dense, d_, query.point.data());
            points_.distances(query.point.data(), 1, n_, query.squares.data());
            exponential_of_squares(query.squares.data(), n_, width_, out.data());
        } else {
            query.entries.assign(x, d_);
            query.unit.resize(query.entries.size());
            for (std::size_t e = 0; e < query.entries.size(); ++e) {
                const auto f = static_cast<std::size_t>(query.entries.index[e]);
                query.unit[e] = unit(f, query.entries.value[e]) - unit(f, 0.0);
            }
            kernel_with(query.unit.data(), query.entries.index.data(), query.entries.size(), query.dense, n_,
                        out.data());
        }
    }
    void make_room_for_query(KernelQuery& query, std::size_t most_entries, std::size_t n_centres) const {
        query.entries.reserve(most_entries);
        if (is_dense_) {
            query.point.reserve(d_);
            query.squares.reserve(PointBlocks::width(n_centres));
        } else {
            query.unit.reserve(most_entries);
            if (query.dense.size() < d_) query.dense.resize(d_, 0.0);
        }
    }

    // The same for n dense rows, `stride` numbers each, zeros at the end.
    void kernel_block(const Row* x, std::size_t n, KernelBlock& block, std::size_t stride) const {
        block.points.resize(n * d_);
        for (std::size_t r = 0; r < n; ++r) standardise_dense(standard(), x[r].dense, d_, &block.points[r * d_]);
        const std::size_t width = PointBlocks::width(n_);
        block.squares.resize(n * width);
        block.kernel.resize(n * stride);
        points_.distances(block.points.data(), n, n_, block.squares.data());
        for (std::size_t r = 0; r < n; ++r) {
            double* out = &block.kernel[r * stride];
            exponential_of_squares(&block.squares[r * width], n_, width_, out);
            std::fill(out + n_, out + stride, 0.0);
        }
    }
    // Of the rows of kernel_block with each other, for kernel_among.
    void place_among(std::size_t n, KernelBlock& block) const {
        block.among.restart(d_);
        for (std::size_t r = 0; r < n; ++r) block.among.put(r, &block.points[r * d_]);
        block.among_squares.resize(n * PointBlocks::width(n));
        block.among.distances(block.points.data(), n, n, block.among_squares.data());
    }
    double kernel_among(std::size_t r, std::size_t other, std::size_t n, const KernelBlock& block) const {
        double out;
        exponential_of_squares(&block.among_squares[r * PointBlocks::width(n) + other], 1, width_, &out);
        return out;
    }
    void make_room_for_block(KernelBlock& block, std::size_t n, std::size_t n_centres, std::size_t stride) const {
        block.points.reserve(n * d_);
        block.squares.reserve(n * PointBlocks::width(n_centres));
        block.kernel.reserve(n * stride);
        block.among_squares.reserve(n * PointBlocks::width(n));
        block.among.restart(d_);
        block.among.reserve(n);
    }

    // The kernel of every centre i with centres 0 .. i: write(i, values).
    template <class Write>
    void kernel_of_centres(Write&& write) const {
        constexpr std::size_t kTogether = 32;
        std::vector<float> points(kTogether * d_), squares(kTogether * PointBlocks::width(n_));
        std::vector<double> scratch, values(n_);
        for (std::size_t from = 0; from < n_; from += kTogether) {
            const std::size_t end = std::min(n_, from + kTogether);
            for (std::size_t i = from; i < end && is_dense_; ++i) points_.get(i, &points[(i - from) * d_]);
            if (is_dense_) points_.distances(points.data(), end - from, end, squares.data());
            for (std::size_t i = from; i < end; ++i) {
                if (is_dense_) {
                    exponential_of_squares(&squares[(i - from) * PointBlocks::width(end)], i + 1, width_,
                                           values.data());
                } else {
                    const std::size_t first = begin(i);
                    kernel_with(unit_.data() + first, index_.data() + first, begin(i + 1) - first, scratch, i + 1,
                                values.data());
                }
                write(i, values.data());
            }
        }
    }

    // n rows; the caller knows from n whether they have been fitted and frozen.
    void fields(Fields& f, std::size_t n, bool is_fitted, bool is_frozen);

  private:
    std::size_t n_values() const {  // that are neither zero nor missing
        return static_cast<std::size_t>(std::count_if(value_.begin(), value_.end(), [](double v) { return v == v; }));
    }

    void add_missing(std::size_t n);

    Standardise standard() const { return {mean_.data(), inverse_.data(), root_}; }
    std::size_t begin(std::size_t i) const { return static_cast<std::size_t>(offset_[i]); }
    template <class Do>
    void for_entries(std::size_t i, Do&& visit) const {
        for (std::size_t e = begin(i); e < begin(i + 1); ++e) visit(e, static_cast<std::size_t>(index_[e]));
    }

    void count_varying() {
        const auto n = std::count_if(inverse_.begin(), inverse_.end(), [](double v) { return v > 0.0; });
        root_ = 1.0 / std::sqrt(static_cast<double>(std::max<std::ptrdiff_t>(n, 1)));
    }

    // Squared length of a row kept as differences: summed like a product of two rows, so that equal rows have distance
    // 0.
    double square(std::size_t i) const {
        double lanes[4] = {0.0};
        const std::size_t n = begin(i + 1) - begin(i);
        const double* v = unit_.data() + begin(i);
        for (std::size_t e = 0; e < n; ++e) lanes[e < n / 4 * 4 ? e % 4 : 0] += v[e] * v[e];
        return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
    }
    void find_squares() {
        square_.clear();
        if (is_dense_) return;
        for (std::size_t i = 0; i < n_; ++i) square_.push_back(square(i));
    }

    double rms_distance() const;

    // Of a row kept as differences.
    void kernel_with(const double* unit, const std::int32_t* index, std::size_t n_entries, std::vector<double>& dense,
                     std::size_t n, double* out) const {
        if (dense.size() < d_) dense.resize(d_, 0.0);
        for (std::size_t e = 0; e < n_entries; ++e) dense[static_cast<std::size_t>(index[e])] = unit[e];
        const double own = sparse_dot(index, unit, n_entries, dense.data());
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t from = begin(i);
            const double product =
                sparse_dot(index_.data() + from, unit_.data() + from, begin(i + 1) - from, dense.data());
            out[i] = std::max((own + square_[i]) - 2.0 * product, 0.0);
        }
        for (std::size_t e = 0; e < n_entries; ++e) dense[static_cast<std::size_t>(index[e])] = 0.0;
        exponential_kernel(out, n, width_);
    }

    static constexpr double kLeastSquare = 1e-12;  // of the width, when all rows are alike

    std::size_t d_, n_ = 0;
    bool is_dense_ = false;
    double root_ = 1.0, width_ = 1.0;
    std::vector<double> mean_, inverse_;
    std::vector<std::int32_t> index_;  // entries of all rows; row i has offset_[i] .. offset_[i + 1]
    std::vector<std::int64_t> offset_;
    std::vector<double> value_, unit_;  // parallel to index_; units only of rows kept as differences
    PointBlocks points_;                // or all features of each row
    std::vector<double> square_;        // of rows kept as differences
};

}  // namespace boostline
