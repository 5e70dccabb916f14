// The compiled core as seen from Python: arrays in, arrays out. Checks of what users pass are made in Python
// (boostline/contract); what arrives here has the right types and shapes.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace boostline {

void bind_learners(nb::module_& m);
void bind_boosters(nb::module_& m);
void bind_testing(nb::module_& m);

}  // namespace boostline

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of boostline.";
    // Whoever ends a program with a model alive (in a global, or in a cycle with its own learner) has done nothing
    // wrong.
    nb::set_leak_warnings(false);
    boostline::bind_learners(m);
    boostline::bind_boosters(m);
    nb::module_ testing = m.def_submodule("testing", "What only the tests call.");
    boostline::bind_testing(testing);
}
