// Which labels to name, for probabilities p: the micro-F1 F is largest if those with p > F / 2 are named, and so is
// each label's own F1 (Busa-Fekete, Szorenyi, Dembczynski and Hullermeier, "Online F-measure optimization", NIPS 2015).
// F / 2 is the number of labels named rightly over that of labels named plus that of relevant ones, with the threshold
// used as it was.
#pragma once

#include "core/base/archive.hpp"

namespace boostline {

struct F1Cut {
    double right = 0.0, all = 0.0;
    double of(double prior, double weight) const { return (right + prior * weight) / (all + weight); }
    void add(double r, double a, double memory) noexcept {
        right = right * (1.0 - 1.0 / memory) + r;
        all = all * (1.0 - 1.0 / memory) + a;
    }
    void check(double most, const char* name) const {
        check_within(all, 0.0, most, "", name);
        check_within(right, 0.0, all * (0.5 + 1e-6), "", name);
    }
};

}  // namespace boostline
