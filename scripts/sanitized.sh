# shellcheck shell=bash
# Sourced: makes an environment whose core is built with a sanitizer, and defines `sanitized`, which runs its Python.
# $sanitizer is "address" (AddressSanitizer and UndefinedBehaviorSanitizer, the default) or "thread" (ThreadSanitizer).
sanitizer=${sanitizer:-address}
environment=build/sanitize-venv
[ "$sanitizer" = address ] || environment+="-$sanitizer"
[ -x "$environment/bin/python" ] || "${PYTHON:-python3}" -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade pip
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check ".[test]" \
  "--config-settings=cmake.define.BOOSTLINE_SANITIZE=$sanitizer" --config-settings=cmake.build-type=RelWithDebInfo \
  --config-settings=cmake.define.BOOSTLINE_FAULTS=ON \
  "--config-settings=build-dir=build/sanitize-$sanitizer"
# Python itself is not instrumented, so the sanitizer's library has to be loaded first; Python's own leaks are not ours.
# An allocation that is too large for the machine fails as it does without the sanitizer, where it can. The core's
# operator new is malloc, that of the C++ library is the sanitizer's: what one allocates the other may free.
# ThreadSanitizer gives up in a forked child that starts threads, unless told to go on.
sanitized() {
  local library=libasan.so
  [ "$sanitizer" = address ] || library=libtsan.so
  LD_PRELOAD="$(gcc -print-file-name=$library) $(gcc -print-file-name=libstdc++.so)" \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:alloc_dealloc_mismatch=0 \
    UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=die_after_fork=0:exitcode=66:suppressions=scripts/tsan.supp \
    "$environment/bin/python" "$@"
}
