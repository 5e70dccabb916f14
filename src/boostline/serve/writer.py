"""The one thread that writes: events that come together are one transaction, and count when it is on disk."""

from __future__ import annotations

import logging
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from boostline.serve.log import INSERT, INSERT_NEW, Log, StoreError, checksum_of, connect

__all__ = ["Checkpoints", "Entry", "Writer"]

_LOG = logging.getLogger("boostline.serve")
#: No more than that in one transaction, so that the first one does not wait for long.
_MOST_AT_ONCE = 512
#: When the write-ahead log has so many bytes it is emptied by the writer itself, which then waits for the disk.
_LARGEST_WAL = 64 * 2**20
#: Seconds between two checkpoints beside the requests.
_CHECKPOINT_SECONDS = 2.0
#: The clock is taken to have jumped when it and the time that passed differ by so many seconds.
_JUMP = 600.0


@dataclass(slots=True, eq=False)
class Entry:
    """Something to write: an event, or statements beside the log.

    ``offset`` is set when it is on disk, ``error`` if it could not be written; then ``done`` is called, in the writer's
    thread.
    """

    kind: str = ""
    id: str | None = None
    of: int | None = None
    body: bytes = b""
    answer: bytes | None = None
    scores: bytes | None = None
    #: Feedback: what the body says. Rankings: the request.
    data: Any = None
    #: Written only if nothing in the log has its id; otherwise it gets neither an offset nor an error.
    is_new: bool = False
    statements: Sequence[tuple[str, tuple[Any, ...]]] = ()
    #: Not to be written unless this was: its ranking, which may be on its way to the disk.
    needs: Entry | None = None
    offset: int | None = None
    time: float = 0.0
    error: Exception | None = None
    #: Whether the write-ahead log is to be emptied afterwards.
    empties: bool = False
    #: Whatever the one who wrote it wants to find again.
    told: Any = None
    is_done: threading.Event | None = field(default=None, repr=False)


class Writer:
    """Owns the only connection that writes.

    Parameters
    ----------
    path
        The store.
    done
        Called in the writer's thread with the entries of each transaction, when it is on disk or has failed.
    wall
        The clock, for tests.
    """

    def __init__(
        self,
        path: str,
        done: Callable[[list[Entry]], None] = lambda entries: None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.path = path
        self.done = done
        self._wall = wall
        log = Log(path)
        #: Offset of the last event on disk, and of the last one that is no ranking: set together.
        self.heads = (log.head()[0], log.last_to_apply())
        self.last_time = log.head()[1]
        log.close()
        self._db = connect(path, writes=True)
        self._queue: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        self._started, self._monotonic = self._wall(), time.monotonic()
        #: Monotonic time of the clock's last jump; None if it never jumped.
        self.jumped_at: float | None = None
        self.n_jumps = 0
        self.commits = 0
        self.commit_seconds = 0.0
        #: Set when a checkpoint beside the requests is done: what came meanwhile is little.
        self.begins_again = False
        #: Why the last transaction failed; None if it did not.
        self.failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="boostline-writer", daemon=True)
        self._thread.start()

    @property
    def head(self) -> int:
        return self.heads[0]

    def submit(self, entry: Entry) -> Entry:
        """Have it written soon."""
        self._queue.put(entry)
        return entry

    def write(self, entry: Entry) -> Entry:
        """Write it and wait until it is on disk."""
        entry.is_done = threading.Event()
        self.submit(entry).is_done.wait()  # type: ignore[union-attr]
        if entry.error is not None:
            raise entry.error
        return entry

    def empty(self) -> None:
        """Bring all of the write-ahead log into the store, and wait for it."""
        self.write(Entry(empties=True))

    def vacuum(self) -> None:
        """Give the space of what was deleted back to the disk; nothing may be waiting."""
        self._db.execute("VACUUM")

    def close(self) -> None:
        """Write what is waiting, and end."""
        self._queue.put(None)
        self._thread.join()
        try:
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.DatabaseError as error:
            _LOG.warning("the write-ahead log stays beside the store: %s", error)
        self._db.close()

    def _run(self) -> None:
        while True:
            entry = self._queue.get()
            entries = []
            while entry is not None:
                entries.append(entry)
                if len(entries) == _MOST_AT_ONCE:
                    break
                try:
                    entry = self._queue.get_nowait()
                except queue.Empty:
                    break
            if entries:
                self._commit(entries)
                self._tell(entries)
            if self.begins_again and self._queue.empty():
                self._begin_again()
            if entry is None:
                return

    def _commit(self, entries: list[Entry]) -> None:
        began = time.perf_counter()
        last, to_apply = self.heads
        now = self._now()
        written: list[tuple[Entry, int]] = []
        # A single statement is a transaction by itself, in a third of the calls.
        together = len(entries) > 1 or bool(entries[0].statements)
        try:
            if together:
                self._db.execute("BEGIN IMMEDIATE")
            for entry in entries:
                if entry.needs is not None and entry.needs.error is not None:
                    entry.error = entry.needs.error
                    continue
                if entry.kind:
                    of = entry.of or _offset(entry.needs, written)
                    head = (last + 1, now, entry.kind, entry.id, of)
                    rest = (entry.body, entry.answer, entry.scores)
                    insert = INSERT_NEW if entry.is_new else INSERT
                    row = (*head, *rest, checksum_of(head, *rest))
                    if self._db.execute(insert, row).rowcount:
                        last += 1
                        to_apply = to_apply if entry.kind == "rank" else last
                        written.append((entry, last))
                for sql, values in entry.statements:
                    self._db.execute(sql, values)
            if together:
                self._db.execute("COMMIT")
        except Exception as error:  # whatever it is, those who wait must hear of it
            self._fail(entries, error)
            return
        for entry, offset in written:
            entry.offset, entry.time = offset, now
        self.last_time = now
        self.heads = (last, to_apply)
        self.failure = None
        self.commits += 1
        self.commit_seconds += time.perf_counter() - began
        self._shorten(any(entry.empties for entry in entries))

    def _fail(self, entries: list[Entry], error: Exception) -> None:
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except sqlite3.Error as also:
            _LOG.error("the log could not be rolled back: %s", also)
        self.failure = StoreError(f"the log cannot be written: {error}")
        _LOG.error("the log cannot be written: %s (%d entries refused)", error, len(entries))
        for entry in entries:
            entry.error = self.failure

    def _tell(self, entries: list[Entry]) -> None:
        try:
            self.done(entries)
        except Exception as error:  # the thread must live on: everybody waits for it
            _LOG.critical("what was written could not be told: %s", error, exc_info=True)
        for entry in entries:
            if entry.is_done is not None:
                entry.is_done.set()

    def _now(self) -> float:
        """The time, which never runs backwards in the log."""
        wall, monotonic = self._wall(), time.monotonic()
        ahead = (wall - self._started) - (monotonic - self._monotonic)
        if abs(ahead) > _JUMP:
            self.n_jumps += 1
            self.jumped_at = monotonic
            self._started, self._monotonic = wall, monotonic
            _LOG.warning("the clock has jumped by %.0f seconds", ahead)
        return max(wall, self.last_time)

    def _begin_again(self) -> None:
        """Bring the last transactions into the store, so that the write-ahead log is written from its start again.

        A file that does not grow is sooner on disk: its length and its blocks are there already.
        """
        self.begins_again = False
        try:
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.DatabaseError as error:
            _LOG.warning("a checkpoint failed: %s", error)

    def _shorten(self, now: bool) -> None:
        """Empty a write-ahead log that has grown too long in spite of the checkpoints beside the requests."""
        if not now and self.commits % 512:
            return
        try:
            if now or os.path.getsize(f"{self.path}-wal") > _LARGEST_WAL:
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except (OSError, sqlite3.DatabaseError) as error:
            _LOG.warning("the write-ahead log could not be emptied: %s", error)


def _offset(needs: Entry | None, written: list[tuple[Entry, int]]) -> int | None:
    """The offset of a ranking that is on disk, or in the same transaction."""
    if needs is None:
        return None
    if needs.offset is not None:
        return needs.offset
    return next(offset for entry, offset in reversed(written) if entry is needs)


class Checkpoints:
    """Brings the write-ahead log into the store beside the requests, so that no commit has to do it."""

    def __init__(self, path: str, writer: Writer) -> None:
        self._db = connect(path, writes=True)
        self._writer = writer
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="boostline-checkpoints", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        self._db.close()

    def _run(self) -> None:
        while not self._ended.wait(_CHECKPOINT_SECONDS):
            try:
                self._db.execute("PRAGMA wal_checkpoint(PASSIVE)")
                self._writer.begins_again = True
            except sqlite3.DatabaseError as error:
                _LOG.warning("a checkpoint failed: %s", error)
