#include "core/kernels/vectors.inl"

// Of kQueries points, to kVectors vectors of points `apart` numbers from one another: enough sums side by side that
// none waits for itself.
template <std::size_t kQueries, std::size_t kVectors>
inline void distances_of(const float* points, std::size_t apart, std::size_t n_inputs, const float* queries, float* out,
                         std::size_t out_apart, std::size_t stride) {
    Floats sums[kQueries][kVectors] = {};
    for (std::size_t f = 0; f < n_inputs; ++f) {
        Floats p[kVectors];
        for (std::size_t b = 0; b < kVectors; ++b) p[b] = load(points + b * apart + f * kPointBlock);
        for (std::size_t q = 0; q < kQueries; ++q)
            for (std::size_t b = 0; b < kVectors; ++b) {
                const Floats e = p[b] - queries[q * n_inputs + f];
                sums[q][b] += e * e;
            }
    }
    for (std::size_t q = 0; q < kQueries; ++q)
        for (std::size_t b = 0; b < kVectors; ++b) store(out + q * stride + b * out_apart, sums[q][b]);
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

// Four vectors of points for a single query: of four blocks or, if these have several, of one.
inline void distances_of_one(const float* points, std::size_t n_blocks, std::size_t n_inputs, const float* query,
                             float* out) {
    const std::size_t size = n_inputs * kPointBlock;
    constexpr std::size_t kVectors = kPointBlock / kFloats;  // of a block
    std::size_t b = 0;
    if (kVectors == 4) {
        for (; b < n_blocks; ++b)
            distances_of<1, 4>(points + b * size, kFloats, n_inputs, query, out + b * kPointBlock, kFloats, 0);
        return;
    }
    for (; b + 4 <= n_blocks; b += 4)
        for (std::size_t v = 0; v < kPointBlock; v += kFloats)
            distances_of<1, 4>(points + b * size + v, size, n_inputs, query, out + b * kPointBlock + v, kPointBlock, 0);
    for (; b < n_blocks; ++b)
        for (std::size_t v = 0; v < kPointBlock; v += kFloats)
            distances_of<1, 1>(points + b * size + v, size, n_inputs, query, out + b * kPointBlock + v, kPointBlock, 0);
}

void squared_distances(const float* points, std::size_t n_blocks, std::size_t n_inputs, const float* queries,
                       std::size_t n_queries, float* out, std::size_t stride) {
    const std::size_t size = n_inputs * kPointBlock;
    const std::size_t by_eight = n_queries / 8 * 8;
    for (std::size_t b = 0; b < n_blocks && by_eight > 0; ++b)
        for (std::size_t q = 0; q < by_eight; q += 8)
            for (std::size_t v = 0; v < kPointBlock; v += kFloats)
                distances_of<8, 1>(points + b * size + v, size, n_inputs, queries + q * n_inputs,
                                   out + q * stride + b * kPointBlock + v, kPointBlock, stride);
    for (std::size_t q = by_eight; q < n_queries; ++q)
        distances_of_one(points, n_blocks, n_inputs, queries + q * n_inputs, out + q * stride);
}
