"""Erasing what the log has of one id.

Its features, labels, answer and scores are overwritten; what stays is that there was an event, so that a repeated
request is not taken for a new one. Models that have learned from it keep what they have learned. A replay that passes
the erased event would lack it, so every model gets a snapshot first, and the erase event says from which offset on
snapshots are valid: from the oldest of these, a replay gives the same bytes as before. If a snapshot cannot be written,
nothing is erased. To have models that never saw the example, replay the log into a new one.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from boostline.serve.errors import Problem

if TYPE_CHECKING:
    from boostline.serve.live.service import Service

__all__ = ["erase"]

#: A reader of the store keeps old bytes in the write-ahead log: it is waited for this long.
_WAIT_SECONDS = 2.0


async def erase(service: Service, id: str) -> dict[str, Any]:
    """Erase an id. ``done`` says whether its bytes have left the disk, or will when readers of the store have ended."""
    models = service.models
    async with models.changing:
        head = floor = -1
        while True:
            while id in service.queue.by_id:  # on its way to the disk
                await asyncio.sleep(0)
            events = service.log.of_id(id)
            if not events:
                raise Problem(404, f"id is {id!r}, but there is no such event", "id")
            if events[-1].offset <= head:
                break
            head, floor = service.writer.heads
            for name in models.replicas:
                await models.caught_up(name, head)
                await models.save(name)
        # No await from here to the commit: nothing of this id can come in between.
        entry = service.writer.erase(events, floor)
        models.wake()
        models.snapshots.apply(entry.kind, entry.data, entry.time)
    return {"id": id, "erased": len(events), "offset": entry.offset, "done": await _gone(service)}


async def _gone(service: Service) -> bool:
    """Wait a little until the old bytes have left the write-ahead log, too."""
    for _ in range(int(_WAIT_SECONDS / 0.1)):
        if await asyncio.to_thread(service.checkpoints.truncate):
            return True
        await asyncio.sleep(0.1)
    return False
