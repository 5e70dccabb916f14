"""Load `boostline serve` on loopback: rankings and feedback at fixed rates, latencies, processor time, memory.

    python scripts/load_serve.py [--seconds 600] [--rankings 200] [--feedbacks 100] [--limit] [--picture limit.svg]

Rows are yeast-like: 100 features, 14 labels. Requests are sent at their times whether or not earlier ones were
answered, and a latency counts from the time at which a request should have been sent. The server's own part is the
processor time of the process, in the kernel as well, less that of the model's calls and snapshots, per request; what
the kernel needs to bring the log to the disk counts, waiting for it does not take any. For comparison the same
requests are then sent to a bare uvicorn (with uvloop, and with the loop of asyncio) that answers each with the same
fixed bytes: how dear a request is at all depends on the machine, and on who else uses it. --limit raises the rate until
the service cannot follow and tells the highest one at which 99 % of the rankings came within 15 ms; --picture draws it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

N_FEATURES, N_LABELS, N_CONNECTIONS = 100, 14, 32
LABELS = [f"l{i:02d}" for i in range(N_LABELS)]
P99_WANTED = 0.015
QUANTILES = (0.5, 0.9, 0.99, 0.999)

#: uvicorn and nothing else: reads the body, answers as much as a ranking of five labels is; GET / tells its seconds.
BARE = """
import os, sys, uvicorn
ANSWER = b"x" * 400
HEADERS = [(b"content-type", b"application/json"), *((b"x-%d" % i, b"x" * 40) for i in range(8))]

async def app(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    used = os.times()
    body = ANSWER if scope["method"] == "POST" else str(used.user + used.system).encode()
    headers = [*HEADERS, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})

class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print("http://127.0.0.1:%d" % self.servers[0].sockets[0].getsockname()[1], flush=True)

Server(uvicorn.Config(app, port=0, loop=sys.argv[1], http="h11", ws="none", lifespan="off", access_log=False,
                      log_config=None, server_header=False, date_header=False, proxy_headers=False)).run()
"""


class Connection:
    """One connection that stays open; one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        self._writer.write(head.encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        size = int(re.search(rb"content-length: (\d+)", answer)[1])  # type: ignore[index]
        return int(answer[9:12]), await self._reader.readexactly(size)


class Load:
    """A stream of rows whose labels the features decide."""

    def __init__(self, address: str, seed: int = 0) -> None:
        self._host, _, self._port = address.partition(":")
        rng = random.Random(seed)
        self._weights = [[rng.gauss(0, 1) for _ in range(N_FEATURES)] for _ in LABELS]
        self._rows = [self._row(rng) for _ in range(2000)]
        self._free: asyncio.Queue[Connection] = asyncio.Queue()
        self._n = 0
        self._waiting: list[tuple[str, bytes]] = []
        self.statuses: dict[int, int] = {}

    def _row(self, rng: random.Random) -> tuple[str, list[str]]:
        x = [round(rng.gauss(0, 1), 5) for _ in range(N_FEATURES)]
        scores = [sum(a * b for a, b in zip(x, w, strict=True)) for w in self._weights]
        told = [name for name, s in zip(LABELS, scores, strict=True) if s > 6.0]
        return json.dumps(x), told

    async def connect(self) -> None:
        for _ in range(N_CONNECTIONS):
            streams = await asyncio.open_connection(self._host, int(self._port))
            self._free.put_nowait(Connection(*streams))

    async def get(self, path: str) -> bytes:
        connection = await self._free.get()
        _, body = await connection.ask("GET", path)
        self._free.put_nowait(connection)
        return body

    async def _one(self, path: str, body: bytes, due: float, seconds: list[float]) -> None:
        connection = await self._free.get()
        status, _ = await connection.ask("POST", path, body)
        seconds.append(time.perf_counter() - due)
        self._free.put_nowait(connection)
        self.statuses[status] = self.statuses.get(status, 0) + 1

    def _ranking(self) -> tuple[str, bytes]:
        x, told = self._rows[self._n % len(self._rows)]
        id = f"load-{self._n}"
        self._n += 1
        self._waiting.append((id, json.dumps({"id": id, "relevant": told}).encode()))
        return "/rank", f'{{"id": "{id}", "features": {x}, "top": 5}}'.encode()

    def _feedback(self) -> tuple[str, bytes]:
        if len(self._waiting) < 50:  # labels come late
            return self._ranking()
        _, body = self._waiting.pop(random.randrange(len(self._waiting) - 40))
        del self._waiting[:-5000]
        return "/feedback", body

    async def run(
        self, seconds: float, rankings: float, feedbacks: float
    ) -> dict[str, list[float]]:
        """Send at fixed rates; return the latencies by path."""
        found: dict[str, list[float]] = {"/rank": [], "/feedback": []}
        tasks: set[asyncio.Task[None]] = set()
        rate = rankings + feedbacks
        began = time.perf_counter()
        for i in range(int(seconds * rate)):
            due = began + i / rate
            if (wait := due - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            make = self._ranking if random.random() < rankings / rate else self._feedback
            path, body = make()
            task = asyncio.create_task(self._one(path, body, due, found[path]))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)
        return found


def figures(exposition: bytes) -> dict[str, float]:
    """Metrics by name."""
    wanted = (
        "process_cpu_seconds_total",
        "process_resident_memory_bytes",
        "boostline_model_cpu_seconds_total",
        "boostline_model_memory_bytes",
        "boostline_model_lag",
        "boostline_commits_total",
    )
    found: dict[str, float] = {}
    for line in exposition.decode().splitlines():
        name = line.partition("{")[0].partition(" ")[0]
        if name in wanted:
            found[name.removeprefix("boostline_")] = float(line.rpartition(" ")[2])
    return found


def at(values: list[float], q: float) -> float:
    return 1e3 * sorted(values)[int(q * (len(values) - 1))]


async def memory(load: Load, every: float, found: list[tuple[float, float]]) -> None:
    """Megabytes of the process and of its model, now and then."""
    while True:
        await asyncio.sleep(every)
        now = figures(await load.get("/metrics"))
        sizes = now["process_resident_memory_bytes"], now["model_memory_bytes"]
        found.append((round(sizes[0] / 1e6, 1), round(sizes[1] / 1e6, 1)))


async def measure(load: Load, seconds: float, rankings: float, feedbacks: float) -> dict[str, Any]:
    before = figures(await load.get("/metrics"))
    sizes: list[tuple[float, float]] = []
    watching = asyncio.create_task(memory(load, max(10.0, seconds / 20), sizes))
    found = await load.run(seconds, rankings, feedbacks)
    watching.cancel()
    after = figures(await load.get("/metrics"))
    n = sum(len(values) for values in found.values())
    cpu = after["process_cpu_seconds_total"] - before["process_cpu_seconds_total"]
    model = after["model_cpu_seconds_total"] - before["model_cpu_seconds_total"]
    return {
        "seconds": seconds,
        "rankings_per_second": len(found["/rank"]) / seconds,
        "feedbacks_per_second": len(found["/feedback"]) / seconds,
        **{f"rank_p{100 * q:g}_ms": round(at(found["/rank"], q), 2) for q in QUANTILES},
        "feedback_p99_ms": round(at(found["/feedback"], 0.99), 2) if found["/feedback"] else None,
        "own_microseconds_per_request": round(1e6 * (cpu - model) / n),
        "model_microseconds_per_request": round(1e6 * model / n),
        "commits_per_request": round((after["commits_total"] - before["commits_total"]) / n, 2),
        "resident_mb_before": round(before["process_resident_memory_bytes"] / 1e6, 1),
        "resident_mb_after": round(after["process_resident_memory_bytes"] / 1e6, 1),
        "model_mb_before": round(before["model_memory_bytes"] / 1e6, 1),
        "model_mb_after": round(after["model_memory_bytes"] / 1e6, 1),
        "resident_and_model_mb": sizes,
        "rows_behind": after["model_lag"],
        "statuses": dict(load.statuses),
    }


async def measure_bare(loop: str, asked: argparse.Namespace) -> dict[str, Any]:
    """The same requests to a uvicorn that does nothing."""
    server = subprocess.Popen([sys.executable, "-c", BARE, loop], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        load = Load(server.stdout.readline().split("http://")[1].strip())
        await load.connect()
        await load.run(1.0, asked.rankings, asked.feedbacks)
        before = float(await load.get("/"))
        found = await load.run(asked.bare_seconds, asked.rankings, asked.feedbacks)
        used = float(await load.get("/")) - before
    finally:
        server.terminate()
        server.wait()
    return {
        "bare_uvicorn": loop,
        "microseconds_per_request": round(1e6 * used / sum(map(len, found.values()))),
        "p50_ms": round(at(found["/rank"], 0.5), 2),
        "p99_ms": round(at(found["/rank"], 0.99), 2),
    }


async def work(address: str, asked: argparse.Namespace) -> None:
    load = Load(address)
    await load.connect()
    await load.run(asked.warm_up, asked.rankings, asked.feedbacks)
    print(
        json.dumps(await measure(load, asked.seconds, asked.rankings, asked.feedbacks)), flush=True
    )
    if asked.bare_seconds > 0:
        for loop in ("uvloop", "asyncio"):
            print(json.dumps(await measure_bare(loop, asked)), flush=True)
    if not asked.limit:
        return
    points: list[tuple[float, dict[str, Any]]] = []
    rate = 100.0
    while rate <= 10_000:
        told = await measure(load, asked.step_seconds, 2 * rate / 3, rate / 3)
        points.append((rate, told))
        print(json.dumps({"rate": rate, **told}), flush=True)
        if told["rank_p99_ms"] > 1e3 * P99_WANTED * 4:
            break
        rate = round(rate * 1.3)
    good = [rate for rate, told in points if told["rank_p99_ms"] < 1e3 * P99_WANTED]
    print(json.dumps({"highest_rate_within_15_ms": max(good, default=None)}), flush=True)
    if asked.picture is not None:
        draw(points, asked.picture)


def draw(points: list[tuple[float, dict[str, Any]]], path: Path) -> None:
    from boostline.display.charts import legend, panels, svg
    from boostline.display.colours import SERIES

    figure, [axes] = panels(1, height=4.0)
    rates = [rate for rate, _ in points]
    for q, colour in zip(QUANTILES[:3], SERIES, strict=False):
        values = [told[f"rank_p{100 * q:g}_ms"] for _, told in points]
        axes.plot(rates, values, marker="o", color=colour, label=f"{100 * q:g} % of the rankings")
    axes.axhline(1e3 * P99_WANTED, color="#000000", linestyle=":", label="15 ms")
    axes.set(
        xlabel="requests per second (two thirds rankings, one third feedback)",
        ylabel="milliseconds",
        xscale="log",
        yscale="log",
    )
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    legend(figure)
    path.write_text(svg(figure))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--warm-up", type=float, default=10.0)
    parser.add_argument("--step-seconds", type=float, default=15.0)
    parser.add_argument("--rankings", type=float, default=200.0)
    parser.add_argument("--feedbacks", type=float, default=100.0)
    parser.add_argument(
        "--bare-seconds", type=float, default=10.0, help="Load of a bare uvicorn; 0: none."
    )
    parser.add_argument("--limit", action="store_true")
    parser.add_argument("--picture", type=Path)
    parser.add_argument(
        "--folder", type=Path, help="Where the store is to be; a disk, not a memory disk."
    )
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        command = [
            sys.executable,
            "-m",
            "boostline",
            "serve",
            "--store",
            f"{folder}/s.db",
            "--port",
            "0",
        ]
        server = subprocess.Popen(
            [*command, "--labels", ",".join(LABELS)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split("http://")[1].strip()
            # select() waits to the microsecond; epoll only to the millisecond, which would count as latency.
            with asyncio.Runner(
                loop_factory=lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())
            ) as runner:
                runner.run(work(address, asked))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
