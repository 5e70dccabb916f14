#!/usr/bin/env bash
# Sets everything up and runs every check: lint, format, types, tests, doctests, docs.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh" test,docs,lint
step() { printf '\n== %s\n' "$*"; }
step "lint and format"
.venv/bin/ruff check .
.venv/bin/ruff format --check .
find src/core src/bindings -name '*.[ch]pp' -exec .venv/bin/clang-format --dry-run --Werror {} +
.venv/bin/shellcheck --external-sources --source-path=SCRIPTDIR scripts/*.sh .ci/run
step "types"
.venv/bin/mypy
step "documentation"
.venv/bin/mkdocs build --strict --quiet --site-dir "$(mktemp -d)"
step "examples in the code"
unset PYTHONDONTWRITEBYTECODE # compiling the tests anew takes each worker seconds
.venv/bin/python -m pytest -q -n "${JOBS:-2}" --doctest-modules --pyargs boostline
step "tests"
# Those marked slow repeat the paper's experiments in full; `bash scripts/test.sh -m slow` runs them.
exec .venv/bin/python -m pytest -n "${JOBS:-2}" --dist loadfile --no-loadscope-reorder -m "not slow" tests "$@"
