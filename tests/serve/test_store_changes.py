"""Changes of a store happen whole or not at all: erasing, growing, compacting, checkpoints, snapshots."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from in_process import run
from serving import shell

import boostline as bl
from boostline.models import Booster
from boostline.serve.live import replica
from boostline.serve.live.bootstrap import open_store
from boostline.serve.live.expiry import expire_old
from boostline.serve.live.replica_state import ReplicaState
from boostline.serve.live.service import Service
from boostline.serve.ops.compaction import compact
from boostline.serve.ops.copying import copy_store
from boostline.serve.ops.verifying import verify
from boostline.serve.store.log import Log, StoreError
from boostline.serve.store.snapshots import Snapshots
from boostline.serve.store.store_lock import StoreLock
from boostline.serve.store.writer import Checkpoints, Entry, Writer


@pytest.fixture
def store(tmp_path):
    path = str(tmp_path / "s.db")
    open_store(path, bl.LabelRanker(labels=["a", "b", "c"]))
    return path


async def teach(caller, first, last):
    for i in range(first, last):
        body = {"features": {"x": i % 5, "y": i % 3}, "relevant": ["abc"[i % 3]]}
        assert (await caller.post("/feedback", id=f"e{i}", **body))[0] == 200
    await caller.learned()


def files(store):
    return sorted(path.name for path in Path(f"{store}.snapshots").iterdir())


def all_equal(store):
    return all(verdict.equal for verdict in verify(store))


def failing(*args, **kwargs):
    raise OSError(28, "No space left on device")


def test_an_erasure_that_cannot_make_snapshots_changes_nothing(store, monkeypatch):
    async def work(caller):
        await teach(caller, 0, 5)
        before = files(store)
        with monkeypatch.context() as patch:
            patch.setattr(ReplicaState, "save", failing)
            status, _, told = await caller.request("DELETE", "/events/e1")
        assert status == 503 and "No space left" in told["detail"]
        assert files(store) == before
        (event,) = (await caller.get("/events/e1"))[2]["events"]
        assert event["relevant"] == ["b"]
        status, _, told = await caller.request("DELETE", "/events/e1")
        assert status == 200 and told["done"]

    run(store, work)
    assert all_equal(store)


def test_a_label_outlives_the_erased_feedback_that_added_it(store):
    async def work(caller):
        await caller.post("/feedback", id="e", features=[1.0], relevant=["snow"])
        await caller.learned()
        assert (await caller.request("DELETE", "/events/e"))[0] == 200
        await caller.post("/feedback", id="f", features=[2.0], relevant=["snow"])
        assert (await caller.post("/challengers", name="t"))[0] == 201
        assert (await caller.post("/challengers/t/promote"))[0] == 200
        assert caller.service.champion.state.labels.names == ["a", "b", "c", "snow"]

    run(store, work, new_labels="add")
    assert all_equal(store)


def test_snapshots_that_an_interrupted_erasure_left_are_not_used(store, tmp_path):
    async def work(caller):
        await teach(caller, 0, 8)
        shutil.copytree(f"{store}.snapshots", tmp_path / "kept")
        await caller.request("DELETE", "/events/e3")

    run(store, work)
    shutil.copytree(tmp_path / "kept", f"{store}.snapshots", dirs_exist_ok=True)
    assert all_equal(store)
    Service(store).close()
    assert "first-000000000000.blm" not in files(store)


def test_a_dismissed_model_leaves_no_snapshots(store):
    async def work(caller):
        await caller.post("/challengers", name="t")
        await teach(caller, 0, 3)
        await caller.post("/challengers/t/promote")
        await caller.post("/snapshot")
        await caller.post("/challengers/first/promote")
        assert any(name.startswith("t-") for name in files(store))
        assert (await caller.request("DELETE", "/challengers/t"))[0] == 200
        assert not any(name.startswith("t-") for name in files(store))

    run(store, work)


def test_a_change_without_memory_is_not_half_made_and_never_saved(store, monkeypatch):
    def no_memory(self, labels):
        raise MemoryError("there is no memory for more labels")

    async def work(caller):
        await teach(caller, 0, 3)
        with monkeypatch.context() as patch:
            patch.setattr(Booster, "add_labels", no_memory)
            await caller.post("/labels", add=["d"])
            while caller.service.champion.failure is None:
                await asyncio.sleep(0.01)
        assert (await caller.get("/ready"))[0] == 503
        status, _, told = await caller.post("/rank", features={"x": 1})
        assert status == 200 and len(told["labels"]) == 3
        assert (await caller.post("/snapshot"))[0] == 503

    before = files(store)
    run(store, work)
    assert files(store) == before

    async def later(caller):
        assert (await caller.get("/ready"))[0] == 200
        assert len((await caller.post("/rank", features={"x": 1}))[2]["labels"]) == 4

    run(store, later)
    assert all_equal(store)


def test_compaction_keeps_rankings_whose_feedback_came_after_they_expired(store):
    async def work(caller):
        for i in range(6):
            await caller.post("/rank", id=f"r{i}", features=[float(i), 2.0])
        await caller.post("/feedback", id="r5", relevant=["b"])
        assert await expire_old(caller.service, -1.0)
        await caller.learned()
        await caller.post("/snapshot")
        for i in range(4):
            status, _, told = await caller.post("/feedback", id=f"r{i}", relevant=["a"])
            assert status == 200 and told["learn"]

    run(store, work, expire=1e6)
    with closing(Log(store)) as log:
        middle = Snapshots(store, log).of("first")[1]
    assert compact(store, middle.time + 1e-6)["floor"] == middle.offset
    assert all_equal(store)

    async def later(caller):
        assert caller.service.champion.state.model.clock == 5
        for id, status in (("r1", 200), ("r4", 410), ("r5", 410)):
            assert (await caller.get(f"/events/{id}"))[0] == status

    run(store, later)


def test_a_log_that_others_write_to_meanwhile_does_not_grow(store):
    writer = Writer(store)
    checkpoints = Checkpoints(store, writer)
    ended = threading.Event()

    def write():
        while not ended.is_set():
            writer.write(Entry("rank", body=b"x" * 3000))

    thread = threading.Thread(target=write)
    thread.start()
    written, entries, sizes = writer.head, [], []
    for _ in range(8):
        while writer.head <= written + 100:
            time.sleep(0.05)
        entries.append(writer.head - written)
        written = writer.head
        checkpoints.step()
        sizes.append(os.path.getsize(f"{store}-wal"))
    ended.set()
    thread.join()
    checkpoints.close()
    writer.close()
    bytes_per_entry = sizes[0] / entries[0]
    assert sizes[-1] < 2.5 * bytes_per_entry * max(entries)  # eight times as much was written


def test_an_erasure_waits_for_readers_neither_long_nor_in_vain(store):
    async def work(caller):
        await caller.post("/feedback", id="e", features={"SECRET": 1.0}, relevant=["a"])
        with closing(sqlite3.connect(store, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM log").fetchall()
            began = time.monotonic()
            status, _, told = await caller.request("DELETE", "/events/e")
            assert status == 202 and not told["done"]
            assert time.monotonic() - began < 5.0
            assert (await caller.post("/rank", features={"x": 1.0}))[0] == 200
        assert caller.service.checkpoints.step()
        for end in ("", "-wal"):
            assert b"SECRET" not in Path(store + end).read_bytes()

    run(store, work)


def test_changes_of_models_and_erasures_take_turns(store):
    async def work(caller):
        await teach(caller, 0, 10)
        answers = await asyncio.gather(
            caller.post("/challengers", name="t"),
            caller.request("DELETE", "/events/e3"),
            caller.post("/challengers", name="u"),
            caller.request("DELETE", "/challengers/t"),
            caller.request("DELETE", "/events/e4"),
        )
        assert [status for status, _, _ in answers] == [201, 200, 201, 200, 200]

    run(store, work)
    assert all_equal(store)


def test_the_service_can_be_observed_while_it_rolls_back(store):
    async def work(caller):
        await teach(caller, 0, 30)
        change = asyncio.create_task(caller.post("/rollback", version=20))
        while not change.done():
            for path in ("/model", "/overview", "/history", "/ready"):
                assert (await caller.get(path))[0] == 200
            await asyncio.sleep(0)
        assert (await change)[0] == 200

    run(store, work)


def test_a_snapshot_that_failed_is_tried_again(store, monkeypatch):
    save, calls = ReplicaState.save, []

    def once_failing(self, path):
        calls.append(path)
        return failing() if len(calls) == 1 else save(self, path)

    monkeypatch.setattr(ReplicaState, "save", once_failing)
    monkeypatch.setattr(replica, "_RETRY_SECONDS", 0.0)

    async def work(caller):
        await teach(caller, 0, 5)
        for _ in range(200):
            if len(files(store)) == 2:
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"{calls} were tried, but there is no snapshot")

    run(store, work, snapshot_rows=5)


def test_a_link_to_a_store_is_the_same_store(store, tmp_path):
    link = tmp_path / "link.db"
    link.symlink_to(store)
    with StoreLock(store), pytest.raises(StoreError, match="is in use by process"):
        StoreLock(link)
    os.link(store, tmp_path / "hard.db")
    with pytest.raises(StoreError, match="has a second name"):
        StoreLock(store)


def test_what_cannot_be_a_store_is_refused_for_what_it_is(tmp_path):
    for name, words in (
        ("folder", "is not a regular file"),
        ("no/s.db", "folder of .* does not exist"),
    ):
        (tmp_path / "folder").mkdir(exist_ok=True)
        with pytest.raises(StoreError, match=words), StoreLock(tmp_path / name):
            Log(tmp_path / name)


def test_a_pipe_is_neither_a_store_nor_a_snapshot(store, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="is not a regular file"):
        Log(tmp_path / "pipe")
    run(store, lambda caller: teach(caller, 0, 3))
    newest = Path(f"{store}.snapshots", files(store)[-1])
    newest.unlink()
    os.mkfifo(newest)
    service = Service(store)
    assert service.champion.state.model.clock == 3
    service.close()


# Backup and restore.


@pytest.fixture
def backup(store, tmp_path):
    """A backup of three rows; the store has six."""
    path = tmp_path / "backup.db"

    async def work(caller):
        await teach(caller, 0, 3)
        await caller.post("/snapshot")
        done = await asyncio.to_thread(shell, "log", "backup", "--store", store, "--to", path)
        assert done.returncode == 0, done.stderr
        await teach(caller, 3, 6)

    run(store, work)
    return str(path)


def clock(store):
    service = Service(store)
    try:
        return service.champion.state.model.clock
    finally:
        service.close()


def test_a_backup_is_a_store_and_a_restore_puts_it_in_place(store, backup):
    assert shell("log", "verify", "--store", backup).returncode == 0
    refused = shell("log", "restore", "--from", backup, "--store", store)
    assert refused.returncode == 1 and "--replace" in refused.stderr
    Path(f"{store}-wal").write_bytes(b"of a newer store")
    with StoreLock(store):
        busy = shell("log", "restore", "--from", backup, "--store", store, "--replace")
        assert busy.returncode == 1 and "is in use" in busy.stderr
    done = shell("log", "restore", "--from", backup, "--store", store, "--replace")
    assert done.returncode == 0, done.stderr
    assert all_equal(store) and clock(store) == 3


class Killed(BaseException):
    """Stands for the end of the process."""


class Steps:
    """Counts calls and ends the process instead of the one after the last that is allowed."""

    def __init__(self, allowed):
        self.left = allowed

    def counted(self, call):
        def step(*args, **kwargs):
            self.left -= 1
            if self.left < 0:
                raise Killed
            return call(*args, **kwargs)

        return step


def test_an_interrupted_restore_leaves_one_store_or_the_other(store, backup, tmp_path, monkeypatch):
    """Interrupted before each step that changes files; the command again completes it."""
    shutil.copytree(f"{store}.snapshots", tmp_path / "first.snapshots")
    shutil.copy(store, tmp_path / "first")
    for allowed in range(40):
        steps = Steps(allowed)
        with monkeypatch.context() as patch, contextlib.suppress(Killed):
            for name in ("rename", "replace", "unlink", "mkdir", "rmdir"):
                patch.setattr(os, name, steps.counted(getattr(os, name)))
            patch.setattr(shutil, "copyfile", steps.counted(shutil.copyfile))
            copy_store(backup, store, replace=True)
            break
        try:
            Log(store).close()
        except StoreError as error:
            assert "was interrupted" in str(error)
        else:
            assert clock(store) in (3, 6)
        done = shell("log", "restore", "--from", backup, "--store", store, "--replace")
        assert done.returncode == 0, done.stderr
        assert clock(store) == 3 and all_equal(store)
        shutil.rmtree(f"{store}.snapshots")
        shutil.copytree(tmp_path / "first.snapshots", f"{store}.snapshots")
        shutil.copy(tmp_path / "first", store)
    assert allowed >= 8
