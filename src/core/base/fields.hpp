// The state of a learner, declared once: `fields(Fields&)` names every array, its length and what its numbers can be.
// Saving, loading, checking and counting memory all go through the same declaration.
#pragma once

#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/archive.hpp"
#include "core/base/ring.hpp"

namespace boostline {

// What a number can be.
struct Bounds {
    double low, high;
    bool is_count = false;        // a whole number
    bool may_be_missing = false;  // NaN, too

    template <class T>
    bool has_all(const T* values, std::size_t n) const {
        bool ok = true;
        for (std::size_t i = 0; i < n; ++i) {
            const auto x = static_cast<double>(values[i]);
            ok &= (x >= low && x <= high) || (may_be_missing && x != x);
        }
        for (std::size_t i = 0; is_count && i < n; ++i) {
            const auto x = static_cast<double>(values[i]);
            ok &= x == std::floor(x);
        }
        return ok;
    }
};
constexpr Bounds within(double largest) { return {-largest, largest}; }
constexpr Bounds kCounts{0.0, kMostRows, true};
constexpr Bounds kFlags{0.0, 1.0, true};
constexpr Bounds kImportance{std::numeric_limits<double>::denorm_min(), 1.0};

class Fields {
  public:
    // Arguments are passed on to the state's `fields`.
    template <class State, class... Arguments>
    static void save(const State& state, Archive& out, const std::string& prefix, Arguments... arguments) {
        Fields f(prefix);
        f.out_ = &out;
        f.visit(state, arguments...);
    }
    // Into a state that is as new.
    template <class State, class... Arguments>
    static void load(State& state, const ArchiveView& in, const std::string& prefix, Arguments... arguments) {
        Fields f(prefix);
        f.in_ = &in;
        f.checks_ = true;
        f.visit(state, arguments...);
    }
    // Throws std::invalid_argument unless a file with this state could be loaded.
    template <class State, class... Arguments>
    static void check(const State& state, const std::string& prefix, Arguments... arguments) {
        Fields f(prefix);
        f.checks_ = true;
        f.visit(state, arguments...);
    }
    // What its vectors hold, beyond sizeof but for what `object` adds.
    template <class State, class... Arguments>
    static std::size_t bytes(const State& state, Arguments... arguments) {
        Fields f("");
        f.visit(state, arguments...);
        return f.bytes_;
    }

    bool saves() const { return out_ != nullptr; }
    bool loads() const { return in_ != nullptr; }
    bool checks() const { return checks_; }  // when it loads, too
    bool counts() const { return !saves() && !checks(); }
    void require(bool ok, const char* name) const { boostline::require(ok, prefix_, name); }

    // Which arrays a file has may depend on how far the learner has come.
    bool has(const char* name) const { return in_->has(prefix_ + name); }
    // The length of an array that only the file knows; `size` otherwise.
    template <class T>
    std::size_t size(const char* name, std::size_t size) const {
        return loads() ? in_->size<T>(prefix_ + name) : size;
    }
    // Before there is room for an array: a file may claim any length.
    template <class T>
    void expect(const char* name, std::size_t size) const {
        if (loads()) in_->expect<T>(prefix_ + name, size);
    }

    // The rows of a ring, whose number is the length of an array.
    template <class T>
    void ring(const char* name, Ring& ring) {
        if (loads()) ring.fill(in_->size<T>(prefix_ + name), prefix_ + name);
    }
    // Columns of a row ascend.
    void columns(const char* name, const std::int32_t* index, std::size_t n, std::size_t n_columns) const {
        if (checks()) check_columns(index, n, n_columns, prefix_, name);
    }
    // The numbers of a vector, which has `n` of them.
    template <class T>
    void array(const char* name, std::vector<T>& values, std::size_t n, Bounds bounds) {
        if (loads()) {
            expect<Stored<T>>(name, n);
            values = std::vector<T>(n);  // not more room than needed
        }
        matrix(name, values, 1, n, n, bounds);
    }
    // Rows of a vector that has room for them, `stride` apart; the numbers between two rows are not in the file.
    template <class T>
    void matrix(const char* name, std::vector<T>& values, std::size_t n_rows, std::size_t n_columns, std::size_t stride,
                Bounds bounds, std::size_t first = 0) {
        if (first == 0) memory(values);
        pieces<T>(name, n_rows * n_columns, bounds, [&](auto&& visit) {
            for (std::size_t i = 0; i < n_rows; ++i) visit(values.data() + first + i * stride, n_columns);
        });
    }
    // `width` numbers for each slot of a ring, oldest first. A ring that is loaded has its size already.
    template <class T>
    void slots(const char* name, const Ring& ring, std::vector<T>& values, std::size_t width, Bounds bounds) {
        if (loads()) {
            expect<Stored<T>>(name, ring.size() * width);
            values = std::vector<T>(ring.size() * width);
        }
        memory(values);
        pieces<T>(name, ring.size() * width, bounds, [&](auto&& visit) {
            ring.for_each([&](std::size_t slot) { visit(values.data() + slot * width, width); });
        });
    }
    template <class T>
    void number(const char* name, T& value, Bounds bounds) {
        numbers(name, &value, 1, bounds);
    }
    template <class T>
    void numbers(const char* name, T* values, std::size_t n, Bounds bounds) {
        pieces<T>(name, n, bounds, [&](auto&& visit) { visit(values, n); });
    }
    // A whole number of any type.
    template <class T>
    void whole(const char* name, T& value, double low, double high) {
        auto stored = static_cast<std::int64_t>(value);
        number(name, stored, {low, high, true});
        if (loads()) value = static_cast<T>(stored);
    }
    void flag(const char* name, bool& value) {
        auto stored = static_cast<std::uint8_t>(value);
        number(name, stored, kFlags);
        if (loads()) value = stored == 1;
    }
    // Any array: each(visit) calls visit(values, n) for its pieces, in order.
    template <class T, class Each>
    void pieces(const char* name, std::size_t size, Bounds bounds, Each&& each) {
        if (saves())
            out_->add<Stored<T>>(prefix_ + name, size, [&](auto&& write) {
                each([&](const T* values, std::size_t n) { write_all(values, n, write); });
            });
        if (loads()) {
            ArrayReader<Stored<T>> reader(*in_, prefix_ + name, size);
            each([&](T* values, std::size_t n) {
                read_all(values, n, reader);
                require(bounds.has_all(values, n), name);
            });
        } else if (checks()) {
            each([&](const T* values, std::size_t n) { require(bounds.has_all(values, n), name); });
        }
    }

    // A part that has fields of its own, whose names start with `name`.
    template <class Part, class... Arguments>
    void part(const char* name, Part& part, Arguments&&... arguments) {
        const std::size_t before = prefix_.size();
        if (saves() || checks()) prefix_ += name;
        part.fields(*this, std::forward<Arguments>(arguments)...);
        prefix_.resize(before);
    }

    // A part that saves, loads, checks and counts itself.
    template <class Part, class... Arguments>
    void custom(Part& part, Arguments... arguments) {
        if (saves()) part.save(*out_, prefix_);
        if (loads()) part.load(*in_, prefix_, arguments...);
        if (checks() && !loads()) part.check(prefix_);
        if (counts()) bytes_ += part.memory_bytes();
    }

    // Memory alone: vectors that follow from the others or are scratch, an object that lies on the heap.
    template <class... Vectors>
    void memory(const Vectors&... vectors) {
        bytes_ += (std::size_t{0} + ... + (vectors.capacity() * sizeof(typename Vectors::value_type)));
    }
    template <class Object>
    void object(const Object&) {
        bytes_ += sizeof(Object);
    }
    void add_bytes(std::size_t n) { bytes_ += n; }

  private:
    // Targets are -1 unknown, 0 irrelevant, 1 relevant; in a file 0, 1, 2.
    template <class T>
    using Stored = std::conditional_t<std::is_same_v<T, std::int8_t>, std::uint8_t, T>;

    explicit Fields(const std::string& prefix) : prefix_(prefix) {}

    // Only `load` changes what it visits.
    template <class State, class... Arguments>
    void visit(const State& state, Arguments... arguments) {
        const_cast<State&>(state).fields(*this, arguments...);
    }
    template <class T, class Write>
    static void write_all(const T* values, std::size_t n, Write&& write) {
        if constexpr (!std::is_same_v<T, std::int8_t>) {
            write(values, n);
        } else {
            for (std::size_t i = 0; i < n; ++i) {
                const auto stored = static_cast<std::uint8_t>(values[i] + 1);
                write(&stored, 1);
            }
        }
    }
    template <class T>
    static void read_all(T* values, std::size_t n, ArrayReader<Stored<T>>& reader) {
        if constexpr (!std::is_same_v<T, std::int8_t>)
            reader.next(values, n);
        else
            for (std::size_t i = 0; i < n; ++i)
                values[i] = static_cast<std::int8_t>(static_cast<int>(reader.next()) - 1);
    }

    std::string prefix_;
    Archive* out_ = nullptr;
    const ArchiveView* in_ = nullptr;
    bool checks_ = false;
    std::size_t bytes_ = 0;
};

}  // namespace boostline
