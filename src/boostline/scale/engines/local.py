"""Processes of this machine."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from boostline.contract.numbers import whole_number
from boostline.scale.engines.engine import RETRIES, Engine, Task
from boostline.scale.engines.processes import Pool
from boostline.scale.frames import FramePart, feature_columns

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
