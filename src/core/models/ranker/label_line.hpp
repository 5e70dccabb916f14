// A label's own logit, given that of the shared functions: a line, fitted by Newton steps. It is shrunk towards the
// identity until there is enough data.
#pragma once

#include <algorithm>

#include "core/base/archive.hpp"
#include "core/models/ranker/f1_cut.hpp"

namespace boostline {

struct LabelLine {
    static constexpr double kLeastSlope = 0.3, kMostSlope = 4.0;

    double offset = 0.0, slope = 1.0;
    double b00 = 0.0, b01 = 0.0, b11 = 0.0;  // sums of second derivatives
    F1Cut cut;

    double at(double u) const { return offset + slope * u; }

    // With the derivatives of the loss at `u`.
    void learn(double u, double error, double curvature) noexcept {
        const double keep = std::max(0.0, 1.0 - curvature / kMemory);
        b00 = b00 * keep + curvature;
        b01 = b01 * keep + curvature * u;
        b11 = b11 * keep + curvature * u * u;
        const double a00 = b00 + kOffsetPrior, a11 = b11 + kSlopePrior, determinant = a00 * a11 - b01 * b01;
        const double to_offset = error * (a11 - b01 * u) / determinant,
                     to_slope = error * (a00 * u - b01) / determinant;
        offset = std::min(std::max(offset + to_offset, -kMostOffset), kMostOffset);
        slope = std::min(std::max(slope + to_slope, kLeastSlope), kMostSlope);
    }

    static constexpr std::size_t kState = 7;
    template <class Write>
    void save(Write&& write) const {
        const double state[kState] = {offset, slope, b00, b01, b11, cut.right, cut.all};
        write(state, kState);
    }
    void load(ArrayReader<double>& in) {
        double state[kState];
        in.next(state, kState);
        *this = {state[0], state[1], state[2], state[3], state[4], {state[5], state[6]}};
    }
    void check(const char* name) const {
        check_within(offset, -kMostOffset, kMostOffset, "", name);
        check_within(slope, kLeastSlope, kMostSlope, "", name);
        check_within(b00, 0.0, kMost, "", name);
        check_within(b11, 0.0, kMost, "", name);
        require(b01 * b01 <= b00 * b11 * (1.0 + 1e-6) + 1e-12, "", name);
        cut.check(kMost, name);
    }

  private:
    static constexpr double kMemory = 200.0;      // in units of p (1 - p)
    static constexpr double kOffsetPrior = 50.0;  // the same
    static constexpr double kSlopePrior = 300.0;  // the same, times the square of a logit
    static constexpr double kMostOffset = 60.0;
    static constexpr double kMost = 1e15;
};

}  // namespace boostline
