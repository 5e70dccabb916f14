// The interface between a booster and its weak learners. A learner does not know boosters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/archive.hpp"
#include "core/base/example.hpp"
#include "core/learners/evidence.hpp"

namespace boostline {

class Learner {
  public:
    virtual ~Learner() = default;

    // How many votes (distributions over the labels) it gives. Most give one; learners that share work, such as
    // a covariance, may give several, and then get as many cost vectors.
    virtual std::int32_t n_votes() const { return 1; }

    // Votes are shares. A learner whose scores mean something before they are made shares may tell their sum, which
    // says how many labels are relevant: the row that it writes its votes to, those of all learners, n_votes x k, ends
    // with n_votes such sums, 0 if they are not told. `first` is the learner's first vote in such rows.
    virtual void tell_sums(std::size_t /*first*/, std::size_t /*n_votes*/) {}

    // Writes n_votes() x k votes. Changes nothing; may run in several threads at once.
    virtual void predict(const Row& x, double* votes) const = 0;

    // What adds to a vote's score of a label, as far as the learner knows it.
    virtual void explain(std::int32_t /*vote*/, const Row&, std::size_t /*label*/, Evidence&) const {}

    // As `predict`, just before `learn` with the same row: may keep intermediate results for it.
    virtual void predict_to_learn(const Row& x, double* votes) { predict(x, votes); }

    // A row is learned in two steps, so that all learners take it or none does. `prepare` does all that can fail, above
    // all by lack of memory; `cancel` undoes what it changed, whether it was completed or not; `commit` does the rest,
    // and cannot fail. Costs are n_votes() x k in [0, 1], weights n_votes(): weight * costs is
    // the raw cost up to a constant.
    virtual void prepare(const Row& x, const Labels& labels, const double* costs, const double* weights) = 0;
    // Whether it uses the costs at all; one that does not gets none.
    virtual bool uses_costs() const { return true; }
    // Whether it uses those of relevant labels only; the others may be anything then.
    virtual bool uses_costs_of_relevant_only() const { return false; }
    virtual void cancel() noexcept {}
    virtual void commit(const Row& x, const Labels& labels) noexcept = 0;

    // Blocks. What is loaded once serves all rows of a block; the result is that of row after row, bit for bit.
    // Votes of row r go to votes + r * stride.
    virtual void predict_block(const Row* x, std::size_t n, double* votes, std::size_t stride) const {
        for (std::size_t r = 0; r < n; ++r) predict(x[r], votes + r * stride);
    }
    // A learner that uses the labels and not the costs can learn rows before the booster has looked at its votes.
    // Returns how many of these rows it can take that way, from the first on, and reserves all the memory that
    // `learn_block` needs for them. Changes no result. Below 2: the next row is learned alone, as above.
    virtual std::size_t make_room_for_block(const Example*, std::size_t) { return 0; }
    // Votes for every row before it is learned. It cannot fail.
    virtual void learn_block(const Example*, std::size_t, double*, std::size_t) noexcept {}

    // Makes room for labels n_labels() .. n - 1, which have not been seen so far.
    virtual void grow_labels(std::int32_t n) = 0;

    // Rows have n features from now on. The new ones come last; in the rows so far they were missing, or zero.
    virtual void grow_features(std::int64_t n, bool were_missing) = 0;

    // Forgets everything: as new.
    virtual void reset() noexcept = 0;

    // A learner that calls into Python runs in the calling thread, before all others.
    virtual bool is_serial() const { return false; }

    // A cap for each vote; 0: as before.
    virtual void set_max_bytes(const std::vector<std::size_t>&) {}
    virtual std::size_t memory_bytes() const = 0;
    virtual std::unique_ptr<Learner> clone() const = 0;
    // Of a learner that calls into Python: another hull around the same Python object.
    virtual std::unique_ptr<Learner> alias() const { return clone(); }
    virtual void save(Archive& out) const = 0;
    virtual void load(const ArchiveView& in) = 0;
    // Throws std::invalid_argument unless every number is one that learning can lead to and scores stay finite with.
    virtual void check() const = 0;
    virtual std::string kind() const = 0;
};

}  // namespace boostline
