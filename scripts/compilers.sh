#!/usr/bin/env bash
# Builds the core with gcc and with clang and asks both for the same bits (scripts/bits.py). COMPILERS names others.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
read -ra compilers <<<"${COMPILERS:-g++ clang++}"
environment=build/compilers/venv
[ -x $environment/bin/python ] || "${PYTHON:-python3}" -m venv $environment
pip() { $environment/bin/python -m pip --quiet --disable-pip-version-check "$@"; }
pip install numpy
for compiler in "${compilers[@]}"; do
  command -v "$compiler" >/dev/null || { echo "no $compiler on the PATH; set COMPILERS" >&2; exit 1; }
  echo "== $("$compiler" --version | head -n 1)"
  folder=build/compilers/$compiler
  CXX=$compiler pip install --no-deps --upgrade --target "$folder/package" \
    --config-settings=cmake.define.BOOSTLINE_WARNINGS_ARE_ERRORS=ON --config-settings=build-dir="$folder/cmake" .
  PYTHONPATH=$folder/package $environment/bin/python scripts/bits.py | tee "$folder/bits.txt"
  cmp "build/compilers/${compilers[0]}/bits.txt" "$folder/bits.txt" || {
    echo "$compiler gives other bits than ${compilers[0]}" >&2
    exit 1
  }
done
