#!/usr/bin/env bash
# Throws forged models, damaged data and random calls at the library: bash scripts/fuzz.sh [seconds] [options of
# tests/fuzz/harness.py]. Two thirds of the time go to the normal build, one third to the sanitizers'. The first seed is
# the time of day unless --seed says otherwise; it is printed, so that a find can be repeated.
set -euo pipefail
seconds=${1:-120}
shift || true
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh" test
. scripts/sanitized.sh
seed=$(date +%s)000
found=0
.venv/bin/python tests/fuzz/harness.py --seed "$seed" --seconds $((seconds * 2 / 3)) "$@" || found=1
sanitized tests/fuzz/harness.py --seed "$seed" --seconds $((seconds / 3)) "$@" || found=1
exit $found
