#include "core/base/block_pool.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "core/base/forks.hpp"
#include "core/base/memory_faults.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace boostline {

// The chunks of all sizes; in one thread at a time.
class BlockChunks {
  public:
    static BlockChunks& all() {
        static BlockChunks* const chunks = new BlockChunks;  // for ever, as blocks may be
        return *chunks;
    }

    std::int32_t take(std::size_t n_lines) {
        if (MemoryFaults::is_due()) throw std::bad_alloc();
        const std::lock_guard<std::mutex> lock(mutex);
        Size& size = sizes_[n_lines <= kMostLines ? n_lines : 0];
        if (size.with_room == nullptr) add_chunk(size, n_lines);
        Chunk& chunk = *size.with_room;
        std::uint32_t line = chunk.first_free;
        if (line != kNoLine) {
            guard(address(chunk, line), n_lines, false);
            std::memcpy(&chunk.first_free, address(chunk, line), sizeof(line));
        } else {
            line = chunk.next_line;
            guard(address(chunk, line), n_lines, false);
            chunk.next_line += chunk.n_lines;
        }
        ++chunk.n_taken;
        ++size.n_taken;
        if (is_full(chunk)) unlink(size, chunk);
        return static_cast<std::int32_t>(chunk.id << BlockPool::kLineBits | line);
    }

    void give_back(std::int32_t block) noexcept {
        const auto bits = static_cast<std::uint32_t>(block);
        const std::lock_guard<std::mutex> lock(mutex);
        Chunk& chunk = *chunks_[bits >> BlockPool::kLineBits];
        Size& size = *chunk.size;
        if (is_full(chunk)) link(size, chunk);
        const std::uint32_t line = bits % BlockPool::kLinesInChunk;
        std::memcpy(address(chunk, line), &chunk.first_free, sizeof(line));
        guard(address(chunk, line), chunk.n_lines, true);
        chunk.first_free = line;
        --chunk.n_taken;
        --size.n_taken;
        if (chunk.n_taken > 0) return;
        // One that is empty stays as long as there are others, for blocks come and go.
        unlink(size, chunk);
        if (size.spare != nullptr || size.n_taken == 0 || chunk.n_blocks == 1) {
            free(chunk);
        } else {
            chunk.first_free = kNoLine;
            chunk.next_line = 0;
            size.spare = &chunk;
        }
        if (size.n_taken == 0 && size.spare != nullptr) free(*std::exchange(size.spare, nullptr));
    }

    std::size_t n_lines_of(std::int32_t block) {
        const std::lock_guard<std::mutex> lock(mutex);
        return chunks_[static_cast<std::uint32_t>(block) >> BlockPool::kLineBits]->n_lines;
    }

    static inline std::mutex mutex;

  private:
    static constexpr std::uint32_t kNoLine = ~std::uint32_t{0};
    // Larger ones have a chunk each.
    static constexpr std::size_t kMostLines = BlockPool::kLinesInChunk / 8;
    // So many chunks of a size are of ordinary pages: a large one is then no more than half of what there is.
    static constexpr std::size_t kSmallPages = 1;

    static constexpr std::chrono::microseconds kSlow{1000};
    static constexpr std::size_t kChunksAfterSlow = 32;

    struct Size;
    struct Chunk {
        Size* size;
        std::uint32_t id, n_lines, n_blocks;  // of a block; blocks in all
        std::uint32_t n_taken = 0, next_line = 0, first_free = kNoLine;
        char* start = nullptr;
        Chunk *before = nullptr, *after = nullptr;  // among those with room
    };
    struct Size {
        Chunk *with_room = nullptr, *spare = nullptr;  // the first of them; one that is empty
        std::size_t n_taken = 0, n_chunks = 0;
    };

    BlockChunks() { Forks::all(); }

    static char* address(const Chunk& chunk, std::uint32_t line) { return chunk.start + line * BlockPool::kLine; }
    static bool is_full(const Chunk& chunk) { return chunk.n_taken == chunk.n_blocks; }
    // Whole pages of any system, so that what is around them can be given back.
    static std::size_t bytes_of(const Chunk& chunk) {
        constexpr std::size_t kPage = std::size_t{1} << 16;
        return chunk.n_lines > kMostLines ? (chunk.n_lines * BlockPool::kLine + kPage - 1) / kPage * kPage
                                          : BlockPool::kLinesInChunk * BlockPool::kLine;
    }
    static void guard(const char* start, std::size_t n_lines, bool is_free) {
#if defined(__SANITIZE_ADDRESS__)
        if (is_free)
            __asan_poison_memory_region(start, n_lines * BlockPool::kLine);
        else
            __asan_unpoison_memory_region(start, n_lines * BlockPool::kLine);
#else
        static_cast<void>(start), static_cast<void>(n_lines), static_cast<void>(is_free);
#endif
    }

    static void link(Size& size, Chunk& chunk) noexcept {
        chunk.before = nullptr;
        chunk.after = size.with_room;
        if (chunk.after != nullptr) chunk.after->before = &chunk;
        size.with_room = &chunk;
    }
    static void unlink(Size& size, Chunk& chunk) noexcept {
        (chunk.before != nullptr ? chunk.before->after : size.with_room) = chunk.after;
        if (chunk.after != nullptr) chunk.after->before = chunk.before;
    }

    void add_chunk(Size& size, std::size_t n_lines) {
        if (size.spare != nullptr) return link(size, *std::exchange(size.spare, nullptr));
        if (free_ids_.empty()) {
            if (chunks_.size() == BlockPool::kMostChunks) throw std::bad_alloc();
            free_ids_.reserve(chunks_.size() + 1);  // so that giving back can not fail
            chunks_.emplace_back();
            free_ids_.push_back(static_cast<std::uint32_t>(chunks_.size() - 1));
        }
        auto chunk = std::make_unique<Chunk>();
        chunk->size = &size;
        chunk->id = free_ids_.back();
        chunk->n_lines = static_cast<std::uint32_t>(n_lines);
        chunk->n_blocks = n_lines > kMostLines ? 1 : static_cast<std::uint32_t>(BlockPool::kLinesInChunk / n_lines);
        const bool in_large_pages = size.n_chunks >= kSmallPages && n_until_large_ == 0;
        chunk->start = get_memory(bytes_of(*chunk), in_large_pages);
        n_until_large_ -= n_until_large_ > 0 ? 1 : 0;
        if (in_large_pages && is_slow(chunk->start)) n_until_large_ = kChunksAfterSlow;
        guard(chunk->start, bytes_of(*chunk) / BlockPool::kLine, true);
        free_ids_.pop_back();
        ++size.n_chunks;
        BlockPool::chunk_starts[chunk->id] = chunk->start;
        link(size, *chunk);
        chunks_[chunk->id] = std::move(chunk);
    }
    void free(Chunk& chunk) noexcept {
        --chunk.size->n_chunks;
        free_ids_.push_back(chunk.id);
        guard(chunk.start, bytes_of(chunk) / BlockPool::kLine, false);
        free_memory(chunk.start, bytes_of(chunk));
        chunks_[chunk.id].reset();
    }

    // The first touch of a large page makes all of it. That takes less than a tenth of a millisecond, but ten if a
    // virtual machine has to get the memory from its host: then small pages, which have been used before, are faster.
    static bool is_slow(char* start) {
        using Clock = std::chrono::steady_clock;
        const Clock::time_point before = Clock::now();
        *static_cast<volatile char*>(start) = 0;
        return Clock::now() - before > kSlow;
    }

#if defined(__linux__)
    static char* get_memory(std::size_t n_bytes, bool in_large_pages) {
        const std::size_t page = BlockPool::kLinesInChunk * BlockPool::kLine;
        const std::size_t all_bytes = in_large_pages ? n_bytes + page : n_bytes;
        void* const all = mmap(nullptr, all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED) throw std::bad_alloc();
        char* start = static_cast<char*>(all);
        if (in_large_pages) {
            const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(all) % page) % page;
            if (before > 0) munmap(start, before);
            start += before;
            if (before < page) munmap(start + n_bytes, page - before);
            madvise(start, n_bytes, MADV_HUGEPAGE);
        }
        return start;
    }
    static void free_memory(char* start, std::size_t n_bytes) noexcept { munmap(start, n_bytes); }
#else
    static constexpr std::align_val_t kAlignment{BlockPool::kLine};
    static char* get_memory(std::size_t n_bytes, bool) {
        return static_cast<char*>(::operator new(n_bytes, kAlignment));
    }
    static void free_memory(char* start, std::size_t) noexcept { ::operator delete(start, kAlignment); }
#endif

    Size sizes_[kMostLines + 1];                  // by lines; the first is of larger ones
    std::vector<std::unique_ptr<Chunk>> chunks_;  // by number
    std::vector<std::uint32_t> free_ids_;         // numbers without a chunk
    std::size_t n_until_large_ = 0;               // chunks in small pages before a large one is tried again
};

std::int32_t BlockPool::take(std::size_t n) { return BlockChunks::all().take(std::max<std::size_t>(n_lines(n), 1)); }
void BlockPool::give_back(std::int32_t block) noexcept { BlockChunks::all().give_back(block); }
std::int32_t BlockPool::copy(std::int32_t block) {
    const std::size_t n_lines = BlockChunks::all().n_lines_of(block);
    const std::int32_t other = BlockChunks::all().take(n_lines);
    std::memcpy(at(other), at(block), n_lines * kLine);
    return other;
}
void BlockPool::lock() { BlockChunks::mutex.lock(); }
void BlockPool::unlock() { BlockChunks::mutex.unlock(); }

}  // namespace boostline
