// The nearest of the last rows, where near means that other members of a committee gave similar scores: a metric that
// knows of the labels. Its row is the sum of those members' scores, one feature per label; it starts anew when labels
// are added, as what it learned is about score vectors of another length. Where the scores of past rows are renewed,
// the points follow.
#include "core/learners/neighbours/nearest_memory.hpp"
#include "core/learners/scorer_kinds.hpp"

namespace boostline {
namespace {

class OutputNeighboursScorer final : public Scorer {
  public:
    OutputNeighboursScorer(std::int32_t n_labels, std::size_t n_neighbours, std::size_t memory)
        : n_neighbours_(n_neighbours), memory_(memory), nearest_(fresh(static_cast<std::size_t>(n_labels))) {}

    std::string kind() const override { return "output_neighbours"; }
    Vote vote() const override { return Vote::proportional; }
    void score(const Row& x, double* raw) const override {
        static thread_local NearestMemory::Scratch scratch;
        score(x, scratch, raw);
    }
    void score_block(const Row* x, std::size_t n, std::size_t k, double* raw) const override {
        static thread_local NearestMemory::Scratch scratch;
        static thread_local std::vector<float> points;
        points.resize(n * k);
        for (std::size_t r = 0; r < n; ++r) {
            place(x[r], scratch);
            std::copy(scratch.point.begin(), scratch.point.end(), &points[r * k]);
        }
        nearest_.score_block(points.data(), n, scratch, raw);
    }
    void score_to_learn(const Row& x, double* raw) override { score(x, scratch_, raw); }
    void prepare(const Row&, const Targets&, double, const double*) override { nearest_.make_room(1); }
    std::size_t make_room_for_block(const Row*, const Lesson*, std::size_t n) override {
        nearest_.make_room(n);
        nearest_.make_room_to_score(n, scratch_);
        return n;
    }
    void learn_block(const Row* x, const Lesson* lessons, std::size_t n, std::size_t k, double* raw) override {
        for (std::size_t at = 0, m; at < n; at += m) {
            m = std::min(NearestMemory::kTogether, n - at);
            std::vector<float>& points = scratch_.points;
            points.clear();
            for (std::size_t r = 0; r < m; ++r) {
                place(x[at + r], scratch_);
                points.insert(points.end(), scratch_.point.begin(), scratch_.point.end());
            }
            nearest_.learn_block(points.data(), lessons + at, m, scratch_, raw + at * k);
        }
    }
    void learn(const Row& x, const Targets& targets, double importance, const double*) noexcept override {
        place(x, scratch_);
        nearest_.add(scratch_.point.data(), targets.value.data(), importance);
    }
    bool keeps_scores() const override { return true; }
    // Rows of before the last labels came are not there any more.
    void receive(const std::vector<float>& renewed) noexcept override {
        const std::size_t k = nearest_.n_inputs(), n = renewed.size() / k;
        for (std::size_t age = 0; age < std::min(n, nearest_.size()); ++age)
            nearest_.replace(age, &renewed[(n - 1 - age) * k]);
    }
    void grow_labels(std::int32_t n) override { nearest_ = fresh(static_cast<std::size_t>(n)); }
    void grow_features(std::int64_t, bool) override {}  // they do not reach it
    void reset() noexcept override { nearest_.clear(); }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<OutputNeighboursScorer>(*this); }
    void fields(Fields& f) override {
        f.object(*this);
        f.part("", nearest_);
        f.part("", scratch_);
    }

  private:
    void score(const Row& x, NearestMemory::Scratch& scratch, double* raw) const {
        place(x, scratch);
        nearest_.score(scratch.point.data(), scratch, raw);
    }
    static void place(const Row& x, NearestMemory::Scratch& scratch) {
        scratch.point.resize(static_cast<std::size_t>(x.n_features));
        for (std::size_t f = 0; f < scratch.point.size(); ++f) scratch.point[f] = PointBlocks::to_float(x.dense[f]);
    }
    NearestMemory fresh(std::size_t n_labels) const {
        return NearestMemory(n_labels, n_labels, n_neighbours_, memory_);
    }

    std::size_t n_neighbours_, memory_;
    NearestMemory nearest_;
    NearestMemory::Scratch scratch_;  // of the row that is being learnt
};

const RegisterScorer registered("output_neighbours", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    return std::make_unique<OutputNeighboursScorer>(s.n_labels, s.count("n_neighbours"), s.count("memory"));
});

}  // namespace
}  // namespace boostline
