// The state of a booster without its learners': saved, loaded, restored, grown.
#include "core/models/paper/booster.hpp"

namespace boostline {

std::size_t Booster::memory_bytes() const {
    const std::size_t doubles = votes_.capacity() + block_votes_.capacity() + next_votes_.capacity() +
                                expert_scores_.capacity() + costs_.capacity() + rank_losses_.capacity() +
                                cost_widths_.capacity() + learner_weights_.capacity();
    return sizeof(*this) + doubles * sizeof(double) + cost_ranges_.capacity() * sizeof(KnownRange) +
           record_.memory_bytes() + Fields::bytes(recent_, static_cast<std::size_t>(n_features_)) +
           calibration_.memory_bytes() + learners_.memory_bytes();
}

void Booster::save(Archive& out) const {
    out.add_one("clock", static_cast<std::int64_t>(clock_));
    record_.save(out);
    out.add("learner_weights", learner_weights_);
    out.add("restarts", std::vector<std::int64_t>{n_restarts_, static_cast<std::int64_t>(restarted_at_)});
    out.add("drift_alarm", alarm_.values());
    if (watches_drift_) Fields::save(recent_, out, "recent_", static_cast<std::size_t>(n_features_));
    calibration_.save(out);
}

void Booster::check() const {
    record_.check(clock_, most_loss());
    require(n_restarts_ >= 0 && static_cast<std::uint64_t>(n_restarts_) <= clock_ && restarted_at_ <= clock_, "",
            "restarts");
    alarm_.check(static_cast<double>(clock_));
    Fields::check(recent_, "recent_", static_cast<std::size_t>(n_features_));
    calibration_.check();
}

void Booster::restore_own(const Booster& earlier) {
    clock_ = earlier.clock_;
    learner_weights_ = earlier.learner_weights_;
    record_ = earlier.record_;
    n_restarts_ = earlier.n_restarts_;
    restarted_at_ = earlier.restarted_at_;
    alarm_ = earlier.alarm_;
    recent_ = earlier.recent_;
    calibration_ = earlier.calibration_;
}

void Booster::load_own(const ArchiveView& in) {
    clock_ = static_cast<std::uint64_t>(in.read_one<std::int64_t>("clock"));
    record_.load(in);
    in.read("learner_weights", static_cast<std::size_t>(n_votes_), learner_weights_);
    std::vector<std::int64_t> restarts;
    in.read("restarts", 2, restarts);
    n_restarts_ = restarts[0];
    restarted_at_ = static_cast<std::uint64_t>(restarts[1]);
    std::vector<double> alarm;
    in.read("drift_alarm", DriftAlarm::kValues, alarm);
    alarm_.set(alarm);
    if (watches_drift_) Fields::load(recent_, in, "recent_", static_cast<std::size_t>(n_features_));
    calibration_.load(in);
}

void Booster::grow_labels(std::int32_t n) {
    n_labels_ = n;
    learners_.grow_labels(n);
    record_.grow_labels(n);
    recent_.grow_labels(static_cast<std::size_t>(n));
    calibration_.grow_labels(n);
    resize_workspace();
}

void Booster::grow_features(std::int64_t n, bool were_missing) {
    if (were_missing) recent_.add_missing(static_cast<std::size_t>(n_features_), static_cast<std::size_t>(n));
    n_features_ = n;
    learners_.grow_features(n, were_missing);
}

}  // namespace boostline
