// The parts of the module, one file each.
#pragma once

#include <nanobind/nanobind.h>

namespace boostline {

void bind_learners(nanobind::module_& m);
void bind_boosters(nanobind::module_& m);
void bind_testing(nanobind::module_& m);

}  // namespace boostline
