// Exact k-nearest neighbours with an early reject on the coordinates of highest variance. It pays where a few
// coordinates vary much and the others little, as scores do when few labels are common.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "core/learners/neighbours/point_blocks.hpp"

namespace boostline {

// Either blocks with all coordinates; or rows with all of them, and blocks with a prefix of every row: the coordinates
// that differ most, and the length of the rest. Two prefixes are no farther apart than their rows, since two lengths
// differ by no more than the distance. Which of the two depends on the points; what is found does not depend on it.
class NearPoints {
  public:
    explicit NearPoints(std::size_t n_inputs) : n_inputs_(n_inputs), blocks_(n_inputs) {}

    std::size_t size() const { return blocks_.size(); }
    std::size_t n_inputs() const { return n_inputs_; }
    std::size_t prefix_size() const { return prefix_.size(); }
    bool has_prefix() const { return !prefix_.empty(); }

    // Before n more points are put, or changed: now and then prefixes are chosen again.
    void expect(std::size_t n) {
        n_expected_ += n;
        if (n_expected_ >= next_choice_) find_prefix();
    }
    void reserve(std::size_t n) {
        blocks_.reserve(n);
        if (!has_prefix()) return;
        rows_.reserve(n * n_inputs_);
        squares_.reserve(n);
    }
    // Slots 0 .. size() are there to write to; threads may write to slots of their own.
    void put(std::size_t slot, const float* point) noexcept {
        if (!has_prefix()) return blocks_.put(slot, point);
        if (slot == size()) {
            rows_.resize(rows_.size() + n_inputs_);
            squares_.resize(squares_.size() + 1);
        }
        std::copy_n(point, n_inputs_, rows_.data() + slot * n_inputs_);
        squares_[slot] = square_of(point);
        float prefix[kMostPrefix + 1];
        make_prefix(point, prefix);
        blocks_.put(slot, prefix, allowance(squares_[slot]));
    }

    void get(std::size_t slot, float* point) const {
        if (!has_prefix()) return blocks_.get(slot, point);
        std::copy_n(rows_.data() + slot * n_inputs_, n_inputs_, point);
    }

    // Squared distances of n_queries points to the first n, those of a query a stride after those of the one before. Of
    // prefixes, if there are any: less than the squared distance that `exact` gives, plus the query's allowance.
    void distances(const float* queries, std::size_t n_queries, std::size_t n, float* out, std::size_t stride,
                   std::vector<float>& prefixes) const {
        if (!has_prefix()) return blocks_.distances(queries, n_queries, n, out, stride);
        prefixes.resize(n_queries * blocks_.n_inputs());
        for (std::size_t q = 0; q < n_queries; ++q)
            make_prefix(queries + q * n_inputs_, prefixes.data() + q * blocks_.n_inputs());
        blocks_.distances(prefixes.data(), n_queries, n, out, stride);
    }
    static std::size_t most_prefixes(std::size_t n_queries) { return n_queries * (kMostPrefix + 1); }

    float square_of(const float* point) const {
        float square = 0.0f;
        for (std::size_t f = 0; f < n_inputs_; ++f) square += point[f] * point[f];
        return square;
    }
    // Sums of n products are right to n / 2^24 of the two squared lengths. Eight such errors at most meet where a
    // distance of prefixes is compared with one of rows; twice that is allowed for, one part with each of the points.
    float allowance(float square) const { return static_cast<float>(n_inputs_ + 16) * (16.0f / 16777216.0f) * square; }

    void exact(const float* query, float square, const std::uint32_t* slots, std::size_t n, float* out) const {
        distances_of_rows(rows_.data(), squares_.data(), n_inputs_, query, square, slots, n, out);
    }

    // New coordinates come last and are 0 in all points so far.
    void grow_inputs(std::size_t n) {
        if (has_prefix()) {
            rest_.reserve(rest_.size() + n - n_inputs_);
            widen(rows_, n_inputs_, n, 0.0f);
            for (std::size_t f = n_inputs_; f < n; ++f) rest_.push_back(static_cast<std::uint32_t>(f));
        } else {
            blocks_.grow_inputs(n);
        }
        n_inputs_ = n;
    }
    void clear() noexcept { *this = NearPoints(n_inputs_); }
    // Oldest first, in the slots of this ring.
    void fields(Fields& f, const Ring& ring) {
        fields_of_points(f, "points", *this, ring.size(), PointBlocks::kFarthest,
                         [&](auto&& visit) { ring.for_each(visit); });
        if (f.loads()) find_prefix();
        blocks_.count(f);
        f.memory(rows_, squares_, prefix_, rest_);
    }

  private:
    static constexpr std::size_t kFewestInputs = 48, kFewestPoints = 2048, kMostPrefix = 64;
    // Of the variance. On mediamill 24 of 101 labels have it, and of 30,000 points 130 are looked at closely.
    static constexpr double kShare = 0.93;

    void make_prefix(const float* point, float* prefix) const {
        for (std::size_t i = 0; i < prefix_.size(); ++i) prefix[i] = point[prefix_[i]];
        float rest = 0.0f;
        for (const std::uint32_t f : rest_) rest += point[f] * point[f];
        prefix[prefix_.size()] = std::sqrt(rest);
    }

    // Of use or not, they are chosen again.
    void find_prefix() {
        if (size() < kFewestPoints) return;
        std::vector<float> point(n_inputs_);
        NearPoints fresh(n_inputs_);
        fresh.choose_prefix(*this);
        fresh.n_expected_ = n_expected_;
        if (fresh.prefix_ != prefix_) {
            fresh.reserve(size());
            for (std::size_t slot = 0; slot < size(); ++slot) {
                get(slot, point.data());
                fresh.put(slot, point.data());
            }
            *this = std::move(fresh);
        }
        next_choice_ = n_expected_ + 2 * size();
    }
    // The fewest coordinates that have kShare of the variance, or none if these are not few. There are no points here
    // yet.
    void choose_prefix(const NearPoints& points) {
        if (n_inputs_ < kFewestInputs) return;
        const std::size_t n = points.size();
        std::vector<float> point(n_inputs_);
        std::vector<double> sum(n_inputs_, 0.0), variance(n_inputs_, 0.0);
        for (std::size_t slot = 0; slot < n; ++slot) {
            points.get(slot, point.data());
            for (std::size_t f = 0; f < n_inputs_; ++f) {
                const auto x = static_cast<double>(point[f]);
                sum[f] += x;
                variance[f] += x * x;
            }
        }
        for (std::size_t f = 0; f < n_inputs_; ++f)
            variance[f] = std::max(0.0, variance[f] - sum[f] * sum[f] / static_cast<double>(n));
        std::vector<std::uint32_t> order(n_inputs_);
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return variance[a] > variance[b]; });
        const std::size_t most = std::min(kMostPrefix, n_inputs_ / 3);
        const double enough = kShare * std::accumulate(variance.begin(), variance.end(), 0.0);
        std::size_t few = 0;
        for (double held = 0.0; few < most && held < enough; ++few) held += variance[order[few]];
        if (few == most || few == 0) return;
        prefix_.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(few));
        rest_.assign(order.begin() + static_cast<std::ptrdiff_t>(few), order.end());
        std::sort(prefix_.begin(), prefix_.end());
        std::sort(rest_.begin(), rest_.end());
        blocks_ = PointBlocks(few + 1);
    }

    std::size_t n_inputs_;
    std::vector<std::uint32_t> prefix_, rest_;  // coordinates; none: there are no prefixes
    PointBlocks blocks_;                 // all coordinates; or the prefixes, whose squares are less by an allowance
    std::vector<float> rows_, squares_;  // where there are prefixes
    std::size_t n_expected_ = 0, next_choice_ = kFewestPoints;
};

}  // namespace boostline
