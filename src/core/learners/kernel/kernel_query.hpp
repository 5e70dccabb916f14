// A row, or some rows at once, on their way to the kernel (landmarks.hpp).
#pragma once

#include <vector>

#include "core/learners/feature_scale.hpp"
#include "core/learners/neighbours/point_blocks.hpp"

namespace boostline {

// A row on its way to the kernel.
struct KernelQuery {
    Entries entries;            // always
    std::vector<float> point;   // standardised: all features
    std::vector<double> unit;   // or, sparse, the differences at the entries,
    std::vector<double> dense;  // and these spread out, zero between uses
    std::vector<float> squares;

    std::size_t memory_bytes() const {
        return entries.memory_bytes() + (unit.capacity() + dense.capacity()) * sizeof(double) +
               (point.capacity() + squares.capacity()) * sizeof(float);
    }
};

// The same for some rows at once: points after one another, squared distances, and the kernel with every centre.
struct KernelBlock {
    std::vector<float> points, squares, among_squares;
    std::vector<double> kernel;
    PointBlocks among;  // the rows themselves, which may become centres

    std::size_t memory_bytes() const {
        return (points.capacity() + squares.capacity() + among_squares.capacity()) * sizeof(float) +
               kernel.capacity() * sizeof(double) + among.memory_bytes();
    }
};

}  // namespace boostline
