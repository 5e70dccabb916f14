"""Rankings that never got feedback expire after a time, with what is assumed of them."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from typing import TYPE_CHECKING, Any

from boostline.serve.errors import Problem
from boostline.serve.store.log import Log, StoreError
from boostline.serve.store.writer import Entry

if TYPE_CHECKING:
    from boostline.serve.live.service import Service

__all__ = ["expire_old", "expired_to", "keep_expiring"]

_LOG = logging.getLogger("boostline.serve")
_MOST = 100
#: After a jump of the clock nothing expires for so many seconds: it may jump back.
_CALM = 3600.0


def expired_to(log: Log, assume: str | None = None) -> int:
    """The offset up to which rankings without feedback have expired (with what was assumed of them)."""
    expired = [event.data for event in log.of_kinds("expire")]
    return max((one["to"] for one in expired if assume in (None, one["assume"])), default=0)


async def keep_expiring(service: Service, seconds: float) -> None:
    """Check for rankings that are too old now and then, as a task of the loop."""
    while True:
        await asyncio.sleep(min(30.0, max(0.2, seconds / 4)))
        try:
            while await expire_old(service, seconds):
                await asyncio.sleep(0)  # requests come first
        except (StoreError, Problem) as error:
            _LOG.error("expiry: %s", error)


async def expire_old(service: Service, seconds: float) -> bool:
    """Expire some rankings; return whether there may be more."""
    writer, assume = service.writer, service.settings.assume
    if writer.jumped_at is not None and time.monotonic() - writer.jumped_at < _CALM:
        return False
    before = max(time.time(), writer.last_time) - seconds
    async with service.models.changing:
        after = service.expired_to
        found, to = service.log.without_feedback(after, before, _MOST)
        if to == after:
            return False
        # No await from here to the commit: no feedback can come in between.
        by_id = service.queue.by_id  # on its way to the disk
        still = [o for o, id in found if all(e.kind != "feedback" for e in by_id.get(id, ()))]
        if still:
            event: dict[str, Any] = {"to": to, "n": len(still), "assume": assume}
            if assume == "none":
                event["offsets"] = still
            writer.write(Entry("expire", body=json.dumps(event).encode()))
            if assume == "none":
                service.assumed_to = to
            service.models.wake()
        service.expired_to = to
    return True
