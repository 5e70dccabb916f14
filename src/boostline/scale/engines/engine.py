"""What does the work of a task: this process, other processes of this machine, or a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import Any, ClassVar

from boostline.scale.parts import FramePart

__all__ = [
    "RETRIES",
    "Engine",
    "Failed",
    "Task",
    "WorkerError",
    "advancing",
    "attempt",
    "unwrapped",
]

#: How often a task may fail for reasons that are not the data's.
RETRIES = 3
#: A function of (what all workers have, one item).
Task = Callable[[Any, Any], Any]


class WorkerError(OSError):
    """A worker, or all of them, are gone, and the job cannot be finished."""


class Engine(ABC):
    """Runs tasks. A subclass is all that a new cluster needs."""

    #: How many tasks run at the same time.
    n_workers: int
    #: Whether a task is about rows of one partition only.
    keeps_partitions: ClassVar[bool] = False

    @abstractmethod
    def map(self, task: Task, items: Iterable[Any], shared: Any = None) -> Iterator[Any]:
        """Yield ``task(shared, item)`` for every item, in their order; `shared` is sent to each worker once.

        What a task raises is raised here, and the tasks that have not begun are dropped.
        """

    @abstractmethod
    def partitions(
        self, frame: Any, model: Any, n_groups: int | None
    ) -> tuple[Engine, list[FramePart]]:
        """The partitions of a frame, about `n_groups` if that is not None, and the engine that reads them."""


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


def unwrapped(result: Any) -> Any:
    """What `attempt` returned; the error of a task that failed is raised."""
    if isinstance(result, Failed):
        raise result.error
    return result


def advancing(
    results: Iterable[Any], advance: Callable[[int], None], sizes: Iterable[int] = repeat(1)
) -> Iterator[Any]:
    """The results, each of which moves a progress bar by its size."""
    for result, size in zip(results, sizes):  # noqa: B905 (sizes may not end)
        advance(size)
        yield result
