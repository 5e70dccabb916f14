"""What makes a long job pleasant: progress while it runs, and Ctrl-C that loses nothing."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")
Advance = Callable[[int], None]
#: True or False to show a bar or not, None to show it on a terminal, or a function of
#: (examples done, examples in all or None).
ProgressLike = bool | Callable[[int, int | None], None] | None


class Interrupt:
    """Turns the first Ctrl-C into a request to stop between two blocks.

    A KeyboardInterrupt in the middle of `learn` would lose the scores of a block that the model
    has learned already. While the stream is being waited for there is nothing to lose, and Ctrl-C
    takes effect at once; so does a second Ctrl-C. Outside the main thread, where Python allows no
    signal handler, KeyboardInterrupt is left as it is.
    """

    def __init__(self) -> None:
        self.stopped = False
        self._waiting = False
        self._previous: Any = None

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            previous = signal.getsignal(signal.SIGINT)
            # A program that ignores or handles SIGINT in its own way keeps doing so.
            if previous is signal.default_int_handler:
                self._previous = previous
                signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> bool:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self.stopped = True
            return True
        return False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._waiting or self.stopped:
            raise KeyboardInterrupt
        self.stopped = True

    def items(self, stream: Iterable[T]) -> Iterator[T]:
        """Yield the stream's items until it ends or a stop is asked for."""
        iterator = iter(stream)
        while not self.stopped:
            try:
                self._waiting = True
                item = next(iterator)
            except StopIteration:
                return
            except KeyboardInterrupt:
                self.stopped = True
                return
            finally:
                self._waiting = False
            yield item


@contextmanager
def show_progress(progress: ProgressLike, what: str, total: int | None) -> Iterator[Advance]:
    """Give a function to call with the number of examples just done."""
    done = 0
    if callable(progress):
        report = progress

        def tell(n: int) -> None:
            nonlocal done
            done += n
            report(done, total)

        yield tell
        return
    if progress is None:
        progress = sys.stderr.isatty()
    if not progress:
        yield lambda n: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("examples"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda n: bar.advance(task, n)
