// Learners that score every label and follow the labels alone, not the costs: linear, ridge, kernel, neighbours,
// recency. A Scorer gives raw scores, which make_votes turns into a distribution; Committee (committee.hpp) puts one or
// several behind the Learner interface.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/base/fields.hpp"
#include "core/kernels/sums.hpp"
#include "core/kernels/votes.hpp"
#include "core/learners/learner.hpp"

namespace boostline {

// What is known of a label of an example: 1 relevant, 0 irrelevant, -1 unknown.
struct Targets {
    std::vector<std::int8_t> value;

    void assign(const Labels& labels) {
        if (labels.are_all_known()) {
            value.assign(labels.is_relevant.begin(), labels.is_relevant.end());
            return;
        }
        value.assign(labels.is_relevant.size(), -1);
        for (const std::int32_t l : labels.relevant) value[static_cast<std::size_t>(l)] = 1;
        for (const std::int32_t r : labels.irrelevant) value[static_cast<std::size_t>(r)] = 0;
    }
};

// What is to be learned of a row in a block. Importance 0: nothing, it is scored only.
struct Lesson {
    Targets targets;
    double importance = 0.0;
};

// How raw scores become votes.
enum class Vote {
    soft_clip,    // least squares: about 0 or 1, may be negative; h = (f + sqrt(f^2 + eps^2)) / 2
    proportional  // probabilities or counts: never negative
};

// Returns the sum that they had before they were made shares.
inline double make_votes(Vote vote, const double* raw, std::size_t n_labels, double* votes) {
    if (vote == Vote::soft_clip)
        soft_clip(raw, n_labels, votes);
    else
        keep_positive(raw, n_labels, votes);
    const double total = sum(votes, n_labels);
    divide_by(total, n_labels, votes);
    return total;
}

class Scorer {
  public:
    virtual ~Scorer() = default;
    virtual std::string kind() const = 0;
    virtual Vote vote() const = 0;

    // Whether it learns from rows of which every label is known and all are relevant, or none is: what it gives is then
    // how frequent labels are among all rows, not among those that have something to rank.
    virtual bool learns_without_pairs() const { return false; }

    // Raw scores of a row; changes nothing, may run in several threads at once.
    virtual void score(const Row& x, double* raw) const = 0;
    // What adds to the raw score of a label; nothing by default.
    virtual void explain(const Row&, std::size_t /*label*/, Evidence&) const {}
    // As `score`, just before `prepare` and `learn` with the same row: may keep intermediate results for them.
    virtual void score_to_learn(const Row& x, double* raw) { score(x, raw); }
    // Reserves all the memory that `learn` needs; changes no result. `raw` is what score_to_learn gave for this row;
    // importance is in (0, 1].
    virtual void prepare(const Row& x, const Targets& targets, double importance, const double* raw) = 0;
    virtual void cancel() noexcept {}  // the row will not be learnt: memory that only it needed may go
    virtual void learn(const Row& x, const Targets& targets, double importance, const double* raw) noexcept = 0;

    // Blocks of n rows, with the bits of row after row. The scores of k labels for row r go to raw + r * k.
    virtual void score_block(const Row* x, std::size_t n, std::size_t k, double* raw) const {
        for (std::size_t r = 0; r < n; ++r) score(x[r], raw + r * k);
    }
    // Whether there is anything to gain by it.
    virtual bool takes_blocks() const { return true; }
    // Returns how many of these rows `learn_block` can take, from the first on, and reserves all the memory for them.
    // Below 2: the next row has to be learned alone. A scorer that reads other members'
    // scores gets their number alone, without rows and lessons.
    virtual std::size_t make_room_for_block(const Row*, const Lesson*, std::size_t) { return 0; }
    // Scores every row, then learns it. There is room for all, so neither this nor `prepare` fails.
    virtual void learn_block(const Row* x, const Lesson* lessons, std::size_t n, std::size_t k, double* raw) {
        for (std::size_t r = 0; r < n; ++r) {
            double* scores = raw + r * k;
            score_to_learn(x[r], scores);
            if (!(lessons[r].importance > 0.0)) continue;
            prepare(x[r], lessons[r].targets, lessons[r].importance, scores);
            learn(x[r], lessons[r].targets, lessons[r].importance, scores);
        }
    }

    // A scorer may keep past rows at the scores of the member that it reads. If the last `learn` of that member has
    // computed scores of the last rows again (rows x labels, up to the row at hand), it receives them after its own.
    virtual bool keeps_scores() const { return false; }
    virtual void receive(const std::vector<float>& /*renewed*/) noexcept {}
    virtual void renew_scores(bool /*is_kept*/) {}
    virtual const std::vector<float>& renewed_scores() const noexcept {
        static const std::vector<float> none;
        return none;
    }

    virtual void grow_labels(std::int32_t n) = 0;
    virtual void grow_features(std::int64_t n, bool were_missing) = 0;  // see Learner
    virtual void reset() noexcept = 0;                                  // as new
    // Of a scorer with a cap: no more than this from now on.
    virtual void set_max_bytes(std::size_t) {}
    virtual std::unique_ptr<Scorer> clone() const = 0;

    // Its state (base/fields.hpp), from which all of this follows.
    virtual void fields(Fields& f) = 0;
    void save(Archive& out, const std::string& prefix) const { Fields::save(*this, out, prefix); }
    void load(const ArchiveView& in, const std::string& prefix) { Fields::load(*this, in, prefix); }
    void check(const std::string& prefix) const { Fields::check(*this, prefix); }
    std::size_t memory_bytes() const { return Fields::bytes(*this); }
};

// Room for `more` elements, so that adding them needs no memory; twice as much as there was, so that it is rarely asked
// for.
template <class T>
void make_room(std::vector<T>& vector, std::size_t more) {
    const std::size_t needed = vector.size() + more;
    if (needed > vector.capacity()) vector.reserve(std::max(needed, 2 * vector.capacity()));
}

// Empties a vector and gives its memory back.
template <class Vector>
void release(Vector& vector) noexcept {
    Vector().swap(vector);
}

// Copies an n x old_width matrix into an n x new_width one, new columns filled with `fill`.
template <class T>
void widen(std::vector<T>& matrix, std::size_t old_width, std::size_t new_width, T fill) {
    const std::size_t n = old_width == 0 ? 0 : matrix.size() / old_width;
    std::vector<T> wide(n * new_width, fill);
    for (std::size_t i = 0; i < n; ++i) std::copy_n(&matrix[i * old_width], old_width, &wide[i * new_width]);
    matrix.swap(wide);
}

}  // namespace boostline
