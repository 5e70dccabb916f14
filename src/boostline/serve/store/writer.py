"""The one way to write: events that come together are one transaction, and count when it is on disk.

There is no thread for it. The loop that answers requests writes what came in one of its turns, and waits for the disk;
what comes meanwhile is the next transaction. Handing events to a thread and the answers back cost more than all the
rest of a request, because two threads of Python stand in each other's way.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from boostline.serve.store.log import INSERT, INSERT_NEW, Log, StoreError, checksum_of, connect

__all__ = ["Checkpoints", "Entry", "Writer"]

_LOG = logging.getLogger("boostline.serve")
#: Seconds between two checkpoints beside the requests.
_CHECKPOINT_SECONDS = 2.0
#: The clock is taken to have jumped when it and the time that passed differ by so many seconds.
_JUMP = 600.0

Statement = tuple[str, tuple[Any, ...]]


@dataclass(slots=True, eq=False)
class Entry:
    """Something to write: an event, or statements beside the log.

    ``offset`` is set when it is on disk, ``error`` if it could not be written.
    """

    kind: str = ""
    id: str | None = None
    #: Feedback: the offset of its ranking, or the ranking itself if that is in the same transaction.
    of: int | Entry | None = None
    body: bytes = b""
    answer: bytes | None = None
    scores: bytes | None = None
    #: Feedback: what the body says. Rankings: the request.
    data: Any = None
    #: Written only if nothing in the log has its id; otherwise it gets neither an offset nor an error.
    is_new: bool = False
    statements: Sequence[Statement] = ()
    offset: int | None = None
    time: float = 0.0
    error: Exception | None = None
    #: Who wants to hear of it.
    tell: list[Callable[[Any], None]] = field(default_factory=list)


class Writer:
    """Owns the only connection that writes; threads take turns.

    Parameters
    ----------
    path
        The store.
    wall
        The clock, for tests.
    """

    def __init__(self, path: str, wall: Callable[[], float] = time.time) -> None:
        self.path = path
        self._wall = wall
        log = Log(path)
        #: Offset of the last event on disk, and of the last one that is no ranking: set together.
        self.heads = (log.head()[0], log.last_to_apply())
        self.last_time = log.head()[1]
        log.close()
        self._db = connect(path, writes=True)
        #: Held while anything is written.
        self.turn = threading.Lock()
        self._deferred_statements: deque[Statement] = deque()
        self._started, self._monotonic = self._wall(), time.monotonic()
        #: Monotonic time of the clock's last jump; None if it never jumped.
        self.jumped_at: float | None = None
        self.n_jumps = 0
        self.commits = 0
        self.commit_seconds = 0.0
        #: Why the last transaction failed; None if it did not.
        self.failure: Exception | None = None

    @property
    def head(self) -> int:
        return self.heads[0]

    def commit(self, entries: Sequence[Entry]) -> None:
        """Write some entries in one transaction and wait until it is on disk. All of them are written, or none."""
        if not entries and not self._deferred_statements:
            return
        with self.turn:
            began = time.perf_counter()
            deferred = [
                self._deferred_statements.popleft() for _ in range(len(self._deferred_statements))
            ]
            try:
                self._transact(entries, deferred)
            except Exception as error:  # whatever it is, those who wait must hear of it
                self._deferred_statements.extendleft(reversed(deferred))
                self._fail(entries, error)
            else:
                self.failure = None
                self.commits += 1
            self.commit_seconds += time.perf_counter() - began

    def write(self, entry: Entry) -> Entry:
        """Write an entry by itself."""
        self.commit((entry,))
        if entry.error is not None:
            raise entry.error
        return entry

    def later(self, sql: str, *values: Any) -> None:
        """Run a statement beside the log in the next transaction, whosever that is."""
        self._deferred_statements.append((sql, values))

    @property
    def shared(self) -> tuple[sqlite3.Connection, threading.Lock]:
        """For reading what was just written: the connection, and the lock to hold meanwhile."""
        return self._db, self.turn

    def vacuum(self) -> None:
        """Give the space of deleted events back to the disk."""
        with self.turn:
            self._db.execute("VACUUM")

    def close(self) -> None:
        """Write what is deferred and end. The last connection to close takes the write-ahead log along."""
        self.commit(())
        with self.turn:
            self._db.close()

    def _transact(self, entries: Sequence[Entry], deferred: Sequence[Statement]) -> None:
        last, to_apply = self.heads
        now = self._now()
        written: dict[Entry, int] = {}
        execute = self._db.execute
        # A single statement is a transaction by itself, in a third of the calls.
        together = len(entries) != 1 or bool(deferred) or bool(entries[0].statements)
        if together:
            execute("BEGIN IMMEDIATE")
        for entry in entries:
            if entry.kind:
                of = written[entry.of] if isinstance(entry.of, Entry) else entry.of
                head = (last + 1, now, entry.kind, entry.id, of)
                rest = (entry.body, entry.answer, entry.scores)
                insert = INSERT_NEW if entry.is_new else INSERT
                if execute(insert, (*head, *rest, checksum_of(head, *rest))).rowcount:
                    last += 1
                    to_apply = to_apply if entry.kind == "rank" else last
                    written[entry] = last
            for sql, values in entry.statements:
                execute(sql, values)
        for sql, values in deferred:
            execute(sql, values)
        if together:
            execute("COMMIT")
        for entry, offset in written.items():
            entry.offset, entry.time = offset, now
        self.last_time = now
        self.heads = (last, to_apply)

    def _fail(self, entries: Sequence[Entry], error: Exception) -> None:
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except sqlite3.Error as also:
            _LOG.error("the log could not be rolled back: %s", also)
        self.failure = StoreError(f"the log cannot be written: {error}")
        _LOG.error("the log cannot be written: %s (%d entries refused)", error, len(entries))
        for entry in entries:
            entry.error = self.failure

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


class Checkpoints:
    """Copies the write-ahead log into the store next to the requests, so that no commit has to do it."""

    def __init__(self, path: str, writer: Writer) -> None:
        # A reader may hold the store for long: a checkpoint is tried again later rather than waited for.
        self._db = connect(path, writes=True, timeout=0.0)
        self._writer = writer
        self._turn = threading.Lock()
        #: Erased bytes may be in the write-ahead log: it has to become empty.
        self._must_truncate = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="boostline-checkpoints", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        self._db.close()

    def _run(self) -> None:
        while not self._ended.wait(_CHECKPOINT_SECONDS):
            self.step()

    def truncate(self) -> bool:
        """Empty the write-ahead log; return whether that is done. If a reader prevents it, the thread tries again."""
        self._must_truncate = True
        return self.step()

    def step(self) -> bool:
        """Copy the write-ahead log into the store; return whether no part of it is needed any more.

        Most of it is copied while others write. What came meanwhile is little, and is copied while nobody writes: only
        then does the next commit write to the file's start again, which keeps the file short.
        """
        with self._turn:
            try:
                self._checkpoint("PASSIVE")
                with self._writer.turn:
                    done = self._checkpoint("TRUNCATE" if self._must_truncate else "PASSIVE")
            except sqlite3.DatabaseError as error:
                _LOG.warning("a checkpoint failed: %s", error)
                return False
            if done:
                self._must_truncate = False
            return done

    def _checkpoint(self, mode: str) -> bool:
        busy, frames, copied = self._db.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
        return not busy and frames == copied
