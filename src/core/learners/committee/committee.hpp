// Scorers behind the Learner interface, one vote each. A member reads the features, or the scores of members before it
// (neighbours/output_neighbours.cpp); each member's scores are computed once and used by all that need
// them. A single scorer is a committee of one.
#pragma once

#include <chrono>
#include <numeric>

#include "core/base/thread_pool.hpp"
#include "core/learners/scorer.hpp"

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
        find_first();
    }
    Committee(const Committee& other)
        : members_(other.members_),
          n_labels_(other.n_labels_),
          n_features_(other.n_features_),
          first_vote_(other.first_vote_),
          n_votes_in_row_(other.n_votes_in_row_),
          workspace_(other.workspace_) {
        for (Member& member : members_) member.scorer = member.scorer->clone();
        find_first();
    }

    std::string kind() const override { return members_.size() == 1 ? members_[0].scorer->kind() : "committee"; }
    std::int32_t n_votes() const override { return static_cast<std::int32_t>(members_.size()); }
    void tell_sums(std::size_t first, std::size_t n_votes) override {
        first_vote_ = first;
        n_votes_in_row_ = n_votes;
    }
    std::unique_ptr<Learner> clone() const override { return std::make_unique<Committee>(*this); }

    void predict(const Row& x, double* votes) const override {
        static thread_local Workspace workspace;
        run(x, workspace, votes, [](Scorer& scorer, const Row& row, double* raw) { scorer.score(row, raw); });
    }
    void explain(std::int32_t vote, const Row& x, std::size_t label, Evidence& out) const override {
        const Member& member = members_[static_cast<std::size_t>(vote)];
        if (member.reads.empty()) member.scorer->explain(x, label, out);
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
        for (const std::size_t i : first_) members_[i].scorer->cancel();  // readers keep nothing between two rows
    }
    void commit(const Row& x, const Labels& labels) noexcept override {
        if (!(labels.importance > 0.0)) return;
        for (std::size_t i = 0; i < members_.size(); ++i)
            if (learns(i, labels)) {
                Scorer& scorer = *members_[i].scorer;
                scorer.learn(row_of(i, x, workspace_), targets_, labels.importance, &workspace_.raw[i * n_labels_]);
                if (keeps_scores_of_one(members_[i]))
                    scorer.receive(members_[members_[i].reads[0]].scorer->renewed_scores());
            }
    }
    bool uses_costs() const override { return false; }

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
        if (!takes_blocks()) return 0;
        read_lessons(rows, n);
        const double total = std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
        shares_ = n_sharing() > 1 && total >= kWorthThreads;
        for (const std::size_t i : first_)
            if (n > 1)
                n = std::min(n,
                             members_[i].scorer->make_room_for_block(ahead_.block.features.data(), lessons_of(i), n));
        for (const Member& member : members_)
            if (!member.reads.empty() && n > 1)
                n = std::min(n, member.scorer->make_room_for_block(nullptr, nullptr, n));
        return n;
    }
    // With several threads the members that read features come first, the slowest of the last block before the others;
    // then those that read scores.
    void learn_block(const Example*, std::size_t n, double* votes, std::size_t stride) noexcept override {
        if (!shares_) {
            for (std::size_t i = 0; i < members_.size(); ++i) learn_member(i, n, votes, stride);
            return;
        }
        std::sort(first_.begin(), first_.end(), [&](std::size_t a, std::size_t b) {
            return seconds_[a] != seconds_[b] ? seconds_[a] > seconds_[b] : a < b;
        });
        share(static_cast<int>(first_.size()),
              [&](int item) { learn_member(first_[static_cast<std::size_t>(item)], n, votes, stride); });
        for (std::size_t i = 0; i < members_.size(); ++i)
            if (!members_[i].reads.empty()) learn_member(i, n, votes, stride);
    }

    void grow_labels(std::int32_t n) override {
        for (const Member& member : members_) member.scorer->grow_labels(n);
        n_labels_ = static_cast<std::size_t>(n);
        workspace_ = Workspace();
        ahead_ = Ahead();
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
        total += ahead_.block.memory_bytes() +
                 (ahead_.lessons.size() + ahead_.ranked_lessons.size()) * (sizeof(Lesson) + n_labels_);
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
    // A block that is being learned, and what is to be learned of it; the second lessons are for members that want a
    // pair to rank.
    struct Ahead {
        Block block;
        std::vector<Lesson> lessons, ranked_lessons;
    };
    // Whether every member learns from a row: there is a pair to rank, or a label is not known.
    static bool is_for_all(const Labels& labels) { return labels.has_pairs() || !labels.are_all_known(); }
    bool learns(std::size_t i, const Labels& labels) const {
        return is_for_all(labels) || members_[i].scorer->learns_without_pairs();
    }
    const Lesson* lessons_of(std::size_t i) const {
        const bool are_all = ahead_.ranked_lessons.empty() || members_[i].scorer->learns_without_pairs();
        return (are_all ? ahead_.lessons : ahead_.ranked_lessons).data();
    }
    bool takes_blocks() const {
        return std::all_of(members_.begin(), members_.end(), [](const Member& m) { return m.scorer->takes_blocks(); });
    }
    void read_lessons(const Example* rows, std::size_t n) {
        ahead_.block.resize(members_.size(), n, n_labels_);
        ahead_.block.features.resize(n);
        ahead_.lessons.resize(std::max(ahead_.lessons.size(), n));
        for (std::size_t r = 0; r < n; ++r) {
            ahead_.block.features[r] = rows[r].x;
            ahead_.lessons[r].targets.assign(rows[r].labels);
            ahead_.lessons[r].importance = rows[r].is_learned() ? rows[r].labels.importance : 0.0;
        }
        // Of rows without a pair most members learn nothing.
        ahead_.ranked_lessons.clear();
        if (std::all_of(rows, rows + n, [](const Example& row) { return is_for_all(row.labels); })) return;
        ahead_.ranked_lessons.assign(ahead_.lessons.begin(), ahead_.lessons.begin() + static_cast<std::ptrdiff_t>(n));
        for (std::size_t r = 0; r < n; ++r)
            if (!is_for_all(rows[r].labels)) ahead_.ranked_lessons[r].importance = 0.0;
    }
    void learn_member(std::size_t i, std::size_t n, double* votes, std::size_t stride) {
        const auto start = std::chrono::steady_clock::now();
        const Row* rows = rows_of(i, ahead_.block.features.data(), n, ahead_.block);
        Scorer& scorer = *members_[i].scorer;
        scorer.learn_block(rows, lessons_of(i), n, n_labels_, ahead_.block.raw_of(i));
        make_block_votes(i, n, ahead_.block, votes, stride);
        seconds_[i] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
        for (std::size_t r = 0; r < n; ++r) vote(i, block.raw_of(i) + r * n_labels_, votes + r * stride);
    }
    void vote(std::size_t i, const double* raw, double* votes) const {
        const double total = make_votes(members_[i].scorer->vote(), raw, n_labels_, votes + i * n_labels_);
        if (n_votes_in_row_ > 0) votes[(n_votes_in_row_ - first_vote_) * n_labels_ + first_vote_ + i] = total;
    }

    static bool keeps_scores_of_one(const Member& member) {
        return member.reads.size() == 1 && member.scorer->keeps_scores();
    }
    void find_first() {
        for (std::size_t i = 0; i < members_.size(); ++i) {
            const Member& member = members_[i];
            if (member.reads.empty()) first_.push_back(i);
            if (keeps_scores_of_one(member)) members_[member.reads[0]].scorer->renew_scores(true);
        }
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
            vote(i, raw, votes);
        }
    }

    std::vector<Member> members_;
    std::size_t n_labels_;
    std::int64_t n_features_;
    std::size_t first_vote_ = 0, n_votes_in_row_ = 0;  // see tell_sums
    Workspace workspace_;                              // between predict_to_learn and learn
    Targets targets_;
    Ahead ahead_;
    bool shares_ = false;             // the block at hand is learned by several threads
    std::vector<std::size_t> first_;  // members that read the features
    std::vector<double> seconds_;     // that each member took for its last block
};

}  // namespace boostline
