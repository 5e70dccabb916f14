// How often each label came lately: a count that fades. Knows nothing of the features; pays where labels come in
// bursts.
#include <cstring>

#include "core/learners/scorer_kinds.hpp"

namespace boostline {
namespace {

class RecencyScorer final : public Scorer {
  public:
    // A decay of 1 counts all rows alike.
    RecencyScorer(std::int32_t n_labels, double decay)
        : decay_(decay), counts_(static_cast<std::size_t>(n_labels), 0.0) {}

    std::string kind() const override { return "recency"; }
    Vote vote() const override { return Vote::proportional; }

    void score(const Row&, double* raw) const override { std::copy(counts_.begin(), counts_.end(), raw); }

    void prepare(const Row&, const Targets&, double, const double*) override {}
    std::size_t make_room_for_block(const Row*, const Lesson*, std::size_t n) override { return n; }
    void learn(const Row&, const Targets& targets, double importance, const double*) noexcept override {
        constexpr std::size_t kGroup = 8;
        const bool nothing_fades = decay_ == 1.0;
        for (std::size_t j = 0; j < counts_.size(); ++j) {
            if (nothing_fades && j % kGroup == 0 && j + kGroup <= counts_.size()) {  // most labels are irrelevant
                std::uint64_t group;
                std::memcpy(&group, &targets.value[j], kGroup);
                if (group == 0) {
                    j += kGroup - 1;
                    continue;
                }
            }
            // an unknown label counts as its share so far, which leaves the share as it is
            const double share = total_ > 0.0 ? counts_[j] / total_ : 0.0;
            const double y = targets.value[j] < 0 ? share : static_cast<double>(targets.value[j]);
            counts_[j] = decay_ * counts_[j] + importance * y;
        }
        total_ = decay_ * total_ + importance;
    }

    void grow_labels(std::int32_t n) override { counts_.resize(static_cast<std::size_t>(n), 0.0); }
    void grow_features(std::int64_t, bool) override {}
    void reset() noexcept override {
        std::fill(counts_.begin(), counts_.end(), 0.0);
        total_ = 0.0;
    }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<RecencyScorer>(*this); }

    void fields(Fields& f) override {
        constexpr double kRounding = 1e-6;
        f.object(*this);
        f.number("total", total_, {0.0, kMostRows});
        f.array("counts", counts_, counts_.size(), {0.0, total_ * (1.0 + kRounding) + 1e-300});
    }

  private:
    double decay_;
    double total_ = 0.0;  // what the count of a label would be that came with every row
    std::vector<double> counts_;
};

const RegisterScorer registered("recency", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    return std::make_unique<RecencyScorer>(s.n_labels, s.number("decay"));
});

}  // namespace
}  // namespace boostline
