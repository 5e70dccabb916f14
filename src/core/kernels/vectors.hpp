// Vectors of the level at hand, for loops in which the compiler does not find them itself: where many sums have to
// stay in registers.
//
// `Doubles` and `Floats` are one register: loops whose numbers do not meet, such as a sum for each label, use these,
// and hold as many as there are registers. Where the lanes of a sum are added up in the end there have to be as
// many at every width: `Lanes<double>` has 8 and `Lanes<float>` 16, in one register or several. (The compiler would
// split a wide vector by itself, but takes it through memory at every step.)
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "core/base/portable.hpp"

#if defined(__AVX512F__)
#define BOOSTLINE_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define BOOSTLINE_VECTOR_BYTES 32
#else
#define BOOSTLINE_VECTOR_BYTES 16
#endif

namespace boostline::BOOSTLINE_LEVEL {

typedef double Doubles __attribute__((vector_size(BOOSTLINE_VECTOR_BYTES)));
typedef float Floats __attribute__((vector_size(BOOSTLINE_VECTOR_BYTES)));
typedef unsigned Bits __attribute__((vector_size(BOOSTLINE_VECTOR_BYTES)));
constexpr std::size_t kDoubles = BOOSTLINE_VECTOR_BYTES / sizeof(double),
                      kFloats = BOOSTLINE_VECTOR_BYTES / sizeof(float);

template <class Vector, class Real>
BOOSTLINE_INLINE Vector load_as(const Real* from) {
    Vector v;
    std::memcpy(&v, from, sizeof(v));
    return v;
}
BOOSTLINE_INLINE Doubles load(const double* from) { return load_as<Doubles>(from); }
BOOSTLINE_INLINE Floats load(const float* from) { return load_as<Floats>(from); }
template <class Vector, class Real>
BOOSTLINE_INLINE void store(Real* to, Vector v) {
    std::memcpy(to, &v, sizeof(v));
}

template <class Half>
struct Two {
    Half low, high;

    BOOSTLINE_INLINE Two operator+(const Two& o) const { return {low + o.low, high + o.high}; }
    BOOSTLINE_INLINE Two operator*(const Two& o) const { return {low * o.low, high * o.high}; }
    BOOSTLINE_INLINE Two operator*(double a) const { return {low * a, high * a}; }
    BOOSTLINE_INLINE Two operator*(float a) const { return {low * a, high * a}; }
    BOOSTLINE_INLINE Two& operator+=(const Two& o) {
        low += o.low;
        high += o.high;
        return *this;
    }
};
#if BOOSTLINE_VECTOR_BYTES == 64
template <class Vector>
using SixtyFourBytes = Vector;
#elif BOOSTLINE_VECTOR_BYTES == 32
template <class Vector>
using SixtyFourBytes = Two<Vector>;
#else
template <class Vector>
using SixtyFourBytes = Two<Two<Vector>>;
#endif
template <class Real>
struct LanesOf;
template <>
struct LanesOf<double> {
    typedef SixtyFourBytes<Doubles> Vector;
};
template <>
struct LanesOf<float> {
    typedef SixtyFourBytes<Floats> Vector;
};
template <class Real>
using Lanes = typename LanesOf<Real>::Vector;

// Register by register.
template <class Vector, class Real>
BOOSTLINE_INLINE void load_to(Vector& v, const Real* from) {
    v = load(from);
}
template <class Half, class Real>
BOOSTLINE_INLINE void load_to(Two<Half>& v, const Real* from) {
    load_to(v.low, from);
    load_to(v.high, from + sizeof(Half) / sizeof(Real));
}
template <class Half, class Real>
BOOSTLINE_INLINE void store(Real* to, const Two<Half>& v) {
    store(to, v.low);
    store(to + sizeof(Half) / sizeof(Real), v.high);
}
template <class Real>
BOOSTLINE_INLINE Lanes<Real> load_lanes(const Real* from) {
    Lanes<Real> v;
    load_to(v, from);
    return v;
}

// Four lanes that are left after halves have been added to each other, as combine_lanes does.
typedef double FourDoubles __attribute__((vector_size(32)));
typedef float FourFloats __attribute__((vector_size(16)));
#if BOOSTLINE_VECTOR_BYTES == 64
typedef float HalfFloats __attribute__((vector_size(32)));
BOOSTLINE_INLINE FourDoubles folded(Doubles v) {
    return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
}
BOOSTLINE_INLINE FourFloats folded(Floats v) {
    const HalfFloats half = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                            __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    return __builtin_shufflevector(half, half, 0, 1, 2, 3) + __builtin_shufflevector(half, half, 4, 5, 6, 7);
}
#elif BOOSTLINE_VECTOR_BYTES == 32
BOOSTLINE_INLINE FourDoubles folded(Two<Doubles> v) { return v.low + v.high; }
BOOSTLINE_INLINE FourFloats folded(Two<Floats> v) {
    const Floats half = v.low + v.high;
    return __builtin_shufflevector(half, half, 0, 1, 2, 3) + __builtin_shufflevector(half, half, 4, 5, 6, 7);
}
#else
BOOSTLINE_INLINE FourDoubles folded(Two<Two<Doubles>> v) {
    const Two<Doubles> half = v.low + v.high;
    return __builtin_shufflevector(half.low, half.high, 0, 1, 2, 3);
}
BOOSTLINE_INLINE FourFloats folded(Two<Two<Floats>> v) {
    const Two<Floats> half = v.low + v.high;
    return half.low + half.high;
}
#endif
// The sums of the lanes of four vectors are added to four numbers.
template <class Vector, class Real>
BOOSTLINE_INLINE void add_lanes(Vector v0, Vector v1, Vector v2, Vector v3, Real* to) {
    const auto t0 = folded(v0), t1 = folded(v1), t2 = folded(v2), t3 = folded(v3);
    const auto even01 = __builtin_shufflevector(t0, t1, 0, 4, 2, 6),
               odd01 = __builtin_shufflevector(t0, t1, 1, 5, 3, 7);
    const auto even23 = __builtin_shufflevector(t2, t3, 0, 4, 2, 6),
               odd23 = __builtin_shufflevector(t2, t3, 1, 5, 3, 7);
    const auto even =
        __builtin_shufflevector(even01, even23, 0, 1, 4, 5) + __builtin_shufflevector(even01, even23, 2, 3, 6, 7);
    const auto odd =
        __builtin_shufflevector(odd01, odd23, 0, 1, 4, 5) + __builtin_shufflevector(odd01, odd23, 2, 3, 6, 7);
    store(to, load_as<typename std::remove_const<decltype(even)>::type>(to) + (even + odd));
}

}  // namespace boostline::BOOSTLINE_LEVEL
