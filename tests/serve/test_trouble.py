"""A full disk, too many requests, a damaged log: said clearly, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest
from in_process import run
from serving import shell

import boostline as bl
from boostline.serve.live.bootstrap import open_store
from boostline.serve.live.replica import Replica
from boostline.serve.live.service import Service
from boostline.serve.live.settings import Settings
from boostline.serve.store.log import Log, StoreError, connect
from boostline.serve.store.writer import Entry, Writer


@pytest.fixture
def store(tmp_path):
    path = str(tmp_path / "s.db")
    open_store(path, bl.LabelRanker(labels=["a", "b"]))
    return path


def test_a_full_disk_refuses_and_goes_on_when_there_is_space(store):
    async def work(caller):
        assert (await caller.post("/rank", id="before", features=[1.0]))[0] == 200
        db = caller.service.writer._db
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count={pages + 1}")
        features = {f"f{i}": float(i) for i in range(2000)}
        status, _, told = await caller.post("/rank", id="full", features=features)
        assert status == 507 and "disk is full" in told["detail"]
        assert (await caller.get("/ready"))[0] == 503
        db.execute("PRAGMA max_page_count=1000000")
        assert (await caller.post("/rank", id="full", features=features))[0] == 200
        assert (await caller.get("/ready"))[0] == 200

    run(store, work)
    ids = [event.id for event in Log(store).events() if event.kind == "rank"]
    assert ids == ["before", "full"]


def test_a_full_queue_says_when_to_come_again(store):
    async def work(caller):
        answers = await asyncio.gather(
            *(caller.post("/rank", features=[float(i)]) for i in range(50))
        )
        statuses = [status for status, _, _ in answers]
        assert set(statuses) == {200, 429}
        refused = answers[statuses.index(429)]
        assert refused[1][b"retry-after"] == b"1"
        assert (await caller.post("/rank", features=[1.0]))[0] == 200

    run(store, work, queue=5)


def test_the_same_id_at_the_same_time_is_one_ranking_and_one_lesson(store):
    async def work(caller):
        asked = [caller.post("/rank", id="x", features=[1.0]) for _ in range(20)]
        told = [caller.post("/feedback", id="x", relevant=["a"]) for _ in range(20)]
        answers = [json.dumps(body) for _, _, body in await asyncio.gather(*asked)]
        assert len(set(answers)) == 1
        answers = [json.dumps(body) for _, _, body in await asyncio.gather(*told)]
        assert len(set(answers)) == 1 and '"revision": 1' in answers[0]

    run(store, work)
    assert [event.kind for event in Log(store).events()][:3] == ["begin", "rank", "feedback"]
    assert len(Log(store).of_id("x")) == 2


def test_a_damaged_event_stops_the_start_with_its_name(store):
    async def work(caller):
        for i in range(5):
            await caller.post("/feedback", id=f"e{i}", features=[float(i)], relevant=["a"])

    run(store, work)
    for snapshot in Log(store).of_kinds("snapshot"):
        told = snapshot.data["snapshot"]
        path = Path(f"{store}.snapshots/first-{told['offset']:012d}.blm")
        path.write_bytes(b"x")  # so that events have to be replayed
    db = connect(store, writes=True)
    db.execute("UPDATE log SET body = cast('{}' as blob) WHERE offset = 3")
    db.close()
    with pytest.raises(StoreError, match=r"event 3 \(feedback\) does not have its checksum"):
        Service(store)


def test_a_model_that_saves_while_it_recovers_leaves_the_writer_alive(store, monkeypatch):
    async def work(caller):
        for i in range(8):
            await caller.post("/feedback", id=f"e{i}", features=[float(i)], relevant=["ab"[i % 2]])

    run(store, work)
    for snapshot in Log(store).of_kinds("snapshot"):
        told = snapshot.data["snapshot"]
        Path(f"{store}.snapshots/first-{told['offset']:012d}.blm").unlink()
    reach = Replica.reach

    def reach_late(self, offset, timeout):
        """Say so when the snapshot is in the log, which is before the service is complete."""
        end = time.monotonic() + 10
        before = self._writer.commits
        while self._writer.commits == before and time.monotonic() < end:
            time.sleep(0.01)
        return reach(self, offset, timeout)

    with monkeypatch.context() as patch:
        patch.setattr(Replica, "reach", reach_late)
        service = Service(store, Settings(snapshot_rows=4))
    try:
        assert service.writer.commits == 1
        assert service.writer.write(Entry("labels", body=b'{"add":["c"]}')).offset is not None
    finally:
        service.close()


def test_whatever_goes_wrong_when_writing_those_who_wait_hear_of_it(store):
    writer = Writer(store)
    try:
        with pytest.raises(StoreError, match="cannot be written"):
            writer.write(Entry("rank", id=b"no text", body="no bytes"))
        assert writer.write(Entry("labels", body=b"{}")).offset == 2
    finally:
        writer.close()


@pytest.mark.parametrize("name", ["events.parquet", "events.jsonl"])
def test_the_log_can_be_exported(store, tmp_path, name):
    async def work(caller):
        await caller.post("/rank", id="r", features=[1.0, 2.0], top=1)
        await caller.post("/feedback", id="r", relevant=["a"])

    run(store, work)
    path = tmp_path / name
    assert shell("log", "export", "--store", store, "--to", path).returncode == 0
    if name.endswith("parquet"):
        rows = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    else:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["kind"] for row in rows][:3] == ["begin", "rank", "feedback"]
    assert rows[1]["id"] == rows[2]["id"] == "r" and rows[2]["of"] == rows[1]["offset"]
