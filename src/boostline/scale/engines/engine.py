"""What does the work of a task: this process, other processes of this machine, or a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from boostline.scale.frames import FramePart

__all__ = ["RETRIES", "Engine", "Failed", "Task", "attempt", "run_all"]

#: How often a task may fail for reasons that are not the data's.
RETRIES = 3
#: A function of (what all workers have, one item).
Task = Callable[[Any, Any], Any]


class Engine(ABC):
    """Runs tasks. A subclass is all that a new cluster needs."""

    #: How many tasks run at the same time.
    n_workers: int
    #: Whether a task is about rows of one partition only.
    keeps_partitions: ClassVar[bool] = False

    @abstractmethod
    def each(
        self, task: Task, items: Sequence[Any], shared: Any = None
    ) -> Iterator[tuple[int, Any]]:
        """Run ``task(shared, item)`` for every item; `shared` is sent to each worker once.

        Yields places of items and results, as they are done. What a task raises is raised here, at once, and the tasks
        that have not begun are dropped.
        """

    @abstractmethod
    def partitions(
        self, frame: Any, model: Any, n_groups: int | None
    ) -> tuple[Engine, list[FramePart]]:
        """The partitions of a frame, about `n_groups` if that is not None, and the engine that reads them."""


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
