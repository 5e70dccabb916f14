"""Processes of this machine: one that dies is replaced, and its task is done again.

Not `concurrent.futures.ProcessPoolExecutor`: when one of its processes dies, it ends all of them, and it waits for ever
if one was just being started (CPython 3.11).
"""

from __future__ import annotations

import os
import pickle
import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from boostline.contract.numbers import whole_number
from boostline.scale.engines.engine import RETRIES, Engine, Failed, Task, WorkerError, unwrapped
from boostline.scale.parts import FramePart, feature_columns

__all__ = ["LocalEngine", "count_jobs"]


def count_jobs(jobs: int) -> int:
    """How many processes ``jobs`` means; -1 is all cores that this process may use.

    Examples
    --------
    >>> count_jobs(2)
    2
    """
    if jobs == -1:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    return whole_number(jobs, "n_jobs", 1, 4096)


class LocalEngine(Engine):
    """Processes of this machine; with one job this process itself.

    Parameters
    ----------
    n_jobs
        Number of processes; -1 for one per core.
    """

    def __init__(self, n_jobs: int = 1) -> None:
        self.n_workers = count_jobs(n_jobs)

    def map(self, task: Task, items: Iterable[Any], shared: Any = None) -> Iterator[Any]:
        """As of every engine; items are taken when they are needed, and few results wait."""
        # Tasks without a model only read: their results would have to travel.
        if self.n_workers == 1 or shared is None:
            yield from (task(shared, item) for item in items)
            return
        pool = _Pool(pickle.dumps((task, shared), protocol=5), self.n_workers)
        try:
            yield from pool.in_order(items)
        finally:
            pool.close()

    def partitions(
        self, frame: Any, model: Any, n_groups: int | None
    ) -> tuple[Engine, list[FramePart]]:
        if not hasattr(frame, "iloc"):
            raise TypeError(
                f"source is a {type(frame).__name__}, but must be paths or a pandas frame; frames of a cluster need "
                "engine="
            )
        feature_columns(frame.columns, model.labels)
        return self, [FramePart(frame, 0, model.features, model.labels)]


class _Pool:
    """Processes, each of which gets a task and a model once, and then one item after the other."""

    def __init__(self, given: bytes, n_processes: int) -> None:
        self._given = given
        self._processes = [_Process() for _ in range(n_processes)]
        for process in self._processes:  # all are starting by now
            process.send(given)
        self._deaths: Counter[int] = Counter()

    def in_order(self, items: Iterable[Any]) -> Iterator[Any]:
        coming, most = enumerate(items), 2 * len(self._processes)
        done: dict[int, Any] = {}
        n_given, n_out = 0, 0
        while True:
            while n_out in done:
                yield unwrapped(done.pop(n_out))
                n_out += 1
            idle = [one for one in self._processes if one.index is None]
            for process in idle[: most - (n_given - n_out)]:
                if (item := next(coming, None)) is None:
                    break
                process.take(item[0], pickle.dumps(item[1], protocol=5))
                n_given += 1
            if n_given == n_out:
                return
            done.update(self._results())

    def _results(self) -> Iterator[tuple[int, Any]]:
        """Wait until a process has done its item, or has died."""
        busy: dict[Any, _Process] = {p.pipe: p for p in self._processes if p.index is not None}
        for pipe in wait(list(busy)):
            process = busy[pipe]
            assert process.index is not None
            try:
                result = pickle.loads(process.pipe.recv_bytes())
            except (EOFError, OSError):
                self._replace(process, process.index)
                continue
            yield process.index, result
            process.index = None

    def _replace(self, dead: _Process, index: int) -> None:
        dead.end()
        self._deaths[index] += 1
        if self._deaths[index] >= RETRIES:
            raise WorkerError(
                f"{RETRIES} times the worker process of a task died (killed, or out of memory)"
            )
        new = _Process()
        self._processes[self._processes.index(dead)] = new
        new.send(self._given)
        new.take(index, dead.item)

    def close(self) -> None:
        for process in self._processes:
            process.end()


class _Process:
    """A new interpreter: a fork would copy threads and locks in whatever state they are."""

    def __init__(self) -> None:
        context = get_context("spawn")
        resource_tracker.ensure_running()  # it lifts the mask when it starts
        self.pipe, other = context.Pipe()
        self.index: int | None = None  # of the item at which it works
        self.item = b""
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        # A terminal sends Ctrl-C to every process. A worker inherits the mask and never sees it: `end` kills it.
        with _no_interrupts():
            self._process.start()
        other.close()

    def send(self, content: bytes) -> None:
        try:
            self.pipe.send_bytes(content)
        except OSError:  # it is dead, which is seen when its result is waited for
            return

    def take(self, index: int, item: bytes) -> None:
        self.index, self.item = index, item
        self.send(item)

    def end(self) -> None:
        self.pipe.close()
        self._process.kill()
        self._process.join()


@contextmanager
def _no_interrupts() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def _serve(pipe: Connection) -> None:
    """What a process does, until the other end of the pipe is closed."""
    try:
        task, shared = pickle.loads(pipe.recv_bytes())
        while True:
            item = pickle.loads(pipe.recv_bytes())
            try:
                result = pickle.dumps(task(shared, item), protocol=5)
            except Exception as error:
                result = _pickled(error)
            pipe.send_bytes(result)
    except (EOFError, OSError, KeyboardInterrupt):
        return


def _pickled(error: Exception) -> bytes:
    try:
        return pickle.dumps(Failed(error), protocol=5)
    except Exception:
        return pickle.dumps(Failed(RuntimeError(f"{type(error).__name__}: {error}")))
