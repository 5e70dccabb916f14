"""What does the work: this process, other processes of this machine, or a cluster behind the same interface."""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, Protocol

from boostline.contract.numbers import whole_number

__all__ = [
    "RETRIES",
    "Engine",
    "Failed",
    "LocalEngine",
    "Task",
    "WorkerError",
    "attempt",
    "count_jobs",
]

#: How often a task may fail for reasons that are not the data's.
RETRIES = 3
#: A function of (what all workers have, one item).
Task = Callable[[Any, Any], Any]


class WorkerError(OSError):
    """A worker, or all of them, are gone, and the job cannot be finished."""


class Engine(Protocol):
    """Runs tasks."""

    @property
    def n_workers(self) -> int:
        """How many tasks run at the same time."""

    def each(
        self, task: Task, items: Sequence[Any], shared: Any = None
    ) -> Iterator[tuple[int, Any]]:
        """Run ``task(shared, item)`` for every item; `shared` is sent to each worker once.

        Yields places of items and results, as they are done. What a task raises is raised here, at once, and the tasks
        that have not begun are dropped.
        """


def run_all(
    engine: Engine,
    task: Task,
    items: Sequence[Any],
    shared: Any = None,
    done: Callable[[int], object] | None = None,
) -> list[Any]:
    """The results of all items, in their order; `done` is called with the place of each that is finished."""
    results: list[Any] = [None] * len(items)
    for place, result in engine.each(task, items, shared):
        results[place] = result
        if done is not None:
            done(place)
    return results


class Failed:
    """What a task raised. Engines repeat tasks that end in an error; a bad row is bad in every attempt."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def attempt(task: Task, shared: Any, item: Any) -> Any:
    """Run a task on a worker; an error of the data comes back as a value."""
    try:
        return task(shared, item)
    except (ValueError, TypeError, FileNotFoundError, FileExistsError) as error:
        return Failed(error)


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


class LocalEngine:
    """Processes of this machine; with one job this process itself.

    Parameters
    ----------
    n_jobs
        Number of processes; -1 for one per core.
    """

    def __init__(self, n_jobs: int = 1) -> None:
        self.n_workers = count_jobs(n_jobs)

    def each(
        self, task: Task, items: Sequence[Any], shared: Any = None
    ) -> Iterator[tuple[int, Any]]:
        with self.stream(task, shared) as run:
            yield from enumerate(run(items))

    @contextmanager
    def stream(self, task: Task, shared: Any) -> Iterator[Callable[[Any], Iterator[Any]]]:
        """For `with`: a function from any number of items to results in order, few of which wait at a time."""
        # Tasks without a model only read: their results would have to travel.
        if self.n_workers == 1 or shared is None:
            yield lambda items: (_unwrap(attempt(task, shared, item)) for item in items)
            return
        pool = _Pool(self.n_workers, pickle.dumps((task, shared), protocol=5))
        try:
            yield pool.in_order
        finally:
            pool.close()


class _Pool:
    """Processes of this machine. If one dies, others are started, and do again what was not done."""

    def __init__(self, n_workers: int, given: bytes) -> None:
        self._n_workers, self._given = n_workers, given
        self._start()

    def _start(self) -> None:
        # A new interpreter each: a fork would copy threads and locks in whatever state they are.
        context = get_context("spawn")
        self._pool = ProcessPoolExecutor(self._n_workers, context, _begin, (self._given,))

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def in_order(self, items: Any) -> Iterator[Any]:
        """Results in the order of the items, few of which wait at a time."""
        waiting: deque[tuple[Any, Any]] = deque()
        for item in items:
            waiting.append((item, self._submit(item)))
            if len(waiting) > 2 * self._n_workers:
                yield self._next(waiting)
        while waiting:
            yield self._next(waiting)

    def _submit(self, item: Any) -> Any:
        try:
            return self._pool.submit(_run, item)
        except BrokenProcessPool:  # found out when the item's turn comes
            return None

    def _next(self, waiting: deque[tuple[Any, Any]]) -> Any:
        for _ in range(RETRIES):
            try:
                future = waiting[0][1]
                if future is None:
                    raise BrokenProcessPool
                result = future.result()
            except BrokenProcessPool:
                self.close()
                self._start()
                again = [(item, self._submit(item)) for item, _ in waiting]
                waiting.clear()
                waiting.extend(again)
                continue
            waiting.popleft()
            return _unwrap(result)
        raise WorkerError(f"{RETRIES} times a worker process died (killed, or out of memory)")


def _unwrap(result: Any) -> Any:
    if isinstance(result, Failed):
        raise result.error
    return result


# Of a worker process: what `LocalEngine` gave it.
_given: list[Any] = []


def _begin(pickled: bytes) -> None:
    _given[:] = pickle.loads(pickled)


def _run(item: Any) -> Any:
    task, shared = _given
    return attempt(task, shared, item)
