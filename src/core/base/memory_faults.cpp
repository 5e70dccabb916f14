// The core's own operator new, which can be made to fail (memory_faults.hpp). The linker keeps it to this library.
#include "core/base/memory_faults.hpp"

#if defined(BOOSTLINE_FAULTS)

#include <cstdlib>
#include <new>

namespace {

void* allocate(std::size_t n) {
    if (!boostline::MemoryFaults::is_due())
        if (void* memory = std::malloc(n > 0 ? n : 1)) return memory;
    throw std::bad_alloc();
}

void* allocate(std::size_t n, std::align_val_t alignment) {
    const auto a = static_cast<std::size_t>(alignment);
    if (!boostline::MemoryFaults::is_due())
        if (void* memory = std::aligned_alloc(a, (n > 0 ? n + a - 1 : a) / a * a)) return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t n) { return allocate(n); }
void* operator new[](std::size_t n) { return allocate(n); }
void* operator new(std::size_t n, std::align_val_t alignment) { return allocate(n, alignment); }
void* operator new[](std::size_t n, std::align_val_t alignment) { return allocate(n, alignment); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

#endif
