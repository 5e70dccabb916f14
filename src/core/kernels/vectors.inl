// Vectors of the width at hand; the first lines of every file of loops.
//
// `Doubles` and `Floats` are one register: loops whose numbers do not meet, such as a sum for each label, use these,
// and hold as many as there are registers. Where the lanes of a sum are added up in the end there have to be eight of
// them at every width: `EightDoubles`, one register or several. (The compiler would split a wide vector by itself, but
// takes it through memory at every step.)
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
    BOOSTLINE_INLINE Two& operator+=(const Two& o) {
        low += o.low;
        high += o.high;
        return *this;
    }
};
// Register by register.
BOOSTLINE_INLINE void load_to(Doubles& v, const double* from) { v = load(from); }
template <class Half>
BOOSTLINE_INLINE void load_to(Two<Half>& v, const double* from) {
    load_to(v.low, from);
    load_to(v.high, from + sizeof(Half) / sizeof(double));
}
template <class Half>
BOOSTLINE_INLINE void store(double* to, const Two<Half>& v) {
    store(to, v.low);
    store(to + sizeof(Half) / sizeof(double), v.high);
}
#if BOOSTLINE_VECTOR_BYTES == 64
typedef Doubles EightDoubles;
#elif BOOSTLINE_VECTOR_BYTES == 32
typedef Two<Doubles> EightDoubles;
#else
typedef Two<Two<Doubles>> EightDoubles;
#endif
BOOSTLINE_INLINE EightDoubles load_eight(const double* from) {
    EightDoubles v;
    load_to(v, from);
    return v;
}

// The sums of the lanes of four vectors, each in the order of combine_lanes, are added to four numbers.
#if BOOSTLINE_VECTOR_BYTES == 16
BOOSTLINE_INLINE void add_lanes(EightDoubles v, double* to) {
    double lanes[8];
    store(lanes, v);
    *to += combine_lanes(lanes);
}
BOOSTLINE_INLINE void add_lanes(EightDoubles v0, EightDoubles v1, EightDoubles v2, EightDoubles v3, double* to) {
    add_lanes(v0, to);
    add_lanes(v1, to + 1);
    add_lanes(v2, to + 2);
    add_lanes(v3, to + 3);
}
#else
typedef double FourDoubles __attribute__((vector_size(32)));
BOOSTLINE_INLINE FourDoubles folded(EightDoubles v) {
#if BOOSTLINE_VECTOR_BYTES == 64
    return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
#else
    return v.low + v.high;
#endif
}
BOOSTLINE_INLINE void add_lanes(EightDoubles v0, EightDoubles v1, EightDoubles v2, EightDoubles v3, double* to) {
    const FourDoubles t0 = folded(v0), t1 = folded(v1), t2 = folded(v2), t3 = folded(v3);
    const FourDoubles even01 = __builtin_shufflevector(t0, t1, 0, 4, 2, 6),
                      even23 = __builtin_shufflevector(t2, t3, 0, 4, 2, 6),
                      odd01 = __builtin_shufflevector(t0, t1, 1, 5, 3, 7),
                      odd23 = __builtin_shufflevector(t2, t3, 1, 5, 3, 7);
    const FourDoubles even = __builtin_shufflevector(even01, even23, 0, 1, 4, 5) +
                             __builtin_shufflevector(even01, even23, 2, 3, 6, 7),
                      odd = __builtin_shufflevector(odd01, odd23, 0, 1, 4, 5) +
                            __builtin_shufflevector(odd01, odd23, 2, 3, 6, 7);
    store(to, load_as<FourDoubles>(to) + (even + odd));
}
#endif
