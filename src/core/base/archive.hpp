// Named arrays of a state, on their way to and from a file, piece by piece: neither way holds a second copy of a state.
// Files come from strangers, so `load` compares every length before it makes room, and every state has a `check` of
// what its numbers can be. The same check runs before a state is saved: what is saved can be loaded.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/portable.hpp"

namespace boostline {

enum class ArrayType { f64, i64, i32, u8, f32 };

template <class T>
struct ArrayTypeOf;
template <>
struct ArrayTypeOf<double> {
    static constexpr ArrayType value = ArrayType::f64;
};
template <>
struct ArrayTypeOf<std::int64_t> {
    static constexpr ArrayType value = ArrayType::i64;
};
template <>
struct ArrayTypeOf<std::int32_t> {
    static constexpr ArrayType value = ArrayType::i32;
};
template <>
struct ArrayTypeOf<std::uint8_t> {
    static constexpr ArrayType value = ArrayType::u8;
};
template <>
struct ArrayTypeOf<float> {
    static constexpr ArrayType value = ArrayType::f32;
};

// What `save` writes to. A caller may ask for names and lengths, or for one array; the rest is not materialised.
class Archive {
  public:
    virtual ~Archive() = default;

    template <class T>
    void add(const std::string& name, const std::vector<T>& values) {
        if (begin(name, ArrayTypeOf<T>::value, values.size())) append(values.data(), values.size() * sizeof(T));
    }
    template <class T>
    void add_one(const std::string& name, T value) {
        if (begin(name, ArrayTypeOf<T>::value, 1)) append(&value, sizeof(T));
    }
    // `fill(write)` calls write(values, n) until all are written.
    template <class T, class Fill>
    void add(const std::string& name, std::size_t size, Fill&& fill) {
        if (!begin(name, ArrayTypeOf<T>::value, size)) return;
        fill([this](const T* values, std::size_t n) { append(values, n * sizeof(T)); });
    }

  protected:
    friend class PrefixedArchive;
    // False: not wanted.
    virtual bool begin(const std::string& name, ArrayType type, std::size_t size) = 0;
    virtual void append(const void* bytes, std::size_t n_bytes) = 0;
};

// What `load` reads from.
class ArchiveView {
  public:
    virtual ~ArchiveView() = default;

    bool has(const std::string& name) const { return find(name).is_there; }
    template <class T>
    std::size_t size(const std::string& name) const {
        const Entry entry = find(name);
        if (!entry.is_there) throw std::invalid_argument("the state has no array '" + name + "'");
        if (entry.type != ArrayTypeOf<T>::value)
            throw std::invalid_argument("the array '" + name + "' has the wrong type");
        return entry.size;
    }
    // Older files have some arrays in another precision.
    template <class T>
    bool has(const std::string& name) const {
        const Entry entry = find(name);
        return entry.is_there && entry.type == ArrayTypeOf<T>::value;
    }
    template <class T>
    void expect(const std::string& name, std::size_t wanted) const {
        const std::size_t found = size<T>(name);
        if (found != wanted)
            throw std::invalid_argument("the array '" + name + "' has " + std::to_string(found) +
                                        " entries, expected " + std::to_string(wanted));
    }
    // All of an array that must have so many values.
    template <class T, class Allocator>
    void read(const std::string& name, std::size_t wanted, std::vector<T, Allocator>& out) const {
        expect<T>(name, wanted);
        std::vector<T, Allocator> values(wanted);  // not more room than needed
        fetch(name, 0, values.data(), wanted * sizeof(T));
        out.swap(values);
    }
    template <class T>
    std::vector<T> read(const std::string& name) const {
        std::vector<T> values;
        read(name, size<T>(name), values);
        return values;
    }
    template <class T>
    T read_one(const std::string& name) const {
        expect<T>(name, 1);
        T value;
        fetch(name, 0, &value, sizeof(T));
        return value;
    }

  protected:
    template <class T>
    friend class ArrayReader;
    friend class PrefixedView;
    struct Entry {
        bool is_there = false;
        ArrayType type = ArrayType::f64;
        std::size_t size = 0;
    };
    virtual Entry find(const std::string& name) const = 0;
    virtual void fetch(const std::string& name, std::size_t first_byte, void* out, std::size_t n_bytes) const = 0;
};

// The arrays of a part, whose names begin with the part's.
class PrefixedArchive final : public Archive {
  public:
    PrefixedArchive(Archive& out, std::string prefix) : out_(out), prefix_(std::move(prefix)) {}

  protected:
    bool begin(const std::string& name, ArrayType type, std::size_t size) override {
        return out_.begin(prefix_ + name, type, size);
    }
    void append(const void* bytes, std::size_t n_bytes) override { out_.append(bytes, n_bytes); }

  private:
    Archive& out_;
    std::string prefix_;
};
class PrefixedView final : public ArchiveView {
  public:
    PrefixedView(const ArchiveView& in, std::string prefix) : in_(in), prefix_(std::move(prefix)) {}

  protected:
    Entry find(const std::string& name) const override { return in_.find(prefix_ + name); }
    void fetch(const std::string& name, std::size_t first_byte, void* out, std::size_t n_bytes) const override {
        in_.fetch(prefix_ + name, first_byte, out, n_bytes);
    }

  private:
    const ArchiveView& in_;
    std::string prefix_;
};

// Reads an array in order, a few values at a time.
template <class T>
class ArrayReader {
  public:
    ArrayReader(const ArchiveView& in, std::string name, std::size_t size)
        : in_(in), name_(std::move(name)), left_(size) {
        in_.expect<T>(name_, size);
    }
    void next(T* out, std::size_t n) {
        while (n > 0) {
            if (at_ == piece_.size()) fill(n);
            const std::size_t some = std::min(n, piece_.size() - at_);
            std::copy_n(piece_.data() + at_, some, out);
            at_ += some;
            out += some;
            n -= some;
        }
    }
    T next() {
        T value;
        next(&value, 1);
        return value;
    }

  private:
    static constexpr std::size_t kPiece = (std::size_t{1} << 16) / sizeof(T);

    void fill(std::size_t n) {
        if (n > left_) throw std::invalid_argument("the array '" + name_ + "' is too short");
        piece_.resize(std::min(left_, kPiece));
        in_.fetch(name_, first_ * sizeof(T), piece_.data(), piece_.size() * sizeof(T));
        first_ += piece_.size();
        left_ -= piece_.size();
        at_ = 0;
    }

    const ArchiveView& in_;
    std::string name_;
    std::size_t first_ = 0, left_, at_ = 0;
    std::vector<T> piece_;
};

// What numbers of a state can be: within kLargest, but for sums of squares.
constexpr double kMostRows = 9007199254740992.0;  // 2^53: counts beyond are not exact

// The name of an array comes in two parts, so that checking costs no string.
inline void require(bool ok, const std::string& prefix, const char* name) {
    if (!ok) throw std::invalid_argument("the array '" + prefix + name + "' has a value out of range");
}
inline void check_within(const double* values, std::size_t n, double low, double high, const std::string& prefix,
                         const char* name) {
    bool ok = true;
    for (std::size_t i = 0; i < n; ++i) ok &= values[i] >= low && values[i] <= high;  // false for NaN
    require(ok, prefix, name);
}
inline void check_within(const std::vector<double>& values, double low, double high, const std::string& prefix,
                         const char* name) {
    check_within(values.data(), values.size(), low, high, prefix, name);
}
inline void check_within(double value, double low, double high, const std::string& prefix, const char* name) {
    check_within(&value, 1, low, high, prefix, name);
}
// Entries of a row: columns that ascend; values may be NaN (missing).
inline void check_columns(const std::int32_t* columns, std::size_t n, std::size_t n_columns, const std::string& prefix,
                          const char* name) {
    for (std::size_t i = 0; i < n; ++i)
        require(columns[i] > (i == 0 ? -1 : columns[i - 1]) && static_cast<std::size_t>(columns[i]) < n_columns, prefix,
                name);
}
// A number of rows.
inline bool is_count(double n) { return n >= 0.0 && n <= kMostRows && n == std::floor(n); }

}  // namespace boostline
