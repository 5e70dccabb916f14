// The nearest of the last rows, on a common scale (row_scale.hpp). Meant for up to some hundred features: a row costs a
// walk over all rows in memory.
#include "core/base/thread_pool.hpp"
#include "core/learners/neighbours/nearest_memory.hpp"
#include "core/learners/row_memory.hpp"
#include "core/learners/row_scale.hpp"
#include "core/learners/scorer_kinds.hpp"

namespace boostline {
namespace {

class NeighboursScorer final : public Scorer {
  public:
    NeighboursScorer(std::int32_t n_labels, std::int64_t n_features, std::size_t n_neighbours = 40,
                     std::size_t memory = 4000)
        : scale_(static_cast<std::size_t>(n_features)),
          rows_(memory, 0),
          nearest_(static_cast<std::size_t>(n_labels), static_cast<std::size_t>(n_features), n_neighbours, memory) {}

    std::string kind() const override { return "neighbours"; }
    Vote vote() const override { return Vote::proportional; }

    void score(const Row& x, double* raw) const override {
        static thread_local Scratch scratch;
        scratch.entries.assign(x, scale_.n_features());
        place(scratch.entries, scratch);
        nearest_.score(scratch.point.data(), scratch.nearest, raw);
    }
    void score_block(const Row* x, std::size_t n, std::size_t, double* raw) const override {
        static thread_local Scratch scratch;
        static thread_local std::vector<float> points;
        const std::size_t d = scale_.n_features();
        points.resize(n * d);
        for (std::size_t r = 0; r < n; ++r) {
            scratch.entries.assign(x[r], d);
            place(scratch.entries, scratch);
            std::copy(scratch.point.begin(), scratch.point.end(), &points[r * d]);
        }
        nearest_.score_block(points.data(), n, scratch.nearest, raw);
    }
    void explain(const Row& x, std::size_t label, Evidence& out) const override {
        Scratch scratch;
        scratch.entries.assign(x, scale_.n_features());
        place(scratch.entries, scratch);
        nearest_.explain(scratch.point.data(), label, scale_.n_rows(), out.of_rows);
    }
    void score_to_learn(const Row& x, double* raw) override {
        scratch_.entries.assign(x, scale_.n_features());
        place(scratch_.entries, scratch_);
        nearest_.score(scratch_.point.data(), scratch_.nearest, raw);
    }

    // Of the row that score_to_learn has placed.
    void prepare(const Row&, const Targets&, double, const double*) override {
        const std::size_t n_dense = scale_.make_room_for(scratch_.entries);
        rows_.make_room_for(scratch_.entries.size());
        nearest_.make_room(1);
        if (!is_time_to_move(scale_.n_rows() + 1)) return;
        std::size_t longest = scratch_.entries.size();
        for (std::size_t age = 0; age < rows_.size(); ++age) longest = std::max(longest, rows_.row(age).size);
        scratch_.row.reserve(longest + n_dense);
        helpers_.resize(static_cast<std::size_t>(n_sharing() - 1));
        for (Scratch& mover : helpers_) {
            mover.row.reserve(longest + n_dense);
            mover.point.reserve(scale_.n_features());
        }
    }
    // Up to the next row after which the scale is looked at.
    std::size_t make_room_for_block(const Row* x, const Lesson*, std::size_t n) override {
        n = std::min(n, scale_.n_rows_before_look());
        const std::size_t d = scale_.n_features();
        std::size_t ahead = 0;
        while (ahead < n && !is_time_to_move(scale_.n_rows() + static_cast<std::int64_t>(ahead) + 1)) ++ahead;
        if (ahead < 2) return 0;
        scratch_.entries.reserve(d);
        scratch_.row.reserve(d);
        scratch_.point.reserve(d);
        rows_.make_room_for_block(ahead, [&](std::size_t r) { return std::min(d, x[r].most_entries()); });
        nearest_.make_room(ahead);
        nearest_.make_room_to_score(ahead, scratch_.nearest);
        return ahead;
    }
    // The scale does not wait for the neighbours, and does not move them before the end of the block.
    void learn_block(const Row* x, const Lesson* lessons, std::size_t n, std::size_t k, double* raw) override {
        const std::size_t d = scale_.n_features();
        std::vector<float>& points = scratch_.nearest.points;
        for (std::size_t at = 0; at < n; at += NearestMemory::kTogether) {
            const std::size_t m = std::min(NearestMemory::kTogether, n - at);
            points.resize(m * d);
            for (std::size_t r = 0; r < m; ++r) {
                const double importance = lessons[at + r].importance;
                scratch_.entries.assign(x[at + r], d);
                place(scratch_.entries, scratch_);
                std::copy(scratch_.point.begin(), scratch_.point.end(),
                          points.begin() + static_cast<std::ptrdiff_t>(r * d));
                if (!(importance > 0.0)) continue;
                rows_.push(scratch_.entries, nullptr, importance);
                scale_.learn(scratch_.entries);
            }
            nearest_.learn_block(points.data(), lessons + at, m, scratch_.nearest, raw + at * k);
        }
    }
    void learn(const Row&, const Targets& targets, double importance, const double*) noexcept override {
        nearest_.add(scratch_.point.data(), targets.value.data(), importance);
        rows_.push(scratch_.entries, nullptr, importance);
        scale_.learn(scratch_.entries);
        if (!is_time_to_move(scale_.n_rows())) return;
        const std::size_t n_parts = helpers_.size() + 1, part = rows_.size() / n_parts + 1;
        share(static_cast<int>(n_parts), [&](int i) {
            Scratch& mover = i == 0 ? scratch_ : helpers_[static_cast<std::size_t>(i) - 1];
            const std::size_t first = static_cast<std::size_t>(i) * part;
            for (std::size_t age = first; age < std::min(first + part, rows_.size()); ++age) {
                place(rows_.row(age), mover);
                nearest_.replace(age, mover.point.data());
            }
        });
    }

    void grow_labels(std::int32_t n) override { nearest_.grow_labels(static_cast<std::size_t>(n)); }
    void grow_features(std::int64_t n_new, bool were_missing) override {
        const auto n = static_cast<std::size_t>(n_new);
        if (were_missing) rows_.add_missing(scale_.n_features(), n);
        scale_.grow(n, were_missing);
        nearest_.grow_inputs(n);
    }
    void reset() noexcept override {
        scale_.clear();
        rows_.clear();
        nearest_.clear();
    }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<NeighboursScorer>(*this); }

    void fields(Fields& f) override {
        f.object(*this);
        f.part("", scale_);
        f.part("", rows_, scale_.n_features());
        f.part("", nearest_);
        f.require(rows_.size() == nearest_.size(), "row_length");
        f.part("", scratch_);
        for (Scratch& helper : helpers_) {
            f.object(helper);
            f.part("", helper);
        }
    }

  private:
    struct Scratch {
        Entries entries;
        ScaledRow row;
        std::vector<float> point;
        NearestMemory::Scratch nearest;

        void fields(Fields& f) {
            f.part("", entries);
            f.part("", row);
            f.memory(point);
            f.part("", nearest);
        }
    };

    // The scale moves ever more slowly, and the rows in memory follow now and then.
    static bool is_time_to_move(std::int64_t n_rows) { return n_rows % 512 == 0 || (n_rows & (n_rows - 1)) == 0; }

    void place(const RowView& row, Scratch& scratch) const {
        scale_.apply(row, scratch.row);
        scratch.point.assign(scale_.n_features(), 0.0f);
        for (std::size_t i = 0; i < scratch.row.size(); ++i)
            scratch.point[static_cast<std::size_t>(scratch.row.index[i])] = PointBlocks::to_float(scratch.row.value[i]);
    }

    RowScale scale_;
    RowMemory rows_;  // as they came; their targets are in nearest_
    NearestMemory nearest_;
    Scratch scratch_;               // of the row that is being learnt
    std::vector<Scratch> helpers_;  // of further threads that scale rows anew
};

const RegisterScorer registered("neighbours", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    return std::make_unique<NeighboursScorer>(s.n_labels, s.n_features, s.count("n_neighbours"), s.count("memory"));
});

}  // namespace
}  // namespace boostline
