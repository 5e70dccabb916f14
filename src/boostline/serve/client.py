"""A client for `boostline serve`, with nothing but Python's own library.

Requests are repeated when a connection breaks or the service is busy. That is safe: a ranking that is asked for again
under its id has the same answer, and feedback that is sent again is not learned again. For this every request gets an
id here if you give none.
"""

from __future__ import annotations

import asyncio
import functools
import http.client
import json
import math
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

__all__ = ["AsyncClient", "Client", "ServiceError"]

Features = Mapping[str, Any] | Sequence[float | None]

#: Worth another try: the service is busy, its disk is full, or something between has given up.
_AGAIN = (408, 429, 502, 503, 504, 507)


class ServiceError(Exception):
    """The service has refused a request.

    Attributes
    ----------
    status : int
    detail : str
        What is wrong.
    field : str or None
        Where.
    """

    def __init__(self, status: int, detail: str, field: str | None = None) -> None:
        super().__init__(f"{status}: {detail}")
        self.status, self.detail, self.field = status, detail, field


class Client:
    """Ask a service; threads may share one.

    Parameters
    ----------
    address
        As the service prints it: ``http://127.0.0.1:8000``.
    token
        If the service asks for one.
    timeout
        Seconds to wait for an answer.
    tries
        How often a request is sent at most.
    """

    def __init__(
        self, address: str, token: str | None = None, *, timeout: float = 10.0, tries: int = 5
    ) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"address is {address!r}, but must be like http://127.0.0.1:8000")
        self._secure, self._host = parts.scheme == "https", parts.netloc
        self._headers = {"Content-Type": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout, self._tries = timeout, tries
        self._local = threading.local()

    def rank(
        self,
        features: Features | None = None,
        *,
        text: str | None = None,
        id: str | None = None,
        top: int | None = None,
        threshold: float | None = None,
        optimize: str | None = None,
    ) -> dict[str, Any]:
        """Rank the labels of an example; ``["labels"]`` of the answer has the best first.

        ``threshold`` keeps labels with a probability above it, ``optimize`` those that `predict` would name.
        """
        return self._post(
            "/rank",
            id=id or uuid.uuid4().hex,
            features=_plain(features),
            text=text,
            top=top,
            threshold=threshold,
            optimize=optimize,
        )

    def feedback(
        self,
        id: str,
        relevant: Iterable[str] = (),
        *,
        irrelevant: Iterable[str] | None = None,
        unknown: Iterable[str] = (),
        features: Features | None = None,
        text: str | None = None,
        revision: int | None = None,
    ) -> dict[str, Any]:
        """Send which labels were relevant for a ranking, or (with features) of a new example."""
        return self._post(
            "/feedback",
            id=id,
            relevant=sorted(relevant),
            irrelevant=None if irrelevant is None else sorted(irrelevant),
            unknown=sorted(unknown) or None,
            features=_plain(features),
            text=text,
            revision=revision,
        )

    def model(self) -> dict[str, Any]:
        """The champion in figures, its challengers and snapshots."""
        return self.ask("GET", "/model")

    def event(self, id: str) -> dict[str, Any]:
        """All that the log has of an id."""
        return self.ask("GET", f"/events/{quote(id, safe='')}")

    def ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Any request; it is repeated where that may help."""
        raw = None if body is None else json.dumps(body).encode()
        for trial in range(1, self._tries + 1):
            wait = 0.05 * 2**trial * random.uniform(0.5, 1.5)
            try:
                status, headers, answer = self._send(method, path, raw)
            except (OSError, http.client.HTTPException):
                if trial == self._tries:
                    raise
            else:
                if status < 400:
                    return dict(json.loads(answer))
                if status not in _AGAIN or trial == self._tries:
                    problem = _problem(answer)
                    raise ServiceError(status, problem.get("detail", ""), problem.get("field"))
                after = headers.get("Retry-After", "")  # seconds, or a date
                wait = max(wait, float(after) if after.isdecimal() else 0.0)
            time.sleep(wait)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close this thread's connection."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _post(self, path: str, **fields: Any) -> dict[str, Any]:
        return self.ask("POST", path, {k: v for k, v in fields.items() if v is not None})

    def _send(self, method: str, path: str, raw: bytes | None) -> tuple[int, Any, bytes]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            connection = self._local.connection = kind(self._host, timeout=self._timeout)
        try:
            connection.request(method, path, raw, self._headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except BaseException:
            self.close()
            raise


def _in_thread(method: Callable[..., dict[str, Any]]) -> Callable[..., Any]:
    @functools.wraps(method)
    async def call(self: AsyncClient, *arguments: Any, **named: Any) -> dict[str, Any]:
        return await asyncio.to_thread(method, self.client, *arguments, **named)

    return call


class AsyncClient:
    """`Client` for asyncio: each call runs in a thread, and the loop goes on."""

    def __init__(self, address: str, token: str | None = None, **options: Any) -> None:
        self.client = Client(address, token, **options)

    rank, feedback = _in_thread(Client.rank), _in_thread(Client.feedback)
    model, event = _in_thread(Client.model), _in_thread(Client.event)


def _problem(answer: bytes) -> dict[str, Any]:
    """What an error says; something between may have answered in a format of its own."""
    try:
        problem = json.loads(answer)
    except ValueError:
        problem = None
    return (
        problem if isinstance(problem, dict) else {"detail": answer[:200].decode(errors="replace")}
    )


def _plain(features: Any) -> Any:
    """Lists and dicts as JSON knows them; NumPy's numbers, too."""
    if features is None:
        return None
    if isinstance(features, Mapping):
        return {str(name): _number(value) for name, value in features.items()}
    return [_number(value) for value in features]


def _number(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and math.isnan(value) else value
