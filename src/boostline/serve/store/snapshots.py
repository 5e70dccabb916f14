"""Snapshots of models: files next to the store, each with its hash in the log."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from boostline.serve.store.log import Log, StoreError

__all__ = ["Snapshot", "Snapshots"]

#: Of each model the newest are kept, and one for each of the last days.
_NEWEST, _DAYS = 3, 14
_DAY = 86400.0
_KINDS = ("begin", "snapshot", "challenger", "rollback", "dismiss", "erase", "compact")


@dataclass(frozen=True)
class Snapshot:
    """A model at an offset, in a file."""

    model: str
    offset: int
    sha256: str
    bytes: int
    clock: int
    time: float

    def to_dict(self) -> dict[str, Any]:
        return {"version": self.offset, **asdict(self)}


class State(Protocol):
    """What can be saved: a model at an offset of the log."""

    name: str
    offset: int
    model: Any

    def save(self, path: str) -> None: ...


class Snapshots:
    """The snapshots of a store. The log says which there are; a file that it does not name is none.

    Parameters
    ----------
    log
        Names the snapshots; without one there are none yet.
    """

    def __init__(self, store: str | os.PathLike[str], log: Log | None = None) -> None:
        self.folder = f"{os.fspath(store)}.snapshots"
        self._turn = threading.Lock()
        self._known: list[Snapshot] = []
        for event in () if log is None else log.of_kinds(*_KINDS):
            self._known = self._after(event.kind, event.data, event.time)
        self._known = [s for s in self._known if os.path.isfile(self.path(s))]

    def path(self, snapshot: Snapshot) -> str:
        return self._path(snapshot.model, snapshot.offset)

    def _path(self, model: str, offset: int) -> str:
        return os.path.join(self.folder, f"{file_name(model)}-{offset:012d}.blm")

    @property
    def known(self) -> list[Snapshot]:
        """All, oldest first."""
        return sorted(self._known, key=lambda snapshot: snapshot.offset)

    def of(self, model: str) -> list[Snapshot]:
        """Those of a model, oldest first."""
        return [snapshot for snapshot in self.known if snapshot.model == model]

    def write(self, state: State) -> dict[str, Any]:
        """Save a state that nobody changes; return the event that names the snapshot in the log."""
        path = self._path(state.name, state.offset)
        try:
            os.makedirs(self.folder, exist_ok=True)
            state.save(path)
        except (OSError, MemoryError) as error:
            raise StoreError(f"a snapshot of {state.name} cannot be written: {error}") from error
        return {
            "model": state.name,
            "offset": state.offset,
            "sha256": sha256(path),
            "bytes": os.path.getsize(path),
            "clock": state.model.clock,
        }

    def checked(self, snapshot: Snapshot) -> str:
        """The path of a snapshot; its file must have the hash that the log says."""
        path = self.path(snapshot)
        if not os.path.isfile(path):
            raise StoreError(f"the snapshot {path} is missing")
        if sha256(path) != snapshot.sha256:
            raise StoreError(f"the snapshot {path} is damaged: its hash is not the one in the log")
        return path

    # Changes. Each follows from an event that is in the log, so a process that was killed before it deleted the files
    # deletes them at its next start (`delete_strays`).

    def apply(self, kind: str, event: dict[str, Any], time: float) -> None:
        """Follow an event: it names a snapshot, or makes older ones useless, which are deleted."""
        with self._turn:
            self._keep(self._after(kind, event, time))

    def _after(self, kind: str, event: dict[str, Any], time: float) -> list[Snapshot]:
        known = self._known
        if kind == "dismiss":
            return [s for s in known if s.model != event["name"]]
        if kind in ("erase", "compact"):  # a replay from an earlier offset would lack events
            return [s for s in known if s.offset >= event["floor"]]
        new = Snapshot(**event["snapshot"], time=time)
        return [*(s for s in known if (s.model, s.offset) != (new.model, new.offset)), new]

    def thin(self, model: str, now: float) -> None:
        """Keep the oldest, from which everything can be replayed, the newest ones, and one for each day."""
        with self._turn:
            ours = self.of(model)
            kept = {s.offset for s in (*ours[:1], *ours[-_NEWEST:])}
            days = {int(s.time // _DAY): s.offset for s in ours if s.time > now - _DAYS * _DAY}
            kept |= set(days.values())
            self._keep([s for s in self._known if s.model != model or s.offset in kept])

    def delete_strays(self) -> None:
        """Delete the files that are no snapshots, which a killed process may have left. Nobody may write meanwhile."""
        kept = {self.path(snapshot) for snapshot in self._known}
        with contextlib.suppress(FileNotFoundError):
            found = [os.path.join(self.folder, name) for name in os.listdir(self.folder)]
            _delete(
                path for path in found if path.endswith((".blm", ".blm-part")) and path not in kept
            )

    def _keep(self, kept: list[Snapshot]) -> None:
        paths = {self.path(snapshot) for snapshot in kept}
        gone = [s for s in self._known if self.path(s) not in paths]
        self._known = kept
        _delete(self.path(snapshot) for snapshot in gone)


def _delete(paths: Iterable[str]) -> None:
    for path in paths:
        if os.path.isfile(path):
            os.unlink(path)


def file_name(model: str) -> str:
    """A model's name as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9@_.-]", "_", model)


def sha256(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
