// A piecewise linear function with knots at equal distances, fitted by Newton steps. Hat functions touch their
// neighbours only, so that the matrix of second derivatives has three diagonals.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/archive.hpp"

namespace boostline {

template <std::size_t kKnots>
class PiecewiseLinear {
  public:
    struct Place {
        std::size_t left;
        double share;   // of the right knot
        double beyond;  // how far outside of the knots, in distances between them
    };

    // Neighbours differ from how they started by about 1 / sqrt(stiffness) at most, unless there is evidence. `hold` is
    // how firmly each knot holds to its start.
    PiecewiseLinear(double low, double step, double slope, double stiffness, double hold = 0.1)
        : low_(low), step_(step), stiffness_(stiffness), hold_(hold) {
        for (std::size_t j = 0; j < kKnots; ++j) values_[j] = slope * (low + step * static_cast<double>(j));
    }

    Place place(double x) const {
        constexpr double kLast = static_cast<double>(kKnots - 1);
        const double z = (x - low_) / step_, within = std::min(std::max(z, 0.0), kLast);
        const std::size_t left = std::min(static_cast<std::size_t>(within), kKnots - 2);
        return {left, within - static_cast<double>(left), z - within};
    }
    double at(const Place& p) const { return between(values_, p); }
    // The nearest function that rises, see `find_rising`, and its slope; beyond the knots the slope is a half.
    double rising_at(const Place& p) const { return between(rising_, p) + 0.5 * step_ * p.beyond; }
    double rise_at(const Place& p) const {
        return p.beyond != 0.0 ? 0.5 : (rising_[p.left + 1] - rising_[p.left]) / step_;
    }

    void begin_row(double keep) noexcept {
        for (std::size_t j = 0; j < kKnots; ++j) {
            diagonal_[j] *= keep;
            beside_[j] *= keep;
            gradient_[j] = 0.0;
        }
    }
    void add(const Place& p, double gradient, double curvature) noexcept {
        const double right = p.share, left = 1.0 - right;
        gradient_[p.left] += gradient * left;
        gradient_[p.left + 1] += gradient * right;
        diagonal_[p.left] += curvature * left * left;
        diagonal_[p.left + 1] += curvature * right * right;
        beside_[p.left] += curvature * left * right;
    }
    // A share of the step, or all of it.
    void end_row(double share) noexcept {
        std::array<double, kKnots> inverse, b = gradient_;  // of the pivots: divisions take long
        inverse[0] = 1.0 / with_prior(0);
        for (std::size_t j = 1; j < kKnots; ++j) {
            const double side = beside_[j - 1] - stiffness_, m = side * inverse[j - 1];
            inverse[j] = 1.0 / (with_prior(j) - m * side);
            b[j] -= m * b[j - 1];
        }
        b[kKnots - 1] *= inverse[kKnots - 1];
        for (std::size_t j = kKnots - 1; j-- > 0;) b[j] = (b[j] - (beside_[j] - stiffness_) * b[j + 1]) * inverse[j];
        for (std::size_t j = 0; j < kKnots; ++j)
            values_[j] = std::min(std::max(values_[j] + share * b[j], -kMostLogit), kMostLogit);
    }

    // The nearest function that rises by `slope` at least (isotonic): neighbours that do not are pooled.
    void find_rising(double slope) noexcept {
        std::array<double, kKnots> mean, weight;
        std::array<std::size_t, kKnots> count;
        std::size_t n = 0;
        const double rise = slope * step_;
        for (std::size_t j = 0; j < kKnots; ++j) {
            double v = values_[j] - rise * static_cast<double>(j), w = diagonal_[j] + hold_;
            std::size_t c = 1;
            for (; n > 0 && mean[n - 1] >= v; --n) {
                v = (v * w + mean[n - 1] * weight[n - 1]) / (w + weight[n - 1]);
                w += weight[n - 1];
                c += count[n - 1];
            }
            mean[n] = v;
            weight[n] = w;
            count[n++] = c;
        }
        for (std::size_t i = 0, j = 0; i < n; ++i)
            for (const std::size_t end = j + count[i]; j < end; ++j)
                rising_[j] = mean[i] + rise * static_cast<double>(j);
    }

    static constexpr std::size_t kState = 3 * kKnots;
    void write(std::vector<double>& out) const {
        for (const auto* part : {&values_, &diagonal_, &beside_}) out.insert(out.end(), part->begin(), part->end());
    }
    const double* read(const double* in) {
        for (auto* part : {&values_, &diagonal_, &beside_}) {
            std::copy(in, in + kKnots, part->begin());
            in += kKnots;
        }
        return in;
    }
    void check(double most_curvature, const char* name) const {
        check_within(values_.data(), kKnots, -kMostLogit, kMostLogit, "", name);
        check_within(diagonal_.data(), kKnots, 0.0, most_curvature, "", name);
        check_within(beside_.data(), kKnots, 0.0, most_curvature, "", name);
        double pivot = 1.0;  // all of them are positive, as of every matrix of sums of squares: it can be solved for
        for (std::size_t j = 0; j < kKnots; ++j) {
            const double side = j == 0 ? 0.0 : beside_[j - 1] - stiffness_;
            pivot = with_prior(j) - side * side / pivot;
            require(pivot > 0.0, "", name);
        }
    }

  private:
    static constexpr double kMostLogit = 1e3;

    static double between(const std::array<double, kKnots>& values, const Place& p) {
        return values[p.left] * (1.0 - p.share) + values[p.left + 1] * p.share;
    }
    double with_prior(std::size_t j) const {
        return diagonal_[j] + hold_ + ((j > 0 ? 1.0 : 0.0) + (j + 1 < kKnots ? 1.0 : 0.0)) * stiffness_;
    }

    double low_, step_, stiffness_, hold_;
    std::array<double, kKnots> values_{}, diagonal_{}, beside_{}, gradient_{};
    std::array<double, kKnots> rising_{};  // derived
};

}  // namespace boostline
