// Calls from the core into Python.
#pragma once

#include <nanobind/nanobind.h>

#include "core/base/memory_faults.hpp"

namespace boostline {

// Python code runs with the GIL.
struct WithPython {
    nanobind::gil_scoped_acquire gil;
    MemoryFaults::Outside outside;
};

}  // namespace boostline
