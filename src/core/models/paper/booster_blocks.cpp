// Blocks of rows: learners take them together where they can, with the bits of row after row.
#include "core/models/paper/booster.hpp"

namespace boostline {

namespace {
constexpr std::size_t kMostVotes = 1 << 16;  // at hand together
constexpr std::size_t kRowsOfThread = 16;    // that one thread scores before it looks for more
}  // namespace

void Booster::learn_block(Example* rows, std::size_t n, double* scores, std::size_t stride, bool with_probabilities) {
    const ThreadPool::AtHand threads = learners_.threads();
    for (std::size_t r = 0; r < n; ++r)
        rows[r].is_taught = rows[r].labels.has_pairs() || learns_without_pairs(rows[r].labels);
    const auto k = static_cast<std::size_t>(n_labels_);
    std::size_t done = 0,
                voted = 0;  // rows before `voted` have been learned by the learners, and their votes are there
    const auto look = [&]() noexcept {
        look_at_block(rows + done, voted - done, scores + done * stride, stride, with_probabilities);
        done = voted;
    };
    while (done < n) {
        const std::size_t together =
            voted < n ? make_room_for_block(rows + done, voted - done, std::min(n - voted, kMostTogether)) : 0;
        if (together > 1) {
            // The learners do not see the costs, so they go first: with threads, one block beside the look at the last.
            share(voted > done ? 2 : 1, [&](int i) {
                i == 0 ? learners_.learn_block(rows + voted, together, k, next_votes_.data()) : look();
            });
            block_votes_.swap(next_votes_);
            voted += together;
            if (n_sharing() > 1) continue;
            look();
            block_votes_.swap(next_votes_);  // the same room for the next
        } else {
            look();
            if (done == n) continue;
            learn(rows[done].x, rows[done].labels, scores + done * stride, with_probabilities);
            voted = ++done;
        }
    }
}

// Threads share the rows, some at a time.
void Booster::score_block(const Row* x, std::size_t n, double* scores, Calibration::Votes* described) const {
    const auto k = static_cast<std::size_t>(n_labels_);
    const std::size_t n_pieces = (n + kRowsOfThread - 1) / kRowsOfThread;
    if (learners_.n_threads() == 1 || n_pieces == 1) return score_piece(x, n, scores, described);
    learners_.run_shared(static_cast<int>(n_pieces), [&](int piece) {
        const std::size_t first = static_cast<std::size_t>(piece) * kRowsOfThread;
        score_piece(x + first, std::min(kRowsOfThread, n - first), scores + first * k,
                    described == nullptr ? nullptr : described + first);
    });
}

void Booster::score_piece(const Row* x, std::size_t n, double* scores, Calibration::Votes* described) const {
    const std::int32_t needed = experts_needed(clock_ + 1);
    const auto k = static_cast<std::size_t>(n_labels_), row_size = learners_.row_size(k);
    // Large with thousands of labels, so they are kept from call to call. A learner written in Python may score
    // with a model of its own meanwhile, which then finds none.
    static thread_local std::vector<double> kept_votes, kept_all;
    std::vector<double> votes = std::move(kept_votes), all = std::move(kept_all);
    // Few enough rows at once that their votes stay in the caches.
    const std::size_t most = std::min(n, std::max<std::size_t>(1, kMostVotes / std::max<std::size_t>(1, row_size)));
    votes.resize(most * row_size);
    all.assign(has_prefixes() ? (static_cast<std::size_t>(needed) + 1) * k : 0, 0.0);
    for (std::size_t r = 0; r < n; ++r) {
        if (r % most == 0)
            learners_.predict_block(x + r, std::min(most, n - r), k, static_cast<std::size_t>(needed), votes.data());
        const double* own = &votes[r % most * row_size];
        if (has_prefixes()) add_votes(own, learner_weights_.data(), static_cast<std::size_t>(needed), k, all.data());
        follow(own, all.data(), clock_ + 1, scores + r * k, described == nullptr ? nullptr : described + r);
    }
    kept_votes = std::move(votes);
    kept_all = std::move(all);
}

template <class Take>
void Booster::for_votes(const Row* x, std::size_t n, Take&& take) const {
    const auto k = static_cast<std::size_t>(n_labels_), row_size = learners_.row_size(k);
    std::vector<double> rows(std::min(n, kRowsOfThread) * row_size);
    for (std::size_t first = 0; first < n; first += kRowsOfThread) {
        const std::size_t together = std::min(kRowsOfThread, n - first);
        learners_.predict_block(x + first, together, k, learners_.n_votes(), rows.data());
        for (std::size_t r = 0; r < together; ++r) take(first + r, &rows[r * row_size]);
    }
}

void Booster::votes(const Row* x, std::size_t n, double* out) const {
    const std::size_t size = learners_.n_votes() * static_cast<std::size_t>(n_labels_);
    for_votes(x, n, [&](std::size_t r, const double* row) { std::copy_n(row, size, out + r * size); });
}

void Booster::vote_sums(const Row* x, std::size_t n, double* out) const {
    const std::size_t n_votes = learners_.n_votes(), size = n_votes * static_cast<std::size_t>(n_labels_);
    for_votes(x, n, [&](std::size_t r, const double* row) { std::copy_n(row + size, n_votes, out + r * n_votes); });
}

void Booster::probabilities(const Row* x, std::size_t n, double* out) const {
    const auto k = static_cast<std::size_t>(n_labels_);
    std::vector<Calibration::Votes> described(n);
    AlongRanking along(k);
    score_block(x, n, out, described.data());
    for (std::size_t r = n; r-- > 0;) {  // from the last one on, as they move apart
        const double* scores = out + r * k;
        double* own = out + 2 * r * k;
        if (r > 0) std::copy_n(scores, k, own);
        write_probabilities(scores, described[r], along, own + k);
    }
}

// How many of up to n rows after the first n_voted all learners can learn before this booster looks at their votes,
// with all the memory for it. If there is not enough memory: none, and learning the next row alone reports the error.
std::size_t Booster::make_room_for_block(const Example* rows, std::size_t n_voted, std::size_t n) {
    if (n < 2) return 0;
    try {
        n = std::min(n, learners_.make_room_for_block(rows + n_voted, n));
        return n > 1 && make_room_to_look(rows, n_voted, n) ? n : 0;
    } catch (const std::bad_alloc&) {
        return 0;
    }
}

bool Booster::make_room_to_look(const Example* rows, std::size_t n_voted, std::size_t n) {
    if (!make_own_room(rows, n_voted + n)) return false;
    next_votes_.resize(n * votes_.size());
    scratch_.resize(static_cast<std::size_t>(learners_.n_threads()));
    for (PairScratch& scratch : scratch_) scratch.reserve(static_cast<std::size_t>(n_labels_));
    return true;
}

// What a booster does with the votes of a block once the learners have gone on.
void Booster::look_at_block(const Example* rows, std::size_t n, double* scores, std::size_t stride,
                            bool with_probabilities) noexcept {
    const auto k = static_cast<std::size_t>(n_labels_);
    for (std::size_t r = 0; r < n; ++r) {
        const Labels& labels = rows[r].labels;
        double* own = scores + r * stride;
        std::copy_n(&block_votes_[r * votes_.size()], votes_.size(), votes_.begin());
        if (has_prefixes()) accumulate();
        follow(votes_.data(), expert_scores_.data(), clock_ + 1, own, &described_);
        if (with_probabilities) write_probabilities(own, described_, along_, own + k);
        if (!labels.has_pairs()) {
            if (learns_without_pairs(labels)) std::fill(costs_.begin(), costs_.end(), 0.0);
            count_without_pairs(labels, own);
            continue;
        }
        prepare(labels);
        for (int i = 0; i <= n_votes_; ++i) compute_costs(i, labels, scratch_[0]);
        const double loss = scratch_[0].rank_loss_alone(own, labels);
        for (std::size_t v = 0; v < cost_widths_.size(); ++v) {
            if (shares_costs_ && v > 0) {
                cost_widths_[v] = cost_widths_[0];
                continue;
            }
            const Range costs = range_of(cost_row(static_cast<std::int32_t>(v)), k);
            cost_widths_[v] = costs.high - costs.low;
        }
        if (calibrates_) calibration_.learn(own, described_, labels);
        finish_round(labels, loss);
    }
}

}  // namespace boostline
