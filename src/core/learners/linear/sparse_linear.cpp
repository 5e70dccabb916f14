// The support vector machine of sparse_svm.hpp as a scorer.
#include "core/learners/linear/sparse_svm.hpp"
#include "core/learners/scorer_kinds.hpp"

namespace boostline {
namespace {

class SparseLinearScorer final : public Scorer {
  public:
    SparseLinearScorer(std::int32_t n_labels, std::int64_t n_features, double c, int n_replays, std::size_t memory,
                       std::size_t max_bytes, int emphasis, std::uint64_t seed)
        : n_labels_(static_cast<std::size_t>(n_labels)),
          n_features_(n_features),
          emphasis_(emphasis),
          svm_(n_labels_, c, n_replays, memory, max_bytes, seed) {}

    std::string kind() const override { return "sparse_linear"; }
    Vote vote() const override { return Vote::proportional; }
    bool takes_blocks() const override { return false; }

    void score(const Row& x, double* raw) const override {
        static thread_local SparseSvm::Scratch scratch;
        score(x, scratch, raw);
    }
    void score_to_learn(const Row& x, double* raw) override { score(x, scratch_, raw); }
    // A weight is the sum of what rows in memory add, and of those that have left it.
    void explain(const Row& x, std::size_t label, Evidence& out) const override {
        SparseSvm::Scratch scratch;
        svm_.score(x, n_features_, scratch);
        const DualRow& row = scratch.row;
        out.of_features.start(static_cast<double>(svm_.bias()[label]));
        svm_.weights().explain(row, label, 1.0, out.of_features);
        out.of_rows.start(0.0);
        const DualMemory& memory = svm_.memory();
        for (std::size_t age = memory.n_kept(); age-- > 0;)
            out.of_rows.add(
                svm_.clock() - static_cast<std::int64_t>(age),
                memory.row(age).signed_dual(static_cast<std::int32_t>(label)) * row.product(memory.row(age)));
        out.of_rows.rest = out.of_features.total() - out.of_rows.total();
    }

    void prepare(const Row&, const Targets& targets, double importance, const double*) override {
        svm_.prepare(scratch_, targets, importance);
    }
    void learn(const Row&, const Targets&, double, const double*) noexcept override {
        svm_.learn(scratch_, kNobody);
        stay_small();
    }
    void set_max_bytes(std::size_t n) override {
        svm_.set_max_bytes(n);
        stay_small();
    }

    void grow_labels(std::int32_t n) override {
        n_labels_ = static_cast<std::size_t>(n);
        svm_.grow_labels(n_labels_);
        scratch_ = SparseSvm::Scratch();
    }
    void grow_features(std::int64_t n, bool) override { n_features_ = n; }
    void reset() noexcept override { svm_.clear(); }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<SparseLinearScorer>(*this); }

    void fields(Fields& f) override {
        f.object(*this);
        f.part("", svm_, n_features_);
        f.part("", scratch_);
    }

  private:
    // From scores to votes (debtags, debdepends and bibtex, held-out rows of train): steep, so that what is surely
    // irrelevant is far from what is doubtful, and by frequency where the features say nothing.
    static constexpr double kSteepness = 8.0, kTail = 1e-3, kFrequency = 3e-3;
    static constexpr auto kNobody = [](std::size_t, const DualRow&) {};

    void stay_small() noexcept {
        svm_.forget(kNobody, [] { return std::size_t{0}; });
        const std::size_t scratch = Fields::bytes(scratch_);
        if (svm_.held_bytes() + scratch + sizeof(*this) <= svm_.max_bytes()) return;
        svm_.compact();
        if (scratch > svm_.max_bytes() / 16) scratch_ = SparseSvm::Scratch();
    }

    void score(const Row& x, SparseSvm::Scratch& scratch, double* raw) const {
        svm_.score(x, n_features_, scratch);
        const double share = svm_.total() > 0.0 ? kFrequency / svm_.total() : 0.0;
        hinge_votes(scratch.sums.data(), svm_.counts().data(), kSteepness, kTail, share, n_labels_, raw);
        emphasise(scratch.sums.data(), emphasis_, n_labels_, raw);
    }

    std::size_t n_labels_;
    std::int64_t n_features_;
    int emphasis_;
    SparseSvm svm_;
    SparseSvm::Scratch scratch_;  // of the row that is being learned
};

const RegisterScorer registered("sparse_linear", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    return std::make_unique<SparseLinearScorer>(
        s.n_labels, s.n_features, s.number("C"), static_cast<int>(s.count("n_replays")), s.count("memory"),
        s.count("max_bytes"), static_cast<int>(s.count("emphasis")), s.count("seed"));
});

}  // namespace
}  // namespace boostline
