// The coarse sums of a split search, compiled with -ffp-contract=fast (CMakeLists.txt): nothing else may be in this
// unit.
#include "core/kernels/split_sums.hpp"

namespace boostline {

BOOSTLINE_VECTORISED void add_labels(const LabelStats* labels, std::size_t n_labels, std::size_t n,
                                     const double* thresholds, double* total, float* left_weight, float* left_over) {
    add_all_labels<float>(labels, n_labels, n, thresholds, total, left_weight, left_over);
}

}  // namespace boostline
