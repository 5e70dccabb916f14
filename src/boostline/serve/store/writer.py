"""The one way to write: events that come together are one transaction, and count when it is on disk.

There is no thread for it. The loop that answers requests writes what came in one of its turns (`CommitQueue`), and
waits for the disk; what comes meanwhile is the next transaction. A thread for the writes cost more than all the rest of
a request, because two threads of Python compete for the interpreter.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from orjson import loads

from boostline.serve.store.log import INSERT, Event, Log, StoreError, checksum_of, connect

__all__ = ["Checkpoints", "CommitQueue", "Entry", "WriteError", "Writer"]

_LOG = logging.getLogger("boostline.serve")
#: Seconds between two checkpoints next to the requests.
_CHECKPOINT_SECONDS = 2.0
#: The clock has jumped when it and the time that passed differ by so many seconds.
_JUMP = 600.0

Statement = tuple[str, tuple[Any, ...]]

_ERASE = "UPDATE log SET body = ?, answer = NULL, scores = NULL, checksum = ? WHERE offset = ?"
#: An id is deleted with all of its events or not at all: when the last of them is old, and it has feedback or expired.
_COMPACTED = """
    SELECT id, max(offset) FROM log WHERE id IS NOT NULL GROUP BY id
    HAVING max(offset) <= ? AND (max(kind = 'feedback') OR max(offset) <= ?)
"""


class WriteError(StoreError):
    """A transaction failed; nothing of it is in the log."""


@dataclass(slots=True, eq=False)
class Entry:
    """An event to write. ``offset`` is set when it is on disk, ``error`` if it could not be written."""

    kind: str
    id: str | None = None
    #: Feedback: the offset of its ranking, or the ranking itself if that is in the same transaction.
    of: int | Entry | None = None
    body: bytes = b""
    answer: bytes | None = None
    scores: bytes | None = None
    #: Statements next to the event, in the same transaction.
    statements: Sequence[Statement] = ()
    offset: int | None = None
    time: float = 0.0
    error: Exception | None = None
    #: Of an entry in a `CommitQueue`: done when it is on disk.
    done: asyncio.Future[Any] | None = None

    @property
    def data(self) -> Any:
        """The body, parsed."""
        return loads(self.body)


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
        """Write entries in one transaction and wait until it is on disk. All of them are written, or none."""
        if not entries and not self._deferred_statements:
            return
        with self.turn:
            began = time.perf_counter()
            deferred = [
                self._deferred_statements.popleft() for _ in range(len(self._deferred_statements))
            ]
            try:
                self._transact(entries, deferred)
            except Exception as error:  # whatever it is, the clients who wait get an answer
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

    def keep_window(self, model: str, number: int, figures: dict[str, Any]) -> None:
        """Store the figures of a full window with the next transaction."""
        sql = "INSERT OR REPLACE INTO windows VALUES (?, ?, ?)"
        self._deferred_statements.append((sql, (model, number, json.dumps(figures).encode())))

    def keep_refusal(self, model: str, offset: int, reason: str) -> None:
        """Store with the next transaction why a model could not learn an event."""
        sql = "INSERT OR REPLACE INTO refused VALUES (?, ?, ?)"
        self._deferred_statements.append((sql, (model, offset, reason)))

    def erase(self, events: Sequence[Event], floor: int) -> Entry:
        """Overwrite events. The labels that they added stay, because later events name them."""
        statements: list[Statement] = []
        for event in events:
            kept = {"erased": True}
            if event.kind == "feedback":
                kept |= {n: v for n, v in event.data.items() if n in ("revision", "learn", "add")}
            body = json.dumps(kept).encode()
            head = (event.offset, event.time, event.kind, event.id, event.of)
            statements.append((_ERASE, (body, checksum_of(head, body, None, None), event.offset)))
            statements.append(("DELETE FROM refused WHERE offset = ?", (event.offset,)))
        erased = {"offsets": [event.offset for event in events], "floor": floor}
        entry = Entry("erase", body=json.dumps(erased).encode(), statements=statements)
        return self.write(entry)

    def compact(self, floor: int, expired: int) -> Entry:
        """Delete the events up to an offset that a replay from there does not need; their ids stay known."""
        entry = Entry("compact", body=json.dumps({"floor": floor}).encode())
        entry.statements = [
            (f"INSERT OR IGNORE INTO gone {_COMPACTED}", (floor, expired)),
            ("DELETE FROM log WHERE id IN (SELECT id FROM gone)", ()),
            ("DELETE FROM log WHERE kind = 'expire' AND offset <= ?", (floor,)),
        ]
        self.write(entry)
        with self.turn:
            self._db.execute("VACUUM")
        return entry

    @property
    def shared(self) -> tuple[sqlite3.Connection, threading.Lock]:
        """For reading what was just written: the connection, and the lock to hold meanwhile."""
        return self._db, self.turn

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
            of = written[entry.of] if isinstance(entry.of, Entry) else entry.of
            last += 1
            head = (last, now, entry.kind, entry.id, of)
            rest = (entry.body, entry.answer, entry.scores)
            execute(INSERT, (*head, *rest, checksum_of(head, *rest)))
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
        self.failure = WriteError(f"the log cannot be written: {error}")
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


class CommitQueue:
    """Entries of one turn of the loop are one transaction. Used by the loop's thread only.

    Parameters
    ----------
    written
        Called with the entries of a transaction before those who wait for them go on.
    """

    def __init__(self, writer: Writer, written: Callable[[list[Entry]], None]) -> None:
        self._writer, self._written = writer, written
        self._waiting: list[Entry] = []
        #: The entries that wait, by id.
        self.by_id: dict[str, list[Entry]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    async def write(self, entry: Entry) -> Entry:
        """Write an entry at the end of this turn, and wait until it is on disk."""
        loop = asyncio.get_running_loop()
        entry.done = loop.create_future()
        if entry.id is not None:
            self.by_id.setdefault(entry.id, []).append(entry)
        if not self._waiting:
            loop.call_soon(self._commit)
        self._waiting.append(entry)
        await entry.done
        return entry

    def _commit(self) -> None:
        entries, self._waiting = self._waiting, []
        self._writer.commit(entries)
        self.by_id.clear()
        self._written([entry for entry in entries if entry.error is None])
        for entry in entries:
            if entry.done is None or entry.done.done():  # nobody waits any more
                continue
            if entry.error is None:
                entry.done.set_result(None)
            else:
                entry.done.set_exception(entry.error)

    def close(self) -> None:
        """Write what is left; nobody waits for an answer any more."""
        self._writer.commit(self._waiting)


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
