"""Snapshots of states: files beside the store, each with its hash in the log."""

from __future__ import annotations

import hashlib
import os
import re
import time
from dataclasses import asdict, dataclass
from typing import Any

from boostline.serve.live.replica_state import ReplicaState
from boostline.serve.store.log import Log, StoreError

__all__ = ["Snapshot", "Snapshots"]

#: Of each model the newest are kept, and one for each of the last days.
_NEWEST, _DAYS = 3, 14
_DAY = 86400.0


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


class Snapshots:
    """The folder of a store's snapshots. What the log does not name is none."""

    def __init__(self, store: str | os.PathLike[str]) -> None:
        self.folder = f"{os.fspath(store)}.snapshots"
        self.known: list[Snapshot] = []

    def read(self, log: Log) -> None:
        """Find those that the log names and whose files are there."""
        self.known = []
        for event in log.of_kinds("begin", "snapshot", "challenger", "rollback"):
            told = event.data["snapshot"]
            snapshot = Snapshot(**told, time=event.time)
            if os.path.exists(self.path(snapshot.model, snapshot.offset)):
                self.known.append(snapshot)

    def path(self, model: str, offset: int) -> str:
        return os.path.join(self.folder, f"{file_name(model)}-{offset:012d}.blm")

    def of(self, model: str) -> list[Snapshot]:
        """Those of a model, oldest first."""
        return sorted((s for s in self.known if s.model == model), key=lambda s: s.offset)

    def write(self, state: ReplicaState) -> dict[str, Any]:
        """Save a state that stands still; return what the log has to say of it."""
        os.makedirs(self.folder, exist_ok=True)
        path = self.path(state.name, state.offset)
        state.save(path)
        return {
            "model": state.name,
            "offset": state.offset,
            "sha256": sha256(path),
            "bytes": os.path.getsize(path),
            "clock": state.model.clock,
        }

    def add(self, told: dict[str, Any], at: float | None = None) -> Snapshot:
        """Remember one that the log names by now."""
        snapshot = Snapshot(**told, time=time.time() if at is None else at)
        self.known = [
            s for s in self.known if (s.model, s.offset) != (snapshot.model, snapshot.offset)
        ]
        self.known.append(snapshot)
        return snapshot

    def load(self, snapshot: Snapshot, n_threads: int = 1) -> ReplicaState:
        """Read a state; its file must have the hash that the log says."""
        path = self.path(snapshot.model, snapshot.offset)
        if not os.path.exists(path):
            raise StoreError(f"the snapshot {path} is missing")
        if sha256(path) != snapshot.sha256:
            raise StoreError(
                f"the snapshot {path} is damaged: it does not have the hash that the log says"
            )
        return ReplicaState.load(path, n_threads)

    def forget(self, snapshot: Snapshot) -> None:
        """Delete a file."""
        self.known = [s for s in self.known if s is not snapshot]
        path = self.path(snapshot.model, snapshot.offset)
        if os.path.exists(path):
            os.unlink(path)

    def thin(self, model: str, now: float) -> None:
        """Keep the oldest, from which everything can be replayed, the newest ones, and one for each day."""
        ours = self.of(model)
        kept = {s.offset for s in (*ours[:1], *ours[-_NEWEST:])}
        days = {int(s.time // _DAY): s.offset for s in ours if s.time > now - _DAYS * _DAY}
        for snapshot in ours:
            if snapshot.offset not in kept and snapshot.offset not in days.values():
                self.forget(snapshot)


def file_name(model: str) -> str:
    """A model's name as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9@_.-]", "_", model)


def sha256(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
