// Scorers behind the Learner interface, one vote each. A member reads the features, or the scores of members before it
// (scorers/stack.cpp, scorers/output_neighbours.cpp); each member's scores are computed once and used by all that need
// them. A single scorer is a committee of one.
#pragma once

#include <atomic>
#include <chrono>
#include <numeric>

#include "core/scorer.hpp"
#include "core/thread_pool.hpp"

namespace boostline {

struct Member {
    std::string prefix;              // of its arrays in a saved model
    std::shared_ptr<Scorer> scorer;  // of this committee alone
    std::vector<std::size_t> reads;  // the members whose scores it reads; none: it reads the features
    std::int64_t most_features = 0;  // it sees the first so many features; 0: all
};

class Committee final : public Learner {
  public:
    Committee(std::int32_t n_labels, std::int64_t n_features, std::vector<Member> members)
        : members_(std::move(members)), n_labels_(static_cast<std::size_t>(n_labels)), n_features_(n_features) {
        if (members_.empty()) throw std::invalid_argument("a committee has at least one member");
        for (std::size_t i = 0; i < members_.size(); ++i)
            for (const std::size_t j : members_[i].reads)
                if (j >= i) throw std::invalid_argument("a member reads the scores of members before it");
        find_readers();
    }
    Committee(const Committee& other)
        : members_(other.members_),
          n_labels_(other.n_labels_),
          n_features_(other.n_features_),
          workspace_(other.workspace_) {
        for (Member& member : members_) member.scorer = member.scorer->clone();
        find_readers();
    }

    std::string kind() const override { return members_.size() == 1 ? members_[0].scorer->kind() : "committee"; }
    std::int32_t n_votes() const override { return static_cast<std::int32_t>(members_.size()); }
    bool reads_rows(std::int32_t vote) const override {
        return members_[static_cast<std::size_t>(vote)].scorer->reads_rows();
    }
    std::unique_ptr<Learner> clone() const override { return std::make_unique<Committee>(*this); }

    void predict(const Row& x, double* votes) const override {
        static thread_local Workspace workspace;
        run(x, workspace, votes, [](Scorer& scorer, const Row& row, double* raw) { scorer.score(row, raw); });
    }
    void predict_to_learn(const Row& x, double* votes) override {
        run(x, workspace_, votes, [](Scorer& scorer, const Row& row, double* raw) { scorer.score_to_learn(row, raw); });
    }
    // Follows the labels alone: each is a target of its own, whatever it costs.
    void prepare(const Row& x, const Labels& labels, const double*, const double*) override {
        if (!(labels.importance > 0.0)) return;
        targets_.assign(labels);
        for (std::size_t i = 0; i < members_.size(); ++i)
            if (learns(i, labels))
                members_[i].scorer->prepare(row_of(i, x, workspace_), targets_, labels.importance,
                                            &workspace_.raw[i * n_labels_]);
    }
    void cancel() noexcept override {
        for (const Member& member : members_) member.scorer->cancel();
    }
    void commit(const Row& x, const Labels& labels) noexcept override {
        if (!(labels.importance > 0.0)) return;
        for (std::size_t i = 0; i < members_.size(); ++i)
            if (learns(i, labels))
                members_[i].scorer->learn(row_of(i, x, workspace_), targets_, labels.importance,
                                          &workspace_.raw[i * n_labels_]);
    }
    bool hears_costs() const override { return false; }
    bool works_in_commit() const override { return true; }

    // Member after member takes all rows of a block, so that members do not push each other's state out of the caches.
    void predict_block(const Row* x, std::size_t n, double* votes, std::size_t stride) const override {
        static thread_local Block block;
        block.resize(members_.size(), n, n_labels_);
        for (std::size_t i = 0; i < members_.size(); ++i) {
            const Row* rows = rows_of(i, x, n, block);
            members_[i].scorer->score_block(rows, n, n_labels_, block.raw_of(i));
            make_block_votes(i, n, block, votes, stride);
        }
    }
    std::size_t make_room_for_block(const Example* rows, std::size_t n) override {
        for (const Member& member : members_)
            if (!member.scorer->takes_blocks()) return 0;
        block_.resize(members_.size(), n, n_labels_);
        block_.features.resize(n);
        lessons_.resize(std::max(lessons_.size(), n));
        for (std::size_t r = 0; r < n; ++r) {
            block_.features[r] = rows[r].x;
            lessons_[r].targets.assign(rows[r].labels);
            lessons_[r].importance = rows[r].is_learned() ? rows[r].labels.importance : 0.0;
        }
        // Of rows without a pair most members learn nothing.
        ranked_lessons_.clear();
        if (std::any_of(rows, rows + n, [](const Example& row) { return !is_for_all(row.labels); })) {
            ranked_lessons_.assign(lessons_.begin(), lessons_.begin() + static_cast<std::ptrdiff_t>(n));
            for (std::size_t r = 0; r < n; ++r)
                if (!is_for_all(rows[r].labels)) ranked_lessons_[r].importance = 0.0;
        }
        for (std::size_t i = 0; i < members_.size() && n > 1; ++i) {
            const Row* x = members_[i].reads.empty() ? block_.features.data() : place_inputs(i, n, block_);
            n = std::min(n, members_[i].scorer->make_room_for_block(x, lessons_of(i), n));
        }
        return n;
    }
    // In several threads: members that wait for nobody, those that took longest last time before the others. Who has
    // given the last scores that a member waits for goes on with that member.
    void learn_block(const Example*, std::size_t n, double* votes, std::size_t stride) noexcept override {
        const auto learn = [&](std::size_t i) {
            const auto start = std::chrono::steady_clock::now();
            const Row* rows = rows_of(i, block_.features.data(), n, block_);
            members_[i].scorer->learn_block(rows, lessons_of(i), n, n_labels_, block_.raw_of(i));
            make_block_votes(i, n, block_, votes, stride);
            seconds_[i] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        };
        if (std::accumulate(seconds_.begin(), seconds_.end(), 0.0) < kWorthThreads || n_sharing() == 1) {
            for (std::size_t i = 0; i < members_.size(); ++i) learn(i);
            return;
        }
        std::sort(first_.begin(), first_.end(), [&](std::size_t a, std::size_t b) {
            return seconds_[a] != seconds_[b] ? seconds_[a] > seconds_[b] : a < b;
        });
        for (std::size_t i = 0; i < members_.size(); ++i)
            n_awaited_[i].store(members_[i].reads.size(), std::memory_order_relaxed);
        const auto learn_with_readers = [&](auto&& again, std::size_t i) -> void {
            learn(i);
            for (const std::size_t reader : readers_[i])
                if (n_awaited_[reader].fetch_sub(1) == 1) again(again, reader);
        };
        share(static_cast<int>(first_.size()),
              [&](int item) { learn_with_readers(learn_with_readers, first_[static_cast<std::size_t>(item)]); });
    }

    void grow_labels(std::int32_t n) override {
        for (const Member& member : members_) member.scorer->grow_labels(n);
        n_labels_ = static_cast<std::size_t>(n);
        workspace_ = Workspace();
        block_ = Block();
    }
    void grow_features(std::int64_t n, bool were_missing) override {
        for (const Member& member : members_) {
            const std::int64_t most = member.most_features > 0 ? member.most_features : n;
            if (std::min(n, most) > std::min(n_features_, most))
                member.scorer->grow_features(std::min(n, most), were_missing);
        }
        n_features_ = n;
    }
    void reset() noexcept override {
        for (const Member& member : members_) member.scorer->reset();
    }
    void set_max_bytes(const std::vector<std::size_t>& caps) override {
        for (std::size_t i = 0; i < members_.size() && i < caps.size(); ++i)
            if (caps[i] > 0) members_[i].scorer->set_max_bytes(caps[i]);
    }

    std::size_t memory_bytes() const override {
        std::size_t total = sizeof(*this) + (workspace_.raw.capacity() + workspace_.inputs.capacity()) * sizeof(double);
        total += block_.memory_bytes() + (lessons_.size() + ranked_lessons_.size()) * (sizeof(Lesson) + n_labels_);
        for (const Member& member : members_) total += member.scorer->memory_bytes();
        return total;
    }

    void save(Archive& out) const override {
        for (const Member& member : members_) member.scorer->save(out, member.prefix);
    }
    void load(const ArchiveView& in) override {
        for (const Member& member : members_) member.scorer->load(in, member.prefix);
    }
    void check() const override {
        for (const Member& member : members_) member.scorer->check(member.prefix);
    }

  private:
    // Of the row at hand, members x labels each: scores, and for members that read scores the sum of what they read.
    struct Workspace {
        std::vector<double> raw, inputs;
    };

    // The same of the rows of a block, and the rows themselves: n of features, or n of each member.
    struct Block {
        std::vector<double> raw, inputs;
        std::vector<Row> features, rows;
        std::size_t size = 0;  // of a member's part: rows x labels

        void resize(std::size_t n_members, std::size_t n, std::size_t k) {
            size = n * k;
            raw.resize(n_members * size);
            inputs.resize(n_members * size);
            rows.resize(n_members * n);
        }
        double* raw_of(std::size_t i) { return raw.data() + i * size; }
        double* inputs_of(std::size_t i) { return inputs.data() + i * size; }
        std::size_t memory_bytes() const {
            return (raw.capacity() + inputs.capacity()) * sizeof(double) +
                   (features.capacity() + rows.capacity()) * sizeof(Row);
        }
    };
    // Whether every member learns from a row: there is a pair to rank, or a label is not known.
    static bool is_for_all(const Labels& labels) { return labels.has_pairs() || !labels.are_all_known(); }
    bool learns(std::size_t i, const Labels& labels) const {
        return is_for_all(labels) || members_[i].scorer->learns_without_pairs();
    }
    const Lesson* lessons_of(std::size_t i) const {
        return (ranked_lessons_.empty() || members_[i].scorer->learns_without_pairs() ? lessons_ : ranked_lessons_)
            .data();
    }

    static constexpr double kWorthThreads = 5e-5;  // seconds of work that pay for waking them

    Row row_of(std::size_t i, const Row& x, const Workspace& workspace) const {
        return members_[i].reads.empty() ? x : row_at(&workspace.inputs[i * n_labels_]);
    }
    Row row_at(const double* scores) const {
        Row row;
        row.dense = scores;
        row.n_features = static_cast<std::int64_t>(n_labels_);
        return row;
    }
    const Row* place_inputs(std::size_t i, std::size_t n, Block& block) const {
        Row* rows = block.rows.data() + i * n;
        for (std::size_t r = 0; r < n; ++r) rows[r] = row_at(block.inputs_of(i) + r * n_labels_);
        return rows;
    }
    // What member i reads of n rows; the members that it reads have given their scores.
    const Row* rows_of(std::size_t i, const Row* x, std::size_t n, Block& block) const {
        if (members_[i].reads.empty()) return x;
        double* inputs = block.inputs_of(i);
        std::fill_n(inputs, n * n_labels_, 0.0);
        for (const std::size_t read : members_[i].reads) {
            const double* raw = block.raw_of(read);
            for (std::size_t j = 0; j < n * n_labels_; ++j) inputs[j] += raw[j];
        }
        return place_inputs(i, n, block);
    }
    void make_block_votes(std::size_t i, std::size_t n, Block& block, double* votes, std::size_t stride) const {
        for (std::size_t r = 0; r < n; ++r)
            make_votes(members_[i].scorer->vote(), block.raw_of(i) + r * n_labels_, n_labels_,
                       votes + r * stride + i * n_labels_);
    }

    void find_readers() {
        readers_.resize(members_.size());
        for (std::size_t i = 0; i < members_.size(); ++i) {
            for (const std::size_t read : members_[i].reads) readers_[read].push_back(i);
            if (members_[i].reads.empty()) first_.push_back(i);
        }
        n_awaited_ = std::vector<std::atomic<std::size_t>>(members_.size());
        seconds_.assign(members_.size(), 1.0);
    }

    template <class Score>
    void run(const Row& x, Workspace& workspace, double* votes, Score&& score) const {
        workspace.raw.resize(members_.size() * n_labels_);
        workspace.inputs.resize(members_.size() * n_labels_);
        for (std::size_t i = 0; i < members_.size(); ++i) {
            double* input = &workspace.inputs[i * n_labels_];
            if (!members_[i].reads.empty()) std::fill_n(input, n_labels_, 0.0);
            for (const std::size_t read : members_[i].reads)
                for (std::size_t j = 0; j < n_labels_; ++j) input[j] += workspace.raw[read * n_labels_ + j];
            double* raw = &workspace.raw[i * n_labels_];
            score(*members_[i].scorer, row_of(i, x, workspace), raw);
            make_votes(members_[i].scorer->vote(), raw, n_labels_, votes + i * n_labels_);
        }
    }

    std::vector<Member> members_;
    std::size_t n_labels_;
    std::int64_t n_features_;
    Workspace workspace_;  // between predict_to_learn and learn
    Targets targets_;
    Block block_;
    std::vector<Lesson> lessons_, ranked_lessons_;     // of the block; the second for members that want a pair to rank
    std::vector<std::size_t> first_;                   // members that read the features
    std::vector<std::vector<std::size_t>> readers_;    // of each member's scores
    std::vector<std::atomic<std::size_t>> n_awaited_;  // members that each still waits for
    std::vector<double> seconds_;                      // that each member took for the last block
};

}  // namespace boostline
