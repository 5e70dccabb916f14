"""The service as a real process, and a client for it."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LABELS = ["sun", "rain", "wind"]


class Answer:
    """Status, headers and body of an answer."""

    def __init__(self, status: int, headers: dict[str, str], raw: bytes) -> None:
        self.status, self.headers, self.raw = status, headers, raw

    @property
    def json(self) -> Any:
        return json.loads(self.raw)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.raw.splitlines()]


class Server:
    """A server on a free port."""

    def __init__(
        self, store: Path, *options: str, environment: dict[str, str] | None = None
    ) -> None:
        self.store = store
        command = [sys.executable, "-m", "boostline", "serve", "--store", str(store), "--port", "0"]
        self.process = subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith("listening on http://"):
            _, said = self.process.communicate(timeout=30)
            raise RuntimeError(f"the server did not start: {said}")
        self.address = line.split("http://")[1].strip()
        self._connections = threading.local()
        self._said: list[str] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        self._said.extend(self.process.stderr)

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """One request on a connection that stays open."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        connection = getattr(self._connections, "one", None)
        if connection is None:
            connection = http.client.HTTPConnection(self.address, timeout=30)
            self._connections.one = connection
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())
        except BaseException:
            connection.close()
            self._connections.one = None
            raise

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        return self.ask("POST", path, body, headers)

    def reached(self, offset: int) -> dict[str, Any]:
        """Wait until the champion has applied an event; return /model."""
        for _ in range(2000):
            model: dict[str, Any] = self.get("/model").json
            if model["offset"] >= offset:
                return model
            time.sleep(0.01)
        raise AssertionError(f"event {offset} is not applied: {model}")

    def stop(self) -> int:
        """End it well; return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(timeout=60)

    @property
    def said(self) -> str:
        return "".join(self._said)


@contextlib.contextmanager
def serving(store: Path, *options: str, **more: Any) -> Iterator[Server]:
    """A server that is ended in any case."""
    server = Server(store, *options, **more)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()


def shell(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command ``boostline`` in this process, which is quicker than in one of its own."""
    from boostline.cli import main

    words = [str(argument) for argument in arguments]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def features(i: int) -> dict[str, Any]:
    """Features of example i, which decide its label."""
    return {"f0": float(i % 3), "f1": (7 * i % 11) / 10, "colour": ("red", "green", "blue")[i % 3]}


def label(i: int) -> str:
    return LABELS[i % 3]
