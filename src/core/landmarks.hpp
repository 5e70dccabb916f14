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

#include "core/feature_scale.hpp"
#include "core/kernels/distances.hpp"
#include "core/math.hpp"
#include "core/point_blocks.hpp"
#include "core/scorer.hpp"
#include "core/symmetric.hpp"

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

// A row on its way to the kernel.
struct KernelQuery {
    Entries entries;            // always
    std::vector<float> point;   // standardised: all features
    std::vector<double> unit;   // or, sparse, the differences at the entries,
    std::vector<double> dense;  // and these spread out, zero between uses
    std::vector<float> squares;

    std::size_t memory_bytes() const {
        return entries.memory_bytes() + (unit.capacity() + dense.capacity()) * sizeof(double) +
               (point.capacity() + squares.capacity()) * sizeof(float);
    }
};

// The same for some rows at once: points after one another, squared distances, and the kernel with every centre.
struct KernelBlock {
    std::vector<float> points, squares, among_squares;
    std::vector<double> kernel;
    PointBlocks among;  // the rows themselves, which may become centres

    std::size_t memory_bytes() const {
        return (points.capacity() + squares.capacity() + among_squares.capacity()) * sizeof(float) +
               kernel.capacity() * sizeof(double) + among.memory_bytes();
    }
};

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
    void fit(const FeatureScale& scale) {
        constexpr double kDenseShare = 0.25;
        const std::size_t n = offset_.size() - 1;
        if (!is_fit())
            is_dense_ = static_cast<double>(n_values()) >
                        kDenseShare * static_cast<double>(n) * static_cast<double>(d_ - scale.n_always_missing());
        mean_.resize(d_);
        inverse_.resize(d_);
        for (std::size_t f = 0; f < d_; ++f) {
            mean_[f] = scale.mean(f);
            inverse_[f] = scale.inverse_deviation(f);
            if (!std::isfinite(mean_[f]) || !std::isfinite(inverse_[f])) mean_[f] = inverse_[f] = 0.0;  // out of range
        }
        count_varying();
        const Standardise unit = standard();
        if (is_dense_) {
            std::vector<float> point(d_);
            points_ = PointBlocks(d_);
            points_.reserve(n);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t f = 0; f < d_; ++f) point[f] = static_cast<float>(unit(f, 0.0));
                for_entries(i,
                            [&](std::size_t e, std::size_t f) { point[f] = static_cast<float>(unit(f, value_[e])); });
                points_.put(i, point.data());
            }
        } else {
            unit_.resize(index_.size());
            for (std::size_t i = 0; i < n; ++i)
                for_entries(i, [&](std::size_t e, std::size_t f) { unit_[e] = unit(f, value_[e]) - unit(f, 0.0); });
        }
        n_ = n;
        width_ = rms_distance();
        find_squares();
    }

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
            exponential_kernel(query.squares.data(), n_, width_, out.data());
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
        const std::size_t width = PointBlocks::width(n_);
        block.points.resize(n * d_);
        block.squares.resize(n * width);
        block.kernel.resize(n * stride);
        for (std::size_t r = 0; r < n; ++r) standardise_dense(standard(), x[r].dense, d_, &block.points[r * d_]);
        points_.distances(block.points.data(), n, n_, block.squares.data());
        for (std::size_t r = 0; r < n; ++r) {
            double* out = &block.kernel[r * stride];
            exponential_kernel(&block.squares[r * width], n_, width_, out);
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
        exponential_kernel(&block.among_squares[r * PointBlocks::width(n) + other], 1, width_, &out);
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
                    exponential_kernel(&squares[(i - from) * PointBlocks::width(end)], i + 1, width_, values.data());
                } else {
                    const std::size_t first = begin(i);
                    kernel_with(unit_.data() + first, index_.data() + first, begin(i + 1) - first, scratch, i + 1,
                                values.data());
                }
                write(i, values.data());
            }
        }
    }

    std::size_t memory_bytes() const {
        return (mean_.capacity() + inverse_.capacity() + value_.capacity() + unit_.capacity() + square_.capacity()) *
                   sizeof(double) +
               points_.memory_bytes() + index_.capacity() * sizeof(std::int32_t) +
               offset_.capacity() * sizeof(std::int64_t);
    }

    void save(Archive& out, const std::string& prefix) const {
        out.add(prefix + "index", index_);
        out.add(prefix + "offset", offset_);
        out.add(prefix + "value", value_);  // NaN: missing
        if (!is_fit()) return;
        out.add_one(prefix + "is_dense", static_cast<std::uint8_t>(is_dense_));
        out.add(prefix + "mean", mean_);
        out.add(prefix + "inverse", inverse_);
        if (is_dense_)
            points_.save(out, prefix + "unit", [&](auto&& visit) {
                for (std::size_t i = 0; i < n_; ++i) visit(i);
            });
        else
            out.add(prefix + "unit", unit_);
        out.add_one(prefix + "width", width_);
    }

    // n rows; the caller knows from n whether they have been fitted and frozen.
    static Landmarks load(const ArchiveView& in, const std::string& prefix, std::size_t n_features, std::size_t n,
                          bool fitted, bool frozen) {
        if (frozen && fitted) {  // features may have come since, which the landmarks do not know
            const std::size_t known = in.size<double>(prefix + "mean");
            require(known <= n_features, prefix, "mean");
            n_features = known;
        }
        Landmarks out(n_features);
        if (fitted) {
            const auto is_dense = in.read_one<std::uint8_t>(prefix + "is_dense");
            require(is_dense <= 1, prefix, "is_dense");
            out.is_dense_ = is_dense == 1;
        }
        const bool no_entries = frozen && out.is_dense_;
        const std::size_t n_entries = in.size<std::int32_t>(prefix + "index");
        in.read(prefix + "offset", no_entries ? 1 : n + 1, out.offset_);
        in.read(prefix + "index", n_entries, out.index_);
        in.read(prefix + "value", frozen ? 0 : n_entries, out.value_);
        if (fitted) {
            out.n_ = n;
            in.read(prefix + "mean", n_features, out.mean_);
            in.read(prefix + "inverse", n_features, out.inverse_);
            if (!out.is_dense_)
                in.read(prefix + "unit", n_entries, out.unit_);
            else if (in.has<double>(prefix + "unit"))
                out.read_older_points(in, prefix + "unit");
            else
                out.points_.load(in, prefix + "unit", n);
            out.width_ = in.read_one<double>(prefix + "width");
        }
        out.check(prefix);
        if (fitted) {
            out.count_varying();
            out.find_squares();
        }
        return out;
    }
    void check(const std::string& prefix) const {
        constexpr double kUnit = 10.0;  // the difference of two clipped values
        require(offset_[0] == 0 && static_cast<std::uint64_t>(offset_.back()) == index_.size(), prefix, "offset");
        for (std::size_t i = 1; i < offset_.size(); ++i) {
            require(offset_[i] >= offset_[i - 1] && static_cast<std::uint64_t>(offset_[i]) <= index_.size(), prefix,
                    "offset");
            check_columns(index_.data() + begin(i - 1), begin(i) - begin(i - 1), d_, prefix, "index");
        }
        check_values(value_.data(), value_.size(), kLargest, prefix, "value");
        if (!is_fit()) return;
        check_within(mean_, -2.0 * kLargest, 2.0 * kLargest, prefix, "mean");  // of largest values it may round up
        check_within(inverse_, 0.0, std::numeric_limits<double>::max(), prefix, "inverse");
        check_within(unit_, -kUnit, kUnit, prefix, "unit");
        points_.check(static_cast<float>(kUnit), prefix, "unit");
        check_within(width_, 0.9 * std::sqrt(kLeastSquare), 2.0 * kUnit, prefix, "width");
    }

  private:
    // Of files of format 2 and before: in double precision, each row padded to whole lanes.
    void read_older_points(const ArchiveView& in, const std::string& name) {
        ArrayReader<double> units(in, name, n_ * padded(d_));
        std::vector<double> row(padded(d_));
        std::vector<float> point(d_);
        for (std::size_t i = 0; i < n_; ++i) {
            units.next(row.data(), row.size());
            for (std::size_t f = 0; f < d_; ++f) point[f] = static_cast<float>(row[f]);
            points_.put(i, point.data());
        }
    }

    std::size_t n_values() const {  // that are neither zero nor missing
        return static_cast<std::size_t>(std::count_if(value_.begin(), value_.end(), [](double v) { return v == v; }));
    }

    // An entry NaN at the end of every row for each of the features d_ .. n - 1.
    void add_missing(std::size_t n) {
        std::vector<std::int32_t> index;
        std::vector<double> value, unit;
        std::vector<std::int64_t> offset(1, 0);
        const bool has_units = n_ > 0 && !is_dense_;
        for (std::size_t i = 0; i + 1 < offset_.size(); ++i) {
            for_entries(i, [&](std::size_t e, std::size_t) {
                index.push_back(index_[e]);
                value.push_back(value_[e]);
                if (has_units) unit.push_back(unit_[e]);
            });
            for (std::size_t f = d_; f < n; ++f) index.push_back(static_cast<std::int32_t>(f));
            value.resize(index.size(), std::nan(""));
            if (has_units) unit.resize(index.size(), 0.0);
            offset.push_back(static_cast<std::int64_t>(index.size()));
        }
        index_.swap(index);
        value_.swap(value);
        offset_.swap(offset);
        if (has_units) unit_.swap(unit);
    }

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

    // The root mean square distance of two rows, sqrt(2 mean |u - mean u|^2).
    double rms_distance() const {
        const double n = static_cast<double>(n_);
        std::vector<double> centre(d_, 0.0);
        double sum = 0.0;
        if (is_dense_) {
            std::vector<float> point(d_);
            std::vector<double> difference(d_);
            for (std::size_t i = 0; i < n_; ++i) {
                points_.get(i, point.data());
                for (std::size_t f = 0; f < d_; ++f) centre[f] += static_cast<double>(point[f]) / n;
            }
            for (std::size_t i = 0; i < n_; ++i) {
                points_.get(i, point.data());
                for (std::size_t f = 0; f < d_; ++f) difference[f] = static_cast<double>(point[f]) - centre[f];
                sum += dot(difference.data(), difference.data(), d_);
            }
        } else {
            for (std::size_t e = 0; e < index_.size(); ++e) {
                centre[static_cast<std::size_t>(index_[e])] += unit_[e] / n;
                sum += unit_[e] * unit_[e];
            }
            for (const double c : centre) sum -= n * c * c;
        }
        return std::sqrt(2.0 * std::max(sum, 0.0) / n + kLeastSquare);
    }

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
