// NumPy arrays: views in, copies out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace boostline {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
using NewArray = nb::ndarray<nb::numpy, T>;

// A NumPy array that owns the values.
template <class T>
NewArray<T> to_numpy(std::unique_ptr<T[]> values, std::initializer_list<std::size_t> shape) {
    T* const data = values.release();
    const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return NewArray<T>(data, shape, owner);
}
// One that owns a copy of them.
template <class T>
NewArray<T> to_numpy(const T* values, std::initializer_list<std::size_t> shape) {
    std::size_t size = 1;
    for (const std::size_t n : shape) size *= n;
    std::unique_ptr<T[]> copy(new T[size > 0 ? size : 1]);
    std::copy(values, values + size, copy.get());
    return to_numpy(std::move(copy), shape);
}

}  // namespace boostline
