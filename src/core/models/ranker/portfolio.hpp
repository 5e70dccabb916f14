// How LabelRanker weighs votes: online portfolio selection with several learning rates.
//
// Votes q_1 .. q_M are distributions over the labels, and s = sum of w_m q_m with w on the simplex. A row with relevant
// labels Y and weight c in (0, 1] costs f(w) = -c mean over Y of ln s[l], which is convex in w. With x_m = mean over Y
// of q_m[l] / s[l], each chain takes the step of Soft-Bayes (Orseau, Lattimore and Legg, "Soft-Bayes: Prod for mixtures
// of experts with log-loss", ALT 2017), w_m <- w_m (1 + rate c (x_m - 1)), and gives a small share back to the prior,
// so that no vote is lost for good. A chain with a small rate averages over a long time, one with a large rate follows
// quickly. The chains are mixed by Bayes' rule with a fixed share, which costs a logarithm since f is exp-concave. What
// this promises, on every interval, is in docs/theory.md.
//
// Where most rows of late were ranked worse than by the label frequencies, all votes may be wrong because the labels
// are noise. That is no evidence for votes that know nothing: all chains but the slowest then take no vote for worse
// than the frequencies. In bursts of 400 rows of noise the rank loss is a quarter then.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/archive.hpp"
#include "core/base/math.hpp"
#include "core/kernels/sums.hpp"

namespace boostline {

class Portfolio {
  public:
    static constexpr std::size_t kChains = 2;
    static constexpr double kRates[kChains] = {0.35, 0.02};
    static constexpr double kShare = 1e-3;       // of a chain, times its rate: what goes back to the prior
    static constexpr double kChainShare = 1e-3;  // of the masses of the chains
    static constexpr double kAstrayRate = 0.1;   // of the running mean that says what is played has gone astray

    // The prior is where the weights start, in proportion.
    explicit Portfolio(std::vector<double> prior) : prior_(std::move(prior)) {
        double total = 0.0;
        for (const double p : prior_) total += p;
        for (double& p : prior_) p /= total;
        weights_.resize(kChains * size());
        mass_.resize(kChains);
        mixed_.resize(size());
        gains_.assign(size(), 0.0);
        slope_.resize(size());
        floored_.resize(size());
        restart();
    }

    std::size_t size() const { return prior_.size(); }
    const std::vector<double>& weights() const { return mixed_; }
    const std::vector<double>& masses() const { return mass_; }

    void restart() noexcept {
        for (std::size_t c = 0; c < kChains; ++c) std::copy(prior_.begin(), prior_.end(), chain(c));
        std::fill(mass_.begin(), mass_.end(), 1.0 / static_cast<double>(kChains));
        astray_ = 0.0;
        mix();
    }

    // As new, what was counted included.
    void forget() noexcept {
        restart();
        std::fill(gains_.begin(), gains_.end(), 0.0);
    }

    // Of one row, `votes` has the M votes for each of n relevant labels. Counts what is played; returns f / c.
    double record(const double* votes, std::size_t n, double weight) noexcept {
        const double loss = measure(mixed_.data(), votes, n);
        for (std::size_t m = 0; m < size(); ++m) gains_[m] += weight * (slope_[m] - 1.0);
        return loss;
    }
    // `null` are the label frequencies, one for each relevant label; `loss` is what `record` returned.
    void learn(const double* votes, const double* null, std::size_t n, double weight, double loss_played) noexcept {
        double null_loss = 0.0, total = 0.0, first = 0.0;
        for (std::size_t l = 0; l < n; ++l) null_loss -= log_(null[l]);
        const bool is_worse = loss_played > null_loss / static_cast<double>(n);
        astray_ += kAstrayRate * ((is_worse ? 1.0 : 0.0) - astray_);
        const bool is_floored = is_worse && astray_ > 0.5;
        for (std::size_t c = 0; c < kChains; ++c) {
            const double loss = measure(chain(c), votes, n);
            if (c == 0) first = loss;  // all masses over that of the first: no power of e is out of range
            mass_[c] *= exp_(weight * (first - loss));
            total += mass_[c];
            if (is_floored && c + 1 < kChains) measure(chain(c), votes, n, null);
            step(chain(c), kRates[c], weight);
        }
        for (double& p : mass_) p = (1.0 - kChainShare) * (p / total) + kChainShare / static_cast<double>(kChains);
        mix();
    }

    void save(Archive& out) const {
        out.add("chain_weights", weights_);
        out.add("chain_masses", mass_);
        out.add("regret_gains", gains_);
        out.add_one("astray", astray_);
    }
    void load(const ArchiveView& in) {
        in.read("chain_weights", kChains * size(), weights_);
        in.read("chain_masses", kChains, mass_);
        in.read("regret_gains", size(), gains_);
        astray_ = in.read_one<double>("astray");
    }
    void after_load() { mix(); }
    // The weights change places; the gains of what was played stay.
    void exchange(Portfolio& other) noexcept {
        std::swap(*this, other);
        gains_.swap(other.gains_);
    }
    void check(double clock) const {
        check_within(astray_, 0.0, 1.0, "", "astray");
        check_distribution(mass_.data(), kChains, "chain_masses");
        for (std::size_t c = 0; c < kChains; ++c) check_distribution(chain(c), size(), "chain_weights");
        // x_m is at most 1 / w_m, and w_m at least its share of the prior.
        double least = 1.0;
        for (const double p : prior_) least = std::min(least, p);
        check_within(gains_, -clock * kRounded, clock * kRounded / (kShare * kRates[kChains - 1] * least), "",
                     "regret_gains");
    }
    std::size_t memory_bytes() const {
        return (weights_.capacity() + mass_.capacity() + mixed_.capacity() + gains_.capacity() + prior_.capacity() +
                slope_.capacity() + floored_.capacity()) *
               sizeof(double);
    }

  private:
    static constexpr double kRounded = 1.0 + 1e-6;

    double* chain(std::size_t c) { return &weights_[c * size()]; }
    const double* chain(std::size_t c) const { return &weights_[c * size()]; }

    // The mean of -ln s[l]; leaves x in slope_. With `floor` no vote is less than that.
    double measure(const double* w, const double* votes, std::size_t n, const double* floor = nullptr) noexcept {
        double loss = 0.0;
        std::fill(slope_.begin(), slope_.end(), 0.0);
        for (std::size_t l = 0; l < n; ++l) {
            const double* q = votes + l * size();
            if (floor != nullptr) {
                for (std::size_t m = 0; m < size(); ++m) floored_[m] = std::max(q[m], floor[l]);
                q = floored_.data();
            }
            const double s = dot(w, q, size());
            loss -= log_(s);
            const double share = 1.0 / (s * static_cast<double>(n));
            for (std::size_t m = 0; m < size(); ++m) slope_[m] += share * q[m];
        }
        return loss / static_cast<double>(n);
    }

    // The weights sum to 1 before and after, but for rounding.
    void step(double* w, double rate, double weight) noexcept {
        const double eta = rate * weight, share = kShare * rate;
        for (std::size_t m = 0; m < size(); ++m) w[m] *= 1.0 + eta * (slope_[m] - 1.0);
        const double total = sum(w, size());
        for (std::size_t m = 0; m < size(); ++m) w[m] = (1.0 - share) * (w[m] / total) + share * prior_[m];
    }

    void mix() noexcept {
        std::fill(mixed_.begin(), mixed_.end(), 0.0);
        for (std::size_t c = 0; c < kChains; ++c)
            for (std::size_t m = 0; m < size(); ++m) mixed_[m] += mass_[c] * chain(c)[m];
    }

    static void check_distribution(const double* p, std::size_t n, const char* name) {
        double total = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            require(p[i] > 0.0 && p[i] <= kRounded, "", name);
            total += p[i];
        }
        check_within(total, 1.0 / kRounded, kRounded, "", name);
    }

    std::vector<double> prior_;
    std::vector<double> weights_;  // kChains x M, each row on the simplex
    std::vector<double> mass_;     // of the chains, on the simplex
    std::vector<double> mixed_;    // derived: what is played
    std::vector<double> gains_;    // sums of c (x_m - 1) at what was played: no mixture could have gained more than the
                                   // largest of them
    double astray_ = 0.0;          // running share of rows on which what was played was worse than the frequencies
    std::vector<double> slope_;    // x of the row at hand
    std::vector<double> floored_;  // votes for one label
};

}  // namespace boostline
