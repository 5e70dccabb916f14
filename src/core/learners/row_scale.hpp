// A row on a common scale, whatever the units of its features, at a cost in proportion to its non-zeros and to the
// number of dense features.
//
// Sparse features (zero in at least half of the rows): divided by the root mean square of their non-zeros, clipped to
// +-5, and the whole block brought to length 1, as is usual for word counts. Dense features: centred, divided by their
// deviation, clipped to +-5, and by the root of their number, so that both blocks have a length of about 1.
// A missing value (NaN) has no part.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/learners/feature_scale.hpp"
#include "core/learners/row_memory.hpp"

namespace boostline {

// The sparse features first, then the dense ones.
struct ScaledRow {
    std::vector<std::int32_t> index;
    std::vector<double> value;
    std::vector<double> spread;  // scratch: the row with its zeros
    std::size_t n_sparse = 0;
    bool has_all = false;  // the index is 0, 1, 2, ...

    std::size_t size() const { return index.size(); }
    void reserve(std::size_t n) {
        index.reserve(n);
        value.reserve(n);
        spread.reserve(n);
    }
    void fields(Fields& f) { f.memory(index, value, spread); }
};

class RowScale {
  public:
    explicit RowScale(std::size_t n_features = 0)
        : scale_(n_features), inverse_rms_(n_features, 0.0), is_dense_(n_features, 0) {}

    std::size_t n_features() const { return is_dense_.size(); }
    std::int64_t n_rows() const { return static_cast<std::int64_t>(scale_.n_rows()); }

    std::size_t n_dense() const { return dense_.size(); }

    // A table of numbers rather than a bag of words: at least half of the features that ever had a value are dense.
    bool is_table() const { return 2 * dense_.size() >= n_features() - scale_.n_always_missing(); }

    void grow(std::size_t n, bool were_missing) {
        scale_.grow(n, were_missing);
        inverse_rms_.resize(n, 0.0);
        is_dense_.resize(n, 0);
    }

    // So that `learn` needs no memory. Returns how many features will be dense then.
    std::size_t make_room_for(const Entries& row) {
        if (!is_time_to_look(n_rows() + 1)) return dense_.size();
        const std::size_t n_dense = scale_.n_dense_with(row);
        dense_.reserve(n_dense);
        mean_.reserve(n_dense);
        inverse_deviation_.reserve(n_dense);
        return n_dense;
    }

    // How many rows can be learnt before it takes a look at all features.
    std::size_t n_rows_before_look() const {
        std::size_t n = 0;
        while (n < 256 && !is_time_to_look(n_rows() + static_cast<std::int64_t>(n) + 1)) ++n;
        return n;
    }

    void learn(const Entries& row) {
        scale_.learn(row);
        for (const std::int32_t f : row.index) refresh_sparse(static_cast<std::size_t>(f));
        if (is_time_to_look(n_rows())) {
            for (std::size_t f = 0; f < n_features(); ++f) is_dense_[f] = scale_.is_sparse(f) ? 0 : 1;
            list_dense();
        }
        refresh_dense();
    }

    // As new.
    void clear() noexcept {
        scale_.clear();
        std::fill(inverse_rms_.begin(), inverse_rms_.end(), 0.0);
        std::fill(is_dense_.begin(), is_dense_.end(), std::uint8_t{0});
        release(dense_);
        release(mean_);
        release(inverse_deviation_);
        dense_share_ = 0.0;
        n_varying_ = 0;
    }

    void apply(const RowView& row, ScaledRow& out) const {
        if (n_varying_ == n_features() && apply_to_table(row, out)) return;
        out.has_all = false;
        out.index.clear();
        out.value.clear();
        double squares = 0.0;
        for (std::size_t i = 0; i < row.size; ++i) {
            const auto f = static_cast<std::size_t>(row.index[i]);
            if (is_dense_[f]) continue;
            const double u = clip(row.value[i] * inverse_rms_[f]);
            if (u == 0.0) continue;
            squares += u * u;
            out.index.push_back(row.index[i]);
            out.value.push_back(u);
        }
        out.n_sparse = out.index.size();
        if (squares > 0.0) {
            const double shrink = 1.0 / std::sqrt(squares);
            for (double& u : out.value) u *= shrink;
        }
        std::size_t i = 0;  // both lists are ascending: one walk along them
        for (std::size_t d = 0; d < dense_.size(); ++d) {
            if (!(inverse_deviation_[d] > 0.0)) continue;  // constant
            while (i < row.size && row.index[i] < dense_[d]) ++i;
            const double x = i < row.size && row.index[i] == dense_[d] ? row.value[i] : 0.0;
            if (x != x) continue;
            out.index.push_back(dense_[d]);
            out.value.push_back(clip((x - mean_[d]) * inverse_deviation_[d]) * dense_share_);
        }
    }

    void fields(Fields& f) {
        f.part("scale_", scale_);
        f.array("is_dense", is_dense_, n_features(), kFlags);
        if (f.loads()) {
            for (std::size_t i = 0; i < n_features(); ++i) refresh_sparse(i);
            list_dense();
            refresh_dense();
        }
        f.memory(dense_, inverse_rms_, mean_, inverse_deviation_);
    }

  private:
    // Where every feature is dense and varies, which is usual for tables; false if a value is missing.
    bool apply_to_table(const RowView& row, ScaledRow& out) const {
        const std::size_t d = n_features();
        const double* values = row.value;
        out.value.resize(d);
        if (row.size < d) {
            out.spread.assign(d, 0.0);
            for (std::size_t i = 0; i < row.size; ++i)
                out.spread[static_cast<std::size_t>(row.index[i])] = row.value[i];
            values = out.spread.data();
        }
        if (standardise_times(values, mean_.data(), inverse_deviation_.data(), d, dense_share_, out.value.data())) {
            return false;
        }
        if (!out.has_all || out.index.size() != d) out.index.assign(dense_.begin(), dense_.end());
        out.has_all = true;
        out.n_sparse = 0;
        return true;
    }

    // 0 for a number that overflowed on the way
    static double clip(double u) {
        u = u == u ? u : 0.0;
        u = u > 5.0 ? 5.0 : u;
        return u < -5.0 ? -5.0 : u;
    }
    void refresh_sparse(std::size_t f) {
        const double rms = scale_.rms_of_nonzeros(f);
        inverse_rms_[f] = rms > 0.0 ? 1.0 / rms : 0.0;
    }
    // Which features are dense is asked rarely, since it takes a look at all of them.
    static bool is_time_to_look(std::int64_t n_rows) { return n_rows % 256 == 0 || (n_rows & (n_rows - 1)) == 0; }

    void list_dense() {
        dense_.clear();
        for (std::size_t f = 0; f < n_features(); ++f)
            if (is_dense_[f]) dense_.push_back(static_cast<std::int32_t>(f));
        mean_.resize(dense_.size());
        inverse_deviation_.resize(dense_.size());
    }
    void refresh_dense() {
        n_varying_ = 0;
        if (dense_.size() == n_features()) {
            scale_.moments(mean_.data(), inverse_deviation_.data());
            for (const double inverse : inverse_deviation_) n_varying_ += inverse > 0.0 ? 1u : 0u;
        } else {
            refresh_some();
        }
        dense_share_ = n_varying_ > 0 ? 1.0 / std::sqrt(static_cast<double>(n_varying_)) : 0.0;
    }
    void refresh_some() {
        for (std::size_t d = 0; d < dense_.size(); ++d) {
            const auto f = static_cast<std::size_t>(dense_[d]);
            mean_[d] = scale_.mean(f);
            inverse_deviation_[d] = scale_.inverse_deviation(f);
            n_varying_ += inverse_deviation_[d] > 0.0 ? 1u : 0u;
        }
    }

    FeatureScale scale_;
    std::vector<double> inverse_rms_;               // by feature
    std::vector<std::uint8_t> is_dense_;            // by feature
    std::vector<std::int32_t> dense_;               // the dense features, ascending
    std::vector<double> mean_, inverse_deviation_;  // by place in dense_
    double dense_share_ = 0.0;
    std::size_t n_varying_ = 0;  // dense features that are not constant
};

}  // namespace boostline
