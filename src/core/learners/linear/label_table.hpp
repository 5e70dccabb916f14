// Numbers by label, for some of the labels: a hash table with open addressing. Where a label lies depends on how much
// room there is, so nothing may depend on the order in which labels are visited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/portable.hpp"
#include "core/learners/linear/label_values.hpp"

namespace boostline {

class LabelTable {
  public:
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::size_t memory_bytes() const { return slots_.capacity() * sizeof(LabelValue); }

    // So that there is room for n labels in all.
    void reserve(std::size_t n) {
        if (n + n / 4 < slots_.size()) return;
        std::vector<LabelValue> before(std::max(n, size_ + size_ / 2) * 5 / 4 + 1, LabelValue{kFree, 0.0f});
        before.swap(slots_);
        size_ = 0;
        for (const LabelValue& e : before) {
            if (e.label == kFree || e.value == 0.0f) continue;
            slots_[place(e.label)] = e;
            size_ += 1;
        }
    }
    // The value of a label, or nothing.
    const float* find(std::int32_t label) const noexcept {
        if (slots_.empty()) return nullptr;
        const LabelValue& slot = slots_[place(label)];
        return slot.label == label ? &slot.value : nullptr;
    }
    float* find(std::int32_t label) noexcept {
        return const_cast<float*>(static_cast<const LabelTable*>(this)->find(label));
    }
    // The value of a label, 0 if it is new. There has to be room.
    float& operator[](std::int32_t label) noexcept {
        LabelValue& slot = slots_[place(label)];
        if (slot.label == kFree) {
            slot.label = label;
            size_ += 1;
        }
        return slot.value;
    }
    void prefetch(std::int32_t label) const noexcept {
        if (!slots_.empty()) BOOSTLINE_PREFETCH(&slots_[first_place(label)]);
    }
    // sums[label] += scale * value, without a branch for slots that are free.
    void add_to(float scale, float* sums) const noexcept {
        constexpr std::size_t kUnused = 8;  // several, so that they do not wait for one another
        float unused[kUnused] = {0.0f};
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            const LabelValue& e = slots_[i];
            float* const sum = e.label == kFree ? &unused[i % kUnused] : &sums[e.label];
            *sum += scale * e.value;
        }
    }
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const LabelValue& e : slots_)
            if (e.label != kFree) visit(e.label, e.value);
    }
    // The same; visit(label, value) may change the value.
    template <class Visit>
    void for_each_value(Visit&& visit) noexcept {
        for (LabelValue& e : slots_)
            if (e.label != kFree) visit(e.label, e.value);
    }
    void release() noexcept {
        std::vector<LabelValue>().swap(slots_);
        size_ = 0;
    }

  private:
    static constexpr std::int32_t kFree = -1;

    std::size_t first_place(std::int32_t label) const noexcept {
        const std::uint64_t mixed = static_cast<std::uint32_t>(label) * std::uint32_t{2654435769u};
        return static_cast<std::size_t>((mixed * slots_.size()) >> 32);
    }
    // Where a label is, or the free slot where it would be.
    std::size_t place(std::int32_t label) const noexcept {
        std::size_t i = first_place(label);
        while (slots_[i].label != label && slots_[i].label != kFree) i = i + 1 == slots_.size() ? 0 : i + 1;
        return i;
    }

    std::vector<LabelValue> slots_;
    std::size_t size_ = 0;
};

}  // namespace boostline
