"""The service in this process: quick to start, and its parts can be made to fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from fuzzed_requests import ask

from boostline.serve.http.app import Application
from boostline.serve.http.security import Guard
from boostline.serve.live.service import Service
from boostline.serve.live.settings import Limits, Settings


class Caller:
    """Requests to an application without a network."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._app = Application(service, Guard(None))

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        raw = b"" if body is None else json.dumps(body).encode()
        status, headers, answer = await ask(self._app, method, path, raw)
        return status, headers, json.loads(answer)

    async def post(self, path: str, **body: Any) -> Any:
        return await self.request("POST", path, body)

    async def get(self, path: str) -> Any:
        return await self.request("GET", path)

    async def learned(self) -> None:
        """Wait until the champion has learned what is on disk."""
        head = self.service.writer.head
        assert await asyncio.to_thread(self.service.champion.reach, head, 20.0)


def run(
    store: str,
    work: Callable[[Caller], Awaitable[Any]],
    *,
    finish: bool = True,
    **settings: Any,
) -> Any:
    """Let `work(caller)` call a service."""
    limits = {name: settings.pop(name) for name in ("queue",) if name in settings}
    service = Service(store, Settings(limits=Limits(**limits), **settings))

    async def all_of_it() -> Any:
        service.attach(asyncio.get_running_loop())
        return await work(Caller(service))

    try:
        return asyncio.run(all_of_it())
    finally:
        service.close(finish=finish)
