"""Processes of this machine that do tasks: one that dies is replaced, and its task is done again.

Not `concurrent.futures.ProcessPoolExecutor`: when one of its processes dies, it ends all of them, and it waits for ever
if one was just being started (CPython 3.11).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

__all__ = ["Pool", "Raised", "WorkerError"]


class WorkerError(OSError):
    """A worker, or all of them, are gone, and the job cannot be finished."""


class Raised:
    """What a task raised."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Pool:
    """Some processes, each of which gets a function once, and then arguments, one after the other.

    Parameters
    ----------
    function
        Of one argument; it can be pickled.
    n_processes
        Number of processes.
    retries
        How often the process of an item may die.
    """

    def __init__(self, function: Callable[[Any], Any], n_processes: int, retries: int) -> None:
        self._function = pickle.dumps(function, protocol=5)
        self._retries = retries
        self._processes = [_Process() for _ in range(n_processes)]
        for process in self._processes:  # all are starting by now
            process.send(self._function)

    def in_order(self, items: Iterable[Any]) -> Iterator[Any]:
        """Results in the order of the items, few of which wait at a time."""
        coming, most = iter(items), 2 * len(self._processes)
        done: dict[int, Any] = {}
        n_given, n_out = 0, 0
        while True:
            while n_out in done:
                yield _unwrapped(done.pop(n_out))
                n_out += 1
            idle = [one for one in self._processes if one.item is None]
            for process in idle[: most - (n_given - n_out)]:
                try:
                    content = next(coming)
                except StopIteration:
                    break
                process.take(_Item(n_given, pickle.dumps(content, protocol=5)))
                n_given += 1
            if n_given == n_out:
                return
            done.update(self._results())

    def _results(self) -> Iterator[tuple[int, Any]]:
        """Wait until a process has done its item, or has died."""
        busy = {one.pipe: one for one in self._processes if one.item is not None}
        for pipe in wait(list(busy)):
            process = busy[pipe]  # type: ignore[index]
            item = process.item
            assert item is not None
            try:
                result = pickle.loads(process.pipe.recv_bytes())
            except (EOFError, OSError):
                self._replace(process, item)
                continue
            process.item = None
            yield item.place, result

    def _replace(self, dead: _Process, item: _Item) -> None:
        dead.end()
        item.deaths += 1
        if item.deaths >= self._retries:
            raise WorkerError(
                f"{item.deaths} times the worker process of a task died (killed, or out of memory)"
            )
        new = _Process()
        self._processes[self._processes.index(dead)] = new
        new.send(self._function)
        new.take(item)

    def close(self) -> None:
        """End all processes."""
        for process in self._processes:
            process.end()


class _Item:
    """What a process is given."""

    def __init__(self, place: int, content: bytes) -> None:
        self.place, self.content, self.deaths = place, content, 0


class _Process:
    """A new interpreter: a fork would copy threads and locks in whatever state they are."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.pipe, other = context.Pipe()
        self.item: _Item | None = None
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def send(self, content: bytes) -> None:
        try:
            self.pipe.send_bytes(content)
        except OSError:  # it is dead, which is seen when its result is waited for
            return

    def take(self, item: _Item) -> None:
        self.item = item
        self.send(item.content)

    def end(self) -> None:
        self.pipe.close()
        self._process.kill()
        self._process.join()


def _serve(pipe: Connection) -> None:
    """What a process does, until the other end of the pipe is closed."""
    try:
        function = pickle.loads(pipe.recv_bytes())
        while True:
            item = pickle.loads(pipe.recv_bytes())
            try:
                result = pickle.dumps(function(item), protocol=5)
            except Exception as error:
                result = _pickled(error)
            pipe.send_bytes(result)
    except (EOFError, OSError, KeyboardInterrupt):
        return


def _pickled(error: Exception) -> bytes:
    try:
        return pickle.dumps(Raised(error), protocol=5)
    except Exception:
        return pickle.dumps(Raised(RuntimeError(f"{type(error).__name__}: {error}")))


def _unwrapped(result: Any) -> Any:
    if isinstance(result, Raised):
        raise result.error
    return result
