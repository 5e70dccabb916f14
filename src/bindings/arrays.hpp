// NumPy arrays and the core's own: views in, copies out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "core/archive.hpp"

namespace boostline {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A NumPy array that owns a copy of the values.
template <class T>
nb::object to_numpy(const T* values, std::initializer_list<std::size_t> shape) {
    std::size_t size = 1;
    for (const std::size_t n : shape) size *= n;
    auto* data = new T[size > 0 ? size : 1];
    std::copy(values, values + size, data);
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

inline nb::dict to_dict(const Archive& archive) {
    nb::dict out;
    for (const auto& [name, column] : archive)
        out[name.c_str()] = std::visit([](const auto& values) { return to_numpy(values.data(), {values.size()}); }, column);
    return out;
}

template <class T>
bool add_view(ArchiveView& view, const std::string& name, nb::handle value) {
    Vector<T> array;
    if (!nb::try_cast(value, array, false)) return false;
    view.columns[name] = Span<T>{array.data(), array.shape(0)};
    return true;
}

// Views of the arrays in a dict, which must outlive them.
inline ArchiveView view_of(const nb::dict& arrays) {
    ArchiveView view;
    for (const auto& [key, value] : arrays) {
        const auto name = nb::cast<std::string>(key);
        if (!add_view<double>(view, name, value) && !add_view<std::int64_t>(view, name, value) &&
            !add_view<std::int32_t>(view, name, value) && !add_view<std::uint8_t>(view, name, value) &&
            !add_view<float>(view, name, value))
            throw nb::value_error(("the array '" + name + "' has a type that no state has").c_str());
    }
    return view;
}

}  // namespace boostline
