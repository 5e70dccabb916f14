#include "core/kernels/find_entries.hpp"

#include "core/kernels/widths.hpp"

#if defined(BOOSTLINE_HAS_WIDTHS)
#include <immintrin.h>
#endif

namespace boostline {
namespace {

std::int32_t find_entry(const TreeNode::Entry* entries, std::size_t n, std::int32_t label) {
    for (std::size_t i = 0; i < n; ++i)
        if (entries[i].label == label) return static_cast<std::int32_t>(i);
    return -1;
}
void find_plainly(const TreeNode::Entry* entries, std::size_t n_entries, RowLabel* found, std::size_t n_labels) {
    for (std::size_t i = 0; i < n_labels; ++i) found[i].entry = find_entry(entries, n_entries, found[i].label);
}

#if defined(BOOSTLINE_HAS_WIDTHS)

// The labels of sixteen entries in a vector, with which all labels of the row are compared: which of them a leaf has
// nobody could foresee.
__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw"))) void find_widely(const TreeNode::Entry* entries,
                                                                               std::size_t n_entries, RowLabel* found,
                                                                               std::size_t n_labels) {
    static_assert(sizeof(TreeNode::Entry) == 16 && offsetof(TreeNode::Entry, label) == 8);
    constexpr std::size_t kTogether = 16;
    // the third of the four words of each entry, of two vectors
    const __m512i words = _mm512_setr_epi32(2, 6, 10, 14, 18, 22, 26, 30, 0, 0, 0, 0, 0, 0, 0, 0);
    for (std::size_t l = 0; l < n_labels; ++l) found[l].entry = -1;
    for (std::size_t i = 0; i < n_entries; i += kTogether) {
        const std::size_t left = n_entries - i;
        const std::uint64_t lanes = left < kTogether ? (std::uint64_t{1} << (4 * left)) - 1 : ~std::uint64_t{0};
        const auto load = [&](int part) __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw"))) {
            return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(lanes >> (16 * part)), entries + i + 4 * part);
        };
        const __m512i low = _mm512_permutex2var_epi32(load(0), words, load(1));
        const __m512i high = _mm512_permutex2var_epi32(load(2), words, load(3));
        const __m512i labels = _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1);
        const auto known = static_cast<__mmask16>(left < kTogether ? (1u << left) - 1u : 0xffffu);
        for (std::size_t l = 0; l < n_labels; ++l) {
            const unsigned hits = _mm512_mask_cmpeq_epi32_mask(known, labels, _mm512_set1_epi32(found[l].label));
            if (hits != 0) found[l].entry = static_cast<std::int32_t>(i) + __builtin_ctz(hits);
        }
    }
}

#endif

}  // namespace

void find_entries(const TreeNode::Entry* entries, std::size_t n_entries, const std::int32_t* labels,
                  std::size_t n_labels, RowLabel* found) {
    for (std::size_t i = 0; i < n_labels; ++i) found[i].label = labels[i];
#if defined(BOOSTLINE_HAS_WIDTHS)
    if (vector_width() == Width::v4) return find_widely(entries, n_entries, found, n_labels);
#endif
    find_plainly(entries, n_entries, found, n_labels);
}

}  // namespace boostline
