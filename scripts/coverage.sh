#!/usr/bin/env bash
# The share of the package's lines and branches that tests reach (without the slow ones). Arguments go to pytest:
# `bash scripts/coverage.sh tests/data` looks at a part. The lines that miss are in build/coverage/index.html.
cd "${BASH_SOURCE[0]%/*}/.." || exit 1
if [ -z "${PYTHON:-}" ]; then
  . scripts/environment.sh test
  PYTHON=.venv/bin/python
fi
exec "$PYTHON" -m pytest -q -n "${JOBS:-2}" --dist loadfile -m "not slow" --cov=boostline --cov-branch \
  --cov-report=term:skip-covered --cov-report=html:build/coverage "${@:-tests}"
