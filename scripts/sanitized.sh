# shellcheck shell=bash
# Sourced: makes an environment whose core is built with AddressSanitizer and UndefinedBehaviorSanitizer, and defines
# `sanitized`, which runs its Python.
environment=build/sanitize-venv
[ -x $environment/bin/python ] || "${PYTHON:-python3}" -m venv $environment
$environment/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
$environment/bin/python -m pip install --quiet --disable-pip-version-check ".[test]" \
  --config-settings=cmake.define.BOOSTLINE_SANITIZE=ON --config-settings=cmake.build-type=RelWithDebInfo
# Python itself is not instrumented, so the sanitizer's library has to be loaded first; Python's own leaks are not ours.
# An allocation that is too large for the machine fails as it does without the sanitizer, where it can.
sanitized() {
  LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)" \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
    $environment/bin/python "$@"
}
