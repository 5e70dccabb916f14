// The state of a booster without its learners': saved, loaded, restored, grown.
#include "core/models/paper/booster.hpp"

namespace boostline {

std::size_t Booster::memory_bytes() const {
    const std::size_t doubles = votes_.capacity() + block_votes_.capacity() + next_votes_.capacity() +
                                expert_scores_.capacity() + costs_.capacity() + rank_losses_.capacity() +
                                cost_widths_.capacity() + learner_weights_.capacity();
    return sizeof(*this) + doubles * sizeof(double) + record_.memory_bytes() + calibration_.memory_bytes() +
           along_.memory_bytes() + learners_.memory_bytes();
}

void Booster::save(Archive& out) const {
    out.add_one("clock", static_cast<std::int64_t>(clock_));
    record_.save(out);
    out.add("learner_weights", learner_weights_);
    calibration_.save(out);
}

void Booster::check() const {
    record_.check(clock_, most_loss());
    calibration_.check();
}

void Booster::restore_own(const Booster& earlier) {
    clock_ = earlier.clock_;
    learner_weights_ = earlier.learner_weights_;
    record_ = earlier.record_;
    calibration_ = earlier.calibration_;
}

void Booster::start_again() {
    learners_.renew();
    clock_ = 0;
    record_ = Record(n_votes_, n_labels_);
    calibration_ = calibration_.as_new();
}

void Booster::exchange(Booster& other) noexcept {
    learners_.swap_parallel(other.learners_);
    learner_weights_.swap(other.learner_weights_);
    std::swap(calibration_, other.calibration_);
}

void Booster::load_own(const ArchiveView& in) {
    clock_ = static_cast<std::uint64_t>(in.read_one<std::int64_t>("clock"));
    record_.load(in);
    in.read("learner_weights", static_cast<std::size_t>(n_votes_), learner_weights_);
    calibration_.load(in);
}

void Booster::grow_labels(std::int32_t n) {
    n_labels_ = n;
    learners_.grow_labels(n);
    record_.grow_labels(n);
    calibration_.grow_labels(n);
    resize_workspace();
}

void Booster::grow_features(std::int64_t n, bool were_missing) {
    n_features_ = n;
    learners_.grow_features(n, were_missing);
}

}  // namespace boostline
