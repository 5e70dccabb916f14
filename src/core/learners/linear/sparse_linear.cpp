// A linear support vector machine for each label (squared hinge loss, penalised weights), for sparse rows of any width,
// by dual coordinate ascent with replay.
//
// The weights of a label are w = sum over rows of a y x, y = 1 or -1. A visit of a row, when it comes and when it is
// replayed, sets its dual variables a >= 0 to what is best for that row alone (Hsieh, Chang, Lin, Keerthi and
// Sundararajan, "A dual coordinate descent method for large-scale linear SVM", ICML 2008, with D_ii = 1 / (2 C)); there
// is no step size. A row that leaves the memory leaves its part in w.
//
// Scores start at -1, where a label that is irrelevant has no loss: so a row has dual variables only of its relevant
// labels and of those that it could be taken to have. Of these a visit changes the kMostSteps that are furthest from
// their best. With many labels most replays look at them alone, so that their cost does not grow with the labels.
#include "core/base/philox.hpp"
#include "core/kernels/label_steps.hpp"
#include "core/learners/linear/dual_memory.hpp"
#include "core/learners/linear/sparse_weights.hpp"
#include "core/learners/scorer_kinds.hpp"

namespace boostline {
namespace {

class SparseLinearScorer final : public Scorer {
  public:
    SparseLinearScorer(std::int32_t n_labels, std::int64_t n_features, double c, int n_replays, std::size_t memory,
                       std::size_t max_bytes, int emphasis, std::uint64_t seed)
        : n_labels_(static_cast<std::size_t>(n_labels)),
          n_features_(n_features),
          c_(c),
          n_replays_(n_replays),
          max_bytes_(max_bytes),
          emphasis_(emphasis),
          seed_(seed),
          weights_(n_labels_, kMostSteps),
          memory_(memory) {
        start();
    }

    std::string kind() const override { return "sparse_linear"; }
    Vote vote() const override { return Vote::proportional; }
    bool takes_blocks() const override { return false; }

    void score(const Row& x, double* raw) const override {
        static thread_local Scratch scratch;
        score(x, scratch, raw);
    }
    void score_to_learn(const Row& x, double* raw) override { score(x, scratch_, raw); }
    // A weight is the sum of what rows in memory add, and of those that have left it.
    void explain(const Row& x, std::size_t label, Evidence& out) const override {
        Entries entries;
        DualRow row;
        entries.assign(x, static_cast<std::size_t>(n_features_));
        row.set_features(entries);
        out.of_features.start(static_cast<double>(bias_[label]));
        weights_.explain(row, label, 1.0, out.of_features);
        out.of_rows.start(0.0);
        for (std::size_t age = memory_.n_kept(); age-- > 0;)
            out.of_rows.add(
                clock_ - static_cast<std::int64_t>(age),
                memory_.row(age).signed_dual(static_cast<std::int32_t>(label)) * row.product(memory_.row(age)));
        out.of_rows.rest = out.of_features.total() - out.of_rows.total();
    }

    void prepare(const Row&, const Targets& targets, double importance, const double*) override {
        DualRow& row = scratch_.row;  // of score_to_learn
        row.set_labels(targets);
        row.importance = importance;
        memory_.make_room();
        Ring::draw_ages(seed_, static_cast<std::uint64_t>(clock_), n_replays_, memory_.n_kept(), scratch_.replays);
        const auto& replays = scratch_.replays;
        const auto make_room_for_weights = [&](const DualRow& visited) {
            weights_.prefetch(visited.index);
            for (const std::int32_t f : visited.index) weights_.make_room_for(f, kMostSteps);
        };
        weights_.new_promises();
        make_room_for_weights(row);
        make_room(row.duals, kMostSteps);
        for (const std::size_t age : replays) {  // some may have been drawn twice
            make_room_for_weights(memory_.row(age));
            const auto n_visits = static_cast<std::size_t>(std::count(replays.begin(), replays.end(), age));
            memory_.make_room_for_duals(age, n_visits * kMostSteps);
        }
        scratch_.reserve(padded());
    }
    void learn(const Row&, const Targets&, double importance, const double*) noexcept override {
        DualRow& row = scratch_.row;
        clock_ += clock_ < static_cast<std::int64_t>(kMostRows) ? 1 : 0;
        total_ += importance;
        for (const std::int32_t l : row.relevant) counts_[static_cast<std::size_t>(l)] += importance;
        for (const std::int32_t f : row.index) weights_.count(f);
        visit(row);  // with the sums of score_to_learn
        for (std::size_t q = 0; q < scratch_.replays.size(); ++q) {
            memory_.change(scratch_.replays[q], [&](DualRow& replayed) {
                if (n_labels_ > kManyLabels && q % kFullReplays != kFullReplays - 1) {
                    visit_few(replayed);
                } else {
                    add_up(replayed, scratch_.sums);
                    visit(replayed);
                }
            });
        }
        memory_.push(row);
        stay_small();
    }
    void set_max_bytes(std::size_t n) override {
        max_bytes_ = n;
        stay_small();
    }

    void grow_labels(std::int32_t n) override {
        n_labels_ = static_cast<std::size_t>(n);
        bias_.resize(padded(), kFirstScore);
        counts_.resize(n_labels_, 0.0);
        weights_.grow_labels(n_labels_);
        scratch_ = Scratch();
    }
    void grow_features(std::int64_t n, bool) override { n_features_ = n; }
    void reset() noexcept override {
        weights_.clear();
        memory_.clear();
        clock_ = 0;
        start();
    }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<SparseLinearScorer>(*this); }

    void fields(Fields& f) override {
        constexpr double kRounding = 1e-6;
        f.object(*this);
        f.number("clock", clock_, kCounts);
        f.number("total", total_, {0.0, static_cast<double>(clock_) * (1.0 + kRounding)});
        f.array("counts", counts_, n_labels_, {0.0, total_ * (1.0 + kRounding)});
        f.matrix("bias", bias_, 1, n_labels_, padded(), within(kMostBias));
        f.custom(weights_, n_features_);
        f.part("", memory_, static_cast<std::size_t>(n_features_), n_labels_, kMostDual);
        f.part("", scratch_);
    }

  private:
    static constexpr float kFirstScore = -1.0f;
    static constexpr float kBias = 0.3f;        // squared value of the constant feature behind the bias
    static constexpr float kLeastStep = 0.03f;  // smaller ones are not worth their memory
    static constexpr std::size_t kMostSteps = 24;
    static constexpr std::size_t kManyLabels = 1024, kFullReplays = 4;  // then one replay in four is of all labels
    static constexpr float kMostDual = 1e6f, kMostBias = 1e6f;
    // From scores to votes (debtags, debdepends and bibtex, held-out rows of train): steep, so that what is surely
    // irrelevant is far from what is doubtful, and by frequency where the features say nothing.
    static constexpr double kSteepness = 8.0, kTail = 1e-3, kFrequency = 3e-3;

    struct Scratch {
        Entries entries;
        DualRow row;
        std::vector<float> sums, duals, steps;  // by label
        std::vector<LabelValue> chosen, few;
        std::vector<std::size_t> replays;  // ages of the rows that are learned again

        void reserve(std::size_t n_labels) {
            duals.resize(n_labels, 0.0f);  // all are zero between visits
            steps.resize(n_labels);
            chosen.reserve(n_labels);
            few.reserve(n_labels);
        }
        void fields(Fields& f) {
            f.part("", entries);
            f.part("", row);
            f.memory(sums, duals, steps, chosen, few, replays);
        }
    };

    std::size_t padded() const { return SparseWeights::padded(n_labels_); }

    // Of max_bytes: half for the weights, a quarter for the rows, the rest for what is held for a moment or in vain.
    // What is forgotten depends on what is known alone, not on how much memory it happens to hold.
    std::size_t most_weights() const { return max_bytes_ / 2; }
    void stay_small() noexcept {
        if (weights_.bytes() > most_weights()) weights_.forget(most_weights() - most_weights() / 4);
        memory_.forget(max_bytes_ / 4);
        const std::size_t scratch = Fields::bytes(scratch_);
        if (weights_.held_bytes() + memory_.held_bytes() + scratch + by_label_bytes() <= max_bytes_) return;
        weights_.compact();
        memory_.compact();
        if (scratch > max_bytes_ / 16) scratch_ = Scratch();
    }
    std::size_t by_label_bytes() const {
        return sizeof(*this) + bias_.capacity() * sizeof(float) + counts_.capacity() * sizeof(double);
    }

    void start() {
        bias_.assign(padded(), kFirstScore);
        counts_.assign(n_labels_, 0.0);
        total_ = 0.0;
    }

    void add_up(const DualRow& row, std::vector<float>& sums) const noexcept {
        std::copy(bias_.begin(), bias_.end(), sums.begin());
        for (std::size_t i = 0; i < row.index.size(); ++i) weights_.add_to(row.index[i], row.value[i], sums.data());
    }

    void score(const Row& x, Scratch& scratch, double* raw) const {
        scratch.entries.assign(x, static_cast<std::size_t>(n_features_));
        scratch.row.set_features(scratch.entries);
        scratch.sums.resize(padded());
        add_up(scratch.row, scratch.sums);
        const double share = total_ > 0.0 ? kFrequency / total_ : 0.0;
        hinge_votes(scratch.sums.data(), counts_.data(), kSteepness, kTail, share, n_labels_, raw);
        emphasise(scratch.sums.data(), emphasis_, n_labels_, raw);
    }

    // The row's scores are in scratch_.sums.
    void visit(DualRow& row) noexcept {
        const auto slack = static_cast<float>(0.5 / (c_ * row.importance));
        const float curvature = (row.index.empty() ? 0.0f : 1.0f) + kBias + slack;
        std::vector<float>&duals = scratch_.duals, &steps = scratch_.steps, &sums = scratch_.sums;
        for (const LabelValue& dual : row.duals) duals[static_cast<std::size_t>(dual.label)] = dual.value;
        hinge_steps(sums.data(), duals.data(), slack, curvature, kLeastStep, padded(), steps.data());
        for (const std::int32_t l : row.relevant) {
            const auto j = static_cast<std::size_t>(l);
            const float opposite = -sums[j];
            hinge_steps(&opposite, &duals[j], slack, curvature, kLeastStep, 1, &steps[j]);
        }
        for (const std::int32_t u : row.unknown) steps[static_cast<std::size_t>(u)] = 0.0f;
        for (const LabelValue& dual : row.duals) duals[static_cast<std::size_t>(dual.label)] = 0.0f;
        std::vector<LabelValue>& chosen = scratch_.chosen;
        chosen.clear();
        const auto take = [&](std::size_t j) {
            if (steps[j] != 0.0f) chosen.push_back({static_cast<std::int32_t>(j), steps[j]});
        };
        constexpr std::size_t kGroup = kLanes;  // most labels have no step
        for (std::size_t j = 0; j < padded(); j += kGroup) {
            float any = 0.0f;
            for (std::size_t l = 0; l < kGroup; ++l) any += std::fabs(steps[j + l]);
            if (any == 0.0f) continue;
            for (std::size_t l = j; l < std::min(j + kGroup, n_labels_); ++l) take(l);
        }
        take_steps(row);
    }

    // Of the labels alone that are relevant or have a dual variable.
    void visit_few(DualRow& row) noexcept {
        const auto slack = static_cast<float>(0.5 / (c_ * row.importance));
        const float curvature = (row.index.empty() ? 0.0f : 1.0f) + kBias + slack;
        std::vector<LabelValue>&few = scratch_.few, &chosen = scratch_.chosen;
        few.clear();
        auto r = row.relevant.begin();
        for (const LabelValue& dual : row.duals) {
            for (; r != row.relevant.end() && *r <= dual.label; ++r)
                if (*r < dual.label) few.push_back({*r, bias_[static_cast<std::size_t>(*r)]});
            few.push_back({dual.label, bias_[static_cast<std::size_t>(dual.label)]});
        }
        for (; r != row.relevant.end(); ++r) few.push_back({*r, bias_[static_cast<std::size_t>(*r)]});
        if (!row.index.empty()) weights_.prefetch(row.index[0], few);
        for (std::size_t i = 0; i < row.index.size(); ++i) {
            if (i + 1 < row.index.size()) weights_.prefetch(row.index[i + 1], few);
            weights_.add_to(row.index[i], row.value[i], few);
        }
        chosen.clear();
        auto dual = row.duals.begin();
        r = row.relevant.begin();
        for (const LabelValue& sum : few) {
            const float a = dual != row.duals.end() && dual->label == sum.label ? (dual++)->value : 0.0f;
            while (r != row.relevant.end() && *r < sum.label) ++r;
            const bool is_relevant = r != row.relevant.end() && *r == sum.label;
            const float z = is_relevant ? -sum.value : sum.value;
            float step;
            hinge_steps(&z, &a, slack, curvature, kLeastStep, 1, &step);
            if (step != 0.0f) chosen.push_back({sum.label, step});
        }
        take_steps(row);
    }

    // Of the steps in `chosen`, by label, takes the largest.
    void take_steps(DualRow& row) noexcept {
        keep_largest(scratch_.chosen);
        add_steps(row.duals, scratch_.chosen.data(), scratch_.chosen.size(), [](float& dual, float step) {
            dual += step;
            dual = dual < kMostDual ? dual : kMostDual;
        });
        row.duals.erase(std::remove_if(row.duals.begin(), row.duals.end(),
                                       [](const LabelValue& dual) { return !(dual.value > 0.0f); }),
                        row.duals.end());
        move(row);
    }

    static void keep_largest(std::vector<LabelValue>& chosen) noexcept {
        if (chosen.size() <= kMostSteps) return;
        std::nth_element(chosen.begin(), chosen.begin() + kMostSteps, chosen.end(),
                         [](const LabelValue& a, const LabelValue& b) {
                             const float p = std::fabs(a.value), q = std::fabs(b.value);
                             return p != q ? p > q : a.label < b.label;
                         });
        chosen.resize(kMostSteps);
        std::sort(chosen.begin(), chosen.end(),
                  [](const LabelValue& a, const LabelValue& b) { return a.label < b.label; });
    }

    // The steps of the dual variables move the weights: upwards for relevant labels.
    void move(const DualRow& row) noexcept {
        std::size_t r = 0;
        for (LabelValue& step : scratch_.chosen) {
            while (r < row.relevant.size() && row.relevant[r] < step.label) ++r;
            if (!(r < row.relevant.size() && row.relevant[r] == step.label)) step.value = -step.value;
            float& bias = bias_[static_cast<std::size_t>(step.label)];
            bias += kBias * step.value;
            bias = bias < kMostBias ? bias : kMostBias;
            bias = bias > -kMostBias ? bias : -kMostBias;
        }
        for (std::size_t i = 0; i < row.index.size(); ++i)
            weights_.add(row.index[i], row.value[i], scratch_.chosen.data(), scratch_.chosen.size());
    }

    std::size_t n_labels_;
    std::int64_t n_features_;
    double c_;
    int n_replays_;
    std::size_t max_bytes_;
    int emphasis_;
    std::uint64_t seed_;
    std::int64_t clock_ = 0;  // rows learned
    double total_ = 0.0;      // their importance
    std::vector<double> counts_;
    std::vector<float> bias_;
    SparseWeights weights_;
    DualMemory memory_;
    Scratch scratch_;  // of the row that is being learned
};

const RegisterScorer registered("sparse_linear", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    return std::make_unique<SparseLinearScorer>(
        s.n_labels, s.n_features, s.number("C"), static_cast<int>(s.count("n_replays")), s.count("memory"),
        s.count("max_bytes"), static_cast<int>(s.count("emphasis")), s.count("seed"));
});

}  // namespace
}  // namespace boostline
