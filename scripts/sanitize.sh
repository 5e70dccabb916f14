#!/usr/bin/env bash
# Runs the tests of the compiled core under AddressSanitizer and UndefinedBehaviorSanitizer, in an environment of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
environment=build/sanitize-venv
[ -x $environment/bin/python ] || "${PYTHON:-python3}" -m venv $environment
$environment/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
$environment/bin/python -m pip install --quiet --disable-pip-version-check ".[test]" \
  --config-settings=cmake.define.BOOSTLINE_SANITIZE=ON --config-settings=cmake.build-type=RelWithDebInfo
# Python itself is not instrumented, so the sanitizer's library has to be loaded first; Python's own leaks are not ours.
LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
  $environment/bin/python -m pytest -q -p no:cacheprovider tests/core tests/boosters tests/learners tests/saving \
  --deselect tests/learners/test_trees.py::test_memory_usage_is_what_is_allocated \
  --deselect tests/boosters/test_exactness.py::test_every_vector_width_gives_the_same_bits \
  --deselect tests/saving/test_load_cost.py::test_a_model_of_100_trees_loads_in_one_and_a_half_times_its_size \
  --deselect tests/learners/test_growing_features.py::test_without_memory_for_it_nothing_changes "$@"
