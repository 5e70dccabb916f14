// Storage for many small records of one kind, in pages, so that growing never copies and never holds more than one
// page that is not used yet. Freed records are handed out again first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace boostline {

template <class T, std::size_t kPage>
class Arena {
  public:
    // `width` values of T make one record.
    explicit Arena(std::size_t width = 1) : width_(width) {}

    Arena(const Arena& other)
        : width_(other.width_), n_made_(other.n_made_), free_(other.free_) {
        for (const auto& page : other.pages_) {
            pages_.push_back(std::make_unique<T[]>(kPage * width_));
            std::copy(page.get(), page.get() + kPage * width_, pages_.back().get());
        }
    }
    Arena& operator=(Arena other) {
        std::swap(width_, other.width_);
        std::swap(n_made_, other.n_made_);
        std::swap(free_, other.free_);
        std::swap(pages_, other.pages_);
        return *this;
    }
    Arena(Arena&&) noexcept = default;

    std::int32_t make() {
        if (!free_.empty()) {
            const std::int32_t i = free_.back();
            free_.pop_back();
            return i;
        }
        if (n_made_ == pages_.size() * kPage) pages_.push_back(std::make_unique<T[]>(kPage * width_));
        return static_cast<std::int32_t>(n_made_++);
    }
    void release(std::int32_t i) { free_.push_back(i); }

    T* at(std::int32_t i) {
        return pages_[static_cast<std::size_t>(i) / kPage].get() + (static_cast<std::size_t>(i) % kPage) * width_;
    }
    const T* at(std::int32_t i) const { return const_cast<Arena*>(this)->at(i); }
    T& operator[](std::int32_t i) { return *at(i); }
    const T& operator[](std::int32_t i) const { return *at(i); }

    std::size_t n_used() const { return n_made_ - free_.size(); }
    std::size_t allocated_bytes() const {
        return pages_.size() * kPage * width_ * sizeof(T) + pages_.capacity() * sizeof(pages_[0]) +
               free_.capacity() * sizeof(std::int32_t);
    }

  private:
    std::size_t width_;
    std::size_t n_made_ = 0;
    std::vector<std::unique_ptr<T[]>> pages_;
    std::vector<std::int32_t> free_;
};

}  // namespace boostline
