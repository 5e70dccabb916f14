"""HTTP: reads requests, asks the service, writes answers.

`Application` is what the server calls. It answers ``/rank`` and ``/feedback`` itself, without a framework's detours
(and mostly without a task of their own: `connection`); Starlette routes all other paths (`views`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from orjson import dumps

from boostline.serve.errors import Problem
from boostline.serve.http.security import HEADERS, Guard
from boostline.serve.live.requests import read_feedback, read_rank
from boostline.serve.live.service import Service
from boostline.serve.ops.telemetry import Telemetry
from boostline.serve.store.commit_queue import Answer, Tell
from boostline.serve.store.log import StoreError

__all__ = ["Application", "problem_headers", "problem_of", "read_body"]

_LOG = logging.getLogger("boostline.serve")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
#: Begins to answer a body.
Begin = Callable[[bytes, Tell], None]

JSON, LINES, PROBLEM = b"application/json", b"application/x-ndjson", b"application/problem+json"
#: A long batch lets others pass after so many seconds.
_SECONDS_AT_ONCE = 0.002


class ClientDisconnected(Exception):
    """The client has hung up."""


class Application:
    """The ASGI application."""

    def __init__(self, service: Service, guard: Guard) -> None:
        from boostline.serve.http.views import make_views

        self.service = service
        self.guard = guard
        self.telemetry = Telemetry(service)
        self._limits = service.settings.limits
        #: Path -> role, and what begins to answer a body.
        self.rows: dict[str, tuple[str, Begin]] = {
            "/rank": ("rank", self._begin_rank),
            "/feedback": ("feedback", self._begin_feedback),
        }
        self._batches = {f"{path}/batch": row for path, row in self.rows.items()}
        self._views = make_views(self)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not spoken here")
        began = time.perf_counter()
        path: str = scope["path"]
        row, batch = self.rows.get(path), self._batches.get(path)
        found = row or batch
        if found is None:
            await self._views(scope, receive, send)
            return
        role, begin = found
        try:
            if scope["method"] != "POST":
                raise Problem(405, f"{path} takes POST, but {scope['method']} came")
            self.guard.check(scope["headers"], role)
            if row is not None:
                kind, body = JSON, await self._row(receive, begin)
            else:
                kind, body = LINES, await self._batch(receive, begin)
        except ClientDisconnected:
            return
        except Exception as error:
            problem = problem_of(error, path)
            status = problem.status
            await send_problem(send, problem)
        else:
            status = 200
            await send_bytes(send, status, kind, body)
        self.telemetry.count(path, status, time.perf_counter() - began)

    def _begin_rank(self, raw: bytes, tell: Tell) -> None:
        self.service.rank(read_rank(raw, self._limits), tell)

    def _begin_feedback(self, raw: bytes, tell: Tell) -> None:
        self.service.feedback(read_feedback(raw, self._limits), tell)

    async def _row(self, receive: Receive, begin: Begin) -> bytes:
        raw = await read_body(receive, self._limits.body, self._limits.seconds)
        answer = await self._begun(begin, raw)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _begun(self, begin: Begin, raw: bytes) -> asyncio.Future[Answer]:
        """Begin, and wait for what is told."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def tell(answer: Answer) -> None:
            if not future.done():  # nobody waits when the client has hung up
                future.set_result(answer)

        begin(raw, tell)
        return future

    async def _batch(self, receive: Receive, begin: Begin) -> bytes:
        raw = await read_body(receive, self._limits.batch_body, self._limits.seconds)
        lines = [line for line in raw.split(b"\n") if line.strip()]
        if len(lines) > self._limits.batch:
            raise Problem(
                413, f"the batch has {len(lines)} lines, but must have at most {self._limits.batch}"
            )
        started: list[asyncio.Future[Answer] | Problem] = []
        since = time.perf_counter()
        for line in lines:
            try:
                if len(line) > self._limits.body:
                    raise Problem(413, f"the line is larger than {self._limits.body} bytes")
                started.append(self._begun(begin, line))
            except Problem as problem:
                started.append(problem)
            if time.perf_counter() - since > _SECONDS_AT_ONCE:
                await asyncio.sleep(0)
                since = time.perf_counter()
        answers = []
        for begun in started:
            answer = begun if isinstance(begun, Problem) else await begun
            if isinstance(answer, bytes):
                answers.append(b'{"status":200,' + answer[1:])
            elif isinstance(answer, Problem):
                answers.append(dumps(answer.to_dict()))
            else:
                raise answer
        return b"".join(answer + b"\n" for answer in answers)


def problem_of(error: BaseException, path: str) -> Problem:
    """What is answered when something went wrong."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, StoreError):
        return Problem(503, str(error), retry_after=30)
    _LOG.error("%s failed: %s", path, error, exc_info=error)
    return Problem(500, "the service has made a mistake; see its log")


async def read_body(receive: Receive, most: int, seconds: float) -> bytes:
    """All of a request's body, if it is not too large and comes in time."""
    body: bytes = b""
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnected
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
    body = dumps(problem.to_dict())
    await send_bytes(send, problem.status, PROBLEM, body, problem_headers(problem))


def problem_headers(problem: Problem) -> list[tuple[bytes, bytes]]:
    """Those that only problems have."""
    more = []
    if problem.retry_after is not None:
        more.append((b"retry-after", str(problem.retry_after).encode()))
    if problem.status == 401:
        more.append((b"www-authenticate", b"Bearer"))
    if problem.status in (408, 413):  # the rest of the body is not read
        more.append((b"connection", b"close"))
    return more
