// Running mean, deviation and root mean square of every feature, at a cost in proportion to the non-zeros of a row.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/example.hpp"
#include "core/base/fields.hpp"
#include "core/kernels/scales.hpp"

namespace boostline {

// The non-zero entries of a row (NaN included), ascending: what learners walk instead of all features. A dense and a
// sparse row with the same values give the same list, and so the same bits.
struct Entries {
    std::vector<std::int32_t> index;
    std::vector<double> value;

    // Of the first n_features features.
    void assign(const Row& x, std::size_t n_features) {
        const auto end = static_cast<std::int64_t>(n_features);
        index.clear();
        value.clear();
        if (x.is_sparse) {
            for (std::int64_t i = 0; i < x.n_stored && x.index[i] < end; ++i) add(x.index[i], x.value[i]);
            return;
        }
        index.resize(n_features);
        value.resize(n_features);
        std::size_t n = 0;
        for (std::int64_t f = 0; f < end; ++f) {  // without a branch
            index[n] = static_cast<std::int32_t>(f);
            value[n] = x.dense[f];
            n += x.dense[f] != 0.0 ? 1u : 0u;
        }
        index.resize(n);
        value.resize(n);
    }
    void reserve(std::size_t n) {
        index.reserve(n);
        value.reserve(n);
    }
    std::size_t size() const { return index.size(); }
    void fields(Fields& f) { f.memory(index, value); }

  private:
    void add(std::int64_t f, double v) {
        if (v == 0.0) return;
        index.push_back(static_cast<std::int32_t>(f));
        value.push_back(v);
    }
};

class FeatureScale {
  public:
    explicit FeatureScale(std::size_t n_features = 0)
        : n_nonzero_(n_features, 0.0), n_missing_(n_features, 0.0), mean_(n_features, 0.0), m2_(n_features, 0.0) {}

    std::size_t n_features() const { return mean_.size(); }
    double n_rows() const { return n_rows_; }

    // Features that had no value in any row.
    std::size_t n_always_missing() const { return n_always_missing_; }

    void grow(std::size_t n, bool were_missing) {
        if (were_missing && n_rows_ > 0.0) n_always_missing_ += n - n_features();
        n_nonzero_.resize(n, 0.0);
        n_missing_.resize(n, were_missing ? n_rows_ : 0.0);
        mean_.resize(n, 0.0);
        m2_.resize(n, 0.0);
    }

    // Welford's update over the non-zero values; zeros are added in when a moment is asked for.
    void learn(const Entries& row) {
        if (n_rows_ == kMostRows) return;  // a number that only a file can have: no count goes beyond it
        n_rows_ += 1.0;
        n_always_missing_ = 0;
        if (row.size() == n_features() && !has_missing(row.value.data(), row.size()))
            return learn_full_row(row.value.data(), row.size(), n_nonzero_.data(), mean_.data(), m2_.data());
        for (std::size_t i = 0; i < row.size(); ++i) {
            const auto f = static_cast<std::size_t>(row.index[i]);
            const double v = row.value[i];
            if (v != v) {
                n_missing_[f] += 1.0;
                n_always_missing_ += n_missing_[f] == n_rows_ ? 1u : 0u;
                continue;
            }
            n_nonzero_[f] += 1.0;
            const double delta = v - mean_[f];
            mean_[f] += delta / n_nonzero_[f];
            m2_[f] += delta * (v - mean_[f]);
        }
    }

    // Zero in at least half of the rows: such a feature is scaled, never centred.
    bool is_sparse(std::size_t f) const { return 2.0 * n_nonzero_[f] <= n_rows_ - n_missing_[f]; }
    // How many features will not be sparse once a row has been learnt.
    std::size_t n_dense_with(const Entries& row) const {
        const double n = n_rows_ + 1.0;
        std::size_t n_dense = 0;
        for (std::size_t f = 0; f < n_features(); ++f) n_dense += 2.0 * n_nonzero_[f] > n - n_missing_[f] ? 1u : 0u;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const auto f = static_cast<std::size_t>(row.index[i]);
            const bool is_missing = row.value[i] != row.value[i];
            const double nonzero = n_nonzero_[f] + (is_missing ? 0.0 : 1.0),
                         missing = n_missing_[f] + (is_missing ? 1.0 : 0.0);
            n_dense -= 2.0 * n_nonzero_[f] > n - n_missing_[f] ? 1u : 0u;
            n_dense += 2.0 * nonzero > n - missing ? 1u : 0u;
        }
        return n_dense;
    }

    // As new.
    void clear() noexcept {
        n_rows_ = 0.0;
        n_always_missing_ = 0;
        for (auto* column : {&n_nonzero_, &n_missing_, &mean_, &m2_}) std::fill(column->begin(), column->end(), 0.0);
    }

    double mean(std::size_t f) const {
        const double n = n_rows_ - n_missing_[f];
        return n > 0.0 ? mean_[f] * (n_nonzero_[f] / n) : 0.0;
    }
    double deviation(std::size_t f) const {  // of all values, zeros included
        const double n = n_rows_ - n_missing_[f];
        if (!(n > 0.0)) return 0.0;
        const double zeros = n - n_nonzero_[f];
        const double m2 = m2_[f] + mean_[f] * mean_[f] * (n_nonzero_[f] * zeros / n);
        return std::sqrt(m2 / n);
    }
    double rms_of_nonzeros(std::size_t f) const {
        return n_nonzero_[f] > 0.0 ? std::sqrt(m2_[f] / n_nonzero_[f] + mean_[f] * mean_[f]) : 0.0;
    }
    // 1 / deviation, 0 for a feature that is constant but for rounding.
    double inverse_deviation(std::size_t f) const {
        const double sd = deviation(f);
        return sd > 1e-9 * std::fabs(mean(f)) && sd > 0.0 ? 1.0 / sd : 0.0;
    }

    // The mean and the inverse deviation of all features.
    void moments(double* mean, double* inverse) const {
        scale_moments(n_rows_, n_nonzero_.data(), n_missing_.data(), mean_.data(), m2_.data(), n_features(), mean,
                      inverse);
    }

    void fields(Fields& f) {
        constexpr double kHashedFeatures = 2147483648.0;  // so many may fall into one bucket, and are added
        constexpr double kMean = kHashedFeatures * kLargest, kSquares = 4.0 * kMean * kMean * kMostRows;
        const std::size_t n = n_features();
        f.number("n_rows", n_rows_, kCounts);
        f.array("n_nonzero", n_nonzero_, n, kCounts);
        f.array("n_missing", n_missing_, n, kCounts);
        f.array("mean", mean_, n, within(kMean));
        f.array("m2", m2_, n, {0.0, kSquares});
        for (std::size_t i = 0; f.checks() && i < n; ++i) {
            f.require(n_missing_[i] + n_nonzero_[i] <= n_rows_, "n_missing");
            // Without a value there is no mean, and one value has no deviation: else rounding could take m2 below 0.
            f.require(n_nonzero_[i] > 0.0 || mean_[i] == 0.0, "mean");
            f.require(n_nonzero_[i] > 1.0 || m2_[i] == 0.0, "m2");
        }
        for (std::size_t i = 0; f.loads() && i < n; ++i)
            n_always_missing_ += n_rows_ > 0.0 && n_missing_[i] == n_rows_ ? 1u : 0u;
    }

  private:
    double n_rows_ = 0.0;
    std::size_t n_always_missing_ = 0;
    std::vector<double> n_nonzero_, n_missing_, mean_, m2_;  // mean and m2 of the non-zero values
};

}  // namespace boostline
