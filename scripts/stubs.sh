#!/usr/bin/env bash
# Writes the stubs of the compiled core, src/boostline/_core, from the one that Python finds (PYTHONPATH=src after a build in place).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
"${PYTHON:-python}" -m nanobind.stubgen --quiet --recursive --module boostline._core --output-dir "${1:-src/boostline}"
