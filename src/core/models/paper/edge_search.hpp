// Which edge OnlineBMR assumes while it runs (edge="auto"): follow the regularised leader on what each edge of a grid
// would have promised. boostline/models/online_bmr.py has the grid, docs/theory.md the derivation and the regret.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/archive.hpp"
#include "core/base/math.hpp"

namespace boostline {

// phi^N(0) of an example, which depends on it through |Y| only.
struct StartPotentials {
    std::vector<double> at_levels;  // at the edges of the grid, cut to `limit`
    double limit = 1.0;             // 1 / |Y|
    double slope_at_limit = 0.0;    // d phi / d edge there
};

class EdgeSearch {
  public:
    EdgeSearch(std::vector<double> levels, double start, std::uint64_t period)
        : levels_(std::move(levels)), start_(start), edge_(start), period_(period) {
        if (levels_.size() < 2 || !std::is_sorted(levels_.begin(), levels_.end()) || !(levels_[0] > 0.0) ||
            !(start >= levels_[0] && start <= levels_.back()) || period_ == 0)
            throw std::invalid_argument(
                "a search for the edge needs two or more positive levels in ascending order, an edge between them to "
                "start with, and a period");
        for (auto* sums : {&potentials_, &promises_, &convex_}) sums->assign(levels_.size(), 0.0);
    }

    std::size_t n_levels() const { return levels_.size(); }
    double edge() const { return edge_; }
    // The rows since the last look count as a period, too.
    double slope_squares() const { return slope_squares_ + slope() * slope(); }
    const std::vector<double>& levels() const { return levels_; }
    const std::vector<double>& potentials() const { return potentials_; }
    const std::vector<double>& promises() const { return promises_; }

    // A round with pairs: the potentials on the grid, the importance of the example and D, the sum over the learners of
    // importance * (|Y| mean cost - sum over Y of costs). For every edge x, F(x) = importance * phi(x) + x D is known
    // now. Beyond 1 / |Y| it is constant; `convex_` goes on with the slope instead if that is positive, so that it
    // stays convex and above F.
    void add(const StartPotentials& potentials, double importance, double weight) noexcept {
        const double slope = std::max(0.0, importance * std::max(potentials.slope_at_limit, -kLargest) + weight);
        for (std::size_t j = 0; j < levels_.size(); ++j) {
            const double used = std::min(levels_[j], potentials.limit);
            const double potential = importance * std::min(potentials.at_levels[j], kLargest);
            const double value = potential + used * weight;
            potentials_[j] += potential;
            promises_[j] += value;
            convex_[j] += value + slope * (levels_[j] - used);
        }
    }

    bool is_time_to_look(std::uint64_t clock) const { return clock % period_ == 0; }

    // Moves the edge; returns whether it has changed.
    bool look() noexcept {
        slope_squares_ = slope_squares();
        const double before = std::exchange(edge_, leader());
        const std::size_t now = cell_of(edge_);
        low_before_ = convex_[now];
        high_before_ = convex_[now + 1];
        return edge_ != before;
    }

    std::vector<double> values() const {
        std::vector<double> all{edge_, slope_squares_, low_before_, high_before_};
        for (const auto* sums : {&potentials_, &promises_, &convex_}) all.insert(all.end(), sums->begin(), sums->end());
        return all;
    }
    std::size_t n_values() const { return 4 + 3 * levels_.size(); }
    void set(const std::vector<double>& values) {
        edge_ = values.at(0);
        slope_squares_ = values.at(1);
        low_before_ = values.at(2);
        high_before_ = values.at(3);
        const auto n = static_cast<std::ptrdiff_t>(levels_.size());
        auto from = values.begin() + 4;
        for (auto* sums : {&potentials_, &promises_, &convex_}) {
            sums->assign(from, from + n);
            from += n;
        }
    }
    void check() const {
        check_within(values(), -kFinite, kFinite, "", "edge_search");
        check_within(edge_, levels_[0], levels_.back(), "", "edge_search");
        check_within(slope_squares_, 0.0, kFinite, "", "edge_search");
    }

  private:
    static constexpr double kFinite = 1e300;

    double width(std::size_t cell) const { return levels_[cell + 1] - levels_[cell]; }
    std::size_t cell_of(double edge) const {
        const auto above = std::upper_bound(levels_.begin(), levels_.end(), edge);
        const auto n = static_cast<std::size_t>(above - levels_.begin());
        return std::min(std::max<std::size_t>(n, 1), levels_.size() - 1) - 1;
    }

    // Of the sum since the last look, at the edge.
    double slope() const {
        const std::size_t cell = cell_of(edge_);
        return (convex_[cell + 1] - high_before_ - convex_[cell] + low_before_) / width(cell);
    }

    // The edge with the smallest sum, linear between the levels, plus strength / 2 * (edge - start)^2.
    double leader() const noexcept {
        const double range = levels_.back() - levels_[0];
        const double strength = std::sqrt(2.0 * slope_squares_) / range;
        double best = edge_, least = HUGE_VAL;
        for (std::size_t j = 0; j + 1 < levels_.size(); ++j) {
            const double slope = (convex_[j + 1] - convex_[j]) / width(j);
            const double lowest = strength > 0.0 ? start_ - slope / strength : (slope > 0.0 ? 0.0 : HUGE_VAL);
            const double edge = std::min(std::max(lowest, levels_[j]), levels_[j + 1]);
            const double away = edge - start_;
            const double value = convex_[j] + slope * (edge - levels_[j]) + 0.5 * strength * away * away;
            if (value < least) {
                least = value;
                best = edge;
            }
        }
        return best;
    }

    std::vector<double> levels_;
    double start_, edge_;
    std::uint64_t period_;                         // rows between two looks
    double slope_squares_ = 0.0;                   // of the sums between two looks, at the edge used, up to the last
    double low_before_ = 0.0, high_before_ = 0.0;  // convex_ at the last look, around the edge
    std::vector<double> potentials_, promises_;    // sums of phi^N(0) at the levels; of F
    std::vector<double> convex_;                   // of F's convex bound
};

}  // namespace boostline
