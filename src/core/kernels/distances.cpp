#include "core/kernels/distances.hpp"

#include <cmath>

#include "core/base/math.hpp"
#include "core/kernels/vectors.hpp"

namespace boostline::BOOSTLINE_LEVEL {

// Of kQueries points, to kVectors vectors of points `apart` numbers from one another: |p|^2 + |q|^2 - 2 p q, with
// enough products side by side that none waits for itself. All three are summed in the order of the coordinates, so
// that equal points have the distance 0.
template <std::size_t kQueries, std::size_t kVectors>
static inline void distances_of(const float* points, std::size_t apart, const float* squares, std::size_t n_inputs,
                                const float* queries, const float* own_squares, float* out, std::size_t out_apart,
                                std::size_t stride) {
    Floats products[kQueries][kVectors] = {};
    for (std::size_t f = 0; f < n_inputs; ++f) {
        Floats p[kVectors];
        for (std::size_t b = 0; b < kVectors; ++b) p[b] = load(points + b * apart + f * kPointBlock);
        for (std::size_t q = 0; q < kQueries; ++q)
            for (std::size_t b = 0; b < kVectors; ++b) products[q][b] += p[b] * queries[q * n_inputs + f];
    }
    for (std::size_t q = 0; q < kQueries; ++q)
        for (std::size_t b = 0; b < kVectors; ++b) {
            const Floats d = (load(squares + b * out_apart) + own_squares[q]) - 2.0f * products[q][b], zero = {};
            store(out + q * stride + b * out_apart, d > zero ? d : zero);
        }
}

void least_of_blocks(const float* values, std::size_t n_blocks, std::size_t together, float* out) {
    for (std::size_t b = 0; b + together <= n_blocks; b += together, out += kPointBlock)
        for (std::size_t v = 0; v < kPointBlock; v += kFloats) {
            Floats least = load(values + b * kPointBlock + v);
            for (std::size_t j = 1; j < together; ++j) {
                const Floats other = load(values + (b + j) * kPointBlock + v);
                least = other < least ? other : least;
            }
            store(out + v, least);
        }
}

// For kQueries points: of all blocks, kTogether vectors of points at a time, of as many blocks or of parts of them.
template <std::size_t kQueries, std::size_t kTogether>
static inline void distances_of_some(const float* points, const float* squares, std::size_t n_blocks,
                                     std::size_t n_inputs, const float* queries, const float* own_squares, float* out,
                                     std::size_t stride) {
    const std::size_t size = n_inputs * kPointBlock;
    std::size_t b = 0;
    for (; b + kTogether <= n_blocks; b += kTogether)
        for (std::size_t v = 0; v < kPointBlock; v += kFloats)
            distances_of<kQueries, kTogether>(points + b * size + v, size, squares + b * kPointBlock + v, n_inputs,
                                              queries, own_squares, out + b * kPointBlock + v, kPointBlock, stride);
    for (; b < n_blocks; ++b)
        for (std::size_t v = 0; v < kPointBlock; v += kFloats)
            distances_of<kQueries, 1>(points + b * size + v, size, squares + b * kPointBlock + v, n_inputs, queries,
                                      own_squares, out + b * kPointBlock + v, kPointBlock, stride);
}

// As many queries as there are registers for, from the first on; returns how many are left.
template <std::size_t kQueries, std::size_t kTogether>
static inline std::size_t distances_of_most(const float* points, const float* squares, std::size_t n_blocks,
                                            std::size_t n_inputs, const float*& queries, std::size_t n_queries,
                                            float*& out, std::size_t stride) {
    for (; n_queries >= kQueries; n_queries -= kQueries) {
        float own[kQueries] = {};
        for (std::size_t f = 0; f < n_inputs; ++f)
            for (std::size_t q = 0; q < kQueries; ++q) own[q] += queries[q * n_inputs + f] * queries[q * n_inputs + f];
        distances_of_some<kQueries, kTogether>(points, squares, n_blocks, n_inputs, queries, own, out, stride);
        queries += kQueries * n_inputs;
        out += kQueries * stride;
    }
    return n_queries;
}

// All queries take some blocks before the next ones, so that these come from far away only once.
void squared_distances(const float* points, const float* squares, std::size_t n_blocks, std::size_t n_inputs,
                       const float* queries, std::size_t n_queries, float* out, std::size_t stride) {
    constexpr std::size_t kNear = std::size_t{1} << 16;  // numbers
    const std::size_t some = (kNear / (n_inputs * kPointBlock + 1) + 1 + 3) / 4 * 4;
    for (std::size_t first = 0; first < n_blocks; first += some) {
        const std::size_t n = n_blocks - first < some ? n_blocks - first : some;
        const float *p = points + first * n_inputs * kPointBlock, *s = squares + first * kPointBlock, *q = queries;
        float* o = out + first * kPointBlock;
        std::size_t left = n_queries;
#if BOOSTLINE_VECTOR_BYTES == 64
        left = distances_of_most<8, 2>(p, s, n, n_inputs, q, left, o, stride);
#endif
        left = distances_of_most<4, 2>(p, s, n, n_inputs, q, left, o, stride);
        left = distances_of_most<2, 4>(p, s, n, n_inputs, q, left, o, stride);
        distances_of_most<1, 4>(p, s, n, n_inputs, q, left, o, stride);
    }
}

// Targets of as many labels as there are numbers in a vector, kVectors times.
template <std::size_t kVectors>
static inline void add_targets_of(const std::int8_t* const* rows, std::size_t first, const double* weights,
                                  std::size_t n_rows, const double* frequency, double* sums) {
    typedef std::int8_t Targets __attribute__((vector_size(kDoubles)));
    Doubles own[kVectors], usual[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
        own[v] = load(sums + v * kDoubles);
        usual[v] = load(frequency + v * kDoubles);
    }
    for (std::size_t i = 0; i < n_rows; ++i)
        for (std::size_t v = 0; v < kVectors; ++v) {
            const Doubles y = __builtin_convertvector(load_as<Targets>(rows[i] + first + v * kDoubles), Doubles),
                          zero = {};
            own[v] += weights[i] * (y < zero ? usual[v] : y);
        }
    for (std::size_t v = 0; v < kVectors; ++v) store(sums + v * kDoubles, own[v]);
}

void add_targets(const std::int8_t* const* rows, const double* weights, std::size_t n_rows, const double* frequency,
                 std::size_t n, double* sums) {
    std::size_t j = 0;
    for (; j + 4 * kDoubles <= n; j += 4 * kDoubles)
        add_targets_of<4>(rows, j, weights, n_rows, frequency + j, sums + j);
    for (; j + kDoubles <= n; j += kDoubles) add_targets_of<1>(rows, j, weights, n_rows, frequency + j, sums + j);
    for (; j < n; ++j) {
        double own = sums[j];
        for (std::size_t i = 0; i < n_rows; ++i) {
            const double y = rows[i][j];
            own += weights[i] * (y < 0.0 ? frequency[j] : y);
        }
        sums[j] = own;
    }
}

void standardise_dense(Standardise unit, const double* BOOSTLINE_RESTRICT x, std::size_t d,
                       float* BOOSTLINE_RESTRICT u) {
    for (std::size_t f = 0; f < d; ++f) u[f] = static_cast<float>(unit(f, x[f]));
}

void exponential_kernel(double* BOOSTLINE_RESTRICT values, std::size_t n, double width) {
    const double rate = -1.0 / width;
    for (std::size_t i = 0; i < n; ++i) values[i] = exp_(std::sqrt(values[i]) * rate) + 1.0;
}

void exponential_of_squares(const float* BOOSTLINE_RESTRICT squares, std::size_t n, double width,
                            double* BOOSTLINE_RESTRICT out) {
    const double rate = -1.0 / width;
    for (std::size_t i = 0; i < n; ++i) out[i] = exp_(std::sqrt(static_cast<double>(squares[i])) * rate) + 1.0;
}

// Some rows side by side, as each sum waits for itself, while the next ones come from far away.
void distances_of_rows(const float* rows, const float* squares, std::size_t n_inputs, const float* query, float square,
                       const std::uint32_t* slots, std::size_t n, float* out) {
    constexpr std::size_t kTogether = 8, kAhead = 16;
    const auto row = [&](std::size_t i) { return rows + slots[i < n ? i : n - 1] * n_inputs; };
    for (std::size_t i = 0; i < n; i += kTogether) {
        const float* own[kTogether];
        float products[kTogether] = {};
        for (std::size_t j = 0; j < kTogether; ++j) {
            own[j] = row(i + j);
            for (std::size_t f = 0; f < n_inputs; f += kAhead) BOOSTLINE_PREFETCH(row(i + kTogether + j) + f);
        }
        for (std::size_t f = 0; f < n_inputs; ++f)
            for (std::size_t j = 0; j < kTogether; ++j) products[j] += own[j][f] * query[f];
        for (std::size_t j = 0; j < kTogether && i + j < n; ++j) {
            const float d = (squares[slots[i + j]] + square) - 2.0f * products[j];
            out[i + j] = d > 0.0f ? d : 0.0f;
        }
    }
}

std::size_t find_between(const float* values, std::size_t n, float above, float most, std::uint32_t* places) {
    constexpr std::size_t kPiece = 32;  // in most pieces there is nothing
    std::size_t found = 0;
    const auto is_hit = [&](std::size_t i) { return (values[i] > above) & (values[i] <= most); };
    for (std::size_t first = 0; first < n; first += kPiece) {
        std::size_t end = first + kPiece;
        if (end <= n) {
            std::uint32_t any = 0;
            for (std::size_t i = first; i < first + kPiece; ++i) any |= is_hit(i) ? 1u : 0u;
            if (any == 0) continue;
        } else {
            end = n;
        }
        for (std::size_t i = first; i < end; ++i) {  // without a branch that nobody could foresee
            places[found] = static_cast<std::uint32_t>(i);
            found += is_hit(i) ? 1 : 0;
        }
    }
    return found;
}

float largest_of(const float* values, std::size_t n) {
    float lanes[kPointBlock] = {};
    for (std::size_t i = 0; i + kPointBlock <= n; i += kPointBlock)
        for (std::size_t j = 0; j < kPointBlock; ++j) lanes[j] = values[i + j] > lanes[j] ? values[i + j] : lanes[j];
    float largest = 0.0f;
    for (const float x : lanes) largest = x > largest ? x : largest;
    return largest;
}

std::size_t count_up_to(const float* values, std::size_t n, float most) {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < n; ++i) count += values[i] <= most ? 1u : 0u;
    return count;
}

void shares_of(const double* BOOSTLINE_RESTRICT parts, const double* BOOSTLINE_RESTRICT wholes, std::size_t n,
               double* BOOSTLINE_RESTRICT shares) {
    for (std::size_t j = 0; j < n; ++j) shares[j] = wholes[j] > 0.0 ? parts[j] / wholes[j] : 0.0;
}

}  // namespace boostline::BOOSTLINE_LEVEL
