// Lets allocations of the compiled core fail on demand. Loaded with LD_PRELOAD, so that its operator new is the one that
// the core finds. Python's, NumPy's and everybody else's allocations go through.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <link.h>
#include <new>

namespace {

std::uintptr_t core_begin = 0, core_end = 0;
std::atomic<long> left{-1};  // allocations until the first that fails; below 0: none does
std::atomic<bool> for_good{false};
std::atomic<long> failed{0};

int find_core(dl_phdr_info* info, std::size_t, void*) {
    if (std::strstr(info->dlpi_name, "/_core.") == nullptr) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
        core_begin = info->dlpi_addr + part.p_vaddr;
        core_end = core_begin + part.p_memsz;
    }
    return 1;
}

bool is_due(const void* caller) {
    const auto place = reinterpret_cast<std::uintptr_t>(caller);
    if (place < core_begin || place >= core_end || left.load() < 0) return false;
    const long before = left.fetch_sub(1);
    if (before > 0) return false;
    if (for_good.load())
        left = 0;
    else if (before < 0)
        return false;  // another thread's was the one
    ++failed;
    return true;
}

void* allocated(std::size_t size, std::size_t alignment, const void* caller) {
    void* memory = nullptr;
    if (!is_due(caller))
        memory = alignment == 0 ? std::malloc(size == 0 ? 1 : size)
                                : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

// From the n-th allocation on (0: the next) one fails, or all do. A negative number ends it. Returns how many have failed.
extern "C" long fail_allocations(long n, bool all) {
    left = -1;
    dl_iterate_phdr(find_core, nullptr);
    for_good = all;
    left = n;
    return failed.exchange(0);
}

void* operator new(std::size_t size) { return allocated(size, 0, __builtin_return_address(0)); }
void* operator new[](std::size_t size) { return allocated(size, 0, __builtin_return_address(0)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocated(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return allocated(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
