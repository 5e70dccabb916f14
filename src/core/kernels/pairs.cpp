#include "core/kernels/pairs.hpp"

#include "core/math.hpp"

namespace boostline {

BOOSTLINE_VECTORISED double count_inversions(const double* BOOSTLINE_RESTRICT relevant, std::size_t n_relevant,
                                             const double* BOOSTLINE_RESTRICT irrelevant, std::size_t n_irrelevant) {
    constexpr std::size_t kPiece = 1024;  // of thousands of labels, so that a piece stays in the first cache
    double total = 0.0;                   // multiples of one half: exact in any order
    for (std::size_t start = 0; start < n_irrelevant; start += kPiece) {
        const double* BOOSTLINE_RESTRICT piece = irrelevant + start;
        const std::size_t n = n_irrelevant - start < kPiece ? n_irrelevant - start : kPiece, whole = n - n % kLanes;
        for (std::size_t l = 0; l < n_relevant; ++l) {
            const double score = relevant[l];
            double count = 0.0;
            double lanes[kLanes] = {0.0};
            for (std::size_t r = 0; r < whole; r += kLanes)
                for (int lane = 0; lane < kLanes; ++lane) {
                    const double other = piece[r + static_cast<std::size_t>(lane)];
                    lanes[lane] += (other > score ? 1.0 : 0.0) + (other == score ? 0.5 : 0.0);
                }
            for (std::size_t r = whole; r < n; ++r) count += piece[r] > score ? 1.0 : (piece[r] == score ? 0.5 : 0.0);
            total += count + combine_lanes(lanes);
        }
    }
    return total;
}

BOOSTLINE_VECTORISED void exp_differences(const double* BOOSTLINE_RESTRICT scores, std::size_t n, double from,
                                          double* BOOSTLINE_RESTRICT out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = exp_(scores[i] - from);
}

BOOSTLINE_VECTORISED double add_sigmoids(double e_relevant, const double* BOOSTLINE_RESTRICT e_irrelevant,
                                         std::size_t n, double* BOOSTLINE_RESTRICT irrelevant_sum) {
    double lanes[kLanes] = {0.0};
    const std::size_t whole = n - n % kLanes;
    for (std::size_t r = 0; r < whole; r += kLanes)
        for (int lane = 0; lane < kLanes; ++lane) {
            const std::size_t i = r + static_cast<std::size_t>(lane);
            const double p = e_irrelevant[i] / (e_irrelevant[i] + e_relevant);
            irrelevant_sum[i] += p;
            lanes[lane] += p;
        }
    double rest = 0.0;
    for (std::size_t r = whole; r < n; ++r) {
        const double p = e_irrelevant[r] / (e_irrelevant[r] + e_relevant);
        irrelevant_sum[r] += p;
        rest += p;
    }
    return combine_lanes(lanes) + rest;
}

BOOSTLINE_VECTORISED double add_steps(double relevant, const double* BOOSTLINE_RESTRICT irrelevant, std::size_t n,
                                      StepRow row, double* BOOSTLINE_RESTRICT irrelevant_sum) {
    constexpr std::size_t kBlock = 64;
    std::int32_t cells[kBlock];  // found for a block of labels at a time, which vectorises; looking up does not
    double fractions[kBlock];
    const double per_unit = static_cast<double>(row.per_unit), end = static_cast<double>(row.last_cell) + 1.0;
    const double* BOOSTLINE_RESTRICT values = row.values;
    double lanes[kLanes] = {0.0}, rest = 0.0;
    for (std::size_t start = 0; start < n; start += kBlock) {
        const std::size_t size = n - start < kBlock ? n - start : kBlock, whole = size - size % kLanes;
        for (std::size_t i = 0; i < size; ++i) {
            double position = (irrelevant[start + i] - relevant - row.origin) * per_unit;
            position = position > per_unit ? position : per_unit;  // also for NaN, which must not become an index
            position = position < end ? position : end;
            const auto cell = static_cast<std::int32_t>(position);
            cells[i] = cell < row.last_cell ? cell : row.last_cell;
            fractions[i] = position - static_cast<double>(cells[i]);
        }
        const auto look_up = [&](std::size_t i) {
            const std::int32_t up = cells[i], down = up - row.per_unit;
            irrelevant_sum[start + i] += values[up] + fractions[i] * (values[up + 1] - values[up]);
            return values[down] + fractions[i] * (values[down + 1] - values[down]);
        };
        for (std::size_t i = 0; i < whole; i += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += look_up(i + lane);
        for (std::size_t i = whole; i < size; ++i) rest += look_up(i);
    }
    return combine_lanes(lanes) + rest;
}

}  // namespace boostline
