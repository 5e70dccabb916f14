"""Challengers, promotion, rollback, erasure, expiry, compaction: every change is an event, and replays agree."""

from __future__ import annotations

import time

import pytest
from serving import LABELS, features, label, serving, shell

pytestmark = pytest.mark.process


def teach(server, first, last, wrong=0):
    for i in range(first, last):
        server.post("/rank", {"id": f"a{i}", "features": features(i)})
        told = server.post("/feedback", {"id": f"a{i}", "relevant": [label(i + wrong)]})
    return server.reached(told.json["offset"])


@pytest.mark.gate
def test_challengers_learn_the_whole_log_and_can_take_over_and_go_back(tmp_path):
    store = tmp_path / "s.db"
    config = {"algorithm": "ada_olmr", "learners": "paper:5", "seed": 3}
    with serving(store, "--labels", ",".join(LABELS)) as server:
        good = teach(server, 0, 20)
        made = server.post("/challengers", {"name": "trees", "config": config})
        assert made.status == 201 and made.json["algorithm"] == "AdaOLMR"
        assert server.post("/challengers", {"name": "trees"}).status == 409
        teach(server, 20, 24)
        promoted = server.post("/challengers/trees/promote").json
        assert promoted["serves"] and promoted["clock"] == 24
        model = server.get("/model").json
        assert model["name"] == "trees" and [c["name"] for c in model["challengers"]] == ["first"]
        assert server.post("/challengers/first/promote").status == 200
        teach(server, 24, 40, wrong=1)  # somebody gives wrong labels
        back = server.post("/rollback", {"version": good["version"]}).json
        assert back["clock"] == 20
        ranked = server.post("/rank", {"features": features(1), "top": 1}).json["labels"]
        assert ranked[0]["label"] == label(1)
        kinds = [change["kind"] for change in server.get("/model").json["changes"]]
        assert kinds == ["begin", "challenger", "promote", "promote", "rollback"]
        assert server.ask("DELETE", "/challengers/trees").status == 200
        assert set(server.get("/history").json["models"]) == {"first", back["name"]}
        server.kill()
    with serving(store) as server:
        model = server.get("/model").json
        assert model["name"] == back["name"] and model["clock"] == 20
        teach(server, 40, 44)
        assert server.stop() == 0
    done = shell("log", "verify", "--store", store, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    replayed = shell(
        "log", "replay", "--store", store, "-a", "ada_olmr", "--learners", "paper:3", "--json"
    )
    assert '"rows": 44' in replayed.stdout


@pytest.mark.gate
def test_what_is_erased_is_gone_from_the_disk_and_replays_still_agree(tmp_path):
    store = tmp_path / "s.db"
    secret = "a-secret-that-nobody-may-read"
    with serving(store, "--labels", ",".join(LABELS)) as server:
        server.post("/rank", {"id": "s", "features": {**features(0), "name": secret}})
        server.post("/feedback", {"id": "s", "relevant": ["sun"]})
        teach(server, 0, 5)
        assert server.ask("DELETE", "/events/s").json["erased"] == 2
        assert server.ask("DELETE", "/events/nobody").status == 404
        for path, body in (
            ("/rank", {"id": "s", "features": features(0)}),
            ("/feedback", {"id": "s", "relevant": ["rain"]}),
        ):
            assert server.post(path, body).status == 410
        teach(server, 5, 8)
        assert server.stop() == 0
    files = [store, store.with_name("s.db-wal")]
    assert not any(secret.encode() in path.read_bytes() for path in files if path.exists())
    assert shell("log", "verify", "--store", store).returncode == 0


@pytest.mark.gate
def test_rankings_without_feedback_are_given_up_and_old_events_compacted(tmp_path):
    store = tmp_path / "s.db"
    options = ("--expire", "1s", "--assume", "none")
    with serving(store, "--labels", ",".join(LABELS), *options) as server:
        teach(server, 0, 3)
        server.post("/rank", {"id": "late", "features": features(0), "top": 1})
        for _ in range(100):
            if server.get("/model").json["clock"] == 4:
                break
            time.sleep(0.1)
        late = server.post("/feedback", {"id": "late", "relevant": ["sun"]}).json
        assert late["revision"] == 1 and not late["learn"]
        server.post("/rank", {"id": "open", "features": features(0)})
        teach(server, 3, 5)
        assert server.stop() == 0
    old = tmp_path / "old.jsonl"
    done = shell("log", "compact", "--store", store, "--keep", "0.001s", "--export", old)
    assert done.returncode == 0 and "are deleted" in done.stderr, done.stderr
    assert len(old.read_text().splitlines()) >= 14
    assert shell("log", "verify", "--store", store).returncode == 0
    with serving(store) as server:
        assert server.get("/model").json["clock"] == 6
        example = {"id": "a1", "features": features(1), "relevant": [label(1)]}
        assert server.post("/feedback", example).status == 410  # not learned a second time
        assert server.post("/feedback", {"id": "open", "relevant": ["sun"]}).status == 200
