"""The process: one server for a store, from its first line to its last snapshot."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
import uvloop

from boostline.display.logs import set_up
from boostline.serve.http.app import Application
from boostline.serve.http.connection import LARGEST_HEAD, Connection
from boostline.serve.http.security import Guard
from boostline.serve.live.service import Service
from boostline.serve.live.settings import Settings
from boostline.serve.store.store_lock import StoreLock

__all__ = ["run"]

_LOG = logging.getLogger("boostline.serve")
#: Bytes that the kernel keeps for a client, and how long it keeps them if the client does not read.
_SEND_BUFFER, _UNREAD_MILLISECONDS = 131072, 20_000
#: Seconds for which a thread that learns or saves may keep Python from one that answers; usually 5 ms.
_SWITCH = 0.0005
#: Objects made between two garbage collections; usually 700. Requests leave no cycles.
_GARBAGE = 20_000


class Server(uvicorn.Server):
    """Says where it listens when it does; signals end it without taking over the exit code."""

    def __init__(self, config: uvicorn.Config, where: str) -> None:
        super().__init__(config)
        self._where = where

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        print(f"listening on {self._where}", flush=True)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        yield

    def _stop(self) -> None:
        self.force_exit = self.should_exit  # asked twice
        self.should_exit = True


def run(
    store: str,
    settings: Settings,
    guard: Guard,
    *,
    host: str,
    port: int,
    begin: Callable[[], None] = lambda: None,
    json_logs: bool = False,
) -> None:
    """Serve a store until a signal comes."""
    set_up(as_json=json_logs)
    sys.setswitchinterval(_SWITCH)
    only = StoreLock(store)
    try:
        began = time.perf_counter()
        begin()
        service = Service(store, settings)
        _LOG.info(
            "recovered %s to event %d in %.2f s",
            store,
            service.writer.head,
            time.perf_counter() - began,
        )
        gc.freeze()  # what is there now stays: it need not be looked through again and again
        gc.set_threshold(_GARBAGE)
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(_serve(service, guard, host, port))
        finally:
            service.close()
    finally:
        only.close()


def listen(host: str, port: int) -> socket.socket:
    """A socket whose connections the kernel ends when their client does not read."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNREAD_MILLISECONDS)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise OSError(f"cannot listen on --host {host} --port {port}: {error.strerror}") from None
    return listener


def configured(app: Any) -> uvicorn.Config:
    """How uvicorn serves an application."""
    return uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        date_header=False,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=20,
    )


async def _serve(service: Service, guard: Guard, host: str, port: int) -> None:
    service.attach(asyncio.get_running_loop())
    listener = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    where = f"http://{shown}:{listener.getsockname()[1]}"
    await Server(configured(Application(service, guard)), where).serve([listener])
