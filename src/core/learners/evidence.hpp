// Why a label has its score: the raw score as a sum over features, or over rows of the past.
#pragma once

#include <cstdint>
#include <vector>

namespace boostline {

// rest + the sum of the parts is the score, or what becomes a score by a growing function.
struct EvidenceSum {
    bool is_known = false;
    double rest = 0.0;                // a bias, a frequency, or rows that have left the memory
    std::vector<std::int64_t> index;  // features; or rows, where 1 is the first that was learned
    std::vector<double> parts;

    void start(double bias) {
        is_known = true;
        rest = bias;
    }
    void add(std::int64_t i, double part) {
        if (part == 0.0) return;
        index.push_back(i);
        parts.push_back(part);
    }
    double total() const {
        double sum = rest;
        for (const double part : parts) sum += part;
        return sum;
    }
};

struct Evidence {
    EvidenceSum of_features, of_rows;
};

}  // namespace boostline
