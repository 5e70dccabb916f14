"""What the benchmarks of this folder share: clocks, a real Dask cluster, memory over time, files."""

from __future__ import annotations

import json
import os
import resource
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


def say(**result: Any) -> None:
    print(
        json.dumps({n: round(v, 5) if isinstance(v, float) else v for n, v in result.items()}),
        flush=True,
    )


class Clock:
    """Wall-clock seconds, and the CPU seconds of the longest way through a job: this process, then the busiest worker.

    `others` is the share of the machine that processes took that have no part in the job: if it is more than some
    percent, the clock says little.
    """

    def __init__(self, cluster: Dask | None = None) -> None:
        self._cluster = cluster
        self._start = time.perf_counter(), time.process_time(), self._workers()
        self._children, self._busy = _children(), _busy()

    def _workers(self) -> dict[str, float]:
        return {} if self._cluster is None else self._cluster.client.run(time.process_time)

    def read(self, processes: int = 1) -> dict[str, float]:
        wall, cpu, workers = self._start
        seconds, busy = time.perf_counter() - wall, _busy() - self._busy
        own, after = time.process_time() - cpu, self._workers()
        each = [after[one] - workers.get(one, 0.0) for one in after]
        children = _children() - self._children
        others = (busy - own - sum(each) - children) / (seconds * (os.cpu_count() or 1))
        alone = 0.0 if self._cluster is not None else children / processes
        longest = own + max(each, default=0.0) + alone
        return {"seconds": seconds, "longest_cpu": longest, "others": max(0.0, others)}


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _busy() -> float:
    """CPU seconds of all processes of the machine."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, *rest = map(int, file.readline().split()[1:])
    return (user + nice + system + sum(rest[:3])) / os.sysconf("SC_CLK_TCK")


class Dask:
    """For `with`: an engine of n worker processes with one thread each."""

    def __init__(self, n_workers: int) -> None:
        from distributed import Client, LocalCluster

        self.cluster = LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        )
        self.client = Client(self.cluster)
        self.client.run(_warm)

    def __enter__(self) -> Any:
        from boostline.scale.engines.dask import DaskEngine

        return DaskEngine(self.client)

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.cluster.close()


def _warm() -> None:
    import pyarrow.parquet  # noqa: F401

    import boostline.scale  # noqa: F401


class Watched:
    """For `with`: the resident memory of some processes over time."""

    def __init__(self, processes: dict[str, int]) -> None:
        self._processes = processes
        self._seen: dict[str, list[float]] = {name: [] for name in processes}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        page = resource.getpagesize() / 1e6
        while not self._ended.wait(0.1):
            for name, pid in self._processes.items():
                pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
                self._seen[name].append(pages * page)

    def told(self) -> dict[str, list[int]]:
        """Megabytes of each process: the largest in each tenth of the time."""
        return {
            f"megabytes of {name}": [round(max(part)) for part in np.array_split(seen, 10)]
            for name, seen in self._seen.items()
        }


def write_tables(folder: Path, X: Any, Y: Any, labels: list[str], n_files: int) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    for i, rows in enumerate(np.array_split(np.arange(len(X)), n_files)):
        columns = {f"x{j}": X[rows, j] for j in range(X.shape[1])}
        columns |= {name: Y[rows, j] for j, name in enumerate(labels)}
        parquet.write_table(pa.table(columns), folder / f"part-{i:04}.parquet")


@contextmanager
def temporary(parent: str | None = None) -> Iterator[Path]:
    """For `with`: a folder that is removed at the end."""
    folder = Path(tempfile.mkdtemp(dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
