#include "core/kernels/vectors.inl"

// kQueries points, of kBlocks blocks after one another: enough sums side by side that none waits for itself.
template <std::size_t kQueries, std::size_t kBlocks>
inline void distances_of(const float* points, std::size_t n_inputs, const float* queries, float* out,
                         std::size_t stride) {
    Floats sums[kQueries][kBlocks] = {};
    const std::size_t size = n_inputs * kPointBlock;
    for (std::size_t f = 0; f < n_inputs; ++f) {
        Floats p[kBlocks];
        for (std::size_t b = 0; b < kBlocks; ++b) p[b] = load(points + b * size + f * kPointBlock);
        for (std::size_t q = 0; q < kQueries; ++q)
            for (std::size_t b = 0; b < kBlocks; ++b) {
                const Floats e = p[b] - queries[q * n_inputs + f];
                sums[q][b] += e * e;
            }
    }
    for (std::size_t q = 0; q < kQueries; ++q)
        for (std::size_t b = 0; b < kBlocks; ++b) store(out + q * stride + b * kPointBlock, sums[q][b]);
}

void least_of_blocks(const float* values, std::size_t n_blocks, std::size_t together, float* out) {
    for (std::size_t b = 0; b + together <= n_blocks; b += together, out += kPointBlock) {
        Floats least = load(values + b * kPointBlock);
        for (std::size_t j = 1; j < together; ++j) {
            const Floats other = load(values + (b + j) * kPointBlock);
            least = other < least ? other : least;
        }
        store(out, least);
    }
}

void squared_distances(const float* points, std::size_t n_blocks, std::size_t n_inputs, const float* queries,
                       std::size_t n_queries, float* out, std::size_t stride) {
    const std::size_t size = n_inputs * kPointBlock;
    const std::size_t by_eight = n_queries / 8 * 8;
    for (std::size_t b = 0; b < n_blocks && by_eight > 0; ++b)
        for (std::size_t q = 0; q < by_eight; q += 8)
            distances_of<8, 1>(points + b * size, n_inputs, queries + q * n_inputs, out + q * stride + b * kPointBlock,
                               stride);
    for (std::size_t q = by_eight; q < n_queries; ++q) {
        std::size_t b = 0;
        for (; b + 4 <= n_blocks; b += 4)
            distances_of<1, 4>(points + b * size, n_inputs, queries + q * n_inputs, out + q * stride + b * kPointBlock,
                               stride);
        for (; b < n_blocks; ++b)
            distances_of<1, 1>(points + b * size, n_inputs, queries + q * n_inputs, out + q * stride + b * kPointBlock,
                               stride);
    }
}
