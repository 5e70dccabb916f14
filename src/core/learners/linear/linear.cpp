// One logistic regression for each label, on scaled rows, by AdaGrad (Duchi, Hazan and Singer, "Adaptive subgradient
// methods for online learning and stochastic optimization", JMLR 2011). Every row is learnt when it comes, and after it
// some of the last rows once more: this replay is worth more than any tuning of the steps.
//
// Memory: two floats for each feature and label (rounded up to a multiple of 8 labels), and the rows for the replay.
// Single precision is enough for a sum of noisy steps (docs/learners.md has the losses), and takes half the time.
#include "core/base/math.hpp"
#include "core/base/philox.hpp"
#include "core/base/portable.hpp"
#include "core/kernels/label_steps.hpp"
#include "core/learners/row_memory.hpp"
#include "core/learners/row_scale.hpp"
#include "core/learners/scorer_kinds.hpp"

namespace boostline {
namespace {

// Arrays over labels are padded to whole groups of kLanes, so that no loop has a remainder.
inline std::size_t label_groups(std::size_t n_labels) { return (n_labels + kLanes - 1) / kLanes; }

class LinearScorer final : public Scorer {
  public:
    // n_hashed: 0, or the number of buckets that features are hashed into, when there are too many of them.
    LinearScorer(std::int32_t n_labels, std::int64_t n_features, std::uint64_t seed, int n_replays = 16,
                 std::size_t memory = 4000, double learning_rate = 0.3, std::int64_t n_hashed = 0)
        : n_labels_(static_cast<std::size_t>(n_labels)),
          n_inputs_(static_cast<std::size_t>(n_hashed > 0 ? n_hashed : n_features)),
          hashes_(n_hashed > 0),
          seed_(seed),
          n_replays_(n_replays),
          rate_(learning_rate),
          scale_(n_inputs_),
          memory_(memory, n_labels_) {
        start();
    }

    std::string kind() const override { return "linear"; }
    Vote vote() const override { return Vote::proportional; }

    void score(const Row& x, double* raw) const override {
        static thread_local Scratch scratch;
        read(x, scratch);
        scale_.apply(scratch.entries, scratch.row);
        probabilities(scratch);
        std::copy_n(scratch.gradient.data(), n_labels_, raw);
    }
    void explain(const Row& x, std::size_t label, Evidence& out) const override {
        if (hashes_) return;
        Scratch scratch;
        read(x, scratch);
        scale_.apply(scratch.entries, scratch.row);
        out.of_features.start(bias_[label]);
        for (std::size_t i = 0; i < scratch.row.size(); ++i) {
            const auto f = static_cast<std::size_t>(scratch.row.index[i]);
            out.of_features.add(scratch.row.index[i],
                                scratch.row.value[i] * static_cast<double>(weights_[f * 2 * width() + label]));
        }
    }

    void score_to_learn(const Row& x, double* raw) override {
        read(x, scratch_);
        scratch_.reserve(scratch_.entries.size() + scale_.n_dense(), width());
        scale_.apply(scratch_.entries, scratch_.row);
        probabilities(scratch_);
        std::copy_n(scratch_.gradient.data(), n_labels_, raw);
    }
    // Of the row that score_to_learn has read.
    void prepare(const Row&, const Targets&, double, const double*) override {
        const std::size_t n_dense = scale_.make_room_for(scratch_.entries);
        memory_.make_room_for(scratch_.entries.size());
        const auto t = static_cast<std::uint64_t>(scale_.n_rows());  // rows before it
        memory_.ring().draw_ages(seed_, t, n_replays_, scratch_.replays);
        std::size_t longest = scratch_.entries.size();
        for (const std::size_t age : scratch_.replays) longest = std::max(longest, memory_.row(age).size);
        scratch_.reserve(longest + n_dense, width());
    }
    // Up to the next row after which the scale is looked at.
    std::size_t make_room_for_block(const Row* x, const Lesson*, std::size_t n) override {
        n = std::min(n, scale_.n_rows_before_look());
        if (n < 2) return 0;
        const auto most = [&](std::size_t r) {
            return hashes_ ? x[r].most_entries() : std::min(x[r].most_entries(), n_inputs_);
        };
        memory_.make_room_for_block(n, most);
        std::size_t longest = memory_.longest();
        for (std::size_t r = 0; r < n; ++r) longest = std::max(longest, most(r));
        scratch_.entries.reserve(longest);
        if (hashes_) scratch_.hashed.reserve(longest);
        scratch_.replays.reserve(static_cast<std::size_t>(n_replays_));
        scratch_.reserve(longest + scale_.n_dense(), width());
        return n;
    }
    void learn(const Row&, const Targets& targets, double importance, const double*) noexcept override {
        scale_.learn(scratch_.entries);
        step(scratch_.entries, targets.value.data(), importance, scratch_);
        const std::vector<std::size_t>& replays = scratch_.replays;
        if (!replays.empty()) memory_.fetch(replays[0]);
        for (std::size_t i = 0; i < replays.size(); ++i) {
            if (i + 1 < replays.size()) memory_.fetch(replays[i + 1]);
            step(memory_.row(replays[i]), memory_.targets(replays[i]), memory_.importance(replays[i]), scratch_);
        }
        memory_.push(scratch_.entries, targets.value.data(), importance);
    }

    void grow_labels(std::int32_t n_new) override {
        const auto n = static_cast<std::size_t>(n_new);
        const std::size_t old = width(), wide = label_groups(n) * kLanes;
        if (wide != old) {
            std::vector<float> weights(n_inputs_ * 2 * wide, 0.0f);
            for (std::size_t f = 0; f < n_inputs_; ++f) {
                float* block = weights.data() + f * 2 * wide;
                std::fill_n(block + wide, wide, kFirstFloatSquares);
                std::copy_n(weights_.data() + f * 2 * old, old, block);
                std::copy_n(weights_.data() + f * 2 * old + old, old, block + wide);
            }
            weights_.swap(weights);
            bias_.resize(wide, kFirstBias);
            bias_squares_.resize(wide, kFirstSquares);
        }
        memory_.grow_labels(n);
        n_labels_ = n;
    }

    void grow_features(std::int64_t n_new, bool were_missing) override {
        const auto n = static_cast<std::size_t>(n_new);
        if (hashes_) return;
        scale_.grow(n, were_missing);
        if (were_missing) memory_.add_missing(n_inputs_, n);
        weights_.resize(n * 2 * width(), 0.0f);
        for (std::size_t f = n_inputs_; f < n; ++f)
            std::fill_n(weights_.data() + (f * 2 + 1) * width(), width(), kFirstFloatSquares);
        n_inputs_ = n;
    }

    void reset() noexcept override {
        scale_.clear();
        memory_.clear();
        start();
    }

    std::unique_ptr<Scorer> clone() const override { return std::make_unique<LinearScorer>(*this); }

    // Squares stay those of a normal number, as inverse_sqrt needs.
    void fields(Fields& f) override {
        const std::size_t k = n_labels_, n = width();
        f.object(*this);
        f.part("", scale_);
        f.part("", memory_, n_inputs_);
        f.matrix("weights", weights_, n_inputs_, k, 2 * n, within(kLargestWeight));
        f.matrix("squares", weights_, n_inputs_, k, 2 * n, {kFirstFloatSquares, kMostFloatSquares}, n);
        f.matrix("bias", bias_, 1, k, n, within(kLargest));
        f.matrix("bias_squares", bias_squares_, 1, k, n, {kFirstSquares, kLargest * kLargest});
        f.part("", scratch_);
    }

  private:
    static constexpr double kFirstBias = -3.0;  // most labels are rare
    static constexpr double kFirstSquares = 1e-8;
    static constexpr float kFirstFloatSquares = 1e-8f;
    // A step is no longer than the learning rate. So large ones only a file can have; products of two are finite.
    static constexpr float kLargestWeight = 1e15f, kMostFloatSquares = 1e36f;
    // The dense features of a table bear, and want, smaller penalties; the stop words of a bag of words do not (bibtex,
    // second half of the training rows: rank loss .065 with 1e-3, .073 with 1e-4).
    static constexpr double kPenalty = 1e-3, kTablePenalty = 1e-4;

    struct Scratch {
        Entries entries;
        std::vector<std::pair<std::int32_t, double>> hashed;
        std::vector<std::size_t> replays;
        ScaledRow row;
        std::vector<double> gradient, y, importance;
        std::vector<float> sums, float_gradient, sparse_decay, dense_decay;

        // Room for a scaled row of so many features, and for so many labels.
        void reserve(std::size_t n_features, std::size_t n_labels) {
            if (n_features > row.index.capacity()) row.reserve(2 * n_features);
            row.reserve(n_features);
            for (auto* column : {&gradient, &y, &importance}) column->reserve(n_labels);
            for (auto* column : {&sums, &float_gradient, &sparse_decay, &dense_decay}) column->reserve(n_labels);
        }
        void fields(Fields& f) {
            f.part("", entries);
            f.part("", row);
            f.memory(hashed, replays, gradient, y, importance, sums, float_gradient, sparse_decay, dense_decay);
        }
    };

    std::size_t width() const { return label_groups(n_labels_) * kLanes; }

    void start() {
        const std::size_t n = width();
        weights_.assign(n_inputs_ * 2 * n, 0.0f);
        for (std::size_t f = 0; f < n_inputs_; ++f)
            std::fill_n(weights_.data() + (f * 2 + 1) * n, n, kFirstFloatSquares);
        bias_.assign(n, kFirstBias);
        bias_squares_.assign(n, kFirstSquares);
    }

    // The entries of a row; hashed: the values that fall into a bucket are added. A missing value adds nothing, as a
    // zero: so a new feature, missing or zero in a row, does not change what the row was without it.
    void read(const Row& x, Scratch& scratch) const {
        Entries& entries = scratch.entries;
        // It may be told to look at the first features only (committee.hpp).
        entries.assign(x, hashes_ ? static_cast<std::size_t>(x.n_features) : n_inputs_);
        if (!hashes_) return;
        auto& hashed = scratch.hashed;
        hashed.clear();
        for (std::size_t i = 0; i < entries.size(); ++i)
            hashed.emplace_back(
                static_cast<std::int32_t>(splitmix64(static_cast<std::uint64_t>(entries.index[i])) % n_inputs_),
                entries.value[i]);
        std::stable_sort(hashed.begin(), hashed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        entries.index.clear();
        entries.value.clear();
        for (std::size_t i = 0; i < hashed.size();) {
            const std::int32_t bucket = hashed[i].first;
            double sum = 0.0;
            for (; i < hashed.size() && hashed[i].first == bucket; ++i)
                sum += hashed[i].second == hashed[i].second ? hashed[i].second : 0.0;
            if (sum == 0.0) continue;
            entries.index.push_back(bucket);
            entries.value.push_back(sum);
        }
    }

    // Of the scaled row in `scratch`, into `gradient`.
    void probabilities(Scratch& scratch) const {
        const std::size_t groups = label_groups(n_labels_);
        scratch.sums.resize(width());
        scratch.gradient.resize(width());
        linear_forward(scratch.row.index.data(), scratch.row.value.data(), scratch.row.size(), weights_.data(), width(),
                       scratch.sums.data());
        for (std::size_t j = 0; j < width(); ++j) scratch.gradient[j] = bias_[j] + static_cast<double>(scratch.sums[j]);
        linear_sigmoids(scratch.gradient.data(), groups * kLanes);
    }

    // Nothing is learnt of an unknown label: neither gradient nor decay.
    void step(const RowView& x, const std::int8_t* targets, double importance, Scratch& scratch) {
        const std::size_t groups = label_groups(n_labels_);
        scale_.apply(x, scratch.row);
        probabilities(scratch);
        const double dense_penalty = scale_.is_table() ? kTablePenalty : kPenalty;
        for (auto* column : {&scratch.y, &scratch.importance}) column->assign(width(), 0.0);
        for (auto* column : {&scratch.sparse_decay, &scratch.dense_decay}) column->assign(width(), 0.0f);
        for (std::size_t j = 0; j < n_labels_; ++j) {
            if (targets[j] < 0) continue;
            scratch.y[j] = static_cast<double>(targets[j]);
            scratch.importance[j] = importance;
            scratch.sparse_decay[j] = static_cast<float>(importance * kPenalty);
            scratch.dense_decay[j] = static_cast<float>(importance * dense_penalty);
        }
        linear_gradient(scratch.gradient.data(), scratch.y.data(), scratch.importance.data(), groups * kLanes, rate_,
                        bias_.data(), bias_squares_.data());
        scratch.float_gradient.resize(width());
        for (std::size_t j = 0; j < width(); ++j) scratch.float_gradient[j] = static_cast<float>(scratch.gradient[j]);
        const auto rate = static_cast<float>(rate_);
        const ScaledRow& row = scratch.row;
        linear_step(row.index.data(), row.value.data(), row.n_sparse, scratch.float_gradient.data(),
                    scratch.sparse_decay.data(), width(), rate, weights_.data());
        linear_step(row.index.data() + row.n_sparse, row.value.data() + row.n_sparse, row.size() - row.n_sparse,
                    scratch.float_gradient.data(), scratch.dense_decay.data(), width(), rate, weights_.data());
    }

    std::size_t n_labels_, n_inputs_;
    bool hashes_;
    std::uint64_t seed_;
    int n_replays_;
    double rate_;
    RowScale scale_;
    RowMemory memory_;
    std::vector<float> weights_;  // of each feature: its weights, then the sums of their squared gradients
    std::vector<double> bias_, bias_squares_;
    Scratch scratch_;  // of the row that is being learnt
};

const RegisterScorer registered("linear", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    return std::make_unique<LinearScorer>(s.n_labels, s.n_features, s.count("seed"),
                                          static_cast<int>(s.count("n_replays")), s.count("memory"),
                                          s.number("learning_rate"), static_cast<std::int64_t>(s.count("n_hashed")));
});

}  // namespace
}  // namespace boostline
