// A scorer that forgets in one go: an old one serves while a young one of the same kind grows up, and at the age of
// 2 * length rows the old one makes way. So what serves has seen between `length` and twice as many of the last rows
// and nothing before, with features scaled, landmarks chosen and steps sized by these rows alone.
#include "core/learners/scorer_kinds.hpp"

namespace boostline {
namespace {

class GenerationsScorer final : public Scorer {
  public:
    GenerationsScorer(const Scorer& as_new, std::size_t n_labels, std::int64_t length)
        : length_(length), n_labels_(n_labels), old_(as_new.clone()), young_(as_new.clone()) {}
    GenerationsScorer(const GenerationsScorer& other)
        : length_(other.length_),
          age_(other.age_),
          n_labels_(other.n_labels_),
          old_(other.old_->clone()),
          young_(other.young_->clone()) {}

    std::string kind() const override { return "generations"; }
    Vote vote() const override { return old_->vote(); }

    void score(const Row& x, double* raw) const override { old_->score(x, raw); }
    void explain(const Row& x, std::size_t label, Evidence& out) const override { old_->explain(x, label, out); }
    void score_to_learn(const Row& x, double* raw) override {
        old_->score_to_learn(x, raw);
        if (!has_young()) return;
        young_raw_.resize(n_labels_);
        young_->score_to_learn(x, young_raw_.data());
    }
    void prepare(const Row& x, const Targets& targets, double importance, const double* raw) override {
        old_->prepare(x, targets, importance, raw);
        if (has_young()) young_->prepare(x, targets, importance, young_raw_.data());
    }
    // Up to the row with which a young one starts or the old one goes.
    std::size_t make_room_for_block(const Row* x, const Lesson* lessons, std::size_t n) override {
        n = std::min(n, static_cast<std::size_t>((has_young() ? 2 * length_ : length_) - age_));
        if (n > 1) n = std::min(n, old_->make_room_for_block(x, lessons, n));
        if (n > 1 && has_young()) n = std::min(n, young_->make_room_for_block(x, lessons, n));
        if (n > 1) young_block_.resize(n * n_labels_);
        return n;
    }
    void learn_block(const Row* x, const Lesson* lessons, std::size_t n, std::size_t k, double* raw) override {
        old_->learn_block(x, lessons, n, k, raw);
        if (has_young()) young_->learn_block(x, lessons, n, k, young_block_.data());
        for (std::size_t r = 0; r < n; ++r) age_ += lessons[r].importance > 0.0 ? 1 : 0;
        make_way();
    }
    void score_block(const Row* x, std::size_t n, std::size_t k, double* raw) const override {
        old_->score_block(x, n, k, raw);
    }
    void cancel() noexcept override {
        old_->cancel();
        young_->cancel();
    }
    void learn(const Row& x, const Targets& targets, double importance, const double* raw) noexcept override {
        old_->learn(x, targets, importance, raw);
        if (has_young()) young_->learn(x, targets, importance, young_raw_.data());
        ++age_;
        make_way();
    }

    void grow_labels(std::int32_t n) override {
        old_->grow_labels(n);
        young_->grow_labels(n);
        n_labels_ = static_cast<std::size_t>(n);
    }
    void grow_features(std::int64_t n, bool were_missing) override {
        old_->grow_features(n, were_missing);
        young_->grow_features(n, were_missing);
    }
    void reset() noexcept override {
        old_->reset();
        young_->reset();
        age_ = 0;
    }
    std::unique_ptr<Scorer> clone() const override { return std::make_unique<GenerationsScorer>(*this); }

    void fields(Fields& f) override {
        f.object(*this);
        f.number("age", age_, {0.0, static_cast<double>(2 * length_ - 1)});
        f.part("old.", *old_);
        f.part("young.", *young_);
        f.memory(young_raw_, young_block_);
    }

  private:
    bool has_young() const { return age_ >= length_; }
    void make_way() noexcept {
        if (age_ < 2 * length_) return;
        old_.swap(young_);
        young_->reset();
        age_ = length_;
    }

    std::int64_t length_, age_ = 0;  // rows, and those that the old one has seen
    std::size_t n_labels_;
    std::unique_ptr<Scorer> old_, young_;
    std::vector<double> young_raw_, young_block_;  // of the row between score_to_learn and learn; of a block
};

const RegisterScorer registered("generations", [](const ScorerSettings& s) -> std::unique_ptr<Scorer> {
    if (!s.of) throw std::invalid_argument("generations need a scorer");
    return std::make_unique<GenerationsScorer>(*s.of, static_cast<std::size_t>(s.n_labels),
                                               static_cast<std::int64_t>(s.count("length")));
});

}  // namespace
}  // namespace boostline
