// The labels with the highest scores, without sorting all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace boostline {

// Best first, ties by label. `out` has room for `top` labels, at most as many as there are scores.
inline void top_labels(const double* scores, std::size_t n_labels, std::size_t top, std::int64_t* out) {
    constexpr std::size_t kFew = 64;  // beyond it, inserting takes longer than sorting
    const auto is_before = [&](std::int64_t a, std::int64_t b) {
        const double p = scores[static_cast<std::size_t>(a)], q = scores[static_cast<std::size_t>(b)];
        return p != q ? p > q : a < b;
    };
    if (top > kFew) {
        std::vector<std::int64_t> order(n_labels);
        std::iota(order.begin(), order.end(), std::int64_t{0});
        std::partial_sort_copy(order.begin(), order.end(), out, out + top, is_before);
        return;
    }
    std::size_t n = 0;
    for (std::size_t j = 0; j < n_labels; ++j) {
        if (n == top && !(scores[j] > scores[static_cast<std::size_t>(out[n - 1])])) continue;
        const auto label = static_cast<std::int64_t>(j);
        std::int64_t* const place = std::upper_bound(out, out + n, label, is_before);
        n = std::min(n + 1, top);
        std::copy_backward(place, out + n - 1, out + n);
        *place = label;
    }
}

}  // namespace boostline
