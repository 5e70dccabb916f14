// Scorers behind the Learner interface, one vote each. A member reads the features, or the scores of members before it
// (scorers/stack.cpp, scorers/output_neighbours.cpp); each member's scores are computed once and used by all that need
// them. A single scorer is a committee of one.
#pragma once

#include "core/scorer.hpp"

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
    }
    Committee(const Committee& other)
        : members_(other.members_),
          n_labels_(other.n_labels_),
          n_features_(other.n_features_),
          workspace_(other.workspace_) {
        for (Member& member : members_) member.scorer = member.scorer->clone();
    }

    std::string kind() const override { return members_.size() == 1 ? members_[0].scorer->kind() : "committee"; }
    std::int32_t n_votes() const override { return static_cast<std::int32_t>(members_.size()); }
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
            members_[i].scorer->prepare(row_of(i, x, workspace_), targets_, labels.importance,
                                        &workspace_.raw[i * n_labels_]);
    }
    void cancel() noexcept override {
        for (const Member& member : members_) member.scorer->cancel();
    }
    void commit(const Row& x, const Labels& labels) noexcept override {
        if (!(labels.importance > 0.0)) return;
        for (std::size_t i = 0; i < members_.size(); ++i)
            members_[i].scorer->learn(row_of(i, x, workspace_), targets_, labels.importance,
                                      &workspace_.raw[i * n_labels_]);
    }
    bool works_in_commit() const override { return true; }

    void grow_labels(std::int32_t n) override {
        for (const Member& member : members_) member.scorer->grow_labels(n);
        n_labels_ = static_cast<std::size_t>(n);
        workspace_ = Workspace();
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

    std::size_t memory_bytes() const override {
        std::size_t total = sizeof(*this) + (workspace_.raw.capacity() + workspace_.inputs.capacity()) * sizeof(double);
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

    Row row_of(std::size_t i, const Row& x, const Workspace& workspace) const {
        if (members_[i].reads.empty()) return x;
        Row row;
        row.dense = &workspace.inputs[i * n_labels_];
        row.n_features = static_cast<std::int64_t>(n_labels_);
        return row;
    }

    template <class Score>
    void run(const Row& x, Workspace& workspace, double* votes, Score&& score) const {
        workspace.raw.resize(members_.size() * n_labels_);
        workspace.inputs.assign(members_.size() * n_labels_, 0.0);
        for (std::size_t i = 0; i < members_.size(); ++i) {
            double* input = &workspace.inputs[i * n_labels_];
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
};

}  // namespace boostline
