// Blocks of rows: learners take them together where they can, with the bits of row after row.
#include "core/booster.hpp"

namespace boostline {

namespace {
constexpr std::size_t kMostVotes = 1 << 16;  // at hand together
constexpr std::size_t kRowsOfThread = 16;    // that one thread scores before it looks for more
}  // namespace

void Booster::learn_block(Example* rows, std::size_t n, double* scores, std::size_t stride, bool with_probabilities) {
    for (std::size_t r = 0; r < n; ++r)
        rows[r].is_taught = rows[r].labels.has_pairs() || learns_without_pairs(rows[r].labels);
    for (std::size_t at = 0; at < n;) {
        const std::size_t together = make_room_for_block(rows + at, n - at);
        if (together > 1) {
            at += learn_together(rows + at, together, scores + at * stride, stride, with_probabilities);
        } else {
            learn(rows[at].x, rows[at].labels, scores + at * stride, with_probabilities);
            ++at;
        }
    }
}

// Threads share the rows, some at a time.
void Booster::score_block(const Row* x, std::size_t n, double* scores, double* spreads) const {
    const auto k = static_cast<std::size_t>(n_labels_);
    const std::size_t n_pieces = (n + kRowsOfThread - 1) / kRowsOfThread;
    if (learners_.n_threads() == 1 || n_pieces == 1) return score_piece(x, n, scores, spreads);
    learners_.run_shared(static_cast<int>(n_pieces), [&](int piece) {
        const std::size_t first = static_cast<std::size_t>(piece) * kRowsOfThread;
        score_piece(x + first, std::min(kRowsOfThread, n - first), scores + first * k,
                    spreads == nullptr ? nullptr : spreads + first * calibration_.spread().size());
    });
}

void Booster::score_piece(const Row* x, std::size_t n, double* scores, double* spreads) const {
    const std::int32_t needed = experts_needed(clock_ + 1);
    const auto k = static_cast<std::size_t>(n_labels_), n_votes = static_cast<std::size_t>(n_votes_);
    const std::size_t n_spreads = calibration_.spread().size();
    // Large with thousands of labels, so they are kept from call to call. A learner written in Python may score
    // with a model of its own meanwhile, which then finds none.
    static thread_local std::vector<double> kept_votes, kept_all;
    std::vector<double> votes = std::move(kept_votes), all = std::move(kept_all);
    // Few enough rows at once that their votes stay in the caches.
    const std::size_t most = std::min(n, std::max<std::size_t>(1, kMostVotes / std::max<std::size_t>(1, n_votes * k)));
    votes.resize(most * n_votes * k);
    all.assign(has_prefixes() ? (static_cast<std::size_t>(needed) + 1) * k : 0, 0.0);
    for (std::size_t r = 0; r < n; ++r) {
        if (r % most == 0)
            learners_.predict_block(x + r, std::min(most, n - r), k, static_cast<std::size_t>(needed), votes.data());
        const double* own = &votes[r % most * n_votes * k];
        for (std::int32_t i = 0; has_prefixes() && i < needed; ++i)
            add_vote(i, own + static_cast<std::size_t>(i) * k, all.data());
        follow(own, all.data(), clock_ + 1, scores + r * k, spreads == nullptr ? nullptr : spreads + r * n_spreads);
    }
    kept_votes = std::move(votes);
    kept_all = std::move(all);
}

void Booster::probabilities(const Row* x, std::size_t n, double* out) const {
    const auto k = static_cast<std::size_t>(n_labels_);
    const std::size_t n_spreads = calibration_.spread().size();
    std::vector<double> spreads(n * n_spreads);
    score_block(x, n, out, spreads.data());
    for (std::size_t r = n; r-- > 0;) {  // from the last one on, as they move apart
        const double* scores = out + r * k;
        double* own = out + 2 * r * k;
        if (r > 0) std::copy_n(scores, k, own);
        write_probabilities(scores, spreads.data() + r * n_spreads, own + k);
    }
}

// How many rows all learners can learn before this booster looks at their votes, with all the memory for it. If there
// is not enough memory: none, and learning the next row alone reports the error.
std::size_t Booster::make_room_for_block(const Example* rows, std::size_t n) {
    if (n < 2) return 0;
    try {
        learn_marked();
        n = std::min(n, learners_.make_room_for_block(rows, n));
        if (n < 2 || !make_own_room(rows, n)) return 0;
        block_votes_.resize(n * votes_.size());
        scratch_.resize(static_cast<std::size_t>(learners_.n_threads()));
        for (PairScratch& scratch : scratch_) scratch.reserve(static_cast<std::size_t>(n_labels_));
        if (watches_drift_) recent_.make_room_for_block(rows, n);
        return n;
    } catch (const std::bad_alloc&) {
        return 0;
    }
}

// The learners do not see the costs, so they go first. Returns how many rows are done: after a restart those that
// follow have to be learned anew.
std::size_t Booster::learn_together(const Example* rows, std::size_t n, double* scores, std::size_t stride,
                                    bool with_probabilities) noexcept {
    const std::int64_t n_restarts = n_restarts_;
    const auto k = static_cast<std::size_t>(n_labels_);
    learners_.learn_block(rows, n, k, block_votes_.data());
    for (std::size_t r = 0; r < n; ++r) {
        const Labels& labels = rows[r].labels;
        double* own = scores + r * stride;
        std::copy_n(&block_votes_[r * votes_.size()], votes_.size(), votes_.begin());
        if (has_prefixes()) accumulate();
        follow(votes_.data(), expert_scores_.data(), clock_ + 1, own, spreads_.data());
        if (with_probabilities) write_probabilities(own, spreads_.data(), own + k);
        if (!labels.has_pairs()) {
            if (learns_without_pairs(labels)) std::fill(costs_.begin(), costs_.end(), 0.0);
            count_without_pairs(labels, own);
            continue;
        }
        prepare(labels);
        for (int i = 0; i <= n_votes_; ++i) compute_costs(i, labels, scratch_[0]);
        const double loss = loss_of(own, labels, scratch_[0]);
        if (watches_drift_) recent_.prepare(rows[r].x, labels);
        for (std::size_t v = 0; v < cost_widths_.size(); ++v) {
            if (shares_costs_ && v > 0) {
                cost_widths_[v] = cost_widths_[0];
                continue;
            }
            const Range costs = range_of(cost_row(static_cast<std::int32_t>(v)), k);
            cost_widths_[v] = costs.high - costs.low;
        }
        if (calibrates_) calibration_.learn(own, spreads_.data(), labels);
        finish_round(labels, loss);
        if (n_restarts_ != n_restarts) return r + 1;
    }
    return n;
}

}  // namespace boostline
