"""The way to the disk and back: what comes in one turn of the loop is written together, and then answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from orjson import dumps

from boostline.serve.store.writer import Entry, Writer

__all__ = ["Answer", "CommitQueue", "Tell"]

_LOG = logging.getLogger("boostline.serve")

#: What a request is answered with, and what takes it.
Answer = bytes | Exception
Tell = Callable[[Answer], None]


class CommitQueue:
    """Entries that wait for the disk. Used by the loop's thread only.

    Parameters
    ----------
    writer
        Writes them.
    answer
        What to answer when an entry is on disk, or could not be written.
    after
        Called with the entries when all of them are answered.
    """

    def __init__(
        self,
        writer: Writer,
        answer: Callable[[Entry], Answer],
        after: Callable[[list[Entry]], None],
    ) -> None:
        self._writer, self._answer, self._after = writer, answer, after
        self._waiting: list[Entry] = []
        #: The same by id.
        self.by_id: dict[str, list[Entry]] = {}
        self.loop: asyncio.AbstractEventLoop | None = None

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Say in which loop requests are answered."""
        self.loop = loop

    def __len__(self) -> int:
        return len(self._waiting)

    def submit(self, entry: Entry, tell: Tell) -> None:
        """Have an entry written at the end of this turn, and its answer told."""
        assert self.loop is not None
        entry.tell.append(tell)
        if entry.id is not None:
            self.by_id.setdefault(entry.id, []).append(entry)
        if not self._waiting:
            self.loop.call_soon(self._write)
        self._waiting.append(entry)

    def record(self, kind: str, told: dict[str, Any]) -> asyncio.Future[Entry]:
        """Write an event about the service itself; the result is its entry."""
        assert self.loop is not None
        future: asyncio.Future[Entry] = self.loop.create_future()
        entry = Entry(kind, body=dumps(told))

        def tell(answer: Answer) -> None:
            if future.done():  # nobody waits any more
                return
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(entry)

        self.submit(entry, tell)
        return future

    def _write(self) -> None:
        entries, self._waiting = self._waiting, []
        self._writer.commit(entries)
        self.by_id.clear()
        for entry in entries:
            try:
                answer = self._answer(entry)
                for tell in entry.tell:
                    tell(answer)
            except Exception as error:  # others wait, too
                _LOG.critical("what was written could not be told: %s", error, exc_info=True)
        self._after(entries)

    def close(self) -> None:
        """Write what is left; nobody waits for an answer any more."""
        self._writer.commit(self._waiting)
