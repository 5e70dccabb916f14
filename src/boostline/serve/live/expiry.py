"""Rankings that never got feedback: given up after a time, with what is assumed of them."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from boostline.serve.store.log import Log

if TYPE_CHECKING:
    from boostline.serve.live.service import Service

__all__ = ["Expiry"]

_LOG = logging.getLogger("boostline.serve")
_MOST = 100
#: After a jump of the clock nothing is given up for so many seconds: it may jump back.
_CALM = 3600.0


class Expiry:
    """A thread that looks every now and then for rankings that are too old."""

    def __init__(self, service: Service, seconds: float, assume: str, every: float = 30.0) -> None:
        self._service, self._seconds, self._assume = service, seconds, assume
        self._log = Log(service.path)
        told = [event.data for event in self._log.of_kinds("expire")]
        self._after = max((one["to"] for one in told), default=0)
        self._every = min(every, max(0.2, seconds / 4))
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="boostline-expiry", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        self._log.close()

    def _run(self) -> None:
        while not self._ended.wait(self._every):
            try:
                while self._sweep() and not self._ended.is_set():
                    pass
            except OSError as error:
                _LOG.error("expiry: %s", error)

    def _sweep(self) -> bool:
        """Give up some; tell whether there may be more."""
        writer = self._service.writer
        if writer.jumped_at is not None and time.monotonic() - writer.jumped_at < _CALM:
            return False
        before = max(time.time(), writer.last_time) - self._seconds
        found, after = self._log.without_feedback(self._after, before, _MOST)
        if after == self._after:
            return False
        if found and not self._service.give_up(found, after, self._assume):
            return False
        self._after = after
        return True
