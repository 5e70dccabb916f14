// Top-k feedback (Zhang, Jung and Tewari, "Online boosting for multilabel ranking with top-k feedback", 2019,
// arXiv:1910.10937): of m labels the k' best are shown, and only of those that are shown it is heard whether they are
// relevant. With probability rho, d of the k' make room for d of the others. Whether both labels of a pair are shown
// has a probability that depends only on whether each was among the k' best; dividing by it makes sums over the heard
// pairs unbiased (docs/top-k.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/base/philox.hpp"

namespace boostline {

// A shown label is stored as itself if it was among the k' best, as ~label if it was drawn from the others.
inline bool was_drawn(std::int32_t shown) { return shown < 0; }
inline std::int32_t label_of(std::int32_t shown) { return shown < 0 ? ~shown : shown; }

class TopkFeedback {
  public:
    // n_swapped < 0: so many that the rarest pair is heard as often as can be.
    TopkFeedback(std::int32_t n_labels, std::int32_t n_shown, std::int32_t n_swapped, double exploration)
        : n_shown_(n_shown), asked_swaps_(n_swapped), exploration_(exploration) {
        set_labels(n_labels);
    }

    void set_labels(std::int32_t n_labels) {
        n_labels_ = n_labels;
        const std::int32_t others = n_labels - n_shown_;
        n_swapped_ = asked_swaps_ < 0 ? best_swaps(n_shown_, others) : std::min(asked_swaps_, others);
        // Of one label that is not shown there is no pair; with more of them, two must be able to come.
        if (n_shown_ < 2 || others < 0 || n_swapped_ > n_shown_ - 1 || (others > 0 && n_swapped_ < std::min(2, others)))
            throw std::invalid_argument("n_shown and n_swapped do not fit to the number of labels");
        const double k = n_shown_, d = n_swapped_, out = others, rho = exploration_;
        if (others == 0) {
            both_best_ = 1.0;
        } else {
            both_best_ = 1.0 - rho + rho * (k - d) * (k - d - 1.0) / (k * (k - 1.0));
            one_best_ = rho * (k - d) * d / (k * out);
            none_best_ = others > 1 ? rho * d * (d - 1.0) / (out * (out - 1.0)) : 1.0;  // there is no such pair
        }
        find_most_weight();
    }

    std::int32_t n_shown() const { return n_shown_; }
    // 1 / P(both are shown).
    double pair_weight(bool one_drawn, bool other_drawn) const {
        return 1.0 / (one_drawn && other_drawn ? none_best_ : one_drawn || other_drawn ? one_best_ : both_best_);
    }
    // The largest that the sum of all heard pairs' weights can be.
    double most_weight() const { return most_weight_; }

    // What is shown, best first, labels that were drawn in the places of those they replace. Ties go to the label that
    // comes first. Depends on (seed, turn) and the scores alone.
    void show(const double* scores, std::uint64_t seed, std::uint64_t turn, std::vector<std::int32_t>& shown) const {
        const auto k = static_cast<std::size_t>(n_shown_);
        std::vector<std::int32_t> order(static_cast<std::size_t>(n_labels_));
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + n_shown_, order.end(), [&](std::int32_t a, std::int32_t b) {
            return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
        });
        shown.assign(order.begin(), order.begin() + n_shown_);
        if (n_swapped_ == 0 || !(uniform(seed, turn, 0) < exploration_)) return;
        std::sort(order.begin() + n_shown_, order.end());
        std::vector<std::size_t> places(k);
        std::iota(places.begin(), places.end(), std::size_t{0});
        const std::size_t others = order.size() - k;
        for (std::size_t i = 0; i < static_cast<std::size_t>(n_swapped_); ++i) {  // Fisher and Yates, as far as needed
            std::swap(places[i], places[i + below(k - i, seed, turn, 1 + 2 * i)]);
            std::swap(order[k + i], order[k + i + below(others - i, seed, turn, 2 + 2 * i)]);
            shown[places[i]] = ~order[k + i];
        }
    }

  private:
    // Over all d that let every pair be heard: the largest of the smaller of P(one is best) and P(none is), times
    // (m - k') / rho.
    static std::int32_t best_swaps(std::int32_t n_shown, std::int32_t others) {
        std::int32_t best = std::min(2, others);
        double most = 0.0;
        for (std::int32_t n = best; n <= std::min(n_shown - 1, others); ++n) {
            const double k = n_shown, d = n, one = (k - d) * d / k;
            const double least = others > 1 ? std::min(one, d * (d - 1.0) / (others - 1.0)) : one;
            if (least > most) {
                most = least;
                best = n;
            }
        }
        return best;
    }

    static constexpr std::uint64_t kStream = 2;  // of the seed: 0 draws experts, 1 learners' settings

    // As numpy.random.Philox(counter=[turn, 0, draw, 0], key=[seed, 2]) gives first.
    static double uniform(std::uint64_t seed, std::uint64_t turn, std::uint64_t draw) {
        const std::uint64_t next = turn + 1;
        const Block256 block = philox({next, next == 0 ? 1ull : 0ull, draw, 0}, {seed, kStream});
        return static_cast<double>(block[0] >> 11) * 0x1.0p-53;
    }
    static std::size_t below(std::size_t n, std::uint64_t seed, std::uint64_t turn, std::uint64_t draw) {
        return std::min(n - 1, static_cast<std::size_t>(uniform(seed, turn, draw) * static_cast<double>(n)));
    }

    // Over all numbers of relevant labels among the shown that were best and among those that were drawn.
    void find_most_weight() {
        most_weight_ = 0.0;
        for (const std::int32_t drawn : {0, n_swapped_}) {
            const std::int32_t best = n_shown_ - drawn;
            for (std::int32_t a = 0; a <= best; ++a)
                for (std::int32_t b = 0; b <= drawn; ++b) {
                    const auto times = [](std::int32_t x, std::int32_t y) {
                        return static_cast<double>(x) * static_cast<double>(y);
                    };
                    double weight = times(a, best - a) / both_best_;
                    if (drawn > 0) {
                        weight += (times(a, drawn - b) + times(best - a, b)) / one_best_;
                        weight += times(b, drawn - b) / none_best_;
                    }
                    most_weight_ = std::max(most_weight_, weight);
                }
        }
    }

    std::int32_t n_labels_ = 0, n_shown_, asked_swaps_, n_swapped_ = 0;
    double exploration_;
    double both_best_ = 1.0, one_best_ = 1.0, none_best_ = 1.0;  // P(both labels of a pair are shown)
    double most_weight_ = 0.0;
};

}  // namespace boostline
