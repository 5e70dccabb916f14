#!/usr/bin/env bash
# The quick tests, for every save, in under a minute: none that builds, starts processes or takes seconds. PYTHON names an interpreter that
# has boostline and its extra `test`; without it the environment in .venv is set up.
cd "${BASH_SOURCE[0]%/*}/.." || exit 1 # no program is needed but Python
unset PYTHONDONTWRITEBYTECODE          # compiling the tests anew takes each worker six seconds
if [ -z "${PYTHON:-}" ]; then
  . scripts/environment.sh test
  PYTHON=.venv/bin/python
fi
exec "$PYTHON" -m pytest -q -n "${JOBS:-2}" -m "not slow and not gate and not process" tests "$@"
