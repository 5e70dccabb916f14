#include "core/kernels/vectors.inl"

// Labels come in groups of eight: half a vector at the widest.
#if BOOSTLINE_VECTOR_BYTES == 64
typedef float EightFloats __attribute__((vector_size(32)));
typedef unsigned EightBits __attribute__((vector_size(32)));
#else
typedef Floats EightFloats;
typedef Bits EightBits;
#endif

// 1 / sqrt(x) for a positive normal x, to 1.1e-4: a guess from the bits and a step of Halley's method. The size of a
// step of AdaGrad needs no more, and this is where the time goes.
template <class Vector, class Integers>
inline Vector inverse_sqrt(Vector x) {
    const Vector y = (Vector)(0x5F3759DFu - ((Integers)x >> 1));
    const Vector r = x * (y * y);
    return y * (1.875f + r * (0.375f * r - 1.25f));
}

// kVectors vectors of labels stay in registers while all features pass, in kChains sums each, so that none waits for
// itself.
template <class Vector, std::size_t kVectors, std::size_t kChains>
inline void forward(const std::int32_t* index, const double* value, std::size_t n_active, const float* weights,
                    std::size_t n, float* sums) {
    constexpr std::size_t kSize = sizeof(Vector) / sizeof(float);
    Vector s[kChains][kVectors] = {};
    std::size_t i = 0;
    for (; i + kChains <= n_active; i += kChains)
        for (std::size_t c = 0; c < kChains; ++c) {
            const float* w = weights + static_cast<std::size_t>(index[i + c]) * 2 * n;
            const float x = static_cast<float>(value[i + c]);
            for (std::size_t v = 0; v < kVectors; ++v) s[c][v] += load_as<Vector>(w + v * kSize) * x;
        }
    for (; i < n_active; ++i) {
        const float* w = weights + static_cast<std::size_t>(index[i]) * 2 * n;
        const float x = static_cast<float>(value[i]);
        for (std::size_t v = 0; v < kVectors; ++v) s[0][v] += load_as<Vector>(w + v * kSize) * x;
    }
    for (std::size_t half = kChains / 2; half > 0; half /= 2)
        for (std::size_t c = 0; c < half; ++c)
            for (std::size_t v = 0; v < kVectors; ++v) s[c][v] += s[c + half][v];
    for (std::size_t v = 0; v < kVectors; ++v) store(sums + v * kSize, s[0][v]);
}

void linear_forward(const std::int32_t* index, const double* value, std::size_t n_active, const float* weights,
                    std::size_t n, float* sums) {
    std::size_t j = 0;
    if (BOOSTLINE_VECTOR_BYTES == 64)
        for (; j + 64 <= n; j += 64) forward<Floats, 4, 4>(index, value, n_active, weights + j, n, sums + j);
    for (; j + 2 * kFloats <= n; j += 2 * kFloats)
        forward<Floats, 2, 4>(index, value, n_active, weights + j, n, sums + j);
    for (; j + kFloats <= n; j += kFloats) forward<Floats, 1, 4>(index, value, n_active, weights + j, n, sums + j);
    if (j < n) forward<EightFloats, 1, 4>(index, value, n_active, weights + j, n, sums + j);
}

template <class Vector, class Integers>
inline void step(float x, const float* gradient, const float* decay, float rate, float* weights, float* squares) {
    const Vector old = load_as<Vector>(weights);
    const Vector e = x * load_as<Vector>(gradient) + load_as<Vector>(decay) * old;
    const Vector s = load_as<Vector>(squares) + e * e;
    store(squares, s);
    store(weights, old - rate * e * inverse_sqrt<Vector, Integers>(s));
}

void linear_step(const std::int32_t* index, const double* value, std::size_t n_active, const float* gradient,
                 const float* decay, std::size_t n, float rate, float* weights) {
    for (std::size_t i = 0; i < n_active; ++i) {
        float* w = weights + static_cast<std::size_t>(index[i]) * 2 * n;
        const float x = static_cast<float>(value[i]);
        std::size_t j = 0;
        for (; j + kFloats <= n; j += kFloats) step<Floats, Bits>(x, gradient + j, decay + j, rate, w + j, w + n + j);
        if (j < n) step<EightFloats, EightBits>(x, gradient + j, decay + j, rate, w + j, w + n + j);
    }
}
