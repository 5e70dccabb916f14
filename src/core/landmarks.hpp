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
    std::vector<double> unit;   // standardised: all features (padded), or the differences at the entries
    std::vector<double> dense;  // sparse: `unit` spread out, zero between uses

    std::size_t memory_bytes() const {
        return entries.index.capacity() * sizeof(std::int32_t) +
               (entries.value.capacity() + unit.capacity() + dense.capacity()) * sizeof(double);
    }
};

class Landmarks {
  public:
    explicit Landmarks(std::size_t n_features = 0) : d_(n_features), offset_(1, 0) {}

    std::size_t size() const { return n_; }  // standardised rows
    bool is_fit() const { return !mean_.empty() || d_ == 0; }

    // So that `keep` and `add` of a row need no memory.
    void make_room_for(const KernelQuery& query) {
        make_room(index_, query.entries.size());
        make_room(value_, query.entries.size());
        make_room(offset_, 1);
        make_room(unit_, query.unit.size());
        make_room(square_, 1);
    }
    // As new, for so many features.
    void clear(std::size_t n_features) noexcept {
        d_ = n_features;
        n_ = 0;
        is_dense_ = false;
        root_ = width_ = 1.0;
        for (auto* column : {&mean_, &inverse_, &value_, &unit_, &square_}) release(*column);
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
            unit_.assign(n * padded(d_), 0.0);
            for (std::size_t i = 0; i < n; ++i) {
                double* u = &unit_[i * padded(d_)];
                for (std::size_t f = 0; f < d_; ++f) u[f] = unit(f, 0.0);
                for_entries(i, [&](std::size_t e, std::size_t f) { u[f] = unit(f, value_[e]); });
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
        if (fitted && is_dense_) widen(unit_, padded(d_), padded(n_features), 0.0);
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
        unit_.insert(unit_.end(), query.unit.begin(), query.unit.end());
        ++n_;
        if (!is_dense_) square_.push_back(square(n_ - 1));
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
        square_.shrink_to_fit();
    }

    // Standardises a row; writes the kernel with every centre (padded, zeros at the end).
    void kernel(const Row& x, KernelQuery& query, std::vector<double>& out) const {
        const Standardise unit = standard();
        if (is_dense_) {
            query.unit.resize(padded(d_));
            standardise_dense(unit, x.dense, d_, query.unit.data());
            std::fill(query.unit.begin() + static_cast<std::ptrdiff_t>(d_), query.unit.end(), 0.0);
        } else {
            query.entries.assign(x, d_);
            query.unit.resize(query.entries.size());
            for (std::size_t e = 0; e < query.entries.size(); ++e) {
                const auto f = static_cast<std::size_t>(query.entries.index[e]);
                query.unit[e] = unit(f, query.entries.value[e]) - unit(f, 0.0);
            }
        }
        out.resize(padded(n_));
        kernel_with(query.unit.data(), query.entries.index.data(), query.entries.size(), query.dense, n_, out.data());
        std::fill(out.begin() + static_cast<std::ptrdiff_t>(n_), out.end(), 0.0);
    }

    // The kernel of centre i with centres 0..i.
    void kernel_of_centre(std::size_t i, std::vector<double>& scratch, double* out) const {
        if (is_dense_) {
            kernel_with(&unit_[i * padded(d_)], nullptr, 0, scratch, i + 1, out);
        } else {
            const std::size_t from = begin(i);
            kernel_with(unit_.data() + from, index_.data() + from, begin(i + 1) - from, scratch, i + 1, out);
        }
    }

    std::size_t memory_bytes() const {
        return (mean_.capacity() + inverse_.capacity() + value_.capacity() + unit_.capacity() + square_.capacity()) *
                   sizeof(double) +
               index_.capacity() * sizeof(std::int32_t) + offset_.capacity() * sizeof(std::int64_t);
    }

    void save(Archive& out, const std::string& prefix) const {
        out.add(prefix + "index", index_);
        out.add(prefix + "offset", offset_);
        out.add(prefix + "value", value_);  // NaN: missing
        if (!is_fit()) return;
        out.add_one(prefix + "is_dense", static_cast<std::uint8_t>(is_dense_));
        out.add(prefix + "mean", mean_);
        out.add(prefix + "inverse", inverse_);
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
            in.read(prefix + "unit", out.is_dense_ ? n * padded(n_features) : n_entries, out.unit_);
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
        check_within(width_, 0.9 * std::sqrt(kLeastSquare), 2.0 * kUnit, prefix, "width");
    }

  private:
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
            for (std::size_t i = 0; i < n_; ++i) add_multiple(1.0 / n, &unit_[i * padded(d_)], d_, centre.data());
            centre.resize(padded(d_), 0.0);
            std::vector<double> squares(n_);
            squared_distances(centre.data(), unit_.data(), n_, padded(d_), squares.data());
            for (const double s : squares) sum += s;
        } else {
            for (std::size_t e = 0; e < index_.size(); ++e) {
                centre[static_cast<std::size_t>(index_[e])] += unit_[e] / n;
                sum += unit_[e] * unit_[e];
            }
            for (const double c : centre) sum -= n * c * c;
        }
        return std::sqrt(2.0 * std::max(sum, 0.0) / n + kLeastSquare);
    }

    void kernel_with(const double* unit, const std::int32_t* index, std::size_t n_entries, std::vector<double>& dense,
                     std::size_t n, double* out) const {
        if (is_dense_) {
            squared_distances(unit, unit_.data(), n, padded(d_), out);
        } else {
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
        }
        exponential_kernel(out, n, width_);
    }

    static constexpr double kLeastSquare = 1e-12;  // of the width, when all rows are alike

    std::size_t d_, n_ = 0;
    bool is_dense_ = false;
    double root_ = 1.0, width_ = 1.0;
    std::vector<double> mean_, inverse_;
    std::vector<std::int32_t> index_;  // entries of all rows; row i has offset_[i] .. offset_[i + 1]
    std::vector<std::int64_t> offset_;
    std::vector<double> value_, unit_;  // unit_: rows x padded(d), or parallel to index_
    std::vector<double> square_;        // of rows kept as differences
};

}  // namespace boostline
