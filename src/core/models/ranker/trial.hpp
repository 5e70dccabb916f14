// A fresh model on probation beside the old one, after a drift alarm. Evidence is the log-likelihood of the relevant
// labels, the newcomer's less the old model's, and fades. Neither is charged more than the label frequencies would be:
// in pure noise a newcomer would otherwise win because it knows nothing. For the same reason it has to beat the
// frequencies before it serves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/archive.hpp"

namespace boostline {

class Trial {
  public:
    // Measured on the streams of benchmarks/drift.py, 300 rows after a change or after 50 wrong rows: evidence is above
    // -5 after every change, at -7 to -10 after wrong rows. In noise a newcomer never gets above 0 in knowledge.
    static constexpr double kUncounted = 16.0;   // first rows of the newcomer
    static constexpr double kUnjudged = 64.0;    // no verdict before; as many rows as a block has at most
    static constexpr double kFading = 0.99;      // of evidence, in each row
    static constexpr double kToServe = 2.0;      // evidence with which the newcomer serves early
    static constexpr double kToReject = -10.0;   // ... with which it goes
    static constexpr double kPatience = 350.0;   // rows after which it serves or goes by the next
    static constexpr double kTie = -5.0;         // evidence above which it serves then: the alarm speaks for it
    static constexpr double kKnowledge = 20.0;   // log-likelihood above that of the frequencies, before it serves
    static constexpr double kMostRows = 1500.0;  // then the one that does not serve goes

    enum class Verdict { none, newcomer_serves, newcomer_goes, old_goes };

    bool newcomer_serves() const { return newcomer_serves_; }

    // Both gains are the newcomer's: over the old model and over the frequencies. A row counts 1 at most.
    Verdict add(double over_old, double over_frequencies) noexcept {
        rows_ += 1.0;
        if (rows_ <= kUncounted) return Verdict::none;
        evidence_ = kFading * evidence_ + std::clamp(over_old, -1.0, 1.0);
        knowledge_ += std::clamp(over_frequencies, -1.0, 1.0);
        if (rows_ < kUnjudged) return Verdict::none;
        if (evidence_ <= kToReject) return Verdict::newcomer_goes;
        if (rows_ >= kMostRows) return newcomer_serves_ ? Verdict::old_goes : Verdict::newcomer_goes;
        if (newcomer_serves_ || knowledge_ < kKnowledge) return Verdict::none;
        if (evidence_ < kToServe && rows_ < kPatience) return Verdict::none;
        newcomer_serves_ = evidence_ > kTie;
        return newcomer_serves_ ? Verdict::newcomer_serves : Verdict::newcomer_goes;
    }
    // A verdict comes with the last of so many rows at the earliest: a row moves evidence by 2 at most.
    std::size_t rows_to_verdict() const noexcept {
        if (rows_ < kUnjudged) return static_cast<std::size_t>(kUnjudged - rows_);
        double rows = std::min((evidence_ - kToReject) / 2.0, kMostRows - rows_);
        if (!newcomer_serves_) {
            const double to_serve = std::min((kToServe - evidence_) / 2.0, kPatience - rows_);
            rows = std::min(rows, std::max(to_serve, kKnowledge - knowledge_));
        }
        return static_cast<std::size_t>(std::max(1.0, rows));
    }

    static constexpr std::size_t kValues = 4;
    std::vector<double> values() const { return {rows_, evidence_, knowledge_, newcomer_serves_ ? 1.0 : 0.0}; }
    void set(const std::vector<double>& v) {
        rows_ = v[0], evidence_ = v[1], knowledge_ = v[2], newcomer_serves_ = v[3] != 0.0;
    }
    void check() const {
        require(is_count(rows_) && rows_ < kMostRows, "", "trial");
        check_within(evidence_, -rows_, rows_, "", "trial");
        check_within(knowledge_, -rows_, rows_, "", "trial");
    }

  private:
    double rows_ = 0.0;  // that the newcomer has learned, of those with a pair to rank
    double evidence_ = 0.0, knowledge_ = 0.0;
    bool newcomer_serves_ = false;
};

}  // namespace boostline
