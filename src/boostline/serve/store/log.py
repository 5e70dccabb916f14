"""The log: one append-only table of everything that was served and observed, in SQLite."""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orjson import loads

__all__ = ["FORMAT", "Event", "Log", "StoreError", "connect", "create", "restoring", "store_bytes"]

#: Version of the tables.
FORMAT = 1
#: Says in the file's header whose it is: "blsv".
_APPLICATION = 0x626C7376

_TABLES = """
CREATE TABLE log (
    offset INTEGER PRIMARY KEY,
    time REAL NOT NULL,          -- seconds since 1970; never runs backwards
    kind TEXT NOT NULL,          -- rank, feedback, labels, snapshot, promote, ...
    id TEXT,                     -- of a ranking or a labelled example
    of INTEGER,                  -- feedback: the offset of its ranking
    body BLOB NOT NULL,          -- JSON: the request, or what happened
    answer BLOB,                 -- rankings: what was answered, byte for byte
    scores BLOB,                 -- rankings: the scores of all labels (float32)
    checksum INTEGER NOT NULL
);
CREATE INDEX log_by_id ON log (id, offset) WHERE id IS NOT NULL;
CREATE INDEX log_to_apply ON log (offset) WHERE kind <> 'rank';
-- Read at every start: changes of models and labels, snapshots. A long log has few of them.
CREATE INDEX log_rare ON log (offset) WHERE kind NOT IN ('rank', 'feedback');
-- Ids whose events were compacted away: what comes for them again must not count as new.
CREATE TABLE gone (id TEXT PRIMARY KEY, offset INTEGER NOT NULL) WITHOUT ROWID;
-- What follows from the log, kept because it is asked for often.
CREATE TABLE windows (model TEXT, number INTEGER, body BLOB NOT NULL, PRIMARY KEY (model, number)) WITHOUT ROWID;
CREATE TABLE refused (model TEXT, offset INTEGER, reason TEXT NOT NULL, PRIMARY KEY (model, offset)) WITHOUT ROWID;
"""
_LAST = 2**62
_COLUMNS = "offset, time, kind, id, of, body, answer, scores, checksum"


class StoreError(OSError):
    """The store cannot be used: it is damaged, in use, of another kind, or its disk is full."""


@dataclass(frozen=True, slots=True)
class Event:
    """One row of the log."""

    offset: int
    time: float
    kind: str
    id: str | None
    of: int | None
    body: bytes
    answer: bytes | None = None
    scores: bytes | None = None

    @property
    def data(self) -> Any:
        """The body, parsed."""
        return loads(self.body)

    def checksum(self) -> int:
        """Of all columns."""
        head = (self.offset, self.time, self.kind, self.id, self.of)
        return checksum_of(head, self.body, self.answer, self.scores)


def checksum_of(
    head: tuple[int, float, str, str | None, int | None],
    body: bytes,
    answer: bytes | None,
    scores: bytes | None,
) -> int:
    """Of all columns of an event."""
    check = zlib.crc32(body, zlib.crc32(repr(head).encode()))
    if answer is not None:
        check = zlib.crc32(answer, check)
    return check if scores is None else zlib.crc32(scores, check)


INSERT = f"INSERT INTO log ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


def connect(
    path: str | os.PathLike[str], *, writes: bool = False, timeout: float = 10.0
) -> sqlite3.Connection:
    """Open the store for one thread. A commit of the writer is on disk when it returns."""
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} does not exist, so there is no log to read")
    if not os.path.isfile(path):
        raise StoreError(f"{path} is not a regular file; give an existing store or a new path")
    _refuse_if_half_restored(path)
    mode = "rw" if writes else "ro"
    try:
        db = sqlite3.connect(
            f"{Path(path).absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=timeout,
            cached_statements=256,
        )
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION:
            raise StoreError(
                f"{path} is not a boostline store; give an existing store or a new path"
            )
        if version != FORMAT:
            raise StoreError(
                f"{path} has format {version}, but this version of boostline reads format {FORMAT}"
            )
        if writes:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            db.execute("PRAGMA secure_delete=ON")  # what is erased is overwritten
            db.execute("PRAGMA cache_size=-16000")  # kilobytes: the inner pages of a large index
            db.execute(
                "PRAGMA wal_autocheckpoint=0"
            )  # `writer.Checkpoints` does it next to the requests
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    return db


def restoring(path: str | os.PathLike[str]) -> str:
    """The folder that holds a store while a restore puts it in place (`ops.copying`)."""
    return f"{os.fspath(path)}.restoring"


def _refuse_if_half_restored(path: str | os.PathLike[str]) -> None:
    if os.path.exists(restoring(path)):
        raise StoreError(
            f"a restore of {path} was interrupted: run boostline log restore again, with --replace"
        )


def store_bytes(path: str) -> int:
    """Bytes of the store on disk, including its write-ahead log."""
    return sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))


def create(path: str | os.PathLike[str]) -> None:
    """Make an empty store, whole or not at all."""
    _refuse_if_half_restored(path)
    part = f"{os.fspath(path)}.new"
    with_suffixes = [part + suffix for suffix in ("", "-wal", "-shm", "-journal")]
    for one in with_suffixes:
        if os.path.exists(one):
            os.unlink(one)
    db = sqlite3.connect(part, isolation_level=None)
    try:
        db.executescript(
            f"PRAGMA application_id={_APPLICATION}; PRAGMA user_version={FORMAT}; BEGIN; {_TABLES} COMMIT;"
        )
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path} cannot be made: {error}") from error
    finally:
        db.close()
    os.rename(part, path)


class Log:
    """Read the log; one for each thread. Every event that is read is compared with its checksum.

    Parameters
    ----------
    path
        The store.
    shared
        The connection of the writer and what has to be held meanwhile: what was just written is in its cache, while a
        connection of its own reads everything again after every change.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        shared: tuple[sqlite3.Connection, AbstractContextManager[Any]] | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self._is_own = shared is None
        self._turn: AbstractContextManager[Any]
        self._db, self._turn = shared or (connect(path), nullcontext())
        # Compaction needs the store for itself, so this does not change while a service runs.
        self._any_gone = bool(self._query("SELECT 1 FROM gone LIMIT 1"))

    def close(self) -> None:
        if self._is_own:
            self._db.close()

    def head(self) -> tuple[int, float]:
        """Offset and time of the last event; (0, 0.0) if there is none."""
        found = self._query("SELECT offset, time FROM log ORDER BY offset DESC LIMIT 1")
        return (found[0][0], found[0][1]) if found else (0, 0.0)

    def at(self, offset: int) -> Event | None:
        return next(iter(self._select("offset = ?", offset)), None)

    def of_id(self, id: str) -> list[Event]:
        """All events of a ranking or an example, oldest first."""
        return self._select("id = ? ORDER BY offset", id)

    def is_gone(self, id: str) -> bool:
        """Whether there were events of this id that were compacted away."""
        return self._any_gone and bool(self._query("SELECT 1 FROM gone WHERE id = ?", id))

    def to_apply(self, after: int, up_to: int | None = None, most: int = 256) -> list[Event]:
        """Events after an offset that change a state: all but the rankings."""
        where = "kind <> 'rank' AND offset > ? AND offset <= ? ORDER BY offset LIMIT ?"
        return self._select(where, after, _LAST if up_to is None else up_to, most)

    def events(self, after: int = 0, up_to: int | None = None) -> Iterator[Event]:
        """All events after an offset, in order."""
        where = "offset > ? AND offset <= ? ORDER BY offset LIMIT 512"
        last = _LAST if up_to is None else up_to
        while found := self._select(where, after, last):
            yield from found
            after = found[-1].offset

    def latest(self, kind: str, most: int) -> list[Event]:
        """The last events of a kind, newest first."""
        return self._select("kind = ? ORDER BY offset DESC LIMIT ?", kind, most)

    def of_kinds(self, *kinds: str) -> list[Event]:
        """All events of some kinds, other than rankings, in order."""
        marks = ", ".join("?" * len(kinds))
        those = "kind <> 'rank'" if "feedback" in kinds else "kind NOT IN ('rank', 'feedback')"
        return self._select(f"{those} AND kind IN ({marks}) ORDER BY offset", *kinds)

    def compacted_to(self) -> int:
        """Offset up to which events were compacted away; 0 if none were."""
        return max((event.data["floor"] for event in self.of_kinds("compact")), default=0)

    def last_to_apply(self) -> int:
        """Offset of the last event that is no ranking."""
        found = self._query(
            "SELECT offset FROM log WHERE kind <> 'rank' ORDER BY offset DESC LIMIT 1"
        )
        return int(found[0][0]) if found else 0

    def without_feedback(
        self, after: int, before: float, most: int
    ) -> tuple[list[tuple[int, str]], int]:
        """Rankings after an offset and before a time that never got feedback, and where to go on."""
        found = self._query(
            "SELECT offset, time, id FROM log WHERE kind = 'rank' AND offset > ? ORDER BY offset LIMIT ?",
            *(after, most),
        )
        old = [(offset, id) for offset, time, id in found if time < before]
        without = [one for one in old if all(e.kind != "feedback" for e in self.of_id(one[1]))]
        return without, old[-1][0] if old else after

    def counts(self, up_to: int) -> dict[str, int]:
        """How many rankings there are up to an offset, and how many of them have feedback."""
        ((rankings,),) = self._query(
            "SELECT count(*) FROM log WHERE kind = 'rank' AND offset <= ?", up_to
        )
        ((answered,),) = self._query(
            "SELECT count(DISTINCT of) FROM log WHERE kind = 'feedback' AND of IS NOT NULL AND offset <= ?",
            up_to,
        )
        return {"rankings": rankings, "with_feedback": answered}

    def windows(self, model: str, most: int) -> list[dict[str, Any]]:
        """The last windows of a model, oldest first."""
        found = self._query(
            "SELECT number, body FROM windows WHERE model = ? ORDER BY number DESC LIMIT ?",
            *(model, most),
        )
        return [{"number": number, **loads(body)} for number, body in reversed(found)]

    def refusals(self, offset: int) -> dict[str, str]:
        """Models that could not learn an event, and why."""
        return dict(self._query("SELECT model, reason FROM refused WHERE offset = ?", offset))

    def check(self) -> int:
        """Read every event and compare checksums and offsets; return how many there are."""
        n, last = 0, None
        compacted = self.compacted_to()
        for event in self.events():
            expected = event.offset if last is None else last + 1
            if event.offset != expected and event.offset - 1 > compacted:
                raise StoreError(
                    f"{self.path} lacks the events from {expected} to {event.offset - 1}, which were not compacted"
                )
            n, last = n + 1, event.offset
        ((found,),) = self._query("PRAGMA integrity_check(1)")
        if found != "ok":
            raise StoreError(f"{self.path} is damaged: {found}")
        return n

    def _query(self, sql: str, *values: Any) -> list[Any]:
        try:
            with self._turn:
                return self._db.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"{self.path} cannot be read: {error}; restore it from a backup"
            ) from error

    def _select(self, where: str, *values: Any) -> list[Event]:
        found = self._query(f"SELECT {_COLUMNS} FROM log WHERE {where}", *values)
        return [self._event(row) for row in found]

    def _event(self, row: tuple[Any, ...]) -> Event:
        event = Event(*row[:-1])
        try:
            is_whole = event.checksum() == row[-1]
        except TypeError:  # a column of another type
            is_whole = False
        if not is_whole:
            raise StoreError(
                f"{self.path} is damaged: event {event.offset} ({event.kind}) does not have its checksum; restore the "
                "store from a backup"
            )
        return event
