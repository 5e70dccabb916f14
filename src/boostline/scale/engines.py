"""What does the work: this process, other processes of this machine, or a cluster behind the same interface."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from boostline.contract.numbers import whole_number
from boostline.scale.processes import Pool, WorkerError

__all__ = [
    "RETRIES",
    "Engine",
    "Failed",
    "LocalEngine",
    "Task",
    "WorkerError",
    "attempt",
    "count_jobs",
    "run_all",
]

#: How often a task may fail for reasons that are not the data's.
RETRIES = 3
#: A function of (what all workers have, one item).
Task = Callable[[Any, Any], Any]


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
    """What a task raised on a cluster, which repeats tasks that end in an error; a bad row is bad in every attempt."""

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
        given = functools.partial(task, shared)
        # Tasks without a model only read: their results would have to travel.
        if self.n_workers == 1 or shared is None:
            yield functools.partial(map, given)
            return
        pool = Pool(given, self.n_workers, RETRIES)
        try:
            yield pool.in_order
        finally:
            pool.close()
