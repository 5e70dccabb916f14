# shellcheck shell=bash
# Sourced by the other scripts: a virtual environment in .venv with boostline and the extras named in $1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "boostline needs Python 3.11 or newer, but $python is $("$python" --version 2>&1); set PYTHON" >&2
  exit 1
}
[ -x .venv/bin/python ] || "$python" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
# The wheel is built once; the tests of fresh environments install the same one.
rm -rf build/wheel
# Its allocations can be made to fail. With WERROR, as in CI, a warning of the compiler is an error.
.venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel \
  --config-settings=cmake.define.BOOSTLINE_FAULTS=ON \
  ${WERROR:+--config-settings=cmake.define.BOOSTLINE_WARNINGS_ARE_ERRORS=ON} .
BOOSTLINE_WHEEL=$(echo "$PWD"/build/wheel/boostline-*.whl)
export BOOSTLINE_WHEEL
.venv/bin/python -m pip install --quiet --disable-pip-version-check "${BOOSTLINE_WHEEL}[$1]"
# pip takes a wheel for installed already when the version is the same.
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$BOOSTLINE_WHEEL"
echo "$1" >build/installed # what is in .venv, and when that was so
