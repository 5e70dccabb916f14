// Landmarks in a file, and when features come.
#include "core/learners/kernel/landmarks.hpp"

namespace boostline {

void Landmarks::save(Archive& out, const std::string& prefix) const {
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

Landmarks Landmarks::load(const ArchiveView& in, const std::string& prefix, std::size_t n_features, std::size_t n,
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

void Landmarks::check(const std::string& prefix) const {
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
