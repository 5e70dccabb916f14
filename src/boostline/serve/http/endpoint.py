"""Endpoints: a function with its path, role, body and answer, declared in one place and found by their paths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from boostline.serve.http.bodies import Body

if TYPE_CHECKING:
    from boostline.serve.live.service import Service
    from boostline.serve.ops.telemetry import Telemetry

__all__ = ["ENDPOINTS", "JSON", "Call", "Endpoint", "Response", "Routes", "endpoint"]

JSON = b"application/json"


class Call(NamedTuple):
    """One request, as a handler takes it."""

    service: Service
    telemetry: Telemetry
    #: What stands in the path for ``{...}``.
    parameters: dict[str, str]
    query: dict[str, str]
    #: The fields of the body, checked, and its bytes.
    body: dict[str, Any]
    raw: bytes


class Response(NamedTuple):
    """What a handler answers if not with JSON and 200."""

    status: int
    kind: bytes
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True)
class Endpoint:
    """A declared endpoint; ``answer`` is a `TypedDict`, or None for what is not described further."""

    method: str
    path: str
    role: str | None
    handler: Callable[[Call], Any]
    body: Body | None = None
    answer: type | None = None
    is_batch: bool = False

    @property
    def summary(self) -> str:
        text = (self.handler.__doc__ or "").partition("\n")[0]
        return text + " JSON lines, each with its own status." if self.is_batch else text


ENDPOINTS: list[Endpoint] = []


def endpoint(
    method: str,
    path: str,
    role: str | None,
    body: Body | None = None,
    answer: type | None = None,
    *,
    batch: bool = False,
) -> Callable[[Callable[[Call], Any]], Callable[[Call], Any]]:
    """Declare a handler: it returns JSON as bytes or as values, or a `Response`, or what can be awaited for these.

    Parameters
    ----------
    role
        Who may call it: "rank", "feedback", "admin", "any" for all roles, None for everybody without a token.
    batch
        Whether ``path/batch`` takes many bodies, one on a line.
    """

    def declare(handler: Callable[[Call], Any]) -> Callable[[Call], Any]:
        ENDPOINTS.append(Endpoint(method, path, role, handler, body, answer))
        if batch:
            ENDPOINTS.append(Endpoint(method, f"{path}/batch", role, handler, body, is_batch=True))
        return handler

    return declare


class Routes:
    """Finds the endpoints of a path, by method."""

    def __init__(self, endpoints: list[Endpoint]) -> None:
        self._by_path: dict[str, dict[str, Endpoint]] = {}
        for one in endpoints:
            self._by_path.setdefault(one.path, {})[one.method] = one
        self._plain = {path.encode(): methods for path, methods in self._by_path.items()}

    def find(self, raw_path: bytes) -> tuple[dict[str, Endpoint], dict[str, str]]:
        """Methods and parameters of a path as it was sent: a parameter may hold an escaped slash."""
        if (plain := self._plain.get(raw_path)) is not None:
            return plain, {}
        if b"://" in raw_path:  # the absolute form, as proxies get it
            raw_path = b"/" + raw_path.partition(b"://")[2].partition(b"/")[2]
        parts = [unquote(part) for part in raw_path.decode("latin-1").split("/")]
        for path, methods in self._by_path.items():
            wanted = path.split("/")
            if len(wanted) == len(parts):
                pairs = list(zip(wanted, parts, strict=True))
                if all(want == part or want[:1] == "{" for want, part in pairs):
                    return methods, {w[1:-1]: part for w, part in pairs if w[:1] == "{"}
        return {}, {}
