// exp, log2 and the normal distribution function in plain arithmetic: branch-free, so that loops over
// them vectorise, and the same bits on every machine (libm picks fused variants by CPU).
// Accuracy against correctly rounded values is tested in tests/core/test_math.py.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/base/portable.hpp"

namespace boostline {

template <class To, class From>
BOOSTLINE_INLINE To bit_cast(From from) {
    static_assert(sizeof(To) == sizeof(From));
    return __builtin_bit_cast(To, from);
}

// The highest power's coefficient comes first (Horner).
template <class Real>
BOOSTLINE_INLINE Real polynomial(Real, Real sum) {
    return sum;
}
template <class Real, class... Rest>
BOOSTLINE_INLINE Real polynomial(Real x, Real sum, Real next, Rest... rest) {
    return polynomial(x, sum * x + next, rest...);
}

// e^x for |x| <= 708; smaller and larger arguments are clamped there.
BOOSTLINE_INLINE double exp_(double x) {
    constexpr double kLog2e = 1.4426950408889634074;
    constexpr double kLn2High = 6.93147180369123816490e-01;  // ln 2 = high + low, high has 32 bits
    constexpr double kLn2Low = 1.90821492927058770002e-10;
    constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    x = x < -708.0 ? -708.0 : x;
    x = x > 708.0 ? 708.0 : x;
    const double shifted = x * kLog2e + kRound;
    const double n = shifted - kRound;
    const double r = (x - n * kLn2High) - n * kLn2Low;  // |r| <= ln(2) / 2
    // Taylor series up to r^13 / 13!, in pairs (Estrin): independent terms keep the pipeline busy
    const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    const double p01 = 1.0 + r;
    const double p23 = 0.5 + r * (1.0 / 6.0);
    const double p45 = 1.0 / 24.0 + r * (1.0 / 120.0);
    const double p67 = 1.0 / 720.0 + r * (1.0 / 5040.0);
    const double p89 = 1.0 / 40320.0 + r * (1.0 / 362880.0);
    const double pab = 1.0 / 3628800.0 + r * (1.0 / 39916800.0);
    const double pcd = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0);
    const double high = (p89 + r2 * pab) + r4 * pcd;
    const double p = ((p01 + r2 * p23) + r4 * (p45 + r2 * p67)) + r8 * high;
    const std::uint64_t power = (bit_cast<std::uint64_t>(shifted) + 1023u) << 52;  // the bits of 2^n
    return p * bit_cast<double>(power);
}

// log2(x) for a positive, normal x.
BOOSTLINE_INLINE double log2_(double x) {
    constexpr double kInvLn2 = 1.4426950408889634074;
    const std::uint64_t bits = bit_cast<std::uint64_t>(x);
    // 2^52 + biased exponent, as a double: its lowest bits are the exponent
    double e = bit_cast<double>((bits >> 52) | 0x4330000000000000ull) - 4503599627371519.0;
    double m = bit_cast<double>((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
    const bool large = m > 1.4142135623730951;
    m = large ? 0.5 * m : m;
    e = large ? e + 1.0 : e;
    const double s = (m - 1.0) / (m + 1.0);  // log m = 2 artanh s, |s| <= .1716
    const double z = s * s;
    const double p = polynomial(z, 1.0 / 19.0, 1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0,
                                1.0 / 5.0, 1.0 / 3.0, 1.0);
    return e + (2.0 * kInvLn2) * s * p;
}

BOOSTLINE_INLINE double log_(double x) { return log2_(x) * 6.93147180559945309417e-01; }

// x log2 x, 0 at 0 (and at anything below the smallest normal number).
BOOSTLINE_INLINE double x_log2_x(double x) {
    constexpr double kTiny = 2.2250738585072014e-308;
    return x * log2_(x > kTiny ? x : kTiny);
}

// The standard normal distribution function and the binary entropy (in bits) of its value, which share their
// exponential and their division.
//
// Upper tail: Hart's rational approximation 5666, as given by G. West, "Better approximations to cumulative normal
// functions" (2005); absolute error below 1e-15. Entropy: e^(t^2/2) times it is fitted by a rational function on
// [0, 8.5]; absolute error below 2e-14. Beyond 12 standard deviations z is taken as 12 (a share of 2e-33): smaller
// numbers would be denormal, which costs a hundred times the time.
struct NormalSplit {
    double below;    // p = Phi(z)
    double entropy;  // -p log2 p - (1 - p) log2 (1 - p)
};

constexpr double kFarOut = 12.0;

BOOSTLINE_INLINE NormalSplit normal_split(double z) {
    double t = z < 0.0 ? -z : z;
    t = t < kFarOut ? t : kFarOut;
    const double tail_num = polynomial(t, 3.52624965998911e-02, 0.700383064443688, 6.37396220353165, 33.912866078383,
                                       112.079291497871, 221.213596169931, 220.206867912376);
    const double tail_den = polynomial(t, 8.83883476483184e-02, 1.75566716318264, 16.064177579207, 86.7807322029461,
                                       296.564248779674, 637.333633378831, 793.826512519948, 440.413735824752);
    const double bits_num = polynomial(t, 4.071572989347527e-06, 1.5088701902601178e-05, 0.00031342925102924237,
                                       0.00022685155142522002, 0.009219368346086339, -0.0010966002991480053,
                                       0.13595147241825548, -0.08213297456935308, 0.9999999999999839);
    const double bits_den =
        polynomial(t, 1.7428671006828272e-07, 7.991068080516668e-06, 0.00014672808757167327, 0.00011342561161647946,
                   0.0056010422700264115, 0.002252445247769432, 0.09517556676050258, -0.08213297457212182, 1.0);
    const double scale = exp_(-0.5 * t * t) / (tail_den * bits_den);
    const double tail = scale * (tail_num * bits_den);
    return {z < 0.0 ? tail : 1.0 - tail, scale * (bits_num * tail_den)};
}

// x log2 x in single precision, the logarithm to 1e-6; 0 at 0.
BOOSTLINE_INLINE float x_log2_x(float x) {
    constexpr float kTiny = 1.17549435e-38f;
    const std::uint32_t bits = bit_cast<std::uint32_t>(x > kTiny ? x : kTiny);
    float e = static_cast<float>(static_cast<std::int32_t>(bits >> 23) - 127);
    float m = bit_cast<float>((bits & 0x007fffffu) | 0x3f800000u);
    const bool large = m > 1.41421356f;
    m = large ? 0.5f * m : m;
    e = large ? e + 1.0f : e;
    const float r = m - 1.0f;
    const float p = polynomial(r, 0.172130747f, -0.269509344f, 0.295634105f, -0.359350379f, 0.480629104f, -0.721364045f,
                               1.44269643f);
    return x * (e + p * r);
}

// The normal distribution function and its entropy as in normal_split, by short polynomials (minimax on [-3.5, 3.5],
// taken as constant beyond): to 1.8e-4 and 1.7e-3, enough to see that a split is out of the question.
struct CoarseSplit {
    float below, entropy;
};

constexpr float kCoarseFar = 3.5f;
// Coefficients in z^2; below = 1/2 + z times the first.
#define BOOSTLINE_COARSE_BELOW \
    -7.90962729e-07f, 3.76822844e-05f, -7.60445233e-04f, 8.69999353e-03f, -6.47728694e-02f, 3.98265612e-01f
#define BOOSTLINE_COARSE_ENTROPY \
    -1.44210773e-05f, 6.04619321e-04f, -1.02899154e-02f, 9.17476816e-02f, -4.47860948e-01f, 9.98317033e-01f

BOOSTLINE_INLINE CoarseSplit coarse_split(float z) {
    z = z < -kCoarseFar ? -kCoarseFar : z;
    z = z > kCoarseFar ? kCoarseFar : z;
    const float u = z * z;
    return {0.5f + polynomial(u, BOOSTLINE_COARSE_BELOW) * z, polynomial(u, BOOSTLINE_COARSE_ENTROPY)};
}

// 1 / sqrt(x) for a positive, normal x, to a share of 5e-6: a guess from the bits, then Newton's method twice.
BOOSTLINE_INLINE double coarse_inverse_sqrt(double x) {
    double y = bit_cast<double>(0x5fe6eb50c7b537a9ull - (bit_cast<std::uint64_t>(x) >> 1));
    const double half = 0.5 * x;
    y = y * (1.5 - half * y * y);
    return y * (1.5 - half * y * y);
}

BOOSTLINE_INLINE double normal_cdf(double z) { return normal_split(z).below; }

}  // namespace boostline
