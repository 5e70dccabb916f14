// Recursive least squares: ridge regression of every label on the same inputs, one row at a time, exact after every
// row.
//
// Rounding. Without forgetting, each step only takes away from the covariance P, and P of packed storage stays
// symmetric, so errors do not feed on themselves: after a million steps the weights agree with a fresh solve to about
// 1e-11. What could happen in the end is that P loses its positive definiteness. That shows as z^T P z < 0 or as a
// diagonal that is not positive; both are looked for, and `repair` lifts the diagonal by the least power of ten that
// makes P definite again.
#pragma once

#include <cmath>
#include <new>
#include <utility>

#include "core/base/symmetric.hpp"
#include "core/learners/scorer.hpp"

namespace boostline {

class RecursiveLeastSquares {
  public:
    // Forgetting below 1 lets a row of `age` rows ago count forgetting^age. It stops while P is larger than at the
    // start, as inputs that stay silent would let P grow without limit.
    RecursiveLeastSquares(std::size_t n_inputs, std::size_t n_labels, double ridge, double forgetting = 1.0)
        : n_labels_(n_labels),
          prior_(1.0 / ridge),
          forgetting_(forgetting),
          weights_(n_inputs * n_labels, 0.0),
          covariance_(n_inputs, prior_) {}

    std::size_t n_inputs() const { return covariance_.size(); }
    std::size_t n_labels() const { return n_labels_; }
    std::vector<double>& weights() { return weights_; }  // inputs x labels
    const std::vector<double>& weights() const { return weights_; }
    PackedSymmetric& covariance() { return covariance_; }
    const PackedSymmetric& covariance() const { return covariance_; }
    std::int64_t n_repairs() const { return n_repairs_; }

    // f = W^T z
    void score(const double* z, double* f) const { score_block(z, 0, 1, f); }

    // The same for n rows, a stride apart.
    void score_block(const double* z, std::size_t stride, std::size_t n, double* f) const {
        combine_rows(z, stride, n, n_inputs(), weights_.data(), n_labels_, f);
    }

    // So that `learn` needs no memory.
    void make_room_to_learn() {
        input_.reserve(padded(n_inputs()));
        gain_.reserve(padded(n_inputs()));
        residual_.reserve(n_labels_);
        covariance_.make_room_to_subtract();
    }

    // `f` is score(z); targets are 1, 0, or -1 (unknown: taken as what was predicted). Importance is positive.
    void learn(const double* z, const std::int8_t* target, double importance, const double* f) noexcept {
        const std::size_t n = n_inputs();
        input_.assign(padded(n), 0.0);
        std::copy_n(z, n, input_.begin());
        learn(input_.data(), nullptr, target, importance, f);
    }

    // Scores n rows and learns them, one after the other. z has padded(n_inputs()) entries, zeros at the end, for each;
    // between two flushes the products with the covariance are those with its base, and are found for all rows at once.
    void make_room_for_block(std::size_t n) {
        make_room_to_learn();
        base_.reserve(std::min(n, PackedSymmetric::kPending) * padded(n_inputs()));
    }
    void learn_block(const double* z, const Lesson* lessons, std::size_t n, double* f) noexcept {
        const std::size_t width = padded(n_inputs());
        std::size_t first = 0, end = 0;  // rows whose product with the base is known
        for (std::size_t r = 0; r < n; ++r) {
            const double* own = z + r * width;
            if (r == end) {
                first = r;
                end = r + std::min(n - r, covariance_.n_until_flush());
                base_.resize((end - first) * width);
                covariance_.multiply_base(own, width, end - first, base_.data(), width);
            }
            score(own, f + r * n_labels_);
            if (!(lessons[r].importance > 0.0)) continue;
            const std::int64_t n_repairs = n_repairs_;
            learn(own, &base_[(r - first) * width], lessons[r].targets.value.data(), lessons[r].importance,
                  f + r * n_labels_);
            if (covariance_.n_pending() == 0 || n_repairs_ != n_repairs) end = r + 1;  // another base
        }
    }

  private:
    // z is padded; `base` is its product with the base of the covariance, if that is known.
    void learn(const double* z, const double* base, const std::int8_t* target, double importance,
               const double* f) noexcept {
        const std::size_t n = n_inputs();
        gain_.resize(padded(n));
        residual_.resize(n_labels_);
        double zg = gain(z, base);
        if (!std::isfinite(zg) && !all_finite(z, n)) return;  // nothing can be learnt from it
        // z^T P z may round to a little below zero; anything more means that P is no longer positive definite
        if (!(zg >= 0.0)) {
            if (!(zg >= -1e-10 * std::sqrt(dot(z, z, padded(n)) * dot(gain_.data(), gain_.data(), padded(n))))) {
                repair();
                zg = gain(z, nullptr);
            }
            if (!(zg > 0.0)) zg = 0.0;
        }
        const double c = forgetting_ / importance + zg;
        if (!std::isfinite(c)) return;
        for (std::size_t l = 0; l < n_labels_; ++l)
            residual_[l] = target[l] < 0 ? 0.0 : static_cast<double>(target[l]) - f[l];
        // Only a covariance that was forged, or weights, take such a step; the weights have to stay within kLargest.
        constexpr double kLargestStep = 1e80;
        const double step = std::sqrt(dot(gain_.data(), gain_.data(), padded(n))) *
                            std::sqrt(dot(residual_.data(), residual_.data(), n_labels_)) / c;
        if (!(step <= kLargestStep)) return repair();
        add_outer(1.0 / c, gain_.data(), n, residual_.data(), n_labels_, weights_.data());
        covariance_.subtract(gain_.data(), 1.0 / (c * stretch_));
        if (covariance_.n_pending() == 0 && !covariance_.has_positive_diagonal()) repair();
        if (forgetting_ < 1.0) forget();
    }

  public:
    // Makes P positive definite again (see above); as new if nothing else helps. Where there is no memory for it, P
    // stays as it is, to be repaired with the next row that shows it.
    void repair() noexcept {
        try {
            try_repair();
        } catch (const std::bad_alloc&) {
        }
    }
    void try_repair() {
        ++n_repairs_;
        covariance_.flush();
        double largest = 0.0;
        for (std::size_t i = 0; i < n_inputs(); ++i) largest = std::max(largest, std::fabs(covariance_.row(i)[i]));
        // A diagonal of zeros (all that was known cancels) cannot be lifted by a share of itself.
        const bool can_be_lifted = largest >= 1e-280 && largest <= 1e300;
        for (double lift = 1e-14 * largest; can_be_lifted && lift <= largest; lift *= 10.0) {
            PackedSymmetric lifted = covariance_;
            lifted.add_diagonal(lift);
            if (!lifted.invert()) continue;
            covariance_.add_diagonal(lift);
            return;
        }
        covariance_.set_diagonal(prior_);
        stretch_ = 1.0;
    }

    void grow_labels(std::size_t n) {
        if (n_labels_ == 0)
            weights_.assign(n_inputs() * n, 0.0);
        else
            widen(weights_, n_labels_, n, 0.0);
        n_labels_ = n;
    }
    // `count` new inputs at `at`, which were zero so far. The inputs before them will be `shrink` times what they
    // were: weights and covariance follow, so that no score changes.
    void insert_inputs(std::size_t at, std::size_t count, double shrink) {
        for (std::size_t i = 0; i < at * n_labels_; ++i) weights_[i] /= shrink;
        weights_.insert(weights_.begin() + static_cast<std::ptrdiff_t>(at * n_labels_), count * n_labels_, 0.0);
        covariance_.insert(at, count, prior_ / stretch_, 1.0 / shrink);
    }
    void reset() noexcept {
        std::fill(weights_.begin(), weights_.end(), 0.0);
        covariance_.set_diagonal(prior_);
        stretch_ = 1.0;
        too_large_ = false;
        n_repairs_ = 0;
    }

    void fields(Fields& f, std::size_t n_inputs) {
        f.array("weights", weights_, n_inputs * n_labels_, within(kLargest));
        double stretch[] = {stretch_, too_large_ ? 1.0 : 0.0};
        f.numbers("stretch", stretch, 2, {0.0, kLargest});
        if (f.loads()) {
            f.require(stretch[1] == 0.0 || stretch[1] == 1.0, "stretch");
            stretch_ = stretch[0];
            too_large_ = stretch[1] == 1.0;
        }
        f.require(stretch_ >= 1.0, "stretch");
        f.part("covariance.", covariance_, n_inputs);
        f.memory(input_, gain_, residual_, base_);
    }

  private:
    // g = P z; returns z^T g
    double gain(const double* z, const double* base) {
        if (base != nullptr) {
            std::copy_n(base, gain_.size(), gain_.begin());
            covariance_.add_pending(z, gain_.data());
        } else {
            covariance_.multiply(z, gain_.data());
        }
        if (stretch_ != 1.0)
            for (double& g : gain_) g *= stretch_;
        return dot(z, gain_.data(), gain_.size());
    }

    static bool all_finite(const double* v, std::size_t n) {
        return std::all_of(v, v + n, [](double x) { return std::isfinite(x); });
    }

    // P is stretch_ times the matrix, so that forgetting a row does not touch every cell.
    void forget() {
        if (covariance_.n_pending() == 0) {
            double trace = 0.0;
            for (std::size_t i = 0; i < n_inputs(); ++i) trace += covariance_.row(i)[i];
            too_large_ = stretch_ * trace > prior_ * static_cast<double>(n_inputs());
            if (stretch_ > 1e6) {
                covariance_.scale(stretch_);
                stretch_ = 1.0;
            }
        }
        if (!too_large_) stretch_ = std::min(stretch_ / forgetting_, 1e90);
    }

    std::size_t n_labels_;
    double prior_, forgetting_, stretch_ = 1.0;
    bool too_large_ = false;
    std::int64_t n_repairs_ = 0;
    std::vector<double> weights_;
    PackedSymmetric covariance_;
    std::vector<double> input_, gain_, residual_;  // of the row being learnt
    std::vector<double> base_;                     // products of rows of a block with the base of the covariance
};

}  // namespace boostline
