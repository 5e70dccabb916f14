#include "core/kernels/pairs.hpp"

#include "core/base/math.hpp"
#include "core/kernels/vectors.hpp"

namespace boostline::BOOSTLINE_LEVEL {

double count_inversions(const double* BOOSTLINE_RESTRICT relevant, std::size_t n_relevant,
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

void exp_differences(const double* BOOSTLINE_RESTRICT scores, std::size_t n, double from,
                     double* BOOSTLINE_RESTRICT out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = exp_(scores[i] - from);
}

double add_sigmoids(double e_relevant, const double* BOOSTLINE_RESTRICT e_irrelevant, std::size_t n,
                    double* BOOSTLINE_RESTRICT irrelevant_sum) {
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

double add_step_sums(double relevant, const double* BOOSTLINE_RESTRICT irrelevant, std::size_t n, const StepRow& row,
                     double* BOOSTLINE_RESTRICT irrelevant_sum) {
    typedef double TwoDoubles __attribute__((vector_size(16)));
    constexpr std::size_t kBlock = 64;
    std::int32_t cells[kBlock];  // found for a block of labels at a time, which vectorises; looking up does not
    double fractions[kBlock];
    const double* BOOSTLINE_RESTRICT values = row.values;
    double lanes[kLanes] = {0.0}, rest = 0.0;
    for (std::size_t start = 0; start < n; start += kBlock) {
        const std::size_t size = n - start < kBlock ? n - start : kBlock, whole = size - size % kLanes;
        for (std::size_t i = 0; i < size; ++i) {
            const StepPlace place = place_of(relevant, irrelevant[start + i], row);
            cells[i] = place.cell;
            fractions[i] = place.fraction;
        }
        double rises[kBlock], falls[kBlock];
        for (std::size_t i = 0; i < size; ++i) {  // both at once, each from the two ends of its cell
            const TwoDoubles up = load_as<TwoDoubles>(values + cells[i]),
                             down = load_as<TwoDoubles>(values + cells[i] - row.per_unit);
            const TwoDoubles here = __builtin_shufflevector(up, down, 0, 2),
                             next = __builtin_shufflevector(up, down, 1, 3);
            const TwoDoubles at = here + fractions[i] * (next - here);
            rises[i] = at[0];
            falls[i] = at[1];
        }
        for (std::size_t i = 0; i < size; ++i) irrelevant_sum[start + i] += rises[i];
        for (std::size_t i = 0; i < whole; i += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += falls[i + lane];
        for (std::size_t i = whole; i < size; ++i) rest += falls[i];
    }
    return combine_lanes(lanes) + rest;
}

// Columns in some vectors, whose sums stay in registers; the last one may have columns of the one before it.
template <std::size_t kTogether>
static void add_columns(const double* votes, const double* weights, std::size_t n, std::size_t k, std::size_t first,
                        double* scores) {
    std::size_t at[kTogether];
    Doubles sums[kTogether];
    for (std::size_t v = 0; v < kTogether; ++v) {
        at[v] = first + (v + 1) * kDoubles <= k ? first + v * kDoubles : k - kDoubles;
        sums[v] = load(scores + at[v]);
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t v = 0; v < kTogether; ++v) {
            sums[v] += weights[i] * load(votes + i * k + at[v]);
            store(scores + (i + 1) * k + at[v], sums[v]);
        }
}

void add_votes(const double* votes, const double* weights, std::size_t n, std::size_t k, double* scores) {
    if (k < kDoubles) {
        for (std::size_t i = 0; i < n; ++i, scores += k)
            for (std::size_t j = 0; j < k; ++j) scores[k + j] = scores[j] + weights[i] * votes[i * k + j];
        return;
    }
    std::size_t first = 0;
    for (; first + 3 * kDoubles < k; first += 4 * kDoubles) add_columns<4>(votes, weights, n, k, first, scores);
    for (; first < k; first += kDoubles) add_columns<1>(votes, weights, n, k, first, scores);
}

}  // namespace boostline::BOOSTLINE_LEVEL
