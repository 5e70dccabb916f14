// Places of the last rows of a stream: slots that are used in a circle. Whoever remembers rows keeps them by slot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/philox.hpp"

namespace boostline {

class Ring {
  public:
    explicit Ring(std::size_t capacity) : capacity_(capacity) {}

    std::size_t size() const { return size_; }
    std::size_t capacity() const { return capacity_; }
    bool is_full() const { return size_ == capacity_; }

    std::size_t next() const { return next_; }  // the slot of the next row; of the oldest one once the ring is full
    // Age 0 is the newest row.
    std::size_t slot_of(std::size_t age) const { return within(next_ + size_ - 1 - age); }
    std::size_t age_of(std::size_t slot) const { return within(next_ + size_ - 1 - slot); }

    // The row is in its slot. The ring has a capacity.
    void advance() noexcept {
        next_ = (next_ + 1) % capacity_;
        size_ = std::min(size_ + 1, capacity_);
    }
    void clear() noexcept { next_ = size_ = 0; }
    // The slots 0 .. n - 1 hold the rows of a file, whose number the array `name` says.
    void fill(std::size_t n, const std::string& name) {
        if (n > capacity_) throw std::invalid_argument("'" + name + "' has more rows than fit");
        size_ = n;
        next_ = n % std::max<std::size_t>(capacity_, 1);
    }

    // How many rows vectors that have room for `room` should have room for, so that n more need no memory: never more
    // than the full ring needs.
    std::size_t room(std::size_t room, std::size_t first, std::size_t n = 1) const {
        const std::size_t needed = std::min(capacity_, size_ + n);
        return room >= needed ? room : std::min(capacity_, std::max({first, 2 * size_, needed}));
    }

    // Calls visit(slot), the oldest row first.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t age = size_; age-- > 0;) visit(slot_of(age));
    }

    // Ages of n rows, to be learnt again after row t of the stream; a draw depends on the seed and t alone.
    void draw_ages(std::uint64_t seed, std::uint64_t t, int n, std::vector<std::size_t>& ages) const {
        draw_ages(seed, t, n, size_, ages);
    }
    // The same of the newest rows alone.
    static void draw_ages(std::uint64_t seed, std::uint64_t t, int n, std::size_t n_newest,
                          std::vector<std::size_t>& ages) {
        const auto count = static_cast<std::uint64_t>(n);
        ages.clear();
        for (std::uint64_t q = 0; q < count && n_newest > 0; ++q)
            ages.push_back(
                static_cast<std::size_t>(philox_uniform(seed, t * count + q) * static_cast<double>(n_newest)));
    }

  private:
    std::size_t within(std::size_t at) const { return at < size_ ? at : at - size_; }  // a division takes longer

    std::size_t capacity_;
    std::size_t next_ = 0, size_ = 0;
};

}  // namespace boostline
