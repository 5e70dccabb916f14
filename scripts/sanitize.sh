#!/usr/bin/env bash
# Runs the tests of the compiled core under AddressSanitizer and UndefinedBehaviorSanitizer, in an environment of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/sanitized.sh
sanitized -m pytest -q -p no:cacheprovider tests/core tests/boosters tests/learners tests/saving \
  --deselect tests/learners/test_trees.py::test_memory_usage_is_what_is_allocated \
  --deselect tests/boosters/test_exactness.py::test_every_cpu_gives_the_same_bits \
  --deselect tests/saving/test_load_cost.py::test_loading_and_saving_peak_at_little_more_than_the_model \
  --deselect tests/boosters/test_too_little_memory.py::test_what_fails_although_the_machine_had_enough_says_the_same \
  --deselect tests/learners/test_growing_features.py::test_without_memory_for_it_nothing_changes "$@"
