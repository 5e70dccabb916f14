// The interface between a booster and its weak learners. A learner never hears of a booster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/archive.hpp"
#include "core/example.hpp"

namespace boostline {

class Learner {
  public:
    virtual ~Learner() = default;

    // How many votes (distributions over the labels) it gives. Most give one; learners that share work, such as
    // a covariance, may give several, and then get as many cost vectors.
    virtual std::int32_t n_votes() const { return 1; }

    // Writes n_votes() x k votes. Changes nothing; may run in several threads at once.
    virtual void predict(const Row& x, double* votes) const = 0;

    // The same just before `learn` with the same row: may keep intermediate results for it.
    virtual void predict_to_learn(const Row& x, double* votes) { predict(x, votes); }

    // A row is learned in two steps, so that all learners take it or none does. `prepare` does all that can fail, for
    // want of memory in the first place; `cancel` takes back what it changed, whether it came to its end or not;
    // `commit` does the rest, and can not fail. Costs are n_votes() x k in [0, 1], weights n_votes(): weight * costs is
    // the raw cost up to a constant.
    virtual void prepare(const Row& x, const Labels& labels, const double* costs, const double* weights) = 0;
    virtual void cancel() noexcept {}
    virtual void commit(const Row& x, const Labels& labels) noexcept = 0;
    // Whether commit is where the work is: then it is worth a thread.
    virtual bool works_in_commit() const { return false; }

    // Makes room for labels n_labels() .. n - 1, which have not been seen so far.
    virtual void grow_labels(std::int32_t n) = 0;

    // Rows have n features from now on. The new ones come last; in the rows so far they were missing, or zero.
    virtual void grow_features(std::int64_t n, bool were_missing) = 0;

    // Forgets everything: as new. Called when the stream has changed (drift), in the middle of a row: it can not fail.
    virtual void reset() noexcept = 0;

    // A learner that calls into Python runs in the calling thread, before all others.
    virtual bool is_serial() const { return false; }

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
