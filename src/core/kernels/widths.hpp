// Loops written in vectors, compiled for every vector width: each body is a file `*.inl`, which each_width.hpp includes
// once for each width. Every sum runs in the same order, so all widths give the same bits (vectors.inl).
//
// portable.hpp has the simpler way, which leaves it to the compiler to find the vectors. It does not find them where
// many sums have to stay in registers.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "core/base/portable.hpp"

namespace boostline {

enum class Width { plain, v3, v4 };

// The widest that this machine has, or what a test has asked for.
inline Width& vector_width() {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define BOOSTLINE_HAS_WIDTHS
    static Width width = [] {
        __builtin_cpu_init();
        const bool has_v3 =
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
        const bool has_v4 = has_v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                            __builtin_cpu_supports("avx512cd");
        return has_v4 ? Width::v4 : has_v3 ? Width::v3 : Width::plain;
    }();
#else
    static Width width = Width::plain;
#endif
    return width;
}

}  // namespace boostline

#if defined(BOOSTLINE_HAS_WIDTHS)
#define BOOSTLINE_AT_WIDTH(call) \
    switch (vector_width()) {    \
        case Width::v4:          \
            return v4::call;     \
        case Width::v3:          \
            return v3::call;     \
        default:                 \
            return plain::call;  \
    }
#else
#define BOOSTLINE_AT_WIDTH(call) return plain::call;
#endif
