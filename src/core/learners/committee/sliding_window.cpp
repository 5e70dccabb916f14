// Sliding-window scorer: one model serves while its replacement trains; they swap every `length` rows. So the serving
// model has learned between `length` and twice as many of the last rows, and its scales, landmarks and steps come from
// these rows alone.
#include "core/learners/scorer_kinds.hpp"

namespace boostline {
namespace {

class SlidingWindowScorer final : public Scorer {
  public:
    SlidingWindowScorer(const Scorer& as_new, std::size_t n_labels, std::int64_t length)
        : length_(length), n_labels_(n_labels), serving_(as_new.clone()), training_(as_new.clone()) {}
    SlidingWindowScorer(const SlidingWindowScorer& other)
        : length_(other.length_),
          age_(other.age_),
          n_labels_(other.n_labels_),
          serving_(other.serving_->clone()),
          training_(other.training_->clone()) {}

    std::string kind() const override { return "sliding_window"; }
    Vote vote() const override { return serving_->vote(); }

    void score(const Row& x, double* raw) const override { serving_->score(x, raw); }
    void explain(const Row& x, std::size_t label, Evidence& out) const override { serving_->explain(x, label, out); }
    void score_to_learn(const Row& x, double* raw) override {
        serving_->score_to_learn(x, raw);
        if (!is_training()) return;
        training_raw_.resize(n_labels_);
        training_->score_to_learn(x, training_raw_.data());
    }
    void prepare(const Row& x, const Targets& targets, double importance, const double* raw) override {
        serving_->prepare(x, targets, importance, raw);
        if (is_training()) training_->prepare(x, targets, importance, training_raw_.data());
    }
    // Up to the row with which training of the replacement starts or the two swap.
    std::size_t make_room_for_block(const Row* x, const Lesson* lessons, std::size_t n) override {
        n = std::min(n, static_cast<std::size_t>((is_training() ? 2 * length_ : length_) - age_));
        if (n > 1) n = std::min(n, serving_->make_room_for_block(x, lessons, n));
        if (n > 1 && is_training()) n = std::min(n, training_->make_room_for_block(x, lessons, n));
        if (n > 1) training_block_.resize(n * n_labels_);
        return n;
    }
    void learn_block(const Row* x, const Lesson* lessons, std::size_t n, std::size_t k, double* raw) override {
        serving_->learn_block(x, lessons, n, k, raw);
        if (is_training()) training_->learn_block(x, lessons, n, k, training_block_.data());
        for (std::size_t r = 0; r < n; ++r) age_ += lessons[r].importance > 0.0 ? 1 : 0;
        swap_if_full();
    }
    void score_block(const Row* x, std::size_t n, std::size_t k, double* raw) const override {
        serving_->score_block(x, n, k, raw);
    }
    void cancel() noexcept override {
        serving_->cancel();
        training_->cancel();
    }
    void learn(const Row& x, const Targets& targets, double importance, const double* raw) noexcept override {
        serving_->learn(x, targets, importance, raw);
        if (is_training()) training_->learn(x, targets, importance, training_raw_.data());
        ++age_;
        swap_if_full();
    }

    void grow_labels(std::int32_t n) override {
        serving_->grow_labels(n);
        training_->grow_labels(n);
        n_labels_ = static_cast<std::size_t>(n);
    }
    void grow_features(std::int64_t n, bool were_missing) override {
        serving_->grow_features(n, were_missing);
        training_->grow_features(n, were_missing);
    }
    void reset() noexcept override {
        serving_->reset();
        training_->reset();
        age_ = 0;
    }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<SlidingWindowScorer>(*this); }

    void fields(Fields& f) override {
        f.object(*this);
        f.number("age", age_, {0.0, static_cast<double>(2 * length_ - 1)});
        f.part("serving.", *serving_);
        f.part("training.", *training_);
        f.memory(training_raw_, training_block_);
    }

  private:
    bool is_training() const { return age_ >= length_; }
    void swap_if_full() noexcept {
        if (age_ < 2 * length_) return;
        serving_.swap(training_);
        training_->reset();
        age_ = length_;
    }

    std::int64_t length_, age_ = 0;  // rows, and those that the serving model has learned
    std::size_t n_labels_;
    std::unique_ptr<Scorer> serving_, training_;
    std::vector<double> training_raw_, training_block_;  // of the row between score_to_learn and learn; of a block
};

const RegisterScorer registered("sliding_window", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    if (!s.of) throw std::invalid_argument("a sliding window needs a scorer");
    return std::make_unique<SlidingWindowScorer>(*s.of, static_cast<std::size_t>(s.n_labels),
                                                 static_cast<std::int64_t>(s.count("length")));
});

}  // namespace
}  // namespace boostline
