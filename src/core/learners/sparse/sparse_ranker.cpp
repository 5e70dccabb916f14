// Texts and other sparse rows: what a linear machine, the nearest rows and the centroids of the labels say of each
// label, blended by weights that are learned.
//
// The parts share their work. Rows are kept once, for replay (sparse_svm.hpp) and in an index by feature
// (row_index.hpp), which gives the product of a new row with every kept row. From these products come the nearest rows,
// which vote for their labels in proportion to the cube of the product, and the cosine with the centroid of each label,
// the sum of its rows: only its squared length has to be remembered.
#include "core/kernels/votes.hpp"
#include "core/learners/linear/sparse_svm.hpp"
#include "core/learners/scorer_kinds.hpp"
#include "core/learners/sparse/blend.hpp"
#include "core/learners/sparse/row_index.hpp"

namespace boostline {
namespace {

class SparseRankerScorer final : public Scorer {
  public:
    SparseRankerScorer(std::int32_t n_labels, std::int64_t n_features, double c, int n_replays, std::size_t memory,
                       std::size_t n_neighbours, std::size_t max_bytes, std::uint64_t seed)
        : n_labels_(static_cast<std::size_t>(n_labels)),
          n_features_(n_features),
          n_neighbours_(n_neighbours),
          svm_(n_labels_, c, n_replays, memory, max_bytes, seed) {
        start();
    }

    std::string kind() const override { return "sparse_ranker"; }
    Vote vote() const override { return Vote::proportional; }
    bool takes_blocks() const override { return false; }

    void score(const Row& x, double* raw) const override {
        static thread_local Scratch scratch;
        score(x, scratch, raw);
    }
    void score_to_learn(const Row& x, double* raw) override { score(x, scratch_, raw); }
    // The logarithm of the score, as sums. What neighbours add is not a sum over features, so it is in the rest there.
    void explain(const Row& x, std::size_t label, Evidence& out) const override {
        Scratch scratch;
        std::vector<double> raw(n_labels_);
        score(x, scratch, raw.data());
        const DualRow& row = scratch.svm.row;
        const DualMemory& memory = svm_.memory();
        const auto l = static_cast<std::int32_t>(label);
        const Blend::Parts &w = blend_.weights(), p = parts(scratch, label);
        double total = 0.0;
        for (std::size_t i = 0; i < Blend::kParts; ++i) total += w[i] * p[i];
        const double of_score = p[kScore] > kLeastScore ? w[kScore] + (p[kScore] > 0.0 ? w[kPositive] : 0.0) : 0.0;
        const double of_product = w[kCosine] * inverse_lengths_[label];

        const auto share_of = [&](std::size_t slot) {  // of a row in the label's centroid
            const DualRow& other = memory.row(memory.ring().age_of(slot));
            return std::binary_search(other.relevant.begin(), other.relevant.end(), l) ? other.importance : 0.0;
        };
        out.of_features.start(0.0);
        EvidenceSum of_machine;
        svm_.weights().explain(row, label, of_score, of_machine);
        std::size_t next = 0;
        for (std::size_t i = 0; i < row.index.size(); ++i) {
            double part = 0.0;
            index_.each_posting(row.index[i], [&](const RowIndex::Posting& posting) {
                part += share_of(posting.slot) * static_cast<double>(scratch.values[i] * posting.value);
            });
            part *= of_product;
            if (next < of_machine.index.size() && of_machine.index[next] == row.index[i])
                part += of_machine.parts[next++];
            out.of_features.add(row.index[i], part);
        }
        out.of_features.rest = total - out.of_features.total();

        out.of_rows.start(0.0);
        for (std::size_t age = memory.n_kept(); age-- > 0;) {
            const DualRow& other = memory.row(age);
            const std::size_t slot = memory.ring().slot_of(age);
            double part = of_score * (other.signed_dual(l) * row.product(other)) +
                          of_product * share_of(slot) * static_cast<double>(scratch.products[slot]);
            for (const Near& near : scratch.near)
                if (near.age == age && share_of(slot) > 0.0) part += w[kNeighbours] * near.share;
            out.of_rows.add(svm_.clock() - static_cast<std::int64_t>(age), part);
        }
        out.of_rows.rest = total - out.of_rows.total();
    }

    void prepare(const Row&, const Targets& targets, double importance, const double*) override {
        svm_.prepare(scratch_.svm, targets, importance);
        index_.make_room_for(scratch_.svm.row);
        leaving_.products.reserve(svm_.memory().size() + 1);
        leaving_.values.reserve(longest_ = std::max(longest_, scratch_.svm.row.index.size()));
    }
    void learn(const Row&, const Targets& targets, double importance, const double* raw) noexcept override {
        learn_blend(targets, importance, raw);
        svm_.learn(scratch_.svm, [this](std::size_t age, const DualRow& oldest) {
            const auto product = static_cast<double>(scratch_.products[svm_.memory().ring().slot_of(age)]);
            for (const std::int32_t l : oldest.relevant)
                scratch_.centroid[static_cast<std::size_t>(l)] -= oldest.importance * product;
            remove(age, oldest);
        });
        const DualRow& row = svm_.memory().row(0);
        const double own = squared_length(scratch_.values);
        for (const std::int32_t l : row.relevant) {
            const auto j = static_cast<std::size_t>(l);
            add_to_centroid(j, importance, scratch_.centroid[j], own);
            log_counts_[j] = log_(1.0 + svm_.counts()[j]);
        }
        index_.add(svm_.memory().ring().slot_of(0), row, scratch_.values);
        stay_small();
    }
    void set_max_bytes(std::size_t n) override {
        svm_.set_max_bytes(n);
        stay_small();
    }

    void grow_labels(std::int32_t n) override {
        n_labels_ = static_cast<std::size_t>(n);
        svm_.grow_labels(n_labels_);
        squares_.resize(n_labels_, 0.0);
        inverse_lengths_.resize(n_labels_, 0.0);
        log_counts_.resize(n_labels_, 0.0);
        scratch_ = Scratch();
    }
    void grow_features(std::int64_t n, bool) override { n_features_ = n; }
    void reset() noexcept override {
        svm_.clear();
        index_.clear();
        blend_.clear();
        start();
    }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<SparseRankerScorer>(*this); }

    void fields(Fields& f) override {
        f.object(*this);
        f.part("", svm_, n_features_);
        f.part("", blend_);
        f.array("squares", squares_, n_labels_, {0.0, kMostSquares});
        if (!f.counts()) index_fields(f);
        for (std::size_t j = 0; f.loads() && j < n_labels_; ++j) {
            measure(j);
            log_counts_[j] = log_(1.0 + svm_.counts()[j]);
        }
        f.memory(inverse_lengths_, log_counts_);
        f.add_bytes(index_.memory_bytes());
        f.part("", scratch_);
        f.part("", leaving_);
    }

  private:
    // Parts of a label's score: that of the linear machine, cut at kLeastScore, where an
    // irrelevant label has no loss, and kMostScore; the same if it is positive; its bias;
    // the cosine with the label's centroid; the share of the neighbours, and its logarithm; that of the label's count.
    enum Part { kScore, kPositive, kBias, kCosine, kNeighbours, kLogNeighbours, kLogCount };
    static constexpr double kMostSquares = 1e20, kLeastShare = 0.01, kMostScore = 3.0;
    static constexpr double kLeastVote = 1e-6;  // of the largest one: below it a label is not in the blend's gradient

    struct Near {
        float product;
        std::size_t age;
        double share;
    };
    struct Leaving {
        std::vector<float> values, products;
        void fields(Fields& f) { f.memory(values, products); }
    };
    struct Scratch {
        SparseSvm::Scratch svm;
        std::vector<float> values, products;  // for the index; with the rows in the index, by slot
        std::vector<Near> near;
        std::vector<double> centroid, neighbours;  // product with the centroid and share of the neighbours, by label

        void fields(Fields& f) {
            f.part("", svm);
            f.memory(values, products, near, centroid, neighbours);
        }
    };

    void start() {
        squares_.assign(n_labels_, 0.0);
        inverse_lengths_.assign(n_labels_, 0.0);
        log_counts_.assign(n_labels_, 0.0);
    }
    static double squared_length(const std::vector<float>& values) {
        double squares = 0.0;
        for (const float v : values) squares += static_cast<double>(v) * static_cast<double>(v);
        return squares;
    }
    // |c + a x|^2 = |c|^2 + 2 a c x + a^2 |x|^2
    void add_to_centroid(std::size_t j, double a, double product, double square) noexcept {
        squares_[j] += a * (2.0 * product + a * square);
        measure(j);
    }
    void measure(std::size_t j) noexcept {
        squares_[j] = squares_[j] > 0.0 ? squares_[j] : 0.0;
        squares_[j] = squares_[j] < kMostSquares ? squares_[j] : kMostSquares;
        inverse_lengths_[j] = squares_[j] > 1e-6 ? 1.0 / std::sqrt(squares_[j]) : 0.0;
    }

    // The oldest row leaves the memory.
    void remove(std::size_t age, const DualRow& row) noexcept {
        const DualMemory& memory = svm_.memory();
        const std::size_t slot = memory.ring().slot_of(age);
        index_.oldest_values(slot, row, leaving_.values);
        index_.products(row, leaving_.values, memory.size(), leaving_.products);
        const double own = squared_length(leaving_.values);
        for (const std::int32_t l : row.relevant) {
            double product = 0.0;
            for (std::size_t other = age + 1; other-- > 0;) {
                const auto& relevant = memory.row(other).relevant;
                if (std::binary_search(relevant.begin(), relevant.end(), l))
                    product += memory.row(other).importance *
                               static_cast<double>(leaving_.products[memory.ring().slot_of(other)]);
            }
            add_to_centroid(static_cast<std::size_t>(l), -row.importance, product, own);
        }
        index_.remove(slot, row);
    }
    void stay_small() noexcept {
        svm_.forget([this](std::size_t age, const DualRow& oldest) { remove(age, oldest); },
                    [this] { return index_.bytes(); });
        const std::size_t by_label = 3 * n_labels_ * sizeof(double);
        if (svm_.held_bytes() + index_.memory_bytes() + Fields::bytes(scratch_) + Fields::bytes(leaving_) + by_label +
                sizeof(*this) <=
            svm_.max_bytes())
            return;
        svm_.compact();
        index_.compact();
        if (Fields::bytes(scratch_) > svm_.max_bytes() / 16) scratch_ = Scratch();
    }

    // The values of the rows in the index, the oldest row first: they depend on how rare features were at the time.
    void index_fields(Fields& f) {
        const DualMemory& memory = svm_.memory();
        std::size_t n = 0;
        for (std::size_t age = 0; age < memory.n_kept(); ++age) n += memory.row(age).index.size();
        std::vector<std::uint32_t> cursors = index_.cursors();
        std::vector<float> values;
        f.pieces<float>("index_values", n, within(DualMemory::kMostValue), [&](auto&& visit) {
            for (std::size_t age = memory.n_kept(); age-- > 0;) {
                const DualRow& row = memory.row(age);
                const std::size_t slot = memory.ring().slot_of(age);
                values.assign(row.index.size(), 0.0f);
                if (!f.loads()) index_.next_values(slot, row, cursors, values);
                visit(values.data(), values.size());
                if (!f.loads()) continue;
                index_.make_room_for(row);
                index_.add(slot, row, values);
            }
        });
    }

    Blend::Parts parts(const Scratch& scratch, std::size_t j) const noexcept {
        const auto cut = [](double value, double most) {
            return value < most ? (value > -most ? value : -most) : most;
        };
        const double z = std::max(cut(static_cast<double>(scratch.svm.sums[j]), kMostScore), kLeastScore);
        const double near = scratch.neighbours[j];
        return {z,
                z > 0.0 ? z : 0.0,
                cut(static_cast<double>(svm_.bias()[j]), kMostScore),
                cut(scratch.centroid[j] * inverse_lengths_[j], 1.0),
                near,
                near > 0.0 ? log_(1.0 + near / kLeastShare) : 0.0,
                log_counts_[j]};
    }

    void score(const Row& x, Scratch& scratch, double* raw) const {
        svm_.score(x, n_features_, scratch.svm);
        find_rows(scratch);
        const Blend::Parts& w = blend_.weights();
        add_parts(scratch.svm.sums.data(), svm_.bias().data(), scratch.centroid.data(), inverse_lengths_.data(),
                  log_counts_.data(), {w[kScore], w[kPositive], w[kBias], w[kCosine], w[kLogCount]}, kMostScore,
                  n_labels_, raw);
        for (const Near& near : scratch.near) {
            for (const std::int32_t l : svm_.memory().row(near.age).relevant) {
                const auto j = static_cast<std::size_t>(l);
                const double before = scratch.neighbours[j], after = before + near.share;
                scratch.neighbours[j] = after;
                raw[j] += w[kNeighbours] * near.share +
                          w[kLogNeighbours] * (log_(1.0 + after / kLeastShare) - log_(1.0 + before / kLeastShare));
            }
        }
        exp_less(raw, n_labels_, range_of(raw, n_labels_).high);
    }

    // Products with centroids, and the nearest rows.
    void find_rows(Scratch& scratch) const {
        const DualMemory& memory = svm_.memory();
        index_.weigh(scratch.svm.row, scratch.values);
        index_.products(scratch.svm.row, scratch.values, memory.size(), scratch.products);
        scratch.centroid.assign(n_labels_, 0.0);
        scratch.neighbours.assign(n_labels_, 0.0);
        std::vector<Near>& near = scratch.near;
        near.clear();
        const auto is_nearer = [](const Near& a, const Near& b) {
            return a.product != b.product ? a.product > b.product : a.age < b.age;
        };
        const auto keep_nearest = [&] {
            if (near.size() <= n_neighbours_) return;
            const auto end = near.begin() + static_cast<std::ptrdiff_t>(n_neighbours_);
            std::nth_element(near.begin(), end, near.end(), is_nearer);
            near.erase(end, near.end());
        };
        float least = 0.0f;
        for (std::size_t age = memory.n_kept(); age-- > 0;) {
            const float product = scratch.products[memory.ring().slot_of(age)];
            if (product == 0.0f) continue;
            const DualRow& other = memory.row(age);
            for (const std::int32_t l : other.relevant)
                scratch.centroid[static_cast<std::size_t>(l)] += other.importance * static_cast<double>(product);
            if (!(product > 0.0f) || product < least) continue;
            const double p = static_cast<double>(product);
            near.push_back({product, age, other.importance * (p * p * p)});
            if (near.size() < 4 * n_neighbours_) continue;
            keep_nearest();
            least = std::max_element(near.begin(), near.end(), is_nearer)->product;
        }
        keep_nearest();
        std::sort(near.begin(), near.end(), is_nearer);
        double total = 0.0;
        for (const Near& n : near) total += n.share;
        for (Near& n : near) n.share /= total;
    }

    void learn_blend(const Targets& targets, double importance, const double* raw) noexcept {
        Blend::Parts all{}, relevant{};
        double total = 0.0, of_relevant = 0.0;
        const auto add = [](Blend::Parts& sum, double weight, const Blend::Parts& p) {
            for (std::size_t i = 0; i < Blend::kParts; ++i) sum[i] += weight * p[i];
        };
        for (std::size_t j = 0; j < n_labels_; ++j) {
            const bool is_relevant = targets.value[j] > 0;
            // Nobody can know a relevant label that is new: the blend would learn to prefer what is rare.
            if (is_relevant ? log_counts_[j] == 0.0 : targets.value[j] < 0 || raw[j] < kLeastVote) continue;
            const Blend::Parts p = parts(scratch_, j);
            total += raw[j];
            add(all, raw[j], p);
            if (!is_relevant) continue;
            of_relevant += raw[j];
            add(relevant, raw[j], p);
        }
        if (!(of_relevant > 0.0) || of_relevant >= total) return;
        for (std::size_t i = 0; i < Blend::kParts; ++i) {
            all[i] /= total;
            relevant[i] /= of_relevant;
        }
        blend_.learn(all, relevant, of_relevant / total, importance);
    }

    std::size_t n_labels_;
    std::int64_t n_features_;
    std::size_t n_neighbours_;
    SparseSvm svm_;
    RowIndex index_;
    Blend blend_;
    std::vector<double> squares_;                       // of the lengths of centroids
    std::vector<double> inverse_lengths_, log_counts_;  // derived
    Scratch scratch_;                                   // of the row that is being learned
    Leaving leaving_;
    std::size_t longest_ = 0;  // row so far
};

const RegisterScorer registered("sparse_ranker", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    return std::make_unique<SparseRankerScorer>(s.n_labels, s.n_features, s.number("C"),
                                                static_cast<int>(s.count("n_replays")), s.count("memory"),
                                                s.count("n_neighbours"), s.count("max_bytes"), s.count("seed"));
});

}  // namespace
}  // namespace boostline
