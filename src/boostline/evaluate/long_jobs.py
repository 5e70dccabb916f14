"""Ctrl-C that loses nothing of a long job."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")


class Interrupt:
    """Turns the first Ctrl-C into a request to stop between two blocks.

    A KeyboardInterrupt in the middle of `learn` would lose the scores of a block that the model
    has learned already. While the stream is being waited for there is nothing to lose, and Ctrl-C
    takes effect at once; so does a second Ctrl-C. Outside the main thread, where Python allows no
    signal handler, KeyboardInterrupt is left as it is.

    Parameters
    ----------
    also
        Signals that mean the same as Ctrl-C, such as SIGTERM for a job that others may stop. They
        work where SIGINT is ignored, as it is by the background jobs of a script.

    Attributes
    ----------
    stopped
        Whether a stop was requested.
    number
        The signal that requested it.
    broken_off
        Whether it ended in the middle of a block: what the block was to change is half done.

    """

    def __init__(self, *also: signal.Signals) -> None:
        self.stopped = False
        self.broken_off = False
        self.number = signal.SIGINT
        self._signals = (signal.SIGINT, *also)
        self._waiting = False
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            for number in self._signals:
                previous = signal.getsignal(number)
                # A program that ignores or handles a signal in its own way keeps doing so.
                if previous in (signal.default_int_handler, signal.SIG_DFL):
                    self._previous[number] = previous
                    signal.signal(number, self._handle)
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> bool:
        for number, previous in self._previous.items():
            signal.signal(number, previous)
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self.stopped = self.broken_off = True
            return True
        return False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        at_once = self._waiting or self.stopped
        self.stopped = True
        self.number = signal.Signals(number)
        if at_once:
            raise KeyboardInterrupt

    def items(self, stream: Iterable[T]) -> Iterator[T]:
        """Yield the stream's items until it ends or a stop is requested."""
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
