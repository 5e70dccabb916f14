"""Whatever ends the process: nothing acknowledged is lost, nothing is learned twice, the bytes are the same."""

from __future__ import annotations

import contextlib
import http.client
import random
import threading
import time

import pytest
from serving import LABELS, features, label, serving, shell

pytestmark = pytest.mark.process
OPTIONS = ("--labels", ",".join(LABELS), "--snapshot-rows", "40")


def test_sigterm_saves_and_the_same_command_goes_on(tmp_path):
    store = tmp_path / "s.db"
    with serving(store, *OPTIONS) as server:
        for i in range(10):
            server.post("/rank", {"id": f"a{i}", "features": features(i)})
            server.post("/feedback", {"id": f"a{i}", "relevant": [label(i)]})
        assert server.stop() == 0
    with serving(store, *OPTIONS) as server:
        model = server.get("/model").json
        assert model["clock"] == 10
        assert len(model["snapshots"]) == 2
        first = server.post("/rank", {"id": "a3", "features": features(3)})
        assert first.status == 200 and first.json["version"] < model["version"]
        assert server.stop() == 0
    done = shell("log", "verify", "--store", store)
    assert done.returncode == 0, done.stderr
    assert "equal" in done.stdout
    other = shell("serve", "--store", store, "--labels", "a,b", "--port", "0")
    assert other.returncode == 1 and "is not what" in other.stderr


class Client(threading.Thread):
    """Ranks and gives feedback: late, out of order, some of it twice; remembers what was acknowledged."""

    def __init__(self, server, number, rng, acknowledged):
        super().__init__()
        self.server, self.number, self.rng, self.acknowledged = server, number, rng, acknowledged

    def run(self):
        waiting = []
        with contextlib.suppress(OSError, http.client.HTTPException):
            for i in range(10_000):
                id = f"{self.number}-{i}"
                answer = self.server.post("/rank", {"id": id, "features": features(i)})
                assert answer.status == 200
                self.acknowledged[id] = answer.raw
                waiting.append((id, i))
                self.rng.shuffle(waiting)
                while len(waiting) > 3 and self.rng.random() < 0.7:
                    told, row = waiting.pop()
                    body = {"id": told, "relevant": [label(row)]}
                    for _ in range(self.rng.choice([1, 1, 2])):
                        answer = self.server.post("/feedback", body)
                        assert answer.status == 200 and answer.json["revision"] == 1
                        self.acknowledged[told + " told"] = answer.raw


@pytest.mark.gate
def test_kill_at_random_moments_loses_nothing_and_learns_nothing_twice(tmp_path):
    """scripts/kill_serve.py does this at 200 moments."""
    store = tmp_path / "s.db"
    rng = random.Random(7)
    acknowledged = {}
    for life in range(3):
        with serving(store, *OPTIONS) as server:
            clients = [
                Client(server, f"{life}.{n}", random.Random(n), acknowledged) for n in range(2)
            ]
            for client in clients:
                client.start()
            time.sleep(rng.uniform(0.3, 1.2))
            server.kill()
            for client in clients:
                client.join()
    with serving(store, *OPTIONS) as server:
        for key, raw in acknowledged.items():
            id, _, told = key.partition(" ")
            i = int(id.rpartition("-")[2])
            if told:
                answer = server.post("/feedback", {"id": id, "relevant": [label(i)]})
            else:
                answer = server.post("/rank", {"id": id, "features": features(i)})
            assert answer.raw == raw
        assert server.stop() == 0
    done = shell("log", "verify", "--store", store)
    assert done.returncode == 0, done.stdout + done.stderr
    from boostline.serve.store.log import Log
    from boostline.serve.store.snapshots import Snapshots

    log = Log(store)
    learned = [e.id for e in log.of_kinds("feedback") if e.data["learn"]]
    assert len(set(learned)) == len(learned) >= 10
    snapshots = Snapshots(store, log)
    assert snapshots.of("first")[-1].clock == len(learned)


def test_missing_and_damaged_files_are_named(tmp_path):
    store = tmp_path / "s.db"
    with serving(store, "--labels", "a,b", "--snapshot-rows", "5") as server:
        for i in range(12):
            offset = server.post(
                "/feedback", {"id": f"{i}", "features": [i / 3], "relevant": ["a"]}
            ).json["offset"]
        server.reached(offset)
        problem = shell("serve", "--store", store, "--port", "0")
        assert problem.returncode == 1 and "is in use by process" in problem.stderr
        assert server.stop() == 0
    folder = tmp_path / "s.db.snapshots"
    newest = sorted(folder.iterdir())[-1]
    newest.write_bytes(newest.read_bytes()[:-1] + b"!")
    with serving(store) as server:  # an older snapshot and more events give the same state
        assert server.get("/model").json["clock"] == 12
        server.kill()
    for path in folder.iterdir():
        path.unlink()
    failed = shell("serve", "--store", store, "--port", "0")
    assert failed.returncode == 1
    assert "has no snapshot that can be read" in failed.stderr and "Traceback" not in failed.stderr
