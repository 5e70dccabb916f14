// The coarse sums of a split search, compiled with -ffp-contract=fast (CMakeLists.txt): nothing else may be in this
// unit. Their rounding cannot reach a result, so they need not give the same bits everywhere: machines with AVX-512
// have their own (wide_split_screen.cpp).
#include "core/kernels/split_sums.hpp"

namespace boostline {

BOOSTLINE_VECTORISED void add_labels(const LabelStats* labels, std::size_t n_labels, const LeafRange& range,
                                     double* thresholds, double* total, float* left_weight, float* left_over) {
    for (std::size_t g = 0; g < n_groups(range.n); ++g) place_thresholds(range, g, thresholds + g * kGroupCells);
    add_all_labels<float>(labels, n_labels, range.n, thresholds, total, left_weight, left_over);
}

}  // namespace boostline
