// Blocks of memory of a few sizes, many of each: what the leaves of trees know of their labels. They come from chunks
// of 2 MB, which the system can give as one large page, and which go back to it when their last block does. A block is
// known by a number of 32 bits, half of a pointer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace boostline {

class BlockPool {
  public:
    // A block of n doubles, or more; std::bad_alloc.
    static std::int32_t take(std::size_t n);
    static void give_back(std::int32_t block) noexcept;
    // A new one with the same numbers.
    static std::int32_t copy(std::int32_t block);
    // What a block of n doubles takes.
    static constexpr std::size_t bytes_for(std::size_t n) { return n_lines(n) * kLine; }

    static double* at(std::int32_t block) {
        const auto bits = static_cast<std::uint32_t>(block);
        return reinterpret_cast<double*>(chunk_starts[bits >> kLineBits] + (bits % kLinesInChunk) * kLine);
    }
    // Before another thread may fork, see forks.hpp.
    static void lock();
    static void unlock();

  private:
    friend class BlockChunks;
    static constexpr std::size_t kLine = 64;  // of a cache
    static constexpr unsigned kLineBits = 15;
    static constexpr std::size_t kLinesInChunk = std::size_t{1} << kLineBits;
    static constexpr std::size_t kMostChunks = std::size_t{1} << (31 - kLineBits);

    static constexpr std::size_t n_lines(std::size_t n) { return (n * sizeof(double) + kLine - 1) / kLine; }
    static inline char* chunk_starts[kMostChunks];
};

// One block, or none; a copy has a block of its own.
class Block {
  public:
    Block() = default;
    explicit Block(std::size_t n) : id_(BlockPool::take(n)) {}
    Block(const Block& other) : id_(other ? BlockPool::copy(other.id_) : kNone) {}
    Block(Block&& other) noexcept : id_(std::exchange(other.id_, kNone)) {}
    Block& operator=(Block other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    ~Block() {
        if (*this) BlockPool::give_back(id_);
    }

    explicit operator bool() const { return id_ >= 0; }
    double* data() const { return BlockPool::at(id_); }

  private:
    static constexpr std::int32_t kNone = -1;
    std::int32_t id_ = kNone;
};

}  // namespace boostline
