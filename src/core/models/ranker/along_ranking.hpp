// Probabilities that never rise along the ranking of their row: labels out of order share their mean. This is isotonic
// regression, by pooling neighbours that rise.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace boostline {

class AlongRanking {
  public:
    explicit AlongRanking(std::size_t n_labels) : order_(n_labels), pools_(n_labels) {}

    // Labels are ranked by score, ties by label.
    void apply(const double* scores, double* p) noexcept {
        std::iota(order_.begin(), order_.end(), 0);
        std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
            return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
        });
        std::size_t n = 0;
        for (const std::int32_t label : order_) {
            Pool pool{p[label], 1};
            for (; n > 0 && pools_[n - 1].mean < pool.mean; --n) pool = pool.with(pools_[n - 1]);
            pools_[n++] = pool;
        }
        auto next = order_.begin();
        for (std::size_t i = 0; i < n; ++i)
            for (std::int32_t left = pools_[i].size; left > 0; --left) p[*next++] = pools_[i].mean;
    }

    std::size_t memory_bytes() const {
        return order_.capacity() * sizeof(std::int32_t) + pools_.capacity() * sizeof(Pool);
    }

  private:
    struct Pool {
        double mean;
        std::int32_t size;
        Pool with(const Pool& other) const {
            const auto n = static_cast<double>(size), m = static_cast<double>(other.size);
            return {(mean * n + other.mean * m) / (n + m), size + other.size};
        }
    };
    std::vector<std::int32_t> order_;
    std::vector<Pool> pools_;
};

}  // namespace boostline
