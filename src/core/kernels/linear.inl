#include "core/kernels/vectors.inl"

typedef unsigned long long Bits __attribute__((vector_size(64)));

// 1 / sqrt(x) for a positive normal x, to 3e-12: a guess from the bits and two steps of Halley's method. Several times
// as fast as a square root and a division, and the loop over it is where the time goes.
inline Doubles inverse_sqrt(Doubles x) {
    Doubles y = (Doubles)(0x5FE6EB50C7B537A9ull - ((Bits)x >> 1));
    Doubles r = x * (y * y);
    y = y * (1.875 + r * (0.375 * r - 1.25));
    r = x * (y * y);
    return y * (1.875 + r * (0.375 * r - 1.25));
}

// kVectors * 8 labels at a time stay in registers while all features pass.
template <std::size_t kVectors>
inline void forward(const std::int32_t* index, const double* value, std::size_t n_active, const double* weights,
                    std::size_t n, double* sums) {
    Doubles s[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) s[v] = load(sums + v * 8);
    for (std::size_t i = 0; i < n_active; ++i) {
        const double* w = weights + static_cast<std::size_t>(index[i]) * 2 * n;
        for (std::size_t v = 0; v < kVectors; ++v) s[v] += load(w + v * 8) * value[i];
    }
    for (std::size_t v = 0; v < kVectors; ++v) store(sums + v * 8, s[v]);
}

void linear_forward(const std::int32_t* index, const double* value, std::size_t n_active, const double* weights,
                    std::size_t n, double* sums) {
    std::size_t j = 0;
    for (; j + 64 <= n; j += 64) forward<8>(index, value, n_active, weights + j, n, sums + j);
    for (; j + 32 <= n; j += 32) forward<4>(index, value, n_active, weights + j, n, sums + j);
    for (; j + 16 <= n; j += 16) forward<2>(index, value, n_active, weights + j, n, sums + j);
    for (; j < n; j += 8) forward<1>(index, value, n_active, weights + j, n, sums + j);
}

void linear_step(const std::int32_t* index, const double* value, std::size_t n_active, const double* gradient,
                 const double* decay, std::size_t n, double rate, double* weights) {
    for (std::size_t i = 0; i < n_active; ++i) {
        double* w = weights + static_cast<std::size_t>(index[i]) * 2 * n;
        double* squares = w + n;
        const double x = value[i];
        for (std::size_t j = 0; j < n; j += 8) {
            const Doubles old = load(w + j);
            const Doubles e = x * load(gradient + j) + load(decay + j) * old;
            const Doubles s = load(squares + j) + e * e;
            store(squares + j, s);
            store(w + j, old - rate * e * inverse_sqrt(s));
        }
    }
}
