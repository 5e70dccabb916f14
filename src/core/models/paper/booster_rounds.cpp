// One round of Algorithm 1.
#include "core/models/paper/booster.hpp"

namespace boostline {

void Booster::learn(const Row& x, const Labels& labels, double* scores, bool with_probabilities) {
    const ThreadPool::AtHand threads = learners_.threads();
    gather_votes(x);                                                                // line 4
    if (has_prefixes()) accumulate();                                               // line 5
    follow(votes_.data(), expert_scores_.data(), clock_ + 1, scores, &described_);  // lines 6 and 7
    if (with_probabilities) write_probabilities(scores, described_, along_, scores + n_labels_);
    if (labels.has_pairs()) {  // line 8
        find_costs(labels);
        const double loss = scratch_[0].rank_loss_alone(scores, labels);
        teach(x, labels);  // lines 10 to 12
        if (calibrates_) calibration_.learn(scores, described_, labels);
        finish_round(labels, loss);
    } else {
        if (learns_without_pairs(labels)) {
            std::fill(costs_.begin(), costs_.end(), 0.0);  // nobody voted wrongly
            teach(x, labels);
        }
        count_without_pairs(labels, scores);
    }
}

void Booster::gather_votes(const Row& x) {
    const auto k = static_cast<std::size_t>(n_labels_);
    scratch_.resize(static_cast<std::size_t>(learners_.n_threads()));
    learners_.for_each(LearnerGroup::votes, [&](std::size_t i, Learner& learner, int) {
        learner.predict_to_learn(x, &votes_[learners_.first_vote(i) * k]);
    });
}

void Booster::find_costs(const Labels& labels) {
    prepare(labels);
    learners_.run(LearnerGroup::costs, n_votes_ + 1, 4,
                  [&](int i, int thread) { compute_costs(i, labels, scratch_[static_cast<std::size_t>(thread)]); });
}

void Booster::teach(const Row& x, const Labels& labels) {
    try {
        learners_.for_each(LearnerGroup::lessons, [&](std::size_t i, Learner& learner, int thread) {
            PairScratch& scratch = scratch_[static_cast<std::size_t>(thread)];
            const auto k = static_cast<std::size_t>(n_labels_), n = static_cast<std::size_t>(learner.n_votes());
            const bool uses_costs = learner.uses_costs();
            scratch.costs.resize(uses_costs ? n * k : 0);
            scratch.weights.resize(n);
            for (std::size_t v = 0; v < n; ++v) {
                const std::size_t vote = learners_.first_vote(i) + v;
                const double* raw = cost_row(static_cast<std::int32_t>(vote));
                if (shares_costs_ && !uses_costs && v > 0) {
                    cost_widths_[vote] = cost_widths_[vote - 1];
                    continue;
                }
                const auto [low, high] = range_of(raw, k);
                const double width = high - low;
                cost_widths_[vote] = width;
                if (!uses_costs) continue;
                const auto normalise = [&, low = low](std::size_t j) {
                    scratch.costs[v * k + j] = width > 0.0 ? (raw[j] - low) / width : 0.0;
                };
                if (learner.uses_costs_of_relevant_only())
                    for (const std::int32_t label : labels.relevant) normalise(static_cast<std::size_t>(label));
                else
                    for (std::size_t j = 0; j < k; ++j) normalise(j);
                scratch.weights[v] = width * labels.importance;
            }
            learner.prepare(x, labels, scratch.costs.data(), scratch.weights.data());
        });
    } catch (...) {
        learners_.cancel();
        throw;
    }
    learners_.commit(x, labels);
}

void Booster::finish_round(const Labels& labels, double loss) noexcept {
    record_.add(labels,
                {votes_.data(), costs_.data(), shares_costs_, cost_widths_.data(), rank_losses_.data() + 1, loss});
    keep_own_record(labels, loss);
    update(labels, static_cast<double>(clock_) + 1.0);  // lines 9 and 13
    clock_ += 1;
    row_learned(labels);
}

}  // namespace boostline
