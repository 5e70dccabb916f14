"""Connections: requests for one row are answered where their last byte is read.

uvicorn makes a task, an ASGI scope and a timer for every request, which costs more than all that a ranking needs
besides the model. `Connection` begins to answer ``/rank`` and ``/feedback`` itself, and writes when the log is on disk.
Whatever is out of the ordinary (other paths, large bodies or such of unknown length, requests sent before the last one
was answered, clients that do not read) takes uvicorn's way to the same answer.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any

from orjson import dumps
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from boostline.serve.errors import Problem
from boostline.serve.http.app import JSON, PROBLEM, Application, Begin, problem_headers, problem_of
from boostline.serve.http.security import HEADERS
from boostline.serve.store.commit_queue import Answer

__all__ = ["Connection"]

#: A client that has not sent all headers of a request by then is hung up on.
_SILENCE = 20.0
#: uvicorn stops reading when so many bytes of a body wait.
_LARGEST_BODY = 65536

_ALWAYS = b"".join(b"%s: %s\r\n" % header for header in HEADERS)


class Row:
    """A request for one row; stands where uvicorn keeps its `RequestResponseCycle`."""

    __slots__ = (
        *("path", "role", "begin", "began", "body", "more_body", "keep_alive"),
        *("response_complete", "disconnected", "message_event"),
    )

    def __init__(self, path: str, role: str, begin: Begin, began: float) -> None:
        self.path, self.role, self.begin, self.began = path, role, begin, began
        self.body = b""
        self.more_body = True
        self.keep_alive = True
        self.response_complete = False
        self.disconnected = False
        self.message_event = _NOBODY_WAITS


class _Nobody:
    """An event for which nobody waits."""

    def set(self) -> None:
        pass


_NOBODY_WAITS = _Nobody()


class Connection(HttpToolsProtocol):
    """One client. Hangs up on those that send nothing, or their headers or their body byte by byte."""

    def __init__(self, config: Any, *more: Any, **others: Any) -> None:
        super().__init__(config, *more, **others)
        app = config.app
        assert isinstance(app, Application)
        self._app = app
        self._rows = {path.encode(): (path, *row) for path, row in app.rows.items()}
        limits = app.service.settings.limits
        self._largest, self._seconds = min(_LARGEST_BODY, limits.body), limits.seconds
        self._in_headers = True
        self._read_timeout: asyncio.TimerHandle | None = None
        #: The request that uvicorn answers, or has answered.
        self._running: Any = None
        #: When something came or went for the last time, and what looks after it now and then.
        self._heard = 0.0
        self._idle: asyncio.TimerHandle | None = None

    # What comes.

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._read_timeout = self.loop.call_later(_SILENCE, self._hang_up)
        self._idle = self.loop.call_later(self.timeout_keep_alive, self._close_if_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_read_timeout()
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        self._disconnect()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._heard = time.perf_counter()
        super().data_received(data)
        if self._read_timeout is not None:
            return
        row: Any = self.cycle
        if self._in_headers:
            self._read_timeout = self.loop.call_later(_SILENCE, self._hang_up)
        elif type(row) is Row and row.more_body and not row.response_complete:
            self._read_timeout = self.loop.call_later(self._seconds, self._too_slow, row)

    def on_message_begin(self) -> None:
        self.url, self.headers, self.expect_100_continue = b"", [], False
        self._in_headers = True

    def on_headers_complete(self) -> None:
        self._in_headers = False
        if self._read_timeout is not None:
            self._cancel_read_timeout()
        row = self._rows.get(self.url)
        if row is not None and self._is_ordinary():
            self.cycle = Row(*row, self._heard)  # type: ignore[assignment]
            return
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers.extend(headers)
        super().on_headers_complete()

    def _is_ordinary(self) -> bool:
        """Whether nothing speaks against answering at once."""
        size = -1
        for name, value in self.headers:
            if name == b"content-length":
                size = int(value)
            elif name == b"connection":
                if value.lower() != b"keep-alive":
                    return False
            elif name in (b"transfer-encoding", b"upgrade"):
                return False
        return (
            0 <= size <= self._largest
            and self.parser.get_method() == b"POST"
            and self.parser.get_http_version() == "1.1"
            and not self.expect_100_continue
            and not self.flow.write_paused
            and (self.cycle is None or self.cycle.response_complete)
            and (self.limit_concurrency is None or len(self.connections) < self.limit_concurrency)
        )

    def on_body(self, body: bytes) -> None:
        row: Any = self.cycle
        if type(row) is Row:
            row.body = row.body + body if row.body else body
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        row: Any = self.cycle
        if type(row) is not Row:
            super().on_message_complete()
        elif row.more_body and not row.response_complete:
            row.more_body = False
            if self._read_timeout is not None:
                self._cancel_read_timeout()
            self._begin(row)

    # What is answered.

    def _begin(self, row: Row) -> None:
        try:
            self._app.guard.check(self.headers, row.role)
            row.begin(row.body, partial(self._tell, row))
        except Exception as error:
            self._refuse(row, error)

    def _tell(self, row: Row, answer: Answer) -> None:
        if isinstance(answer, bytes):
            self._answer(row, 200, JSON, answer)
        else:
            self._refuse(row, answer)

    def _refuse(self, row: Row, error: BaseException) -> None:
        problem = problem_of(error, row.path)
        more = b""
        for name, value in problem_headers(problem):
            more += b"%s: %s\r\n" % (name, value)
            if name == b"connection":
                row.keep_alive = False
        body = dumps(problem.to_dict())
        self._answer(row, problem.status, PROBLEM, body, more)

    def _answer(self, row: Row, status: int, kind: bytes, body: bytes, more: bytes = b"") -> None:
        self._app.telemetry.count(row.path, status, time.perf_counter() - row.began)
        row.response_complete = True
        if not self.transport.is_closing():
            if not row.keep_alive and not more:  # asked to end while it waited for the disk
                more = b"connection: close\r\n"
            self.transport.write(
                b"%scontent-type: %s\r\ncontent-length: %d\r\n%s%s\r\n%s"
                % (STATUS_LINE[status], kind, len(body), _ALWAYS, more, body)
            )
            if not row.keep_alive:
                self.transport.close()
        self.on_response_complete()

    def on_response_complete(self) -> None:
        """As uvicorn does, but for a timer of its own for every answer."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self._heard = time.perf_counter()
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())

    def send_400_response(self, msg: str) -> None:
        """Nonsense ends the connection, also for what was asked before it and is not answered yet."""
        super().send_400_response(msg)
        self._disconnect()

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _disconnect(self) -> None:
        """Say so to the request that is being answered; uvicorn says it only to the last one that came."""
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True
            self._running.message_event.set()

    # Who is slow.

    def _close_if_idle(self) -> None:
        """Hang up on who has asked for nothing for long."""
        row: Any = self.cycle
        waits = row is not None and not row.response_complete
        rest = self._heard + self.timeout_keep_alive - time.perf_counter()
        if rest > 0 or waits:
            self._idle = self.loop.call_later(max(rest, 1.0), self._close_if_idle)
        else:
            self._hang_up()

    def _cancel_read_timeout(self) -> None:
        if self._read_timeout is not None:
            self._read_timeout.cancel()
            self._read_timeout = None

    def _hang_up(self) -> None:
        self.transport.close()

    def _too_slow(self, row: Row) -> None:
        self._read_timeout = None
        if not row.response_complete:
            self._refuse(
                row, Problem(408, f"the body did not come within {self._seconds:g} seconds")
            )
