// Loads and stores of vectors; the first lines of every file of loops.
inline Doubles load(const double* from) {
    Doubles v;
    std::memcpy(&v, from, sizeof(v));
    return v;
}
inline Floats load(const float* from) {
    Floats v;
    std::memcpy(&v, from, sizeof(v));
    return v;
}
inline void store(double* to, Doubles v) { std::memcpy(to, &v, sizeof(v)); }
inline void store(float* to, Floats v) { std::memcpy(to, &v, sizeof(v)); }
