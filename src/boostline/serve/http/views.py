"""Everything that is asked for now and then: models, labels, events, history, metrics, the page."""

from __future__ import annotations

import inspect
import json
import logging
import time
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import Route, Router

from boostline.serve.errors import Problem
from boostline.serve.http.app import JSON, ClientDisconnected, read_body, send_bytes, send_problem
from boostline.serve.http.openapi import description
from boostline.serve.live.label_names import LabelError
from boostline.serve.live.requests import parse_json, read_names
from boostline.serve.ops import status
from boostline.serve.store.log import StoreError

if TYPE_CHECKING:
    from boostline.serve.http.app import Application, Receive, Scope, Send

__all__ = ["make_views"]

_LOG = logging.getLogger("boostline.serve")
_KINDS = {"html": b"text/html; charset=utf-8", "js": b"text/javascript", "css": b"text/css"}

Handler = Callable[[Request], Any]


class View:
    """One path: a handler and a role for each method."""

    def __init__(
        self, app: Application, path: str, methods: dict[str, tuple[str | None, Handler]]
    ) -> None:
        self._app, self._path, self._methods = app, path, methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        status = 200
        try:
            method = "GET" if scope["method"] == "HEAD" else scope["method"]
            if method not in self._methods:
                raise Problem(
                    405, f"{self._path} takes {' and '.join(self._methods)}, but {method} came"
                )
            role, handler = self._methods[method]
            self._app.guard.check(scope["headers"], role)
            answer = handler(Request(scope, receive))
            if inspect.isawaitable(answer):
                answer = await answer
            status, kind, body = _as_bytes(answer)
            await send_bytes(send, status, kind, b"" if scope["method"] == "HEAD" else body)
        except ClientDisconnected:
            return
        except Problem as problem:
            status = problem.status
            await send_problem(send, problem)
        except LabelError as error:
            status = 422
            await send_problem(send, Problem(422, str(error), error.field))
        except StoreError as error:
            status = 503
            await send_problem(send, Problem(503, str(error)))
        self._app.telemetry.count(self._path, status, time.perf_counter() - began)


def _as_bytes(answer: Any) -> tuple[int, bytes, bytes]:
    if isinstance(answer, tuple):
        return answer
    return 200, JSON, json.dumps(answer).encode()


def make_views(app: Application) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """The paths, by Starlette's router."""
    service = app.service
    limits = service.settings.limits

    async def body(request: Request) -> dict[str, Any]:
        return parse_json(await read_body(request.receive, limits.body, limits.seconds))

    def ready(request: Request) -> Any:
        failure = service.champion.failure or service.writer.failure
        if failure is not None:
            raise Problem(503, str(failure))
        return {
            "ready": True,
            "lag": service.champion.lag(),
            "cold": service.champion.state.is_cold,
        }

    async def change_labels(request: Request) -> Any:
        change = await body(request)
        for field in change:
            if field not in ("add", "rename", "retire", "restore"):
                raise Problem(
                    422,
                    f"{field[:80]} is not known, but must be add, rename, retire or restore",
                    field[:80],
                )
            if field == "rename":
                if not isinstance(change[field], dict):
                    raise Problem(422, "rename must be an object of old and new names", field)
                read_names(list(change[field]), field, limits.labels)
                read_names(list(change[field].values()), field, limits.labels)
            else:
                read_names(change[field], field, limits.labels)
        await service.change_labels(change)
        return status.labels(service)

    async def challenge(request: Request) -> Any:
        told = await body(request)
        name, config = told.get("name"), told.get("config", {})
        if not isinstance(name, str):
            raise Problem(422, "name is missing, but must be a string", "name")
        if not isinstance(config, dict):
            raise Problem(422, "config must be an object", "config")
        return 201, JSON, json.dumps(await service.models.challenge(name, config)).encode()

    async def dismiss(request: Request) -> Any:
        await service.models.dismiss(request.path_params["name"])
        return {"dismissed": request.path_params["name"]}

    async def promote(request: Request) -> Any:
        return await service.models.promote(request.path_params["name"])

    async def roll_back(request: Request) -> Any:
        version = (await body(request)).get("version")
        if type(version) is not int or version < 0:
            raise Problem(
                422, f"version is {str(version)[:80]}, but must be a whole number", "version"
            )
        return await service.models.roll_back(version)

    async def snapshot(request: Request) -> Any:
        return await status.snapshot(service)

    async def erase(request: Request) -> Any:
        return await service.erase(request.path_params["id"])

    def metrics(request: Request) -> Any:
        return 200, b"text/plain; version=0.0.4; charset=utf-8", app.telemetry.exposition()

    def static(request: Request) -> Any:
        name = request.path_params.get("name", "page.html")
        if name not in ("page.html", "page.css", "page.js"):
            raise Problem(404, f"there is nothing at {request.url.path}")
        text = resources.files("boostline.serve.http").joinpath("page", name).read_bytes()
        return 200, _KINDS[name.rpartition(".")[2]], text

    paths: dict[str, dict[str, tuple[str | None, Handler]]] = {
        "/": {"GET": (None, static)},
        "/static/{name}": {"GET": (None, static)},
        "/health": {"GET": (None, lambda _: {"alive": True})},
        "/ready": {"GET": (None, ready)},
        "/openapi.json": {"GET": (None, lambda _: description())},
        "/metrics": {"GET": ("any", metrics)},
        "/model": {"GET": ("any", lambda _: status.model(service))},
        "/labels": {
            "GET": ("any", lambda _: status.labels(service)),
            "POST": ("admin", change_labels),
        },
        "/history": {"GET": ("any", lambda r: status.history(service, r.query_params))},
        "/overview": {"GET": ("any", lambda _: status.overview(service, app.telemetry))},
        "/latest": {"GET": ("admin", lambda _: status.latest(service))},
        "/events/{id}": {
            "GET": ("admin", lambda r: status.event(service, r.path_params["id"])),
            "DELETE": ("admin", erase),
        },
        "/why/{id}": {
            "GET": (
                "admin",
                lambda r: status.why(service, r.path_params["id"], r.query_params.get("label")),
            )
        },
        "/challengers": {"POST": ("admin", challenge)},
        "/challengers/{name}": {"DELETE": ("admin", dismiss)},
        "/challengers/{name}/promote": {"POST": ("admin", promote)},
        "/rollback": {"POST": ("admin", roll_back)},
        "/snapshot": {"POST": ("admin", snapshot)},
    }

    async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
        app.telemetry.count("other", 404, 0.0)
        await send_problem(send, Problem(404, f"there is nothing at {str(scope['path'])[:200]}"))

    return Router(
        [Route(path, View(app, path, methods)) for path, methods in paths.items()],
        redirect_slashes=False,
        default=nothing,
    )
