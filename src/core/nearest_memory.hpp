// The nearest of the last points of a stream, and the labels that came with them. The points may be scaled rows
// (scorers/neighbours.cpp) or the scores of another learner: a metric that knows of the labels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/archive.hpp"
#include "core/kernels/distances.hpp"
#include "core/scorer.hpp"

namespace boostline {

// Score of a label: the mean of its targets over the n_neighbours nearest of the last `capacity` points, with weights
// n_neighbours * (1 - d^2 / largest d^2) * importance, and the label's frequency as one more neighbour of weight 1.
class NearestMemory {
  public:
    NearestMemory(std::size_t n_labels, std::size_t n_inputs, std::size_t n_neighbours = 40,
                  std::size_t capacity = 4000)
        : n_labels_(n_labels),
          n_inputs_(n_inputs),
          n_neighbours_(n_neighbours),
          capacity_(capacity),
          relevant_(n_labels, 0.0),
          known_(n_labels, 0.0) {}

    std::size_t size() const { return importance_.size(); }
    std::size_t n_inputs() const { return n_inputs_; }

    // Changes nothing; may run in several threads at once.
    void score(const double* point, double* raw) const {
        static thread_local Scratch scratch;
        auto& frequency = scratch.frequency;
        frequency.resize(n_labels_);
        for (std::size_t j = 0; j < n_labels_; ++j) frequency[j] = known_[j] > 0.0 ? relevant_[j] / known_[j] : 0.0;
        std::copy_n(frequency.data(), n_labels_, raw);
        if (size() == 0 || n_neighbours_ == 0) return;
        find_nearest(point, scratch);
        const auto& nearest = scratch.candidates;
        const double width = nearest.back().first + 1e-12;
        double total = 1.0;
        for (const auto& [distance, age] : nearest) {
            const std::size_t slot = slot_of(age);
            const double weight = (1.0 - distance / width) * static_cast<double>(n_neighbours_) * importance_[slot];
            if (!(weight > 0.0)) continue;
            total += weight;
            add_targets(targets_.data() + slot * n_labels_, frequency.data(), n_labels_, weight, raw);
        }
        for (std::size_t j = 0; j < n_labels_; ++j) raw[j] /= total;
    }

    // So that the next `add` needs no memory. Vectors never get more room than the full ring needs.
    void make_room_for_one() {
        if (size() == capacity_) return;
        std::size_t slots = importance_.capacity();
        if (slots == size()) slots = std::min(capacity_, std::max<std::size_t>(kPointBlock, 2 * size()));
        importance_.reserve(slots);
        targets_.reserve(slots * n_labels_);
        points_.reserve((slots + kPointBlock - 1) / kPointBlock * kPointBlock * n_inputs_);
    }

    void add(const double* point, const std::int8_t* targets, double importance) noexcept {
        n_added_ += importance;
        for (std::size_t j = 0; j < n_labels_; ++j) {
            if (targets[j] < 0) continue;
            known_[j] += importance;
            relevant_[j] += importance * static_cast<double>(targets[j]);
        }
        if (capacity_ == 0) return;
        const std::size_t slot = next_;
        if (slot == size()) {  // not full yet
            importance_.push_back(importance);
            targets_.insert(targets_.end(), targets, targets + n_labels_);
            if (points_.size() < (slot / kPointBlock + 1) * kPointBlock * n_inputs_)
                points_.resize((slot / kPointBlock + 1) * kPointBlock * n_inputs_, 0.0f);
        } else {
            importance_[slot] = importance;
            std::copy_n(targets, n_labels_, targets_.data() + slot * n_labels_);
        }
        write(slot, point);
        next_ = (slot + 1) % capacity_;
    }

    // Moves the point of an age (0: the newest); its targets stay.
    void replace(std::size_t age, const double* point) { write(slot_of(age), point); }

    // A label that had not been seen is irrelevant for the points so far.
    void grow_labels(std::size_t n) {
        std::vector<std::int8_t> wide(size() * n, 0);
        for (std::size_t i = 0; i < size(); ++i)
            std::copy_n(targets_.data() + i * n_labels_, n_labels_, wide.data() + i * n);
        targets_.swap(wide);
        relevant_.resize(n, 0.0);
        known_.resize(n, n_added_);
        n_labels_ = n;
    }
    // New coordinates come last and are 0 in all points so far.
    void grow_inputs(std::size_t n) {
        const std::size_t n_blocks = n_inputs_ == 0 ? 0 : points_.size() / (n_inputs_ * kPointBlock);
        std::vector<float> wide(n_blocks * n * kPointBlock, 0.0f);
        for (std::size_t b = 0; b < n_blocks; ++b)
            std::copy_n(points_.data() + b * n_inputs_ * kPointBlock, n_inputs_ * kPointBlock,
                        wide.data() + b * n * kPointBlock);
        points_.swap(wide);
        n_inputs_ = n;
    }

    void clear() noexcept {
        next_ = 0;
        release(points_);
        release(targets_);
        release(importance_);
        std::fill(relevant_.begin(), relevant_.end(), 0.0);
        std::fill(known_.begin(), known_.end(), 0.0);
        n_added_ = 0.0;
    }

    std::size_t memory_bytes() const {
        return points_.capacity() * sizeof(float) + targets_.capacity() * sizeof(std::int8_t) +
               (importance_.capacity() + relevant_.capacity() + known_.capacity()) * sizeof(double);
    }

    // Oldest first.
    void save(Archive& out, const std::string& prefix) const {
        const auto slots = [this](auto&& visit) {
            for (std::size_t age = size(); age-- > 0;) visit(slot_of(age));
        };
        out.add<float>(prefix + "points", size() * n_inputs_, [&](auto&& write) {
            slots([&](std::size_t slot) {
                for (std::size_t f = 0; f < n_inputs_; ++f) write(&points_[place(slot) + f * kPointBlock], 1);
            });
        });
        out.add<std::uint8_t>(prefix + "point_targets", size() * n_labels_, [&](auto&& write) {
            slots([&](std::size_t slot) { write_targets(&targets_[slot * n_labels_], n_labels_, write); });
        });
        out.add<double>(prefix + "point_importance", size(),
                        [&](auto&& write) { slots([&](std::size_t slot) { write(&importance_[slot], 1); }); });
        out.add(prefix + "relevant", relevant_);
        out.add(prefix + "known", known_);
        out.add(prefix + "n_added", std::vector<double>{n_added_});
    }
    void load(const ArchiveView& in, const std::string& prefix) {
        NearestMemory fresh(n_labels_, n_inputs_, n_neighbours_, capacity_);
        const std::size_t n = in.size<double>(prefix + "point_importance");
        if (n > capacity_) throw std::invalid_argument("'" + prefix + "point_importance' has more points than fit");
        ArrayReader<float> points(in, prefix + "points", n * n_inputs_);
        in.read(prefix + "point_importance", n, fresh.importance_);
        read_targets(in, prefix + "point_targets", n * n_labels_, fresh.targets_);
        fresh.points_.assign((n + kPointBlock - 1) / kPointBlock * kPointBlock * n_inputs_, 0.0f);
        for (std::size_t slot = 0; slot < n; ++slot)
            for (std::size_t f = 0; f < n_inputs_; ++f) fresh.points_[place(slot) + f * kPointBlock] = points.next();
        fresh.next_ = n % std::max<std::size_t>(capacity_, 1);
        in.read(prefix + "relevant", n_labels_, fresh.relevant_);
        in.read(prefix + "known", n_labels_, fresh.known_);
        fresh.n_added_ = in.read_one<double>(prefix + "n_added");
        fresh.check(prefix);
        *this = std::move(fresh);
    }
    void check(const std::string& prefix) const {
        bool near = true;
        for (const float x : points_) near &= std::fabs(x) <= kFarthest;
        require(near, prefix, "points");
        check_importance(importance_, prefix, "point_importance");
        check_targets(targets_, prefix, "point_targets");
        check_within(n_added_, 0.0, kMostRows, prefix, "n_added");
        for (std::size_t j = 0; j < n_labels_; ++j) {
            check_within(known_[j], 0.0, n_added_, prefix, "known");
            check_within(relevant_[j], 0.0, known_[j], prefix, "relevant");
        }
    }

  private:
    static constexpr float kFarthest = 1e18f;  // coordinates are clipped here: squares and sums stay finite

    using Candidate =
        std::pair<double, std::size_t>;  // distance, then age: of two points alike the newer one is nearer
    struct Scratch {
        std::vector<double> point, distances, frequency;
        std::vector<Candidate> candidates;
    };

    std::size_t slot_of(std::size_t age) const { return (next_ + size() - 1 - age) % size(); }
    std::size_t place(std::size_t slot) const {
        return slot / kPointBlock * kPointBlock * n_inputs_ + slot % kPointBlock;
    }
    static float to_float(double x) {
        const double far = static_cast<double>(kFarthest);
        x = x == x ? x : 0.0;
        x = x > far ? far : x;
        return static_cast<float>(x < -far ? -far : x);
    }
    void write(std::size_t slot, const double* point) {
        float* to = points_.data() + place(slot);
        for (std::size_t f = 0; f < n_inputs_; ++f) to[f * kPointBlock] = to_float(point[f]);
    }

    // The nearest points, ascending, into scratch.candidates. Most points are too far and are turned down by one
    // comparison; the others are collected and thinned out from time to time.
    void find_nearest(const double* point, Scratch& scratch) const {
        scratch.point.resize(n_inputs_);
        for (std::size_t f = 0; f < n_inputs_; ++f) scratch.point[f] = static_cast<double>(to_float(point[f]));
        const std::size_t n = size(), n_blocks = (n + kPointBlock - 1) / kPointBlock;
        scratch.distances.resize(n_blocks * kPointBlock);
        squared_distances(points_.data(), n_blocks, n_inputs_, scratch.point.data(), scratch.distances.data());
        auto& candidates = scratch.candidates;
        candidates.clear();
        const std::size_t wanted = std::min(n_neighbours_, n);
        const auto thin = [&] {
            if (candidates.size() <= wanted) return;
            const auto last = candidates.begin() + static_cast<std::ptrdiff_t>(wanted);
            std::nth_element(candidates.begin(), last - 1, candidates.end());
            candidates.resize(wanted);
        };
        double bound = HUGE_VAL;  // no nearest point is farther
        for (std::size_t slot = 0; slot < n; ++slot) {
            if (scratch.distances[slot] > bound) continue;
            candidates.emplace_back(scratch.distances[slot], (next_ + n - 1 - slot) % n);
            if (candidates.size() < 4 * wanted) continue;
            thin();
            bound = candidates[wanted - 1].first;
        }
        thin();
        std::sort(candidates.begin(), candidates.end());
    }

    std::size_t n_labels_, n_inputs_, n_neighbours_, capacity_;
    std::size_t next_ = 0;  // the slot of the next point; of the oldest one once the ring is full
    std::vector<float> points_;
    std::vector<std::int8_t> targets_;
    std::vector<double> importance_;
    std::vector<double> relevant_, known_;  // importance of the rows in which a label was relevant, and known
    double n_added_ = 0.0;
};

}  // namespace boostline
