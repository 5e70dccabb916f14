"""What does the work: this process, other processes of this machine, or a cluster behind the same interface."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, Protocol

from boostline.contract.numbers import whole_number

__all__ = ["Engine", "Failed", "LocalEngine", "Task", "WorkerError", "attempt", "count_jobs"]

#: A function of (what all workers have, one item).
Task = Callable[[Any, Any], Any]


class WorkerError(OSError):
    """A worker, or all of them, are gone, and the job cannot be finished."""


class Engine(Protocol):
    """Runs tasks. Results come in the order of the items, whoever computed them."""

    @property
    def n_workers(self) -> int:
        """How many tasks run at the same time."""

    def map(
        self, task: Task, items: Sequence[Any], shared: Any = None, *, done: Callable[[int], None]
    ) -> list[Any]:
        """Run ``task(shared, item)`` for every item; `shared` is sent to each worker once.

        `done` is called with the place of each item that is finished. What a task raises is raised here, at once, and
        the tasks that have not begun are dropped.
        """


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

    def map(
        self, task: Task, items: Sequence[Any], shared: Any = None, *, done: Callable[[int], None]
    ) -> list[Any]:
        results = []
        with self.stream(task, shared) as run:
            for place, result in enumerate(run(items)):
                done(place)
                results.append(result)
        return results

    @contextmanager
    def stream(self, task: Task, shared: Any) -> Iterator[Callable[[Any], Iterator[Any]]]:
        """For `with`: a function from any number of items to results in order, few of which wait at a time."""
        # Tasks without a model only read: their results would have to travel.
        if self.n_workers == 1 or shared is None:
            yield lambda items: (_unwrap(attempt(task, shared, item)) for item in items)
            return
        # A new interpreter each: a fork would copy threads and locks in whatever state they are.
        context = get_context("spawn")
        pool = ProcessPoolExecutor(
            self.n_workers, context, _begin, (pickle.dumps((task, shared), protocol=5),)
        )
        try:
            yield lambda items: _in_order(pool, items, 2 * self.n_workers)
        except BrokenProcessPool as error:
            raise WorkerError("a worker process died (killed, or out of memory)") from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _in_order(pool: ProcessPoolExecutor, items: Any, ahead: int) -> Iterator[Any]:
    waiting: list[Any] = []
    for item in items:
        waiting.append(pool.submit(_run, item))
        if len(waiting) > ahead:
            yield _unwrap(waiting.pop(0).result())
    for future in waiting:
        yield _unwrap(future.result())


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
