"""The ASGI application: finds the endpoint, checks who asks, reads the body, sends the answer or what is wrong."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

from orjson import OPT_SERIALIZE_NUMPY, dumps

from boostline.serve.errors import Problem
from boostline.serve.http import endpoints
from boostline.serve.http.endpoint import JSON, Call, Endpoint, Response, Routes
from boostline.serve.http.security import HEADERS, Guard, check_framing
from boostline.serve.live.service import Service
from boostline.serve.ops.telemetry import Telemetry
from boostline.serve.store.log import StoreError
from boostline.serve.store.writer import WriteError

__all__ = ["Application"]

_LOG = logging.getLogger("boostline.serve")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

_LINES = b"application/x-ndjson"
#: So many lines of a batch begin together; other requests are served between two groups.
_LINES_AT_ONCE = 32


class ClientDisconnected(Exception):
    """Nobody waits for the answer."""


class Application:
    """What a server calls for each request."""

    def __init__(self, service: Service, guard: Guard) -> None:
        self.service = service
        self.guard = guard
        self.telemetry = Telemetry(service)
        self._limits = service.settings.limits
        self._routes = Routes(endpoints.ALL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"unsupported protocol: {scope['type']}")
        began = time.perf_counter()
        methods, parameters = self._routes.find(scope["raw_path"])
        path = next(iter(methods.values())).path if methods else "other"
        try:
            check_framing(scope["headers"])
            endpoint = _endpoint_of(methods, scope)
            self.guard.check(scope["headers"], endpoint.role)
            response = await self._respond(endpoint, parameters, scope, receive)
        except ClientDisconnected:
            return
        except Exception as error:
            response = _refusal(problem_of(error, path))
        headers = [
            (b"content-type", response.kind),
            (b"content-length", b"%d" % len(response.body)),
            *HEADERS,
            *response.headers,
        ]
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        await send({"type": "http.response.body", "body": response.body})
        self.telemetry.count(path, response.status, time.perf_counter() - began)

    async def _respond(
        self, endpoint: Endpoint, parameters: dict[str, str], scope: Scope, receive: Receive
    ) -> Response:
        raw = b""
        if endpoint.body is not None:
            largest = self._limits.batch_body if endpoint.is_batch else self._limits.body
            raw = await self._read(scope, receive, largest)
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        call = Call(self.service, self.telemetry, parameters, query, {}, raw)
        if endpoint.is_batch:
            return Response(200, _LINES, await self._batch(endpoint, call))
        answer = await self._answer(endpoint, call)
        if isinstance(answer, Response):
            return answer
        return Response(200, JSON, answer if type(answer) is bytes else _json(answer))

    async def _answer(self, endpoint: Endpoint, call: Call) -> Any:
        """What the handler returns for the fields of the body."""
        if endpoint.body is not None:
            call = call._replace(body=endpoint.body.read(call.raw, self._limits))
        answer = endpoint.handler(call)
        return await answer if inspect.isawaitable(answer) else answer

    async def _batch(self, endpoint: Endpoint, call: Call) -> bytes:
        """The handler's answer to each line; those of a group share a transaction."""
        lines = [line for line in call.raw.split(b"\n") if line.strip()]
        if len(lines) > self._limits.batch:
            most = self._limits.batch
            raise Problem(413, f"the batch has {len(lines)} lines, but must have at most {most}")
        answers: list[bytes] = []
        for i in range(0, len(lines), _LINES_AT_ONCE):
            answers += await asyncio.gather(
                *(
                    self._line(endpoint, call._replace(raw=line))
                    for line in lines[i : i + _LINES_AT_ONCE]
                )
            )
        return b"".join(answer + b"\n" for answer in answers)

    async def _line(self, endpoint: Endpoint, call: Call) -> bytes:
        try:
            if len(call.raw) > self._limits.body:
                raise Problem(413, f"the line is larger than {self._limits.body} bytes")
            answer = await self._answer(endpoint, call)
        except Exception as error:
            return _json(problem_of(error, endpoint.path).to_dict())
        return b'{"status":200,' + bytes(answer[1:])

    async def _read(self, scope: Scope, receive: Receive, largest: int) -> bytes:
        """All of a request's body, if it is not too large and comes in time."""
        for name, value in scope["headers"]:
            if name == b"content-length" and int(value) > largest:
                raise Problem(413, f"the body is larger than {largest} bytes")
        body: bytes = b""
        seconds = self._limits.seconds
        try:
            async with asyncio.timeout(seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientDisconnected
                    body = body + message["body"] if body else message["body"]
                    if len(body) > largest:
                        raise Problem(413, f"the body is larger than {largest} bytes")
                    if not message.get("more_body"):
                        return body
        except TimeoutError:
            raise Problem(408, f"the body did not come within {seconds:g} seconds") from None


def _endpoint_of(methods: dict[str, Endpoint], scope: Scope) -> Endpoint:
    if not methods:
        raise Problem(404, f"there is nothing at {str(scope['path'])[:200]}")
    method = "GET" if scope["method"] == "HEAD" else scope["method"]
    if method not in methods:
        path, allowed = next(iter(methods.values())).path, " or ".join(methods)
        raise Problem(405, f"method {method} not allowed for {path}; use {allowed}")
    return methods[method]


def problem_of(error: BaseException, path: str) -> Problem:
    """What is answered when something went wrong."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, WriteError):
        return Problem(507, str(error), retry_after=5)
    if isinstance(error, StoreError):
        return Problem(503, str(error), retry_after=30)
    _LOG.error("%s failed: %s", path, error, exc_info=error)
    return Problem(500, "internal error; see the service log")


def _refusal(problem: Problem) -> Response:
    """What is wrong, as problem+json."""
    headers = []
    if problem.retry_after is not None:
        headers.append((b"retry-after", b"%d" % problem.retry_after))
    if problem.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if problem.closes:
        headers.append((b"connection", b"close"))
    body = _json(problem.to_dict())
    return Response(problem.status, b"application/problem+json", body, tuple(headers))


def _json(value: Any) -> bytes:
    return dumps(value, option=OPT_SERIALIZE_NUMPY)
