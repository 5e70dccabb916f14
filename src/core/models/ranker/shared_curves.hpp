// What all labels share on the way from scores to probabilities (calibration.hpp): piecewise linear functions, fitted
// by Newton steps.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/models/ranker/piecewise_linear.hpp"

namespace boostline {

class SharedCurves {
  public:
    using Curve = PiecewiseLinear<24>;   // over logits of q from -11 to 5
    using Level = PiecewiseLinear<17>;   // over ln sum q^2 from -8 to 0
    using OfRank = PiecewiseLinear<11>;  // over logits of r q from -5 to 5
    using Last = PiecewiseLinear<17>;    // over logits of probabilities from -4 to 4

    // Ranks 1 to 5 have functions of their own, 6 to 8 one together, and all others one. That of a label below the
    // kRanked first does not depend on its score.
    static constexpr std::size_t kGroups = 7, kRanked = 16;
    static std::size_t group_of(std::size_t rank) {
        return rank == 0 || rank > 8 ? kGroups - 1 : std::min<std::size_t>(rank, 6) - 1;
    }
    // Whether the last curve is for labels of this rank; 0 is none.
    static bool is_ranked(std::size_t rank) { return rank > 0 && rank <= kRanked; }

    Curve curve{-11.0, 16.0 / 23.0, 1.0, 30.0};
    Level level{-8.0, 0.5, 0.0, 2.0};
    std::vector<OfRank> of_ranks = std::vector<OfRank>(kGroups, OfRank(-5.0, 1.0, 0.0, 10.0));
    Last last{-4.0, 0.5, 1.0, 100.0, 100.0};

    SharedCurves() { find_rising(); }

    double curve_at(const Curve::Place& p) const {
        return Curve::at(rising_, p) + kBeyondSlope * curve.step() * p.beyond;
    }
    double level_at(const Level::Place& p) const { return Level::at(level.values(), p); }
    double of_rank_at(std::size_t rank, const OfRank::Place& p) const {
        return OfRank::at(rising_of_ranks_[group_of(rank)], p);
    }
    double last_at(const Last::Place& p) const { return Last::at(rising_last_, p) + last.step() * p.beyond; }

    // What was before counts so much.
    void begin_row(double keep, double keep_last) noexcept {
        curve.begin_row(keep);
        level.begin_row(keep);
        for (OfRank& f : of_ranks) f.begin_row(keep);
        last.begin_row(keep_last);
    }
    // Three functions step for the same error, by a share of the step; the last curve for its own.
    void end_row(double share) noexcept {
        curve.end_row(share);
        level.end_row(share);
        for (OfRank& f : of_ranks) f.end_row(share);
        last.end_row(1.0);
        find_rising();
    }
    void forget(double keep) noexcept {
        begin_row(keep, keep);
        find_rising();  // as in a model that is loaded now
    }

    static constexpr std::size_t kState = Curve::kState + Level::kState + kGroups * OfRank::kState + Last::kState;
    void write(std::vector<double>& out) const {
        curve.write(out);
        level.write(out);
        for (const OfRank& f : of_ranks) f.write(out);
        last.write(out);
    }
    void read(const double* next) {
        curve.read(next);
        level.read(next += Curve::kState);
        next += Level::kState;
        for (OfRank& f : of_ranks) {
            f.read(next);
            next += OfRank::kState;
        }
        last.read(next);
        find_rising();
    }
    void check(double most_curvature, const char* name) const {
        curve.check(most_curvature, name);
        level.check(most_curvature, name);
        for (const OfRank& f : of_ranks) f.check(most_curvature, name);
        last.check(most_curvature, name);
    }

  private:
    static constexpr double kLeastSlope = 0.05;  // of the curves
    static constexpr double kBeyondSlope = 0.5;  // of the first one outside of its knots

    void find_rising() noexcept {
        rising_ = curve.rising(kLeastSlope);
        rising_last_ = last.rising(kLeastSlope);
        for (std::size_t g = 0; g < kGroups; ++g) rising_of_ranks_[g] = of_ranks[g].rising(0.0);
    }

    // Derived.
    std::array<double, 24> rising_{};
    std::array<double, 17> rising_last_{};
    std::array<std::array<double, 11>, kGroups> rising_of_ranks_{};
};

}  // namespace boostline
