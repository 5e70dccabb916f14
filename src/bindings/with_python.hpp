// Calls from the core into Python.
#pragma once

#include <nanobind/nanobind.h>

#include "core/forks.hpp"

namespace boostline {

// Python code runs with the GIL, and a process may be forked meanwhile.
struct WithPython {
    Pause pause;
    nanobind::gil_scoped_acquire gil;
};

}  // namespace boostline
