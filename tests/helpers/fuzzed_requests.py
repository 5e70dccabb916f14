"""Requests that nobody would send, asked of the service without a network.

    python tests/helpers/fuzzed_requests.py [--requests 50000] [--seed N]

No answer may be 500, an answer may only have what belongs to its own request, and memory must not grow.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import boostline as bl
from boostline.serve.http.app import Application
from boostline.serve.http.security import Guard
from boostline.serve.live.bootstrap import open_store
from boostline.serve.live.service import Service
from boostline.serve.live.settings import Settings

LABELS = ["sun", "rain", "wind"]
PATHS = [
    *("/rank", "/feedback") * 6,
    *("/rank/batch", "/feedback/batch", "/labels", "/model", "/history", "/events/a1", "/why/a1"),
    *(
        "/challengers",
        "/challengers/x/promote",
        "/rollback",
        "/latest",
        "/overview",
        "/metrics",
        "/ready",
    ),
    *(
        "/",
        "/static/page.js",
        "/static/../log.py",
        "/static/%2e%2e/log.py",
        "/openapi.json",
        "/events/%00",
        "/nothing",
    ),
]
ODD: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**63, 10**400, 1e308, -1e101, 0.1, "", "a", "a" * 300, "\x00", "é", "\u202e"),
    *([], {}, [[]], [1, "a"], {"a": {}}, {"": 1}, {"a=b": 1, "a": "b"}, ["sun"], ["sun", "sun"], ["snow"], "sun"),
    *([None] * 5, [1.0] * 5, {"f0": 1, "f1": "red"}, {"f0": None}, [True, False], "<script>", "'; DROP TABLE log; --"),
]  # fmt: skip
NAMES = [
    "id",
    "features",
    "text",
    "top",
    "relevant",
    "irrelevant",
    "unknown",
    "revision",
    "add",
    "rename",
    "retire",
]
NAMES += ["name", "config", "version", "windows", "__proto__", "é"]


class Fuzz:
    """Draws requests; some of them are right."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.n = 0

    def body(self, path: str) -> bytes:
        rng = self.rng
        kind = rng.random()
        self.n += 1
        if kind < 0.35:
            id = f"u{rng.randrange(2000)}"
            value: Any = {"id": id, "features": {"f0": rng.randrange(3), "own": rng.choice("abc")}}
            if "feedback" in path:
                value["relevant"] = rng.sample(LABELS, rng.randrange(3))
        else:
            value = {rng.choice(NAMES): rng.choice(ODD) for _ in range(rng.randrange(6))}
            if rng.random() < 0.5:
                value |= {"id": f"u{rng.randrange(2000)}", "features": rng.choice(ODD)}
        if kind > 0.97:
            value = rng.choice(ODD)
        raw = json.dumps(value).encode()
        if kind > 0.8:
            raw = self.mutated(raw)
        return b"\n".join([raw] * rng.randrange(4)) if "batch" in path else raw

    def mutated(self, raw: bytes) -> bytes:
        rng, text = self.rng, bytearray(raw)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(text) + 1)
            what = rng.randrange(4)
            if what == 0:
                del text[at : at + rng.randrange(1, 8)]
            elif what == 1:
                text[at:at] = rng.choice(
                    [b"\xff", b"\x00", b"NaN", b"\\ud800", b"[" * 2000, b"1e999", b'"', b","]
                )
            elif what == 2 and text:
                text[at % len(text)] = rng.randrange(256)
            else:
                text[at:at] = text[: rng.randrange(20)]
        return bytes(text)


async def ask(
    app: Application, method: str, path: str, body: bytes
) -> tuple[int, dict[bytes, bytes], bytes]:
    """One request, without a network."""
    found: dict[str, Any] = {"body": b""}
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            found["status"], found["headers"] = message["status"], dict(message["headers"])
        else:
            found["body"] += message["body"]

    where, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": where,
        "raw_path": where.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", b"localhost")],
        "root_path": "",
        "server": ("localhost", 80),
        "scheme": "http",
    }
    await app(scope, receive, send)
    return found["status"], found["headers"], found["body"]


def check(path: str, body: bytes, status: int, headers: dict[bytes, bytes], answer: bytes) -> None:
    """What has to hold for every answer."""
    assert status != 500, (path, body)
    if status >= 400:
        assert headers[b"content-type"] == b"application/problem+json", (path, body)
        assert json.loads(answer)["detail"], (path, body)
    elif path in ("/rank", "/feedback"):
        asked, told = json.loads(body), json.loads(answer)
        assert asked.get("id") in (None, told["id"]), (path, body, answer)


async def run(app: Application, n: int, seed: int) -> Counter[int]:
    """Ask n times; return how often each status came."""
    fuzz, statuses = Fuzz(seed), Counter[int]()
    for _ in range(n):
        path = fuzz.rng.choice(PATHS)
        method = (
            fuzz.rng.choice(["POST"] * 8 + ["GET", "DELETE", "PUT"])
            if "rank" in path or "feed" in path
            else "GET"
        )
        method = "POST" if method == "GET" and fuzz.rng.random() < 0.3 else method
        if path == "/challengers":
            method = "GET"  # each would be a model of its own
        body = fuzz.body(path)
        status, headers, answer = await ask(app, method, path, body)
        check(path, body, status, headers, answer)
        statuses[status] += 1
    return statuses


def fuzzed(folder: str, n: int, seed: int) -> tuple[Counter[int], list[int]]:
    """Statuses, and the memory of the process after each fifth of the requests."""
    logging.getLogger("boostline.serve").setLevel(logging.CRITICAL)
    store = os.path.join(folder, "s.db")
    open_store(store, bl.LabelRanker(labels=LABELS))
    service = Service(store, Settings())
    statuses, memory = Counter[int](), []

    async def work() -> None:
        service.attach(asyncio.get_running_loop())
        app = Application(service, Guard(None))
        for part in range(5):
            statuses.update(await run(app, n // 5, seed + part))
            statm = Path("/proc/self/statm").read_text().split()
            memory.append(int(statm[1]) * os.sysconf("SC_PAGE_SIZE"))

    try:
        asyncio.run(work())
        assert service.champion.failure is None
    finally:
        service.close()
    return statuses, memory


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        statuses, memory = fuzzed(folder, asked.requests, asked.seed)
    print(dict(statuses), [round(m / 1e6, 1) for m in memory])


if __name__ == "__main__":
    main()
