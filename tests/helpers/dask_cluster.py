"""A real Dask cluster: a scheduler and workers, each a process of its own that a test may kill."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any


class Cluster:
    """Started in a folder of its own; `close` ends all processes."""

    def __init__(self, folder: Path, environment: dict[str, str], n_workers: int = 2) -> None:
        import distributed

        self._folder, self._environment = folder, environment
        self._ready = folder / "scheduler.json"
        self._scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        end = time.monotonic() + 60
        while not self._ready.exists():
            assert time.monotonic() < end, "the scheduler did not start"
            time.sleep(0.05)
        self.workers: dict[str, Any] = {}
        make: Any = distributed.Client
        self.client = make(scheduler_file=str(self._ready), set_as_default=False)
        for _ in range(n_workers):
            self.add_worker(wait=False)
        self.wait_for(n_workers)

    @property
    def address(self) -> str:
        return str(self.client.scheduler.address)

    def wait_for(self, n_workers: int) -> None:
        self.client.wait_for_workers(n_workers, timeout=60)

    def add_worker(self, wait: bool = True) -> str:
        name = f"w{len(self.workers)}"
        folder = ["--local-directory", str(self._folder), "--name", name]
        self.workers[name] = self._start("worker", "--no-nanny", "--nthreads", "1", *folder)
        if wait:
            self.wait_for(sum(one.poll() is None for one in self.workers.values()))
        return name

    def kill_a_busy_worker(self, task: str = "attempt") -> threading.Thread:
        """A thread that kills the first worker that has been seen with such a task in its hands."""
        by_pid = {one.pid: one for one in self.workers.values()}
        workers = {at: by_pid[pid] for at, pid in self.client.run(os.getpid).items()}

        def watch() -> None:
            end = time.monotonic() + 60
            while time.monotonic() < end:
                for address, tasks in self.client.processing().items():
                    if any(task in str(one) for one in tasks):
                        workers[address].kill()
                        workers[address].wait()
                        return
                time.sleep(0.005)

        thread = threading.Thread(target=watch)
        thread.start()
        return thread

    def n_alive(self) -> int:
        return sum(one.poll() is None for one in self.workers.values())

    def close(self) -> None:
        self.client.close()
        for process in [*self.workers.values(), self._scheduler]:
            process.kill()
            process.wait()

    def _start(self, *arguments: str) -> Any:
        common = ["--no-dashboard", "--scheduler-file", str(self._ready)]
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments, *common],
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
