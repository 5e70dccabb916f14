"""Spread runs over the cores of this machine, or over a Dask cluster, with the engines of `boostline.scale`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from boostline.data import Dataset
from boostline.lab.reproduce.one_run import Stopped, perform
from boostline.lab.reproduce.plan import Task
from boostline.scale.engines.engine import Engine, WorkerError
from boostline.scale.engines.local import LocalEngine, count_jobs


class ClusterError(OSError):
    """The Dask cluster could not be reached, or failed; finished runs are kept."""


def spread(
    tasks: Sequence[Task], data: Mapping[str, Dataset], *, jobs: int = -1, dask: str | None = None
) -> Iterator[tuple[Task, dict[str, Any]]]:
    """Yield each task with its result, in their order.

    Closing the iterator, or Ctrl-C, ends the worker processes at once.

    Parameters
    ----------
    tasks
        What to run.
    data
        The data sets by name. Workers are sent them and need no files.
    jobs
        Local processes; -1 is one per core, 1 runs here.
    dask
        Address of a Dask scheduler. Its workers need boostline installed. A worker that dies loses
        its run, which another then does again with the same result.
    """
    with contextlib.ExitStack() as stack:
        try:
            engine: Engine = LocalEngine(max(1, min(count_jobs(jobs), len(tasks))))
            if dask is not None:
                from boostline.scale.engines.dask import connected

                engine = stack.enter_context(connected(dask))
            results = engine.map(_perform, tasks, dict(data))
            stack.enter_context(contextlib.closing(results))  # type: ignore[type-var]
            yield from zip(tasks, results, strict=True)
        except Stopped:
            raise KeyboardInterrupt from None
        except WorkerError as error:
            raise ClusterError(
                f"{error}; finished runs are kept, and the same command continues from there"
            ) from error


def _perform(data: Mapping[str, Dataset], task: Task) -> dict[str, Any]:
    return perform(task, data[task.data])
