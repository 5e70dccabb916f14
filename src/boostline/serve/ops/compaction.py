"""Making a log shorter: old events go, and recovery stays exact from the oldest snapshot kept.

What goes are rankings and feedback up to the newest snapshot (of every model) that is older than a time; exceptions are
rankings whose feedback came later, and rankings that may still get feedback. Their ids stay, so that a request that is
repeated years later is refused and not learned a second time. Older snapshots go with them.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

from boostline.serve.live.models import Registry
from boostline.serve.ops.exporting import export
from boostline.serve.store.log import Log
from boostline.serve.store.snapshots import Snapshots
from boostline.serve.store.writer import Writer

__all__ = ["compact", "floor_of"]


def floor_of(log: Log, snapshots: Snapshots, before: float) -> int:
    """The offset up to which events may go: every model has a snapshot at or after it, made before a time."""
    floors = []
    for name in Registry(log).models:
        older = [s.offset for s in snapshots.of(name) if s.time < before]
        floors.append(older[-1] if older else 0)
    return min(floors, default=0)


def compact(store: str, before: float, export_to: str | None = None) -> dict[str, Any]:
    """Delete what is older than a time, exporting it first if asked to; the caller holds the store."""
    with closing(Log(store)) as log:
        snapshots = Snapshots(store, log)
        floor = floor_of(log, snapshots, before)
        # An expiry after the floor is part of what a replay learns, so its rankings stay.
        expired = max(
            (e.data["to"] for e in log.of_kinds("expire") if e.offset <= floor), default=0
        )
    result: dict[str, Any] = {"floor": floor, "snapshots": 0, "exported": 0}
    if floor == 0:
        return result
    if export_to is not None:
        result["exported"] = export(store, export_to, 0, floor)
    with closing(Writer(store)) as writer:
        entry = writer.compact(floor, expired)
    before_it = len(snapshots.known)
    snapshots.apply("compact", entry.data, entry.time)
    return {**result, "snapshots": before_it - len(snapshots.known)}
