"""Kill `boostline serve` at random moments under load, and check that nothing was lost and nothing learned twice.

    python scripts/kill_serve.py [--kills 200] [--seed N]

Clients rank and give feedback, late, out of order, some of it twice. The kill (SIGKILL) comes at any moment of a life,
also while the server recovers. After each life everything that was acknowledged is asked for again: the answers have to
be the same bytes. After every 20 lives, and at the end, the log is replayed from its beginning and compared with the
newest snapshot byte for byte, and the rows that were learned are counted. The seed is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import multiprocessing
import os
import random
import re
import secrets
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from boostline.cli import main as main_of_boostline
from boostline.serve.http import server  # noqa: F401  (imported once, for all processes)
from boostline.serve.ops.verifying import verify
from boostline.serve.store.log import Log
from boostline.serve.store.snapshots import Snapshots

LABELS = [f"l{i}" for i in range(6)]
N_CLIENTS = 4
FORK = multiprocessing.get_context("fork")


def features(i: int) -> list[float]:
    rng = random.Random(i)
    return [rng.gauss(0, 1) for _ in range(10)]


def relevant(i: int) -> list[str]:
    x = features(i)
    return [name for name, value in zip(LABELS, x, strict=False) if value > 0.3]


def serve(arguments: list[str], out: int, err: int) -> None:
    """What the process runs; a forked one has imported everything, so that a start takes little."""
    sys.stdout, sys.stderr = os.fdopen(out, "w"), os.fdopen(err, "w", buffering=1)
    main_of_boostline(arguments)


class Server:
    """A process and where it listens; None if it was killed before it did."""

    def __init__(self, store: Path) -> None:
        arguments = ["serve", "--store", str(store), "--port", "0", "--snapshot-rows", "100"]
        arguments += ["--labels", ",".join(LABELS)]
        self.began = time.monotonic()
        (out, its_out), (err, its_err) = os.pipe(), os.pipe()
        self.process = FORK.Process(target=serve, args=(arguments, its_out, its_err))
        self.process.start()
        os.close(its_out)
        os.close(its_err)
        self._out, self._err = os.fdopen(out), os.fdopen(err)

    def wait(self) -> str | None:
        line = self._out.readline()
        if not line:
            messages = self._err.read()
            if self.end() != -9:
                raise SystemExit(f"the server did not start: {messages}")
            return None
        self.seconds = time.monotonic() - self.began
        recovered = None
        while recovered is None:  # logged before it listens: "recovered STORE to event N in S s"
            recovered = re.search(r" recovered .* in ([0-9.]+) s", self._err.readline())
        self.recovery = float(recovered[1])
        threading.Thread(target=self._err.read, daemon=True).start()
        return line.split("http://")[1].strip()

    def end(self) -> int | None:
        self.process.join()
        return self.process.exitcode


class Client(threading.Thread):
    """Remembers what was acknowledged."""

    def __init__(
        self, address: str, first: int, rng: random.Random, said: dict[tuple[str, int], bytes]
    ) -> None:
        super().__init__()
        self._connection = http.client.HTTPConnection(address, timeout=30)
        self._i, self._rng, self._said = first, rng, said

    def ask(self, path: str, body: dict[str, Any]) -> bytes:
        self._connection.request("POST", path, json.dumps(body).encode())
        answer = self._connection.getresponse()
        raw = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path} {body}: {raw!r}")
        return raw

    def rank(self, i: int) -> bytes:
        return self.ask("/rank", {"id": f"r{i}", "features": features(i), "top": 3})

    def tell(self, i: int) -> bytes:
        return self.ask("/feedback", {"id": f"r{i}", "relevant": relevant(i)})

    def run(self) -> None:
        waiting: list[int] = []
        with contextlib.suppress(OSError, http.client.HTTPException):
            while True:
                i, self._i = self._i, self._i + N_CLIENTS
                self._said["rank", i] = self.rank(i)
                waiting.append(i)
                self._rng.shuffle(waiting)
                while len(waiting) > 5 or (waiting and self._rng.random() < 0.4):
                    told = waiting.pop()
                    for _ in range(self._rng.choice([1, 1, 1, 2])):
                        self._said["tell", told] = self.tell(told)


def spread(what: str, seconds: list[float]) -> str:
    ordered = sorted(seconds)
    middle, late = ordered[len(ordered) // 2], ordered[int(0.95 * (len(ordered) - 1))]
    return f"{what} {middle:.2f} s (median), {late:.2f} s (95 %), {ordered[-1]:.2f} s (slowest)"


def audit(store: Path) -> int:
    """Replay and compare; return the number of rows."""
    for verdict in verify(str(store)):
        if not verdict.equal:
            raise SystemExit(f"another model than the log gives: {verdict}")
    log = Log(store)
    learned = [event.id for event in log.of_kinds("feedback") if event.data["learn"]]
    if len(set(learned)) < len(learned):
        raise SystemExit("an id was learned twice")
    snapshots = Snapshots(store, log)
    newest = snapshots.of("first")[-1]
    log.close()
    return newest.clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None)
    asked = parser.parse_args()
    seed = secrets.randbelow(2**32) if asked.seed is None else asked.seed
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    said: dict[tuple[str, int], bytes] = {}
    next_id, kills, before_ready, checked = 0, 0, 0, 0
    starts: list[float] = []
    recoveries: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "s.db"
        while kills < asked.kills:
            server = Server(store)
            if rng.random() < 0.15:  # while it recovers
                threading.Timer(rng.uniform(0.2, 2.0), server.process.kill).start()
            address = server.wait()
            if address is not None:
                starts.append(server.seconds)
                recoveries.append(server.recovery)
                with contextlib.suppress(OSError, http.client.HTTPException):
                    asker = Client(address, 0, rng, {})
                    for (kind, i), raw in rng.sample(sorted(said.items()), min(len(said), 200)):
                        again = asker.rank(i) if kind == "rank" else asker.tell(i)
                        if again != raw:
                            raise SystemExit(
                                f"{kind} {i} was answered with {raw!r}, then with {again!r}"
                            )
                        checked += 1
                clients = [
                    Client(address, next_id + n, random.Random(rng.random()), said)
                    for n in range(N_CLIENTS)
                ]
                for client in clients:
                    client.start()
                time.sleep(rng.uniform(0.05, 2.0))
                server.process.kill()
                for client in clients:
                    client.join()
                next_id = max(client._i for client in clients) // N_CLIENTS * N_CLIENTS + N_CLIENTS
            else:
                before_ready += 1
            server.end()
            kills += 1
            if kills % 20 == 0:
                print(
                    f"{kills} kills, {len(said)} answers acknowledged, {checked} asked for again, "
                    f"newest snapshot at row {audit(store)}, {spread('recovery', recoveries)}, "
                    f"{spread('from start to listening', starts)}",
                    flush=True,
                )
        server = Server(store)
        address = server.wait()
        assert address is not None
        asker = Client(address, 0, rng, {})
        for (kind, i), raw in said.items():
            again = asker.rank(i) if kind == "rank" else asker.tell(i)
            if again != raw:
                raise SystemExit(f"{kind} {i} was answered with {raw!r}, then with {again!r}")
        server.process.terminate()
        if server.end() != 0:
            raise SystemExit("SIGTERM did not end it well")
        rows = audit(store)
        log = Log(store)
        logged = sum(event.data["learn"] for event in log.of_kinds("feedback"))
        log.close()
        if rows != logged:
            raise SystemExit(f"{rows} rows were learned, but {logged} are in the log")
        print(
            f"{kills} kills ({before_ready} before it listened): {len(said)} acknowledged answers are the same again, "
            f"{rows} rows learned once each, the model equals a replay byte for byte; "
            f"{spread('recovery (snapshot loaded, log replayed)', recoveries)}; "
            f"{spread('from start of the process to listening', starts)}"
        )


if __name__ == "__main__":
    main()
