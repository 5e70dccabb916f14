#!/usr/bin/env bash
# Tests boostline with the oldest version of every dependency that pyproject.toml allows, in environments of its own in build/oldest.
# "all" has every extra; "slim" is without River and Dask, whose own bounds keep NumPy and others from being as old as ours allow. The
# wheel is built with the oldest builders. Arguments go to pytest; PYTHON names the interpreter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
place=build/oldest
python=$place/tools/bin/python
mkdir -p "$place"
[ -x "$python" ] || "${PYTHON:-python3}" -m venv "$place/tools"
"$python" -m pip install --quiet --disable-pip-version-check --upgrade uv
uv() { "$place/tools/bin/uv" --quiet "$@"; }

# Wheels only: where there is none for this Python, the bound is not true.
oldest() {
  uv pip compile --resolution lowest-direct --only-binary :all: --python "$python" --no-header --no-annotate "$@" >/dev/null
}

"$python" - >"$place/build.in" <<'EOF'
import tomllib

with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["build-system"]["requires"], sep="\n")
EOF
oldest "$place/build.in" --output-file "$place/build.txt"
rm -rf "$place/wheel"
uv build --wheel --python "$python" --build-constraints "$place/build.txt" --out-dir "$place/wheel"

environment() { # name, extras
  local name=$1 extras=() extra
  for extra in "${@:2}"; do extras+=(--extra "$extra"); done
  oldest pyproject.toml "${extras[@]}" --output-file "$place/$name.txt"
  uv venv --clear --python "$python" "$place/$name"
  uv pip install --python "$place/$name/bin/python" --only-binary :all: -r "$place/$name.txt" "$place"/wheel/*.whl
  printf '\n== %s: ' "$name"
  grep -E '^(numpy|scipy|pandas|pyarrow|scikit-learn|matplotlib|pooch|typer|click|rich|river|joblib|dask|polars)==' \
    "$place/$name.txt" | tr '\n' ' '
  echo
}

# Where boostline meets other packages.
seams=(tests/test_import.py tests/data tests/metrics tests/inspect tests/contract/test_sparse.py tests/saving/test_golden_files.py
  tests/cli/test_errors_in_the_shell.py tests/cli/test_columns_by_name.py tests/cli/test_rank_goes_on.py
  tests/cli/test_named_sets_in_the_shell.py "tests/cli/test_other_commands.py::test_help_is_quick_and_lists_every_command"
  tests/adapters/test_sklearn_classifiers.py)

environment slim data plot sklearn
uv pip install --python "$place/slim/bin/python" pytest pytest-xdist hypothesis safetensors
"$place/slim/bin/python" -m pytest -q -n "${JOBS:-2}" -m "not slow" "${seams[@]}" "$@"

environment all test
"$place/all/bin/python" -m pytest -q -n "${JOBS:-2}" -m "not slow" "${seams[@]}" tests/adapters tests/contract tests/lab/reproduce "$@"
