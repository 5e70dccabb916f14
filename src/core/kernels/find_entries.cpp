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

#if defined(BOOSTLINE_HAS_WIDTHS)

// Four entries in a vector, eight at a time: most leaves have many labels, and which of them a row has nobody could
// foresee.
__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw"))) std::int32_t find_entry_widely(
    const TreeNode::Entry* entries, std::size_t n, std::int32_t label) {
    static_assert(sizeof(TreeNode::Entry) == 16 && offsetof(TreeNode::Entry, label) == 8);
    constexpr std::size_t kTogether = 16;
    constexpr std::uint64_t kLabels = 0x4444444444444444u;
    const __m512i sought = _mm512_set1_epi32(label);
    for (std::size_t i = 0; i < n; i += kTogether) {
        std::uint64_t hits = 0;
        for (std::size_t part = 0; part < 4; ++part) {
            const std::size_t at = i + 4 * part, left = at < n ? n - at : 0;
            const auto lanes = static_cast<__mmask16>(left < 4 ? (1u << (4 * left)) - 1u : 0xffffu);
            const __m512i four = _mm512_maskz_loadu_epi32(lanes, entries + at);
            hits |= static_cast<std::uint64_t>(_mm512_mask_cmpeq_epi32_mask(lanes, four, sought)) << (16 * part);
        }
        hits &= kLabels;
        if (hits != 0) return static_cast<std::int32_t>(i) + __builtin_ctzll(hits) / 4;
    }
    return -1;
}

#endif

}  // namespace

void find_entries(const TreeNode::Entry* entries, std::size_t n_entries, const std::int32_t* labels,
                  std::size_t n_labels, RowLabel* found) {
    auto* find = &find_entry;
#if defined(BOOSTLINE_HAS_WIDTHS)
    if (vector_width() == Width::v4) find = &find_entry_widely;
#endif
    for (std::size_t i = 0; i < n_labels; ++i) {
        found[i].label = labels[i];
        found[i].entry = find(entries, n_entries, labels[i]);
    }
}

}  // namespace boostline
