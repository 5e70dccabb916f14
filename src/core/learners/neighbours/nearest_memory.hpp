// The nearest of the last points of a stream, and the labels that came with them. The points may be scaled rows
// (neighbours.cpp) or the scores of another learner: a metric that knows of the labels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/math.hpp"
#include "core/kernels/votes.hpp"
#include "core/learners/label_ring.hpp"
#include "core/learners/neighbours/near_points.hpp"

namespace boostline {

// Score of a label: the mean of its targets over the n_neighbours nearest of the last `capacity` points, with weights
// (1 - x) / (x + kNear) * importance, x = d^2 / largest d^2, and the label's frequency as one more neighbour of
// weight 1.
class NearestMemory {
  public:
    NearestMemory(std::size_t n_labels, std::size_t n_inputs, std::size_t n_neighbours = 40,
                  std::size_t capacity = 4000)
        : n_labels_(n_labels),
          n_inputs_(n_inputs),
          n_neighbours_(n_neighbours),
          ring_(capacity, n_labels),
          points_(n_inputs),
          relevant_(n_labels, 0.0),
          known_(n_labels, 0.0) {}

    std::size_t size() const { return ring_.size(); }
    std::size_t n_inputs() const { return n_inputs_; }
    std::size_t prefix_size() const { return points_.prefix_size(); }

    // The bits of the distance, which is not negative and so in the order of its bits, and the age: of two points alike
    // the newer one is nearer.
    using Candidate = std::uint64_t;
    struct Scratch {
        std::vector<float> point, distances;
        std::vector<float> least;  // of groups of distances
        std::vector<std::uint32_t> found;
        std::vector<float> exact, prefixes;
        std::vector<double> frequency, weights;
        std::vector<const std::int8_t*> targets;  // of the nearest points
        std::vector<Candidate> candidates;
        std::vector<float> points, among_distances;  // of rows that are learnt together
        PointBlocks among;

        void fields(Fields& f) {
            f.memory(point, distances, least, exact, prefixes, points, among_distances, found, frequency, weights,
                     targets, candidates);
            among.count(f);
        }
    };
    static constexpr std::size_t kTogether = 16;  // rows at most that are learnt together

    // Changes nothing; may run in several threads at once. Some points walk along the memory together, no more than
    // whose distances stay in the caches.
    void score_block(const float* points, std::size_t n, Scratch& scratch, double* raw) const {
        const std::size_t width = PointBlocks::width(size());
        for (std::size_t first = 0; first < n; first += kTogether) {
            const std::size_t some = std::min(kTogether, n - first);
            const float* own = points + first * n_inputs_;
            scratch.distances.resize(some * width);
            if (size() > 0) points_.distances(own, some, size(), scratch.distances.data(), width, scratch.prefixes);
            for (std::size_t r = 0; r < some; ++r)
                score_at(own + r * n_inputs_, scratch.distances.data() + r * width, scratch,
                         raw + (first + r) * n_labels_);
        }
    }
    void score(const float* point, Scratch& scratch, double* raw) const { score_block(point, 1, scratch, raw); }

    // What each of the nearest rows adds to the score of a label; `n_rows` is the number of the newest one.
    void explain(const float* point, std::size_t label, std::int64_t n_rows, EvidenceSum& out) const {
        Scratch scratch;
        std::vector<double> raw(n_labels_);
        score(point, scratch, raw.data());
        const double frequency = scratch.frequency[label];
        double total = 1.0;
        for (const double weight : scratch.weights) total += weight;
        out.start(frequency / total);
        if (scratch.weights.empty()) return;
        const double width = width_of(scratch.candidates);
        for (const Candidate candidate : scratch.candidates) {
            const std::size_t age = age_of(candidate), slot = ring_.slot_of(age);
            const double weight = weight_of(candidate, width, slot);
            const std::int8_t target = ring_.targets(slot)[label];
            if (weight > 0.0)
                out.add(n_rows - static_cast<std::int64_t>(age),
                        weight * (target < 0 ? frequency : static_cast<double>(target)) / total);
        }
    }

    // So that the next n times `add` need no memory.
    void make_room(std::size_t n) {
        points_.expect(n);
        ring_.make_room(kPointBlock, n, [&](std::size_t slots) { points_.reserve(slots); });
    }
    // So that `score` needs none, before any of these.
    void make_room_to_score(std::size_t n, Scratch& scratch) const {
        scratch.point.reserve(n_inputs_);
        scratch.points.reserve(kTogether * n_inputs_);
        scratch.distances.reserve(kTogether * PointBlocks::width(std::min(size() + n, ring_.capacity())));
        scratch.among_distances.reserve(kTogether * PointBlocks::width(kTogether));
        scratch.among.restart(n_inputs_);
        scratch.among.reserve(kTogether);
        scratch.least.reserve(n_least(std::min(size() + n, ring_.capacity())));
        scratch.frequency.reserve(n_labels_);
        scratch.weights.reserve(n_neighbours_);
        scratch.targets.reserve(n_neighbours_);
        scratch.candidates.reserve(4 * n_neighbours_);
        scratch.found.reserve(std::min(size() + n, ring_.capacity()));
        scratch.exact.reserve(std::min(size() + n, ring_.capacity()));
        scratch.prefixes.reserve(NearPoints::most_prefixes(kTogether));
    }

    // Scores each of at most kTogether points and adds it, one after the other: the distances to those before the first
    // are found for all at once, and those to each other.
    void learn_block(const float* points, const Lesson* lessons, std::size_t n, Scratch& scratch,
                     double* raw) noexcept {
        const std::size_t before = size(), width = PointBlocks::width(std::min(ring_.capacity(), before + n));
        const std::size_t among_width = PointBlocks::width(n);
        scratch.distances.resize(n * width);
        scratch.among_distances.resize(n * among_width);
        if (before > 0) points_.distances(points, n, before, scratch.distances.data(), width, scratch.prefixes);
        scratch.among.restart(n_inputs_);
        for (std::size_t r = 0; r < n; ++r) scratch.among.put(r, points + r * n_inputs_);
        scratch.among.distances(points, n, n, scratch.among_distances.data());
        std::size_t added[kTogether], slot[kTogether], n_added = 0;
        for (std::size_t r = 0; r < n; ++r) {
            float* own = scratch.distances.data() + r * width;
            for (std::size_t j = 0; j < n_added; ++j)
                own[slot[j]] = scratch.among_distances[r * among_width + added[j]];
            score_at(points + r * n_inputs_, own, scratch, raw + r * n_labels_);
            if (!(lessons[r].importance > 0.0)) continue;
            if (ring_.capacity() > 0) {
                slot[n_added] = ring_.next();
                added[n_added++] = r;
            }
            add(points + r * n_inputs_, lessons[r].targets.value.data(), lessons[r].importance);
        }
    }

    void add(const float* point, const std::int8_t* targets, double importance) noexcept {
        n_added_ += importance;
        for (std::size_t j = 0; j < n_labels_; ++j) {
            if (targets[j] < 0) continue;
            known_[j] += importance;
            relevant_[j] += importance * static_cast<double>(targets[j]);
        }
        if (ring_.capacity() == 0) return;
        const std::size_t slot = ring_.next();
        ring_.push(targets, importance);
        points_.put(slot, point);
    }

    // Moves the point of an age (0: the newest); its targets stay.
    void replace(std::size_t age, const float* point) { points_.put(ring_.slot_of(age), point); }

    void grow_labels(std::size_t n) {
        ring_.grow_labels(n);
        relevant_.resize(n, 0.0);
        known_.resize(n, n_added_);
        n_labels_ = n;
    }
    // New coordinates come last and are 0 in all points so far.
    void grow_inputs(std::size_t n) {
        points_.grow_inputs(n);
        n_inputs_ = n;
    }

    void clear() noexcept {
        ring_.clear();
        points_.clear();
        std::fill(relevant_.begin(), relevant_.end(), 0.0);
        std::fill(known_.begin(), known_.end(), 0.0);
        n_added_ = 0.0;
    }

    void fields(Fields& f) {
        f.part("point_", ring_);
        f.part("", points_, ring_);
        f.number("n_added", n_added_, {0.0, kMostRows});
        f.array("known", known_, n_labels_, {0.0, n_added_});
        f.array("relevant", relevant_, n_labels_, {0.0, n_added_});
        for (std::size_t j = 0; f.checks() && j < n_labels_; ++j) f.require(relevant_[j] <= known_[j], "relevant");
    }

  private:
    static constexpr int kHalvings = 8;
    static constexpr double kNear = 0.05;  // of the largest d^2: nearer points hardly count more

    static float distance_of(Candidate candidate) {
        return bit_cast<float>(static_cast<std::uint32_t>(candidate >> 32));
    }

    static std::size_t age_of(Candidate candidate) { return static_cast<std::size_t>(candidate & 0xFFFFFFFFu); }
    static double width_of(const std::vector<Candidate>& nearest) {
        return static_cast<double>(distance_of(nearest.back())) + 1e-12;
    }
    double weight_of(Candidate candidate, double width, std::size_t slot) const {
        const auto distance = static_cast<double>(distance_of(candidate));
        return (width - distance) / (distance + kNear * width) * ring_.importance(slot);
    }

    // With the squared distances to all points, or to their prefixes.
    void score_at(const float* point, const float* distances, Scratch& scratch, double* raw) const {
        auto& frequency = scratch.frequency;
        frequency.resize(n_labels_);
        shares_of(relevant_.data(), known_.data(), n_labels_, frequency.data());
        std::copy_n(frequency.data(), n_labels_, raw);
        if (size() == 0 || n_neighbours_ == 0) return;
        points_.has_prefix() ? find_by_prefix(point, distances, scratch) : find_nearest(distances, scratch);
        const auto& nearest = scratch.candidates;
        const double width = width_of(nearest);
        double total = 1.0;
        scratch.weights.clear();
        scratch.targets.clear();
        for (const Candidate candidate : nearest) {
            const std::size_t slot = ring_.slot_of(age_of(candidate));
            for (std::size_t j = 0; j < n_labels_; j += 64) BOOSTLINE_PREFETCH(ring_.targets(slot) + j);
            const double weight = weight_of(candidate, width, slot);
            if (!(weight > 0.0)) continue;
            total += weight;
            scratch.weights.push_back(weight);
            scratch.targets.push_back(ring_.targets(slot));
        }
        add_targets(scratch.targets.data(), scratch.weights.data(), scratch.weights.size(), frequency.data(), n_labels_,
                    raw);
        divide_by(total, n_labels_, raw);
    }

    // Groups of points whose nearest ones are looked at first: about four for each neighbour, or no more than the
    // points.
    std::size_t blocks_in_group(std::size_t n) const { return n / std::max<std::size_t>(1, 4 * n_neighbours_); }
    std::size_t n_least(std::size_t n) const {
        const std::size_t together = blocks_in_group(n);
        return together < 2 ? 0 : n / kPointBlock / together * kPointBlock;
    }

    // No nearest point is farther than the n_neighbours-th of the groups' nearest ones; a number little above that one.
    float bound_of(const float* all, std::size_t n, std::vector<float>& least) const {
        least.resize(n_least(n));
        if (least.size() < n_neighbours_) return HUGE_VALF;
        least_of_blocks(all, n / kPointBlock, blocks_in_group(n), least.data());
        float low = 0.0f, high = largest_of(least.data(), least.size());
        for (int step = 0; step < kHalvings; ++step) {
            const float middle = 0.5f * low + 0.5f * high;
            (count_up_to(least.data(), least.size(), middle) >= n_neighbours_ ? high : low) = middle;
        }
        return high;
    }

    Candidate candidate(float distance, std::uint32_t slot) const {
        return std::uint64_t{bit_cast<std::uint32_t>(distance)} << 32 | ring_.age_of(slot);
    }
    // The first n_neighbours, the last of which is the farthest.
    void thin(std::vector<Candidate>& candidates) const {
        if (candidates.size() <= n_neighbours_) return;
        const auto last = candidates.begin() + static_cast<std::ptrdiff_t>(n_neighbours_);
        std::nth_element(candidates.begin(), last - 1, candidates.end());
        candidates.resize(n_neighbours_);
    }

    // The nearest points, ascending, into scratch.candidates. Nearly all others are turned down by one comparison; what
    // is left is thinned out from time to time.
    void find_nearest(const float* all, Scratch& scratch) const {
        const std::size_t n = size();
        auto& candidates = scratch.candidates;
        candidates.clear();
        float bound = bound_of(all, n, scratch.least);
        constexpr std::size_t kChunk = 512;
        std::uint32_t near[kChunk];
        for (std::size_t first = 0; first < n; first += kChunk) {
            const std::size_t n_near = find_between(all + first, std::min(n - first, kChunk), -1.0f, bound, near);
            for (std::size_t i = 0; i < n_near; ++i) {
                const auto slot = static_cast<std::uint32_t>(first) + near[i];
                if (all[slot] > bound) continue;
                candidates.push_back(candidate(all[slot], slot));
                if (candidates.size() < 4 * n_neighbours_) continue;
                thin(candidates);
                bound = distance_of(candidates.back());
            }
        }
        thin(candidates);
        std::sort(candidates.begin(), candidates.end());
    }

    // The same where `all` are distances of prefixes. Enough points with the nearest prefixes give a bound; then come
    // all whose prefixes do not lie beyond it.
    void find_by_prefix(const float* point, const float* all, Scratch& scratch) const {
        const std::size_t n = size();
        const float square = points_.square_of(point), first = bound_of(all, n, scratch.least);
        auto& candidates = scratch.candidates;
        candidates.clear();
        float bound = HUGE_VALF;
        scratch.found.resize(std::max(n, scratch.found.size()));
        const auto look = [&](float above, float most) {
            const std::size_t n_found = find_between(all, n, above, most, scratch.found.data());
            scratch.exact.resize(n_found);
            points_.exact(point, square, scratch.found.data(), n_found, scratch.exact.data());
            for (std::size_t i = 0; i < n_found; ++i) {
                if (scratch.exact[i] > bound) continue;
                candidates.push_back(candidate(scratch.exact[i], scratch.found[i]));
                if (candidates.size() < 4 * n_neighbours_) continue;
                thin(candidates);
                bound = distance_of(candidates.back());
            }
            thin(candidates);
        };
        look(-1.0f, first);
        bound = distance_of(*std::max_element(candidates.begin(), candidates.end()));
        look(first, bound + points_.allowance(square));
        std::sort(candidates.begin(), candidates.end());
    }

    std::size_t n_labels_, n_inputs_, n_neighbours_;
    LabelRing ring_;
    NearPoints points_;                     // by slot
    std::vector<double> relevant_, known_;  // importance of the rows in which a label was relevant, and known
    double n_added_ = 0.0;
};

}  // namespace boostline
