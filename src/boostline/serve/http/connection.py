"""Limits of a connection that uvicorn lacks: bytes of a request's head, seconds until it comes, requests ahead.

uvicorn collects headers without end, waits for the first request for ever, and parses all requests that have arrived
before it answers the first. `Connection` stands between the socket and uvicorn's protocol, as a protocol to the one and
as a transport to the other, with nothing but the public interfaces of asyncio. The kernel ends the connections of
clients that do not read (`server.listen`).
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import Any

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from orjson import dumps
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from boostline.serve.errors import Problem

__all__ = ["LARGEST_HEAD", "Connection"]

#: Bytes of a request's first line and headers.
LARGEST_HEAD = 65536
#: Seconds until the first request must have begun; uvicorn closes later pauses (``timeout_keep_alive``).
_SILENCE = 20.0
#: Seconds for which a connection stays open that its client has closed for sending.
_HALF_CLOSED = 1.0
#: All connections read into it, one at a time.
_BUFFER = bytearray(16384)

_END_OF_HEAD = b"\r\n\r\n"
_UPGRADE, _OTHER_NAME = re.compile(rb"\r\nupgrade:", re.IGNORECASE), b"\r\nignored:"


class Connection(asyncio.BufferedProtocol, asyncio.Transport):
    """One client; uvicorn makes one for each (its option ``http``)."""

    def __init__(self, config: Any, server_state: Any, app_state: Any, _loop: Any = None) -> None:
        self._http = HttpToolsProtocol(config, server_state, app_state, _loop)
        self._is_full = len(server_state.connections) > config.limit_concurrency
        #: What uvicorn has not seen yet: a head that is not complete, or requests ahead of their turn.
        self._waiting = b""
        self._is_paused = False
        #: Follows the requests, only to know where a head ends; it has seen so many bytes of what waits.
        self._parser = HttpRequestParser(self)
        self._in_head = True
        self._n_parsed = 0

    # What the socket calls.

    def connection_made(self, transport: Any) -> None:
        self._socket: asyncio.Transport = transport
        self._loop = asyncio.get_running_loop()
        self._silence = self._loop.call_later(_SILENCE, transport.close)
        self._http.connection_made(self)
        if self._is_full:
            self._refuse(Problem(503, "too many connections are open"))

    def connection_lost(self, error: Exception | None) -> None:
        self._silence.cancel()
        self._waiting = b""
        self._http.connection_lost(error)

    def eof_received(self) -> bool:
        # The client may still read: what it has asked is answered if that takes no longer.
        self._loop.call_later(_HALF_CLOSED, self._socket.close)
        return True

    def pause_writing(self) -> None:
        self._http.pause_writing()

    def resume_writing(self) -> None:
        self._http.resume_writing()

    def get_buffer(self, sizehint: int) -> bytearray:
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        self._waiting += _BUFFER[:nbytes]
        self._forward()

    def _forward(self) -> None:
        """Hand uvicorn what waits, one head at a time: it pauses when a request is ahead of its turn."""
        while self._waiting and not self._is_paused and not self._socket.is_closing():
            end = self._waiting.find(_END_OF_HEAD, max(0, self._n_parsed - 3))
            end = len(self._waiting) if end < 0 else end + len(_END_OF_HEAD)
            self._follow(end)
            if not self._in_head:
                piece, self._waiting, self._n_parsed = self._waiting[:end], self._waiting[end:], 0
                self._silence.cancel()
                self._http.data_received(piece)
                continue
            self._n_parsed = end
            if end > LARGEST_HEAD:
                limit = f"the request's line and headers are larger than {LARGEST_HEAD} bytes"
                self._refuse(Problem(431, limit))
            if end == len(self._waiting):
                return

    def _follow(self, end: int) -> None:
        """Parse what waits up to a place, to find out whether it ends in a head."""
        self._in_head = True
        try:
            self._parser.feed_data(self._waiting[self._n_parsed : end])
        except HttpParserUpgrade:
            # A server may ignore an upgrade (RFC 9110, 7.8), but the parser would skip the body.
            head = _UPGRADE.sub(_OTHER_NAME, self._waiting[:end])
            self._waiting = head + self._waiting[end:]
            self._parser = HttpRequestParser(self)
            with contextlib.suppress(HttpParserError, HttpParserUpgrade):
                self._parser.feed_data(head)
            self._in_head = False
        except HttpParserError:
            self._in_head = False  # uvicorn refuses it

    def on_headers_complete(self) -> None:
        self._in_head = False

    def on_body(self, body: bytes) -> None:
        self._in_head = False

    on_message_complete = on_headers_complete

    def _refuse(self, problem: Problem) -> None:
        body = dumps(problem.to_dict())
        head = b"HTTP/1.1 %d %s\r\ncontent-type: application/problem+json\r\n"
        head += b"content-length: %d\r\nconnection: close\r\n\r\n"
        self.write(head % (problem.status, problem.title.encode(), len(body)) + body)
        self._socket.close()

    # What uvicorn calls.

    def write(self, data: Any) -> None:
        if not self._socket.is_closing():  # the client may have gone while its request was answered
            self._socket.write(data)

    def close(self) -> None:
        self._socket.close()

    def is_closing(self) -> bool:
        return self._socket.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._socket.get_extra_info(name, default)

    def pause_reading(self) -> None:
        self._is_paused = True
        self._socket.pause_reading()

    def resume_reading(self) -> None:
        self._is_paused = False
        self._socket.resume_reading()
        if self._waiting:
            self._loop.call_soon(self._forward)
