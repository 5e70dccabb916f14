// The drift alarm's trial: an old and a fresh model side by side. Rows are handed to both in blocks that end before a
// verdict can come, so that blocks give exactly what single rows give.
#include "core/models/ranker/label_ranker.hpp"

namespace boostline {

void LabelRanker::learn_block(Example* rows, std::size_t n, double* scores, std::size_t stride,
                              bool with_probabilities) {
    for (std::size_t done = 0; done < n;) {
        const std::size_t most = rival_ ? std::min(trial_.rows_to_verdict(), kMostTogether) : kMostTogether;
        const std::size_t some = watches_drift_ ? std::min(n - done, most) : n - done;
        const std::uint64_t first = clock_;
        played_.clear();
        nulls_played_.clear();
        alarm_at_.reset();
        try {
            Booster::learn_block(rows + done, some, scores + done * stride, stride, with_probabilities);
        } catch (...) {  // the rows before the one that failed have been learned
            teach_rival(rows + done, static_cast<std::size_t>(clock_ - first), first);
            throw;
        }
        teach_rival(rows + done, some, first);
        done += some;
    }
}

// If memory runs out, the trial ends; learning does not fail.
void LabelRanker::teach_rival(Example* rows, std::size_t n, std::uint64_t first) noexcept {
    if (!rival_ && !alarm_at_) return;
    std::size_t from = 0;
    try {
        if (!rival_) {
            from = static_cast<std::size_t>(*alarm_at_ - first) + 1;
            trial_ = Trial();
            rival_ = fresh();
        }
        rival_->played_.clear();
        rival_->nulls_played_.clear();
        std::vector<double> scores(static_cast<std::size_t>(n_labels_));
        rival_->Booster::learn_block(rows + from, n - from, scores.data(), 0);
        judge(rows + from, n - from);
    } catch (const std::exception&) {
        end_trial();
    }
}

void LabelRanker::judge(const Example* rows, std::size_t n) noexcept {
    std::size_t theirs = 0, ours = played_.size() - rival_->played_.size();
    for (std::size_t r = 0; r < n; ++r) {
        const Labels& labels = rows[r].labels;
        if (!labels.has_pairs()) continue;
        // Logarithms of the newcomer's score over the old model's, each at least the frequency, and over the frequency.
        double over_old = 0.0, over_frequencies = 0.0;
        for (std::size_t l = 0; l < labels.relevant.size(); ++l, ++ours, ++theirs) {
            const double rival = rival_->played_[theirs], served = played_[ours], null = nulls_played_[ours];
            const double newcomer = trial_.newcomer_serves() ? served : rival;
            const double old = trial_.newcomer_serves() ? rival : served;
            over_old += log_(std::max(newcomer, null)) - log_(std::max(old, null));
            over_frequencies += log_(newcomer) - log_(null);
        }
        if (!(labels.importance > 0.0)) continue;
        const double weight = labels.importance * scale(labels) / static_cast<double>(labels.relevant.size());
        switch (trial_.add(weight * over_old, weight * over_frequencies)) {
            case Trial::Verdict::none:
                continue;
            case Trial::Verdict::newcomer_serves:
                return exchange_with_rival();
            case Trial::Verdict::newcomer_goes:
                if (trial_.newcomer_serves()) exchange_with_rival(), trial_ = Trial();
                return end_trial();
            case Trial::Verdict::old_goes:
                return end_trial();
        }
    }
}

void LabelRanker::exchange_with_rival() noexcept {
    exchange(*rival_);
    std::swap(pool_, rival_->pool_);
    portfolio_.exchange(rival_->portfolio_);
    label_counts_.swap(rival_->label_counts_);
    std::swap(label_total_, rival_->label_total_);
}

// The rival goes. If it is the old model, the newcomer has been adopted.
void LabelRanker::end_trial() noexcept {
    rival_.reset();
    n_restarts_ += trial_.newcomer_serves() ? 1 : 0;
    trial_ = Trial();
    alarm_ = DriftAlarm();
}

std::shared_ptr<LabelRanker> LabelRanker::fresh() const {
    auto model = std::make_shared<LabelRanker>(*this);
    model->start_again();
    model->rival_.reset();
    model->watches_drift_ = false;
    model->is_rival_ = true;
    model->alarm_ = DriftAlarm();
    model->n_restarts_ = 0;
    model->portfolio_.forget();
    model->pool_.restart();
    model->surrogate_ = {};
    std::fill(model->label_counts_.begin(), model->label_counts_.end(), 0.0);
    model->label_total_ = 0.0;
    model->use_weights();
    return model;
}

}  // namespace boostline
