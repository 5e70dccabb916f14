"""Making a log shorter: old events go, and recovery stays exact from the oldest snapshot kept.

What goes are rankings and feedback up to the newest snapshot (of every model) that is older than a time; exceptions are
rankings whose feedback came later, and rankings that may still get feedback. Their ids stay, so that a request that is
repeated years later is refused and not learned a second time. Older snapshots go with them.
"""

from __future__ import annotations

import json
from typing import Any

from boostline.serve.live.registry import Registry
from boostline.serve.live.snapshots import Snapshots
from boostline.serve.store.log import Log
from boostline.serve.store.writer import Entry, Writer

__all__ = ["compact", "floor_of"]

_GOES = """
    offset <= :floor AND kind IN ('rank', 'feedback', 'expire') AND (
        kind <> 'rank'
        OR EXISTS (SELECT 1 FROM log f WHERE f.id = log.id AND f.kind = 'feedback')
           AND NOT EXISTS (SELECT 1 FROM log f WHERE f.id = log.id AND f.kind = 'feedback' AND f.offset > :floor)
        OR offset <= :expired
    )
"""


def floor_of(log: Log, snapshots: Snapshots, before: float) -> int:
    """The offset up to which events may go: every model has a snapshot at or after it, made before a time."""
    floors = []
    for name in Registry.of(log).models:
        older = [s.offset for s in snapshots.of(name) if s.time < before]
        floors.append(older[-1] if older else 0)
    return min(floors, default=0)


def compact(store: str, before: float) -> dict[str, Any]:
    """Delete what is older than a time; the caller holds the store."""
    log = Log(store)
    try:
        snapshots = Snapshots(store)
        snapshots.read(log)
        floor = floor_of(log, snapshots, before)
        expired = max((event.data["to"] for event in log.of_kinds("expire")), default=0)
        models = list(Registry.of(log).models)
    finally:
        log.close()
    told: dict[str, Any] = {"up_to": floor, "snapshots": 0, "head": 0}
    if floor == 0:
        return told
    values = {"floor": floor, "expired": expired}
    named = _bound(_GOES, values)
    writer = Writer(store)
    try:
        entry = Entry("compact", body=json.dumps({"up_to": floor}).encode())
        entry.statements = [
            (
                "INSERT OR IGNORE INTO gone SELECT id, max(offset) FROM log "
                f"WHERE id IS NOT NULL AND {named} GROUP BY id",
                (),
            ),
            (f"DELETE FROM log WHERE {named}", ()),
        ]
        writer.write(entry)
        writer.write(Entry(statements=[("DELETE FROM gone WHERE id IN (SELECT id FROM log)", ())]))
        writer.vacuum()
        told["head"] = entry.offset
    finally:
        writer.close()
    for name in models:
        for snapshot in snapshots.of(name):
            if snapshot.offset < floor:
                snapshots.forget(snapshot)
                told["snapshots"] += 1
    return told


def _bound(sql: str, values: dict[str, int]) -> str:
    for name, value in values.items():
        sql = sql.replace(f":{name}", str(int(value)))
    return sql
