"""Limits of a connection that uvicorn lacks: how many there are, how long a request's head may take.

uvicorn's protocol on h11 limits the bytes of a head and takes requests one at a time. It waits for the first request
without limit, though, and for the rest of a head. The kernel ends connections whose client does not read
(`server.listen`).
"""

from __future__ import annotations

import asyncio
import resource
import sys
from typing import Any

import h11
from orjson import dumps
from uvicorn.protocols.http.h11_impl import H11Protocol

from boostline.serve.errors import Problem

__all__ = ["LARGEST_HEAD", "Connection"]

#: Bytes of a request's first line and headers.
LARGEST_HEAD = 65536
#: Seconds until a request's head must be complete.
_HEAD_SECONDS = 20.0
#: Seconds for which a connection stays open that its client has closed for sending.
_HALF_CLOSED_SECONDS = 1.0
_MOST_CONNECTIONS = 2000


def most_connections() -> int:
    """Half of the files that the process may open, so that the store and its snapshots always find one."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(_MOST_CONNECTIONS, max(1, limit // 2))


class Connection(H11Protocol):
    """One client; uvicorn makes one for each (its option ``http``)."""

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect_head()
        if len(self.connections) > most_connections():
            self._refuse(Problem(503, "too many connections are open"))

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_no_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._expect_no_head()
        elif self._head_timer is None:
            self._expect_head()

    def eof_received(self) -> bool:  # type: ignore[override]
        # The client may still read: what it has asked is answered if that takes no longer.
        self.loop.call_later(_HALF_CLOSED_SECONDS, self.transport.close)
        return True

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn for what is not HTTP."""
        if getattr(sys.exc_info()[1], "error_status_hint", 400) == 431:
            limit = f"the request's line and headers are larger than {LARGEST_HEAD} bytes"
            self._refuse(Problem(431, limit))
        else:
            self._refuse(Problem(400, msg))

    def _expect_head(self) -> None:
        self._head_timer = self.loop.call_later(_HEAD_SECONDS, self.transport.close)

    def _expect_no_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, problem: Problem) -> None:
        body = dumps(problem.to_dict())
        head = b"HTTP/1.1 %d %s\r\ncontent-type: application/problem+json\r\n"
        head += b"content-length: %d\r\nconnection: close\r\n\r\n"
        self.transport.write(head % (problem.status, problem.title.encode(), len(body)) + body)
        self.transport.close()
