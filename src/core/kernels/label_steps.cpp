#include "core/kernels/label_steps.hpp"

#include "core/base/math.hpp"
#include "core/kernels/vectors.hpp"

namespace boostline::BOOSTLINE_LEVEL {

// Labels come in groups of eight: half a vector at the widest.
#if BOOSTLINE_VECTOR_BYTES == 64
typedef float EightFloats __attribute__((vector_size(32)));
typedef unsigned EightBits __attribute__((vector_size(32)));
#else
typedef Floats EightFloats;
typedef Bits EightBits;
#endif

// kVectors vectors of labels stay in registers while all features pass, in kChains sums each, so that none waits for
// itself.
template <class Vector, std::size_t kVectors, std::size_t kChains>
static inline void forward(const std::int32_t* index, const double* value, std::size_t n_active, const float* weights,
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

// A step of AdaGrad: by rate * e / sqrt(s). The root is taken to 1.8e-3, with a guess from the bits and a step of
// Newton's method: the size of a step needs no more, and this is where the time goes.
template <class Integers, class Vector>
BOOSTLINE_INLINE void step(Vector x, Vector gradient, Vector decay, float rate, Vector& weights, Vector& squares) {
    const Vector e = x * gradient + decay * weights;
    squares += e * e;
    const Vector y = (Vector)(0x5F375A86u - ((Integers)squares >> 1));
    weights -= e * (y * (1.5f * rate - 0.5f * rate * (squares * (y * y))));
}
template <class Vector, class Integers>
BOOSTLINE_INLINE void step_at(float x, const float* gradient, const float* decay, float rate, float* weights,
                              float* squares) {
    Vector w = load_as<Vector>(weights), s = load_as<Vector>(squares);
    step<Integers>(x - Vector{}, load_as<Vector>(gradient), load_as<Vector>(decay), rate, w, s);
    store(weights, w);
    store(squares, s);
}

#if BOOSTLINE_VECTOR_BYTES == 64
// Up to eight labels: two features in one vector.
static inline void step_of_pairs(const std::int32_t* index, const double* value, std::size_t n_active,
                                 const float* gradient, const float* decay, float rate, float* weights) {
    const auto twice = [](const float* eight) {
        const auto v = load_as<EightFloats>(eight);
        return __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
    };
    const Floats g = twice(gradient), d = twice(decay);
    std::size_t i = 0;
    for (; i + 2 <= n_active; i += 2) {
        float* first = weights + static_cast<std::size_t>(index[i]) * 16;
        float* second = weights + static_cast<std::size_t>(index[i + 1]) * 16;
        const Floats a = load(first), b = load(second);
        Floats w = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
        Floats s = __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
        const EightFloats x0 = static_cast<float>(value[i]) - EightFloats{},
                          x1 = static_cast<float>(value[i + 1]) - EightFloats{};
        const Floats x = __builtin_shufflevector(x0, x1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        step<Bits>(x, g, d, rate, w, s);
        store(first, __builtin_shufflevector(w, s, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23));
        store(second, __builtin_shufflevector(w, s, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31));
    }
    for (; i < n_active; ++i) {
        float* w = weights + static_cast<std::size_t>(index[i]) * 16;
        step_at<EightFloats, EightBits>(static_cast<float>(value[i]), gradient, decay, rate, w, w + 8);
    }
}
#endif

void linear_step(const std::int32_t* index, const double* value, std::size_t n_active, const float* gradient,
                 const float* decay, std::size_t n, float rate, float* weights) {
#if BOOSTLINE_VECTOR_BYTES == 64
    if (n == 8) return step_of_pairs(index, value, n_active, gradient, decay, rate, weights);
#endif
    for (std::size_t i = 0; i < n_active; ++i) {
        float* w = weights + static_cast<std::size_t>(index[i]) * 2 * n;
        const float x = static_cast<float>(value[i]);
        std::size_t j = 0;
        for (; j + kFloats <= n; j += kFloats)
            step_at<Floats, Bits>(x, gradient + j, decay + j, rate, w + j, w + n + j);
        if (j < n) step_at<EightFloats, EightBits>(x, gradient + j, decay + j, rate, w + j, w + n + j);
    }
}

void add_scaled(float* BOOSTLINE_RESTRICT sums, const float* BOOSTLINE_RESTRICT weights, float value, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) sums[j] += value * weights[j];
}

void hinge_steps(const float* BOOSTLINE_RESTRICT z, const float* BOOSTLINE_RESTRICT duals, float slack, float curvature,
                 float least, std::size_t n, float* BOOSTLINE_RESTRICT steps) {
    for (std::size_t j = 0; j < n; ++j) {
        float d = (1.0f + z[j] - duals[j] * slack) / curvature;
        d = d > -duals[j] ? d : -duals[j];
        steps[j] = d >= least || d <= -least ? d : 0.0f;
    }
}

void hinge_votes(const float* BOOSTLINE_RESTRICT z, const double* BOOSTLINE_RESTRICT counts, double steepness,
                 double tail, double share, std::size_t n, double* BOOSTLINE_RESTRICT votes) {
    for (std::size_t j = 0; j < n; ++j) {
        const double p = 1.0 / (1.0 + exp_(-steepness * static_cast<double>(z[j])));
        votes[j] = p * p / (p + tail) + share * counts[j];
    }
}

void emphasise(const float* BOOSTLINE_RESTRICT z, int power, std::size_t n, double* BOOSTLINE_RESTRICT votes) {
    for (int p = 0; p < power; ++p)
        for (std::size_t j = 0; j < n; ++j) votes[j] *= 1.0 + (z[j] > 0.0f ? static_cast<double>(z[j]) : 0.0);
}

void cosine_votes(const float* BOOSTLINE_RESTRICT sums, const float* BOOSTLINE_RESTRICT inverse_lengths,
                  double steepness, std::size_t n, double* BOOSTLINE_RESTRICT votes) {
    for (std::size_t j = 0; j < n; ++j) {
        float cosine = sums[j] * inverse_lengths[j];
        cosine = cosine < 1.0f ? cosine : 1.0f;
        cosine = cosine > -1.0f ? cosine : -1.0f;
        votes[j] = exp_(steepness * static_cast<double>(cosine));
    }
}

// 1 / sqrt(x) for a positive normal x, to 3e-12: a guess from the bits and two steps of Halley's method.
BOOSTLINE_INLINE double inverse_sqrt(double x) {
    double y = bit_cast<double>(0x5FE6EB50C7B537A9ull - (bit_cast<std::uint64_t>(x) >> 1));
    double r = x * (y * y);
    y = y * (1.875 + r * (0.375 * r - 1.25));
    r = x * (y * y);
    return y * (1.875 + r * (0.375 * r - 1.25));
}

void linear_sigmoids(double* sums, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) {
        double s = sums[j];
        s = s < 30.0 ? s : 30.0;
        s = s > -30.0 ? s : -30.0;
        sums[j] = 1.0 / (1.0 + exp_(-s));
    }
}

// From probabilities to gradients, and the step of the bias.
void linear_gradient(double* BOOSTLINE_RESTRICT gradient, const double* BOOSTLINE_RESTRICT y,
                     const double* BOOSTLINE_RESTRICT importance, std::size_t n, double rate,
                     double* BOOSTLINE_RESTRICT bias, double* BOOSTLINE_RESTRICT bias_squares) {
    for (std::size_t j = 0; j < n; ++j) {
        const double g = importance[j] * (gradient[j] - y[j]);
        gradient[j] = g;
        bias_squares[j] += g * g;
        bias[j] -= rate * g * inverse_sqrt(bias_squares[j]);
    }
}

// probabilities = sigmoid(bias + sum of inputs[f] times the weights of f), for kGroups groups of kLanes labels. Several
// groups side by side: each sum waits for itself.
template <std::size_t kGroups>
BOOSTLINE_INLINE void forward_groups(const double* BOOSTLINE_RESTRICT inputs, std::size_t n_inputs,
                                     const double* BOOSTLINE_RESTRICT weights, const double* BOOSTLINE_RESTRICT bias,
                                     std::size_t n, double* BOOSTLINE_RESTRICT probabilities) {
    constexpr std::size_t kTogether = kGroups * kLanes;
    double sums[kTogether];
    for (std::size_t j = 0; j < kTogether; ++j) sums[j] = bias[j];
    for (std::size_t f = 0; f < n_inputs; ++f, weights += n)
        for (std::size_t j = 0; j < kTogether; ++j) sums[j] += inputs[f] * weights[j];
    for (std::size_t j = 0; j < kTogether; ++j) {
        double s = sums[j];
        s = s < 30.0 ? s : 30.0;
        s = s > -30.0 ? s : -30.0;
        probabilities[j] = 1.0 / (1.0 + exp_(-s));
    }
}

void tracker_forward(const double* BOOSTLINE_RESTRICT inputs, std::size_t n_inputs,
                     const double* BOOSTLINE_RESTRICT weights, const double* BOOSTLINE_RESTRICT bias, std::size_t n,
                     double* BOOSTLINE_RESTRICT probabilities) {
    std::size_t j = 0;
    for (; j + 4 * kLanes <= n; j += 4 * kLanes)
        forward_groups<4>(inputs, n_inputs, weights + j, bias + j, n, probabilities + j);
    for (; j + 2 * kLanes <= n; j += 2 * kLanes)
        forward_groups<2>(inputs, n_inputs, weights + j, bias + j, n, probabilities + j);
    if (j < n) forward_groups<1>(inputs, n_inputs, weights + j, bias + j, n, probabilities + j);
}

// The weights of f += inputs[f] times the steps, for n labels.
void tracker_step(const double* BOOSTLINE_RESTRICT inputs, std::size_t n_inputs, const double* BOOSTLINE_RESTRICT steps,
                  std::size_t n, double* BOOSTLINE_RESTRICT weights) {
    for (std::size_t f = 0; f < n_inputs; ++f)
        for (std::size_t first = 0; first < n; first += kLanes, weights += kLanes)
            for (int j = 0; j < kLanes; ++j) weights[j] += inputs[f] * steps[first + static_cast<std::size_t>(j)];
}

void add_parts(const float* BOOSTLINE_RESTRICT z, const float* BOOSTLINE_RESTRICT bias,
               const double* BOOSTLINE_RESTRICT products, const double* BOOSTLINE_RESTRICT inverse_lengths,
               const double* BOOSTLINE_RESTRICT log_counts, const PartWeights& w, double most, std::size_t n,
               double* BOOSTLINE_RESTRICT sums) {
    for (std::size_t j = 0; j < n; ++j) {
        double score = static_cast<double>(z[j]), b = static_cast<double>(bias[j]);
        score = score < most ? score : most;
        score = score > kLeastScore ? score : kLeastScore;
        b = b < most ? b : most;
        b = b > -most ? b : -most;
        double cosine = products[j] * inverse_lengths[j];
        cosine = cosine < 1.0 ? cosine : 1.0;
        cosine = cosine > -1.0 ? cosine : -1.0;
        const double positive = score > 0.0 ? score : 0.0;
        sums[j] = w.score * score + w.positive * positive + w.bias * b + w.cosine * cosine + w.count * log_counts[j];
    }
}

}  // namespace boostline::BOOSTLINE_LEVEL
