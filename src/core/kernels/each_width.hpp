// Includes the file BOOSTLINE_LOOPS once for each vector width, in a namespace of its own (widths.hpp).
// No include guard: every file of kernels includes it once.
#include "core/kernels/widths.hpp"

#define BOOSTLINE_VECTOR_BYTES 16
namespace boostline {
namespace plain {
namespace {
#include BOOSTLINE_LOOPS
}
}  // namespace plain
}  // namespace boostline
#undef BOOSTLINE_VECTOR_BYTES

#if defined(BOOSTLINE_HAS_WIDTHS)
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#define BOOSTLINE_VECTOR_BYTES 32
namespace boostline {
namespace v3 {
namespace {
#include BOOSTLINE_LOOPS
}
}  // namespace v3
}  // namespace boostline
#undef BOOSTLINE_VECTOR_BYTES
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")
#define BOOSTLINE_VECTOR_BYTES 64
namespace boostline {
namespace v4 {
namespace {
#include BOOSTLINE_LOOPS
}
}  // namespace v4
}  // namespace boostline
#undef BOOSTLINE_VECTOR_BYTES
#pragma GCC pop_options
#endif
