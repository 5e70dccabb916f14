#!/usr/bin/env bash
# The quick tests, for every save, in under a minute: none that builds, starts processes or takes seconds. PYTHON names an
# interpreter that has boostline and its extra `test`; without it the environment in .venv is set up, once for each
# change of the sources.
cd "${BASH_SOURCE[0]%/*}/.." || exit 1 # no program is needed but Python
unset PYTHONDONTWRITEBYTECODE          # compiling the tests anew takes each worker six seconds
is_installed() { # and no source has changed since
  grep -qsw test build/installed &&
    [ -z "$(find src CMakeLists.txt pyproject.toml -type f ! -name '*.pyc' -newer build/installed -print -quit)" ]
}
if [ -z "${PYTHON:-}" ]; then
  is_installed || . scripts/environment.sh test
  PYTHON=.venv/bin/python
fi
exec "$PYTHON" -m pytest -q -n "${JOBS:-2}" -m "not slow and not gate and not process" tests "$@"
