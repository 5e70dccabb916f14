// Which edge OnlineBMR assumes while it runs (edge="auto"): the one that the learners realise, with a half-life, on a
// grid. boostline/boosters/edge_search.py has the grid and the idea, docs/theory.md the derivation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/archive.hpp"
#include "core/math.hpp"

namespace boostline {

class EdgeSearch {
  public:
    static constexpr std::size_t kValues = 7;

    EdgeSearch(std::vector<double> levels, std::size_t level, std::uint64_t period, double decay)
        : levels_(std::move(levels)), level_(level), period_(period), decay_(decay) {
        if (level_ >= levels_.size() || period_ == 0 || *std::min_element(levels_.begin(), levels_.end()) <= 0.0)
            throw std::invalid_argument(
                "a search for the edge needs positive levels, one of them to start, and a period");
    }

    double edge() const { return levels_[level_]; }
    double promised() const { return promised_; }
    // Sum of gamma_t D_{i,t} over learners and rounds, up to where the denominators of the edges sum to `weight`.
    double assumed_until(double weight) const { return assumed_ + edge() * (weight - seen_weight_); }

    void promise(double loss) noexcept { promised_ += loss; }
    bool is_time_to_look(std::uint64_t clock) const { return clock % period_ == 0; }

    // Takes the sums of the edges' numerators and denominators so far; returns whether the edge has changed.
    bool look(double gain, double weight) noexcept {
        gain_ = decay_ * gain_ + gain - seen_gain_;
        weight_ = decay_ * weight_ + weight - seen_weight_;
        assumed_ = assumed_until(weight);
        seen_gain_ = gain;
        seen_weight_ = weight;
        if (!(weight_ > 0.0)) return false;
        const double realised = std::max(gain_ / weight_, levels_[0]);
        const auto distance = [&](double level) { return std::abs(log2_(level / realised)); };
        const auto nearest = std::min_element(levels_.begin(), levels_.end(),
                                              [&](double a, double b) { return distance(a) < distance(b); });
        const auto before = std::exchange(level_, static_cast<std::size_t>(nearest - levels_.begin()));
        return level_ != before;
    }

    std::vector<double> values() const {
        return {gain_, weight_, seen_gain_, seen_weight_, static_cast<double>(level_), promised_, assumed_};
    }
    void set(const std::vector<double>& values) {
        const double level = values.at(4);
        require(is_count(level) && level < static_cast<double>(levels_.size()), "", "edge_search");
        gain_ = values[0];
        weight_ = values[1];
        seen_gain_ = values[2];
        seen_weight_ = values[3];
        level_ = static_cast<std::size_t>(level);
        promised_ = values.at(5);
        assumed_ = values.at(6);
    }
    void check() const { check_within(values(), -kFinite, kFinite, "", "edge_search"); }

  private:
    static constexpr double kFinite = 1e300;

    std::vector<double> levels_;
    std::size_t level_;
    std::uint64_t period_;  // rows between two looks
    double decay_;          // from one look to the next
    double gain_ = 0.0, weight_ = 0.0;
    double seen_gain_ = 0.0, seen_weight_ = 0.0;  // the sums at the last look
    double promised_ = 0.0;                       // sum over the rounds of phi^N(0) at the edge used in each
    double assumed_ = 0.0;                        // up to the last look
};

}  // namespace boostline
