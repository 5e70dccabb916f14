// The mean row of each label, and how similar a row is to it (cosine): Rocchio's classifier. Far from the best at the
// top of a ranking, but it has an opinion of every label after its first rows, which orders the many that a
// discriminating learner is silent about.
//
// Rows are scaled as in sparse_linear.cpp; a centroid holds the features that were seen with its label.
#include "core/kernels/label_steps.hpp"
#include "core/learners/linear/dual_memory.hpp"
#include "core/learners/linear/sparse_weights.hpp"
#include "core/learners/scorer_kinds.hpp"

namespace boostline {
namespace {

class CentroidsScorer final : public Scorer {
  public:
    CentroidsScorer(std::int32_t n_labels, std::int64_t n_features, std::size_t max_bytes)
        : n_labels_(static_cast<std::size_t>(n_labels)),
          n_features_(n_features),
          max_bytes_(max_bytes),
          sums_of_rows_(n_labels_) {
        start();
    }

    std::string kind() const override { return "centroids"; }
    Vote vote() const override { return Vote::proportional; }
    bool takes_blocks() const override { return false; }

    void score(const Row& x, double* raw) const override {
        static thread_local Scratch scratch;
        score(x, scratch, raw);
    }
    void score_to_learn(const Row& x, double* raw) override { score(x, scratch_, raw); }
    void explain(const Row& x, std::size_t label, Evidence& out) const override {
        Entries entries;
        DualRow row;
        entries.assign(x, static_cast<std::size_t>(n_features_));
        row.set_features(entries);
        out.of_features.start(0.0);
        sums_of_rows_.explain(row, label, static_cast<double>(inverse_lengths_[label]), out.of_features);
    }

    void prepare(const Row&, const Targets& targets, double importance, const double*) override {
        const std::vector<std::int32_t>& features = scratch_.row.index;
        scratch_.steps.clear();
        for (std::size_t j = 0; j < n_labels_; ++j)
            if (targets.value[j] > 0)
                scratch_.steps.push_back({static_cast<std::int32_t>(j), static_cast<float>(importance)});
        sums_of_rows_.new_promises();
        for (const std::int32_t f : features) sums_of_rows_.make_room_for(f, scratch_.steps.size());
    }
    void learn(const Row&, const Targets&, double, const double*) noexcept override {
        const DualRow& row = scratch_.row;
        for (const std::int32_t f : row.index) sums_of_rows_.count(f);
        for (std::size_t i = 0; i < row.index.size(); ++i)
            sums_of_rows_.add(row.index[i], row.value[i], scratch_.steps.data(), scratch_.steps.size());
        if (!row.index.empty()) {
            for (const LabelValue& step : scratch_.steps) {  // |c + a x|^2, where x has length 1
                const auto j = static_cast<std::size_t>(step.label);
                const auto a = static_cast<double>(step.value);
                squares_[j] += a * (2.0 * static_cast<double>(scratch_.sums[j]) + a);
                measure(j);
            }
        }
        stay_small();
    }
    void set_max_bytes(std::size_t n) override {
        max_bytes_ = n;
        stay_small();
    }

    void grow_labels(std::int32_t n) override {
        n_labels_ = static_cast<std::size_t>(n);
        squares_.resize(n_labels_, 0.0);
        inverse_lengths_.resize(padded(), 0.0f);
        sums_of_rows_.grow_labels(n_labels_);
        scratch_ = Scratch();
    }
    void grow_features(std::int64_t n, bool) override { n_features_ = n; }
    void reset() noexcept override {
        sums_of_rows_.clear();
        start();
    }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<CentroidsScorer>(*this); }

    void fields(Fields& f) override {
        f.object(*this);
        f.array("squares", squares_, n_labels_, {0.0, kMostSquares});
        f.custom(sums_of_rows_, n_features_);
        for (std::size_t j = 0; f.loads() && j < n_labels_; ++j) measure(j);
        f.memory(inverse_lengths_);
        f.part("", scratch_);
    }

  private:
    static constexpr double kMostSquares = 1e20;
    static constexpr double kSteepness = 10.0;  // votes are in proportion to e^(10 cosine); debtags, bibtex: train rows

    struct Scratch {
        Entries entries;
        DualRow row;
        std::vector<float> sums;  // by label
        std::vector<LabelValue> steps;

        void fields(Fields& f) {
            f.part("", entries);
            f.part("", row);
            f.memory(sums, steps);
        }
    };

    std::size_t padded() const { return SparseWeights::padded(n_labels_); }

    // Half for the sums, the rest for temporary and wasted memory, as in sparse_linear.cpp.
    std::size_t most_sums() const { return max_bytes_ / 2; }
    void stay_small() noexcept {
        if (sums_of_rows_.bytes() > most_sums()) {
            sums_of_rows_.sort();  // the order of the subtractions below
            sums_of_rows_.forget(most_sums() - most_sums() / 4, [this](std::int32_t label, float value) {
                const auto j = static_cast<std::size_t>(label);
                squares_[j] -= static_cast<double>(value) * static_cast<double>(value);
                measure(j);
            });
        }
        const std::size_t scratch = Fields::bytes(scratch_);
        if (sums_of_rows_.held_bytes() + scratch + by_label_bytes() <= max_bytes_) return;
        sums_of_rows_.compact();
        if (scratch > max_bytes_ / 16) scratch_ = Scratch();
    }
    std::size_t by_label_bytes() const {
        return sizeof(*this) + squares_.capacity() * sizeof(double) + inverse_lengths_.capacity() * sizeof(float);
    }
    void start() {
        squares_.assign(n_labels_, 0.0);
        inverse_lengths_.assign(padded(), 0.0f);
    }
    void measure(std::size_t j) noexcept {
        squares_[j] = squares_[j] > 0.0 ? squares_[j] : 0.0;
        squares_[j] = squares_[j] < kMostSquares ? squares_[j] : kMostSquares;
        inverse_lengths_[j] = squares_[j] > 0.0 ? static_cast<float>(1.0 / std::sqrt(squares_[j])) : 0.0f;
    }

    void score(const Row& x, Scratch& scratch, double* raw) const {
        scratch.entries.assign(x, static_cast<std::size_t>(n_features_));
        scratch.row.set_features(scratch.entries);
        scratch.sums.assign(padded(), 0.0f);
        for (std::size_t i = 0; i < scratch.row.index.size(); ++i)
            sums_of_rows_.add_to(scratch.row.index[i], scratch.row.value[i], scratch.sums.data());
        cosine_votes(scratch.sums.data(), inverse_lengths_.data(), kSteepness, n_labels_, raw);
    }

    std::size_t n_labels_;
    std::int64_t n_features_;
    std::size_t max_bytes_;
    SparseWeights sums_of_rows_;  // of the rows that a label is relevant to: its centroid, up to its length
    std::vector<double> squares_;
    std::vector<float> inverse_lengths_;
    Scratch scratch_;  // of the row that is being learned
};

const RegisterScorer registered("centroids", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    return std::make_unique<CentroidsScorer>(s.n_labels, s.n_features, s.count("max_bytes"));
});

}  // namespace
}  // namespace boostline
