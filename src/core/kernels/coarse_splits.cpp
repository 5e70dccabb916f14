// The coarse sums of a split search, compiled with -ffp-contract=fast (CMakeLists.txt): nothing else may be in this
// unit.
#include "core/kernels/split_sums.hpp"

namespace boostline::BOOSTLINE_LEVEL {

void add_labels_coarsely(const LabelStats* labels, std::size_t n_labels, const LeafRange& range, double* thresholds,
                         double* total, float* left_weight, float* left_over) {
    add_all_labels<float>(labels, n_labels, range, thresholds, total, left_weight, left_over);
}

}  // namespace boostline::BOOSTLINE_LEVEL
