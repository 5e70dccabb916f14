// SIMD levels. Every source file of this folder is compiled once for each level (CMakeLists.txt), in a namespace of its
// own, and the level is chosen when the library is loaded: plain x86-64, v3 (AVX2) or v4 (AVX-512). Other processors
// have the level `plain` alone, whose vectors are those that every one of them has (NEON on AArch64).
//
//   sums.hpp   BOOSTLINE_KERNEL(sum, double(const double* a, std::size_t n));     declares it for callers and levels
//   sums.cpp   namespace boostline::BOOSTLINE_LEVEL { double sum(...) {...} }     plain loops or vectors.hpp
//
// All levels give the same bits: multiply and add are not fused (-ffp-contract=off), sums run in a fixed number of
// lanes (kLanes), and no function of libm is called whose result differs between machines (base/math.hpp). Kernels
// use no inline function of other headers but those that are always inlined, because the linker keeps one copy of an
// inline function, and that might be of a level that the machine does not have.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/portable.hpp"

#if defined(BOOSTLINE_LEVEL)

#define BOOSTLINE_KERNEL(name, ...)     \
    namespace BOOSTLINE_LEVEL {         \
    using Type_of_##name = __VA_ARGS__; \
    Type_of_##name name;                \
    }

#else

namespace boostline {

enum class Level : std::uint8_t { plain, v3, v4 };

inline Level widest_level() {
#if defined(BOOSTLINE_HAS_LEVELS)
    __builtin_cpu_init();
    const auto has_v3 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const auto has_v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512cd");
    if (has_v3) return has_v4 ? Level::v4 : Level::v3;
#endif
    return Level::plain;
}

// The level in use: the highest that the machine has, or one that a test has set.
inline Level level_in_use = widest_level();

// A function that has a body for each level.
template <class Function>
class Kernel;
template <class Result, class... Arguments>
class Kernel<Result(Arguments...)> {
  public:
    using Body = Result (*)(Arguments...);
    constexpr explicit Kernel(Body plain) : bodies_{plain, plain, plain} {}
    constexpr Kernel(Body plain, Body v3, Body v4) : bodies_{plain, v3, v4} {}
    Result operator()(Arguments... arguments) const { return bodies_[static_cast<int>(level_in_use)](arguments...); }

  private:
    Body bodies_[3];
};

}  // namespace boostline

#define BOOSTLINE_DECLARE_AT(level, name, ...) \
    namespace level {                          \
    using Type_of_##name = __VA_ARGS__;        \
    Type_of_##name name;                       \
    }
#if defined(BOOSTLINE_HAS_LEVELS)
#define BOOSTLINE_KERNEL(name, ...)                \
    BOOSTLINE_DECLARE_AT(plain, name, __VA_ARGS__) \
    BOOSTLINE_DECLARE_AT(v3, name, __VA_ARGS__)    \
    BOOSTLINE_DECLARE_AT(v4, name, __VA_ARGS__)    \
    constexpr Kernel<__VA_ARGS__> name { plain::name, v3::name, v4::name }
#else
#define BOOSTLINE_KERNEL(name, ...)                \
    BOOSTLINE_DECLARE_AT(plain, name, __VA_ARGS__) \
    constexpr Kernel<__VA_ARGS__> name { plain::name }
#endif

#endif
