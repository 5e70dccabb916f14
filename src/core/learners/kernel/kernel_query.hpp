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

    void fields(Fields& f) {
        f.part("", entries);
        f.memory(point, unit, dense, squares);
    }
};

// The same for some rows at once: points after one another, squared distances, and the kernel with every centre.
struct KernelBlock {
    std::vector<float> points, squares, among_squares;
    std::vector<double> kernel;
    PointBlocks among;  // the rows themselves, which may become centres

    void fields(Fields& f) {
        f.memory(points, squares, among_squares, kernel);
        among.count(f);
    }
};

}  // namespace boostline
