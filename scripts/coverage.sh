#!/usr/bin/env bash
# The share of the package's lines and branches that tests reach; below FLOOR per cent it fails. Without the slow tests and those of other
# processes, which it cannot look into. Arguments go to pytest: `bash scripts/coverage.sh tests/data` looks at a part (and sets no floor).
# The lines that miss are in build/coverage/index.html.
FLOOR=88 # 89 at its last run, 2026-11-18; most of what is missing is the service and the engines, which are tested in processes
cd "${BASH_SOURCE[0]%/*}/.." || exit 1
if [ -z "${PYTHON:-}" ]; then
  . scripts/environment.sh test
  PYTHON=.venv/bin/python
fi
[ $# -gt 0 ] || set -- --cov-fail-under="$FLOOR" tests
exec "$PYTHON" -m pytest -q -n "${JOBS:-2}" --dist loadfile -m "not slow and not process" --cov=boostline --cov-branch \
  --cov-report=term:skip-covered --cov-report=html:build/coverage "$@"
