// Points in single precision, for distances to all of them: in blocks of kPointBlock, coordinate by coordinate.
//
// Half the memory to walk, and twice as many numbers in a vector. Squared distances are exact to about six digits of
// the points' squared lengths.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/fields.hpp"
#include "core/kernels/distances.hpp"
#include "core/learners/scorer.hpp"

namespace boostline {

class PointBlocks {
  public:
    static constexpr float kFarthest = 1e15f;  // coordinates are clipped here: squares and sums stay finite

    explicit PointBlocks(std::size_t n_inputs = 0) : n_inputs_(n_inputs) {}

    std::size_t size() const { return n_; }
    std::size_t n_inputs() const { return n_inputs_; }
    static std::size_t n_blocks(std::size_t n) { return (n + kPointBlock - 1) / kPointBlock; }
    // Distances come for whole blocks: so many numbers for each query.
    static std::size_t width(std::size_t n) { return n_blocks(n) * kPointBlock; }

    static float to_float(double x) {
        const auto far = static_cast<double>(kFarthest);
        x = x == x ? x : 0.0;
        x = x > far ? far : x;
        return static_cast<float>(x < -far ? -far : x);
    }

    void reserve(std::size_t n) {
        coordinates_.reserve(n_blocks(n) * block_size());
        squares_.reserve(width(n));
    }
    // As `reserve`, but rarely asks for memory.
    void make_room(std::size_t more) {
        if (n_blocks(n_ + more) * block_size() > coordinates_.capacity() || width(n_ + more) > squares_.capacity())
            reserve(std::max(n_ + more, 2 * n_));
    }
    // Slots 0 .. size() are there to write to. Squared distances to the point come out less by `allowance`.
    void put(std::size_t slot, const float* point, float allowance = 0.0f) noexcept {
        if (slot == n_ && n_++ % kPointBlock == 0) {
            coordinates_.resize(n_blocks(n_) * block_size(), 0.0f);
            squares_.resize(width(n_), 0.0f);
        }
        float* to = coordinates_.data() + place(slot);
        float square = 0.0f;
        for (std::size_t f = 0; f < n_inputs_; ++f) {
            to[f * kPointBlock] = point[f];
            square += point[f] * point[f];
        }
        squares_[slot] = square - allowance;
    }
    void get(std::size_t slot, float* point) const {
        const float* from = coordinates_.data() + place(slot);
        for (std::size_t f = 0; f < n_inputs_; ++f) point[f] = from[f * kPointBlock];
    }

    // Of n_queries points, one after the other, to the first n of these; out has width(n) numbers for each, and those
    // of the next query come a stride later.
    void distances(const float* queries, std::size_t n_queries, std::size_t n, float* out) const {
        distances(queries, n_queries, n, out, width(n));
    }
    void distances(const float* queries, std::size_t n_queries, std::size_t n, float* out, std::size_t stride) const {
        squared_distances(coordinates_.data(), squares_.data(), n_blocks(n), n_inputs_, queries, n_queries, out,
                          stride);
    }

    // New coordinates come last and are 0 in all points so far.
    void grow_inputs(std::size_t n) {
        widen(coordinates_, block_size(), n * kPointBlock, 0.0f);
        n_inputs_ = n;
    }
    void clear() noexcept {
        release(coordinates_);
        release(squares_);
        n_ = 0;
    }
    // As new, in the memory that is there.
    void restart(std::size_t n_inputs) noexcept {
        n_inputs_ = n_inputs;
        n_ = 0;
        coordinates_.clear();
        squares_.clear();
    }
    void shrink_to_fit() {
        coordinates_.shrink_to_fit();
        squares_.shrink_to_fit();
    }
    void count(Fields& f) const { f.memory(coordinates_, squares_); }

  private:
    std::size_t block_size() const { return kPointBlock * n_inputs_; }
    std::size_t place(std::size_t slot) const { return slot / kPointBlock * block_size() + slot % kPointBlock; }

    std::size_t n_inputs_, n_ = 0;
    std::vector<float> coordinates_, squares_;  // squared lengths less the allowance, by slot
};

// n points in a file, in the order in which each(visit) calls visit(slot); when they are loaded that is 0, 1, 2, ...
template <class Points, class Each>
void fields_of_points(Fields& f, const char* name, Points& points, std::size_t n, float most, Each&& each) {
    f.expect<float>(name, n * points.n_inputs());
    if (f.loads()) points.reserve(n);
    f.pieces<float>(name, n * points.n_inputs(), within(static_cast<double>(most)), [&](auto&& visit) {
        std::vector<float> point(points.n_inputs());
        each([&](std::size_t slot) {
            if (!f.loads()) points.get(slot, point.data());
            visit(point.data(), point.size());
            if (f.loads()) points.put(slot, point.data());
        });
    });
}

}  // namespace boostline
