// How a few scores of each label become one: a weighted sum, whose weights are learned online. With p = softmax of the
// sums, a row costs -ln of the sum of p over its relevant labels: it is cheap if the first label is relevant. Rows
// that are hopeless, of small q, count less. Online Newton steps (Hazan, Agarwal and Kale, "Logarithmic regret
// algorithms for online convex optimization", 2007): w -= H^-1 g, where H is the sum of g g^T and old rows fade; no
// weight moves further than kMostStep at once.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/base/fields.hpp"
#include "core/base/math.hpp"

namespace boostline {

class Blend {
  public:
    static constexpr std::size_t kParts = 7;
    using Parts = std::array<double, kParts>;

    Blend() { clear(); }
    const Parts& weights() const { return weights_; }
    void clear() noexcept {
        weights_ = kFirst;
        squares_.fill(0.0);
        for (std::size_t i = 0; i < kParts; ++i) squares_[i * kParts + i] = kFirstSquare;
    }
    // `all` and `relevant` are the means of the parts under p, over all labels and over the relevant ones,
    // whose probability is q.
    void learn(const Parts& all, const Parts& relevant, double q, double importance) noexcept {
        const double c = importance * (kLeastCount + (1.0 - kLeastCount) * (q / (q + kDoubt)));
        Parts g, step;
        for (std::size_t i = 0; i < kParts; ++i) g[i] = c * (all[i] - relevant[i]);
        for (std::size_t i = 0; i < kParts; ++i) {
            for (std::size_t j = 0; j < kParts; ++j) {
                double& square = squares_[i * kParts + j];
                square += kForgetting * ((i == j ? kFirstSquare : 0.0) - square) + g[i] * g[j];
            }
        }
        solve(g, step);
        double longest = kMostStep;
        for (const double s : step) longest = std::max(longest, std::fabs(s));
        for (std::size_t i = 0; i < kParts; ++i) {
            const double w = weights_[i] - step[i] * (kMostStep / longest);
            weights_[i] = w < kMost ? (w > -kMost ? w : -kMost) : kMost;
        }
    }
    void fields(Fields& f) {
        f.numbers("blend_weights", weights_.data(), kParts, within(kMost));
        f.numbers("blend_squares", squares_.data(), kParts * kParts, within(1e9));
    }

  private:
    static constexpr double kFirstSquare = 0.3, kMostStep = 0.1, kForgetting = 1e-4;
    static constexpr double kDoubt = 0.01, kLeastCount = 0.1;  // what a row counts: from kLeastCount up to 1
    static constexpr double kMost = 1e3;
    static constexpr Parts kFirst{4.0, 0.0, 0.0, 4.0, 8.0, 0.5, 0.05};

    // Cholesky's way: squares_ is symmetric and positive definite.
    void solve(const Parts& g, Parts& x) const noexcept {
        std::array<double, kParts * kParts> l{};
        for (std::size_t i = 0; i < kParts; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                double s = squares_[i * kParts + j];
                for (std::size_t m = 0; m < j; ++m) s -= l[i * kParts + m] * l[j * kParts + m];
                l[i * kParts + j] = i == j ? std::sqrt(s > 1e-9 ? s : 1e-9) : s / l[j * kParts + j];
            }
        for (std::size_t i = 0; i < kParts; ++i) {
            double s = g[i];
            for (std::size_t m = 0; m < i; ++m) s -= l[i * kParts + m] * x[m];
            x[i] = s / l[i * kParts + i];
        }
        for (std::size_t i = kParts; i-- > 0;) {
            double s = x[i];
            for (std::size_t m = i + 1; m < kParts; ++m) s -= l[m * kParts + i] * x[m];
            x[i] = s / l[i * kParts + i];
        }
    }

    Parts weights_;
    std::array<double, kParts * kParts> squares_;
};

}  // namespace boostline
