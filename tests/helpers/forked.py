"""Running a piece of a test in a forked child, with an end to waiting for it."""

import os
import signal
import time
import traceback
from collections.abc import Callable


def in_child(task: Callable[[], object], seconds: float = 120.0) -> None:
    """Fork; the child runs `task` and ends. Fails if it raises, dies or does not come to an end."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            task()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            assert status == 0, f"the child ended with status {status}"
            return
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise AssertionError(f"the child was still running after {seconds} s")
