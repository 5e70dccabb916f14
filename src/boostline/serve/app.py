"""HTTP: reads requests, asks the service, writes answers.

`Door` is the application that the server calls. The two requests that come for every row, ``/rank`` and ``/feedback``,
are answered by itself, without a framework's detours; Starlette routes all others (`views`).
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from boostline.serve.log import StoreError
from boostline.serve.problems import Problem
from boostline.serve.requests import read_feedback, read_rank
from boostline.serve.security import HEADERS, Guard
from boostline.serve.service import Service
from boostline.serve.watching import Watch

__all__ = ["Door", "read_body"]

_LOG = logging.getLogger("boostline.serve")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

JSON, LINES, PROBLEM = b"application/json", b"application/x-ndjson", b"application/problem+json"
#: A long batch lets others pass after so many lines.
_LINES_AT_ONCE = 8


class Gone(Exception):
    """The client has hung up."""


class Door:
    """The ASGI application."""

    def __init__(self, service: Service, guard: Guard) -> None:
        from boostline.serve.views import make_views

        self.service = service
        self.guard = guard
        self.watch = Watch(service)
        self._limits = service.settings.limits
        self._hot = {
            "/rank": ("rank", self._rank),
            "/feedback": ("feedback", self._feedback),
            "/rank/batch": ("rank", self._rank_batch),
            "/feedback/batch": ("feedback", self._feedback_batch),
        }
        self._views = make_views(self)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not spoken here")
        began = time.perf_counter()
        path: str = scope["path"]
        hot = self._hot.get(path)
        try:
            if hot is not None and scope["method"] == "POST":
                self.guard.check(scope["headers"], hot[0])
                status, kind, body = await hot[1](receive)
            elif hot is not None:
                raise Problem(405, f"{path} takes POST, but {scope['method']} came")
            else:
                await self._views(scope, receive, send)
                return
        except Gone:
            return
        except Problem as problem:
            status = problem.status
            await send_problem(send, problem)
        except StoreError as error:
            status = 503
            await send_problem(send, Problem(503, str(error), retry_after=30))
        except Exception as error:
            status = 500
            _LOG.error("%s failed: %s", path, error, exc_info=True)
            await send_problem(send, Problem(500, "the service has made a mistake; see its log"))
        else:
            await send_bytes(send, status, kind, body)
        self.watch.count(path if hot is not None else "other", status, time.perf_counter() - began)

    async def _rank(self, receive: Receive) -> tuple[int, bytes, bytes]:
        raw = await read_body(receive, self._limits.body, self._limits.seconds)
        answer, written = self.service.rank(read_rank(raw, self._limits))
        if written is not None:
            await written
        return 200, JSON, answer

    async def _feedback(self, receive: Receive) -> tuple[int, bytes, bytes]:
        raw = await read_body(receive, self._limits.body, self._limits.seconds)
        answer, written = self.service.feedback(read_feedback(raw, self._limits))
        if written is not None:
            answer = await written
        return 200, JSON, json.dumps(answer).encode()

    async def _rank_batch(self, receive: Receive) -> tuple[int, bytes, bytes]:
        def one(line: bytes) -> tuple[Any, Any]:
            answer, written = self.service.rank(read_rank(line, self._limits))
            return json.loads(answer), written

        return await self._batch(receive, one)

    async def _feedback_batch(self, receive: Receive) -> tuple[int, bytes, bytes]:
        def one(line: bytes) -> tuple[Any, Any]:
            return self.service.feedback(read_feedback(line, self._limits))

        return await self._batch(receive, one)

    async def _batch(
        self, receive: Receive, one: Callable[[bytes], tuple[Any, Any]]
    ) -> tuple[int, bytes, bytes]:
        raw = await read_body(receive, self._limits.batch_body, self._limits.seconds)
        lines = [line for line in raw.split(b"\n") if line.strip()]
        if len(lines) > self._limits.batch:
            raise Problem(
                413, f"the batch has {len(lines)} lines, but must have at most {self._limits.batch}"
            )
        started: list[tuple[Any, Any] | Problem] = []
        for i, line in enumerate(lines):
            try:
                if len(line) > self._limits.body:
                    raise Problem(413, f"the line is larger than {self._limits.body} bytes")
                started.append(one(line))
            except Problem as problem:
                started.append(problem)
            if i % _LINES_AT_ONCE == _LINES_AT_ONCE - 1:
                await asyncio.sleep(0)
        answers = []
        for item in started:
            try:
                if isinstance(item, Problem):
                    raise item
                answer, written = item
                if written is not None:
                    result = await written
                    answer = result if answer is None else answer
                answers.append({"status": 200, **answer})
            except Problem as problem:
                answers.append(problem.to_dict())
        return 200, LINES, b"".join(json.dumps(answer).encode() + b"\n" for answer in answers)


async def read_body(receive: Receive, most: int, seconds: float) -> bytes:
    """All of a request's body, if it is not too large and comes in time."""
    body: bytes = b""
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Gone
                body = body + message["body"] if body else message["body"]
                if len(body) > most:
                    raise Problem(413, f"the body is larger than {most} bytes")
                if not message.get("more_body"):
                    return body
    except TimeoutError:
        raise Problem(408, f"the body did not come within {seconds:g} seconds") from None


async def send_bytes(
    send: Send, status: int, kind: bytes, body: bytes, more: list[tuple[bytes, bytes]] | None = None
) -> None:
    """One answer."""
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
        *HEADERS,
        *(more or ()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def send_problem(send: Send, problem: Problem) -> None:
    """What is wrong, as problem+json."""
    more = []
    if problem.retry_after is not None:
        more.append((b"retry-after", str(problem.retry_after).encode()))
    if problem.status == 401:
        more.append((b"www-authenticate", b"Bearer"))
    if problem.status in (408, 413):  # the rest of the body is not read
        more.append((b"connection", b"close"))
    await send_bytes(send, problem.status, PROBLEM, json.dumps(problem.to_dict()).encode(), more)
