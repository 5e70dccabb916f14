"""Erasing what the log has of one id.

Its features, labels, answer and scores are overwritten; what stays is that there was an event, so that a repeated
request is not taken for a new one. Models that have learned from it keep what they have learned. A replay that passes
the erased event would lack it, so every model gets a snapshot first, and older snapshots go: from the oldest one kept,
a replay gives the same bytes as before. To have models that never saw the example, replay the log into a new one.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from boostline.serve.errors import Problem
from boostline.serve.store.log import Event
from boostline.serve.store.writer import Entry

if TYPE_CHECKING:
    from boostline.serve.live.service import Service

__all__ = ["erase"]

_UPDATE = "UPDATE log SET body = ?, answer = ?, scores = ?, checksum = ? WHERE offset = ?"


async def erase(service: Service, id: str) -> dict[str, Any]:
    """Erase an id; returns when nothing of it is left in the store."""
    replicas = list(service.models.replicas.values())
    events: list[Event] = []
    last = -1
    while not events or events[-1].offset != last:  # feedback may come while models are saved
        last = events[-1].offset if events else -1
        for replica in replicas if events else ():
            if not await asyncio.to_thread(replica.reach, last, 60.0):
                raise Problem(
                    503, f"{replica.state.name} has not learned event {last} yet", retry_after=30
                )
            await asyncio.to_thread(replica.save_now)
        while id in service.queue.by_id:
            await asyncio.sleep(0)
        events = service.log.of_id(id)
        if not events:
            raise Problem(404, f"id is {id!r}, but there is no such event", "id")
    statements = []
    for event in events:
        kept = {"erased": True}
        if event.kind == "feedback":
            kept |= {name: event.data[name] for name in ("revision", "learn")}
        bare = Event(
            *(event.offset, event.time, event.kind, event.id, event.of, json.dumps(kept).encode())
        )
        statements.append((_UPDATE, (bare.body, None, None, bare.checksum(), bare.offset)))
    entry = Entry("erase", body=json.dumps({"offsets": [e.offset for e in events]}).encode())
    entry.statements = statements
    service.writer.write(entry)  # in the loop: nothing of this id can come in between
    service.models.wake()
    for replica in replicas:
        for snapshot in service.models.snapshots.of(replica.state.name):
            if snapshot.offset < last:
                service.models.snapshots.forget(snapshot)
    await asyncio.to_thread(service.writer.empty)  # the old bytes are in the write-ahead log, too
    return {"id": id, "erased": len(events), "offset": entry.offset}
