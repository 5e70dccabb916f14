#include "core/kernels/sums.hpp"

namespace boostline::BOOSTLINE_LEVEL {

double sum(const double* BOOSTLINE_RESTRICT a, std::size_t n) {
    double lanes[kLanes] = {0.0}, rest = 0.0;
    const std::size_t whole = n - n % kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += a[i + l];
    for (std::size_t i = whole; i < n; ++i) rest += a[i];
    return combine_lanes(lanes) + rest;
}

double centred_dot(const double* BOOSTLINE_RESTRICT a, const double* BOOSTLINE_RESTRICT b, std::size_t n,
                   double centre) {
    double lanes[kLanes] = {0.0}, rest = 0.0;
    const std::size_t whole = n - n % kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += a[i + l] * (b[i + l] - centre);
    for (std::size_t i = whole; i < n; ++i) rest += a[i] * (b[i] - centre);
    return combine_lanes(lanes) + rest;
}

double dot(const double* a, const double* b, std::size_t n) { return centred_dot(a, b, n, 0.0); }

Range range_of(const double* BOOSTLINE_RESTRICT a, std::size_t n) {
    if (n < kLanes) {
        Range range{a[0], a[0]};
        for (std::size_t i = 1; i < n; ++i) {
            range.low = a[i] < range.low ? a[i] : range.low;
            range.high = a[i] > range.high ? a[i] : range.high;
        }
        return range;
    }
    double low[kLanes], high[kLanes];
    for (std::size_t l = 0; l < kLanes; ++l) low[l] = high[l] = a[l];
    const auto take = [&](const double* some) {
        for (std::size_t l = 0; l < kLanes; ++l) {
            low[l] = some[l] < low[l] ? some[l] : low[l];
            high[l] = some[l] > high[l] ? some[l] : high[l];
        }
    };
    for (std::size_t i = kLanes; i + kLanes <= n; i += kLanes) take(a + i);
    take(a + n - kLanes);  // some of them once more
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
        for (std::size_t l = 0; l < half; ++l) {
            low[l] = low[l + half] < low[l] ? low[l + half] : low[l];
            high[l] = high[l + half] > high[l] ? high[l + half] : high[l];
        }
    return {low[0], high[0]};
}

}  // namespace boostline::BOOSTLINE_LEVEL
