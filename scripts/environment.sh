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
.venv/bin/python -m pip install --quiet --disable-pip-version-check ".[$1]"
