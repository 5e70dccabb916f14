// The scale of the features and the width of the kernel, taken from the rows kept.
#include "core/learners/kernel/landmarks.hpp"

namespace boostline {

// Takes the scale of the features and standardises all rows kept. The first time decides how rows are kept.
void Landmarks::fit(const FeatureScale& scale) {
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
            for_entries(i, [&](std::size_t e, std::size_t f) { point[f] = static_cast<float>(unit(f, value_[e])); });
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

// The root mean square distance of two rows, sqrt(2 mean |u - mean u|^2).
double Landmarks::rms_distance() const {
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

}  // namespace boostline
