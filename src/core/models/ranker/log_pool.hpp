// The geometric mean of votes: p in proportion to the product of u_i^a_i, where u_i is vote i and the exponents a are
// learned. A mixture believes a label that one vote believes in; here a label needs the approval of all, which orders
// the many labels that are unlikely far better. f(a) = -c mean over Y of ln p[l] is convex in a, and its gradient is
// c (mean of ln u_i under p, less that over Y). Steps are scaled by what is seen of each exponent's squared gradients,
// and old ones fade, so that no exponent comes to rest.
#pragma once

#include <string>
#include <vector>

#include "core/base/archive.hpp"
#include "core/base/math.hpp"

namespace boostline {

class LogPool {
  public:
    static constexpr double kFirstCurvature = 30.0;  // how firmly the exponents start at 1 / N
    static constexpr double kForgetting = 0.999;
    static constexpr double kMostExponent = 8.0;

    explicit LogPool(std::size_t n_votes) : exponents_(n_votes), curvatures_(n_votes) { restart(); }

    const std::vector<double>& exponents() const { return exponents_; }

    void restart() noexcept {
        std::fill(exponents_.begin(), exponents_.end(), 1.0 / static_cast<double>(exponents_.size()));
        std::fill(curvatures_.begin(), curvatures_.end(), kFirstCurvature);
    }

    // `slopes` is the gradient without c, one for each vote; weight is c.
    void learn(const double* slopes, double weight) noexcept {
        if (!(weight > 0.0)) return;
        for (std::size_t i = 0; i < exponents_.size(); ++i) {
            curvatures_[i] =
                kForgetting * curvatures_[i] + (1.0 - kForgetting) * kFirstCurvature + weight * (slopes[i] * slopes[i]);
            double a = exponents_[i] - weight * slopes[i] / curvatures_[i];
            a = a < kMostExponent ? a : kMostExponent;
            exponents_[i] = a > -kMostExponent ? a : -kMostExponent;
        }
    }

    // Who is behind the pooled vote: shares that sum to 1, by the exponents above 0.
    double share(std::size_t i) const noexcept {
        double total = 0.0;
        for (const double a : exponents_) total += a > 0.0 ? a : 0.0;
        if (!(total > 0.0)) return 1.0 / static_cast<double>(exponents_.size());
        return (exponents_[i] > 0.0 ? exponents_[i] : 0.0) / total;
    }

    void save(Archive& out) const {
        out.add("pool_exponents", exponents_);
        out.add("pool_curvatures", curvatures_);
    }
    void load(const ArchiveView& in) {
        in.read("pool_exponents", exponents_.size(), exponents_);
        in.read("pool_curvatures", curvatures_.size(), curvatures_);
    }
    void check() const {
        constexpr double kMostCurvature = 1e7;  // slopes are logarithms of votes, which have a floor
        check_within(exponents_, -kMostExponent, kMostExponent, "", "pool_exponents");
        check_within(curvatures_, kFirstCurvature * (1.0 - 1e-6), kMostCurvature, "", "pool_curvatures");
    }
    std::size_t memory_bytes() const { return (exponents_.capacity() + curvatures_.capacity()) * sizeof(double); }

  private:
    std::vector<double> exponents_, curvatures_;
};

}  // namespace boostline
