// Landmarks in a file, and when features come.
#include "core/learners/kernel/landmarks.hpp"

namespace boostline {

void Landmarks::fields(Fields& f, std::size_t n, bool is_fitted, bool is_frozen) {
    constexpr float kUnit = 10.0f;  // the difference of two clipped values
    if (f.loads() && is_frozen) {   // features may have come since, which the landmarks do not know
        const std::size_t known = f.size<double>("mean", d_);
        f.require(known <= d_, "mean");
        *this = Landmarks(known);
    }
    if (is_fitted) f.flag("is_dense", is_dense_);
    const std::size_t n_entries = f.size<std::int32_t>("index", index_.size());
    f.array("offset", offset_, is_frozen && is_dense_ ? 1 : n + 1, {0.0, static_cast<double>(n_entries), true});
    f.array("index", index_, n_entries, kCounts);
    f.array("value", value_, is_frozen ? 0 : n_entries, {-kLargest, kLargest, false, true});
    if (f.checks()) {
        f.require(offset_[0] == 0 && begin(offset_.size() - 1) == n_entries, "offset");
        for (std::size_t i = 1; i < offset_.size(); ++i) {
            f.require(offset_[i] >= offset_[i - 1], "offset");
            f.columns("index", index_.data() + begin(i - 1), begin(i) - begin(i - 1), d_);
        }
    }
    points_.count(f);
    f.memory(square_);
    if (!is_fitted) return f.memory(mean_, inverse_, unit_);
    if (f.loads()) n_ = n;
    f.array("mean", mean_, d_, within(2.0 * kLargest));  // of largest values it may round up
    f.array("inverse", inverse_, d_, {0.0, std::numeric_limits<double>::max()});
    if (is_dense_) {
        fields_of_points(f, "unit", points_, n, kUnit, [&](auto&& visit) {
            for (std::size_t i = 0; i < n; ++i) visit(i);
        });
        f.memory(unit_);
    } else {
        f.array("unit", unit_, n_entries, within(static_cast<double>(kUnit)));
    }
    f.number("width", width_, {0.9 * std::sqrt(kLeastSquare), 2.0 * static_cast<double>(kUnit)});
    if (f.loads()) {
        count_varying();
        find_squares();
    }
}

// An entry NaN at the end of every row for each of the features d_ .. n - 1.
void Landmarks::add_missing(std::size_t n) {
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

}  // namespace boostline
