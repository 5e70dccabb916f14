#!/usr/bin/env bash
# sanitize.sh [address|thread] [options of pytest]: runs tests of the compiled core under sanitizers, in an environment of
# its own. address (the default): AddressSanitizer and UndefinedBehaviorSanitizer, all tests that reach into the core;
# thread: ThreadSanitizer, the tests of threads and forks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
sanitizer=address
case "${1:-}" in address | thread)
  sanitizer=$1
  shift
  ;;
esac
. scripts/sanitized.sh
if [ "$sanitizer" = thread ]; then
  # A limit on the address space leaves no room for what ThreadSanitizer keeps beside the memory; and it ends a forked child
  # whose new threads get the ids of threads that stayed in the parent ("dup thread with used id").
  sanitized -m pytest -q -p no:cacheprovider tests/zoo/test_threads.py tests/core/test_forks.py \
    tests/zoo/test_memory_errors.py \
    --deselect tests/zoo/test_threads.py::test_threads_that_cannot_be_started_are_an_error_and_change_nothing \
    --deselect tests/core/test_forks.py::test_a_child_learns_with_threads_as_its_parent_would \
    --deselect tests/core/test_forks.py::test_multiprocessing_with_fork_returns "$@"
  exit
fi
sanitized -m pytest -q -p no:cacheprovider tests/zoo tests/core tests/models tests/learners tests/saving \
  --deselect tests/zoo/test_threads.py::test_threads_that_cannot_be_started_are_an_error_and_change_nothing \
  --deselect tests/learners/test_trees.py::test_memory_usage_is_what_is_allocated \
  --deselect tests/zoo/test_exactness.py::test_every_cpu_gives_the_same_bits \
  --deselect tests/saving/test_load_cost.py::test_loading_and_saving_peak_at_little_more_than_the_model \
  --deselect tests/models/test_too_little_memory.py::test_what_fails_although_the_machine_had_enough_says_the_same \
  --deselect tests/learners/test_growing_features.py::test_without_memory_for_it_nothing_changes "$@"
