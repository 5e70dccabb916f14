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
// their best. With many labels most replays read only these, so that the cost of a replay does not grow with the
// labels.
#pragma once

#include "core/base/philox.hpp"
#include "core/kernels/label_steps.hpp"
#include "core/learners/linear/dual_memory.hpp"
#include "core/learners/linear/sparse_weights.hpp"

namespace boostline {

class SparseSvm {
  public:
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

    SparseSvm(std::size_t n_labels, double c, int n_replays, std::size_t memory, std::size_t max_bytes,
              std::uint64_t seed)
        : n_labels_(n_labels),
          c_(c),
          n_replays_(n_replays),
          max_bytes_(max_bytes),
          seed_(seed),
          weights_(n_labels_, kMostSteps),
          memory_(memory) {
        start();
    }

    std::size_t padded() const { return SparseWeights::padded(n_labels_); }
    std::int64_t clock() const { return clock_; }
    double total() const { return total_; }
    const std::vector<double>& counts() const { return counts_; }
    const std::vector<float>& bias() const { return bias_; }
    const SparseWeights& weights() const { return weights_; }
    const DualMemory& memory() const { return memory_; }
    std::size_t max_bytes() const { return max_bytes_; }
    void set_max_bytes(std::size_t n) { max_bytes_ = n; }

    // The scaled row and the scores of all labels.
    void score(const Row& x, std::int64_t n_features, Scratch& scratch) const {
        scratch.entries.assign(x, static_cast<std::size_t>(n_features));
        scratch.row.set_features(scratch.entries);
        scratch.sums.resize(padded());
        add_up(scratch.row, scratch.sums);
    }

    // The row in `scratch`, which `score` has read, is learned by `prepare` and `learn`.
    void prepare(Scratch& scratch, const Targets& targets, double importance) {
        DualRow& row = scratch.row;
        row.set_labels(targets);
        row.importance = importance;
        memory_.make_room();
        Ring::draw_ages(seed_, static_cast<std::uint64_t>(clock_), n_replays_, memory_.n_kept(), scratch.replays);
        const auto& replays = scratch.replays;
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
        scratch.reserve(padded());
    }
    // left(age, row) is called for every row that leaves the memory, just before.
    template <class Left>
    void learn(Scratch& scratch, Left&& left) noexcept {
        DualRow& row = scratch.row;
        clock_ += clock_ < static_cast<std::int64_t>(kMostRows) ? 1 : 0;
        total_ += row.importance;
        for (const std::int32_t l : row.relevant) counts_[static_cast<std::size_t>(l)] += row.importance;
        for (const std::int32_t f : row.index) weights_.count(f);
        visit(row, scratch);  // with the sums of `score`
        for (std::size_t q = 0; q < scratch.replays.size(); ++q) {
            memory_.change(scratch.replays[q], [&](DualRow& replayed) {
                if (n_labels_ > kManyLabels && q % kFullReplays != kFullReplays - 1) {
                    visit_few(replayed, scratch);
                } else {
                    add_up(replayed, scratch.sums);
                    visit(replayed, scratch);
                }
            });
        }
        memory_.push(row, left);
    }
    // Of max_bytes: half for the weights, a quarter for the rows, the rest for temporary and wasted memory.
    // What is forgotten depends on what is known alone, not on how much memory it happens to hold.
    // `others` are bytes that belong to the rows, such as those of an index; they shrink when rows leave.
    template <class Left, class Others>
    void forget(Left&& left, Others&& others) noexcept {
        const std::size_t most_weights = max_bytes_ / 2;
        if (weights_.bytes() > most_weights) weights_.forget(most_weights - most_weights / 4);
        memory_.forget([&](std::size_t of_rows) { return of_rows + others() > max_bytes_ / 4; }, left);
    }
    // Bytes that it holds, or a little more; at once.
    std::size_t held_bytes() const {
        return weights_.held_bytes() + memory_.held_bytes() + bias_.capacity() * sizeof(float) +
               counts_.capacity() * sizeof(double);
    }
    void compact() noexcept {
        weights_.compact();
        memory_.compact();
    }

    void grow_labels(std::size_t n) {
        n_labels_ = n;
        bias_.resize(padded(), kFirstScore);
        counts_.resize(n_labels_, 0.0);
        weights_.grow_labels(n_labels_);
    }
    void clear() noexcept {
        weights_.clear();
        memory_.clear();
        clock_ = 0;
        start();
    }

    void fields(Fields& f, std::int64_t n_features) {
        constexpr double kRounding = 1e-6;
        f.number("clock", clock_, kCounts);
        f.number("total", total_, {0.0, static_cast<double>(clock_) * (1.0 + kRounding)});
        f.array("counts", counts_, n_labels_, {0.0, total_ * (1.0 + kRounding)});
        f.matrix("bias", bias_, 1, n_labels_, padded(), within(kMostBias));
        f.custom(weights_, n_features);
        f.part("", memory_, static_cast<std::size_t>(n_features), n_labels_, kMostDual);
    }

  private:
    static constexpr float kFirstScore = -1.0f;
    static constexpr float kBias = 0.3f;        // squared value of the constant feature behind the bias
    static constexpr float kLeastStep = 0.03f;  // smaller ones are not worth their memory
    static constexpr std::size_t kMostSteps = 24;
    static constexpr std::size_t kManyLabels = 1024, kFullReplays = 4;  // then one replay in four is of all labels
    static constexpr float kMostDual = 1e6f, kMostBias = 1e6f;

    void start() {
        bias_.assign(padded(), kFirstScore);
        counts_.assign(n_labels_, 0.0);
        total_ = 0.0;
    }

    void add_up(const DualRow& row, std::vector<float>& sums) const noexcept {
        std::copy(bias_.begin(), bias_.end(), sums.begin());
        for (std::size_t i = 0; i < row.index.size(); ++i) weights_.add_to(row.index[i], row.value[i], sums.data());
    }

    // The row's scores are in scratch.sums.
    void visit(DualRow& row, Scratch& scratch) noexcept {
        const auto slack = static_cast<float>(0.5 / (c_ * row.importance));
        const float curvature = (row.index.empty() ? 0.0f : 1.0f) + kBias + slack;
        std::vector<float>&duals = scratch.duals, &steps = scratch.steps, &sums = scratch.sums;
        for (const LabelValue& dual : row.duals) duals[static_cast<std::size_t>(dual.label)] = dual.value;
        hinge_steps(sums.data(), duals.data(), slack, curvature, kLeastStep, padded(), steps.data());
        for (const std::int32_t l : row.relevant) {
            const auto j = static_cast<std::size_t>(l);
            const float opposite = -sums[j];
            hinge_steps(&opposite, &duals[j], slack, curvature, kLeastStep, 1, &steps[j]);
        }
        for (const std::int32_t u : row.unknown) steps[static_cast<std::size_t>(u)] = 0.0f;
        for (const LabelValue& dual : row.duals) duals[static_cast<std::size_t>(dual.label)] = 0.0f;
        std::vector<LabelValue>& chosen = scratch.chosen;
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
        take_steps(row, scratch);
    }

    // Of the labels alone that are relevant or have a dual variable.
    void visit_few(DualRow& row, Scratch& scratch) noexcept {
        const auto slack = static_cast<float>(0.5 / (c_ * row.importance));
        const float curvature = (row.index.empty() ? 0.0f : 1.0f) + kBias + slack;
        std::vector<LabelValue>&few = scratch.few, &chosen = scratch.chosen;
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
        take_steps(row, scratch);
    }

    // Of the steps in `chosen`, by label, takes the largest.
    void take_steps(DualRow& row, Scratch& scratch) noexcept {
        keep_largest(scratch.chosen);
        add_steps(row.duals, scratch.chosen.data(), scratch.chosen.size(), [](float& dual, float step) {
            dual += step;
            dual = dual < kMostDual ? dual : kMostDual;
        });
        row.duals.erase(std::remove_if(row.duals.begin(), row.duals.end(),
                                       [](const LabelValue& dual) { return !(dual.value > 0.0f); }),
                        row.duals.end());
        move(row, scratch.chosen);
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
    void move(const DualRow& row, std::vector<LabelValue>& steps) noexcept {
        std::size_t r = 0;
        for (LabelValue& step : steps) {
            while (r < row.relevant.size() && row.relevant[r] < step.label) ++r;
            if (!(r < row.relevant.size() && row.relevant[r] == step.label)) step.value = -step.value;
            float& bias = bias_[static_cast<std::size_t>(step.label)];
            bias += kBias * step.value;
            bias = bias < kMostBias ? bias : kMostBias;
            bias = bias > -kMostBias ? bias : -kMostBias;
        }
        for (std::size_t i = 0; i < row.index.size(); ++i)
            weights_.add(row.index[i], row.value[i], steps.data(), steps.size());
    }

    std::size_t n_labels_;
    double c_;
    int n_replays_;
    std::size_t max_bytes_;
    std::uint64_t seed_;
    std::int64_t clock_ = 0;  // rows learned
    double total_ = 0.0;      // their importance
    std::vector<double> counts_;
    std::vector<float> bias_;
    SparseWeights weights_;
    DualMemory memory_;
};

}  // namespace boostline
