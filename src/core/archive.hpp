// Named arrays of a learner's state, on their way to and from a file. Reading checks every length and
// range, because a file may come from a stranger.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace boostline {

using Column = std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::int32_t>,
                            std::vector<std::uint8_t>, std::vector<float>>;

// What `save` fills.
using Archive = std::map<std::string, Column>;

template <class T>
struct Span {
    const T* data = nullptr;
    std::size_t size = 0;
    const T& operator[](std::size_t i) const { return data[i]; }
};

// What `load` reads: views into arrays owned by the caller.
class ArchiveView {
  public:
    using View = std::variant<Span<double>, Span<std::int64_t>, Span<std::int32_t>, Span<std::uint8_t>,
                              Span<float>>;
    std::map<std::string, View> columns;

    template <class T>
    Span<T> get(const std::string& name) const {
        const auto found = columns.find(name);
        if (found == columns.end()) throw std::invalid_argument("the state has no array '" + name + "'");
        const auto* span = std::get_if<Span<T>>(&found->second);
        if (span == nullptr) throw std::invalid_argument("the array '" + name + "' has the wrong type");
        return *span;
    }
    template <class T>
    Span<T> get(const std::string& name, std::size_t size) const {
        const Span<T> span = get<T>(name);
        if (span.size != size)
            throw std::invalid_argument("the array '" + name + "' has " + std::to_string(span.size) +
                                        " entries, expected " + std::to_string(size));
        return span;
    }
};

inline void check_finite(const Span<double>& span, const std::string& name) {
    for (std::size_t i = 0; i < span.size; ++i)
        if (!std::isfinite(span[i]))
            throw std::invalid_argument("the array '" + name + "' has a value that is not finite");
}

}  // namespace boostline
