#include "core/kernels/sums.hpp"

namespace boostline {

BOOSTLINE_VECTORISED double sum(const double* BOOSTLINE_RESTRICT a, std::size_t n) {
    double lanes[kLanes] = {0.0}, rest = 0.0;
    const std::size_t whole = n - n % kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += a[i + l];
    for (std::size_t i = whole; i < n; ++i) rest += a[i];
    return combine_lanes(lanes) + rest;
}

BOOSTLINE_VECTORISED double dot(const double* BOOSTLINE_RESTRICT a, const double* BOOSTLINE_RESTRICT b, std::size_t n,
                                double centre) {
    double lanes[kLanes] = {0.0}, rest = 0.0;
    const std::size_t whole = n - n % kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += a[i + l] * (b[i + l] - centre);
    for (std::size_t i = whole; i < n; ++i) rest += a[i] * (b[i] - centre);
    return combine_lanes(lanes) + rest;
}

BOOSTLINE_VECTORISED Range range_of(const double* BOOSTLINE_RESTRICT a, std::size_t n) {
    double low[kLanes], high[kLanes];
    for (std::size_t l = 0; l < kLanes; ++l) low[l] = high[l] = a[0];
    const std::size_t whole = n - n % kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) {
            low[l] = a[i + l] < low[l] ? a[i + l] : low[l];
            high[l] = a[i + l] > high[l] ? a[i + l] : high[l];
        }
    Range range{a[0], a[0]};
    const auto take = [&](double value) {
        range.low = value < range.low ? value : range.low;
        range.high = value > range.high ? value : range.high;
    };
    for (std::size_t i = whole; i < n; ++i) take(a[i]);
    for (std::size_t l = 0; l < kLanes; ++l) {
        take(low[l]);
        take(high[l]);
    }
    return range;
}

}  // namespace boostline
