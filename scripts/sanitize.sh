#!/usr/bin/env bash
# Runs the tests of the compiled core under AddressSanitizer and UndefinedBehaviorSanitizer, in an environment of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/sanitized.sh
sanitized -m pytest -q -p no:cacheprovider tests/core tests/boosters tests/learners tests/saving \
  --deselect tests/learners/test_trees.py::test_memory_usage_is_what_is_allocated \
  --deselect tests/boosters/test_exactness.py::test_every_cpu_gives_the_same_bits \
  --deselect tests/saving/test_load_cost.py::test_a_model_of_100_trees_loads_in_one_and_a_half_times_its_size \
  --deselect tests/learners/test_growing_features.py::test_without_memory_for_it_nothing_changes "$@"
