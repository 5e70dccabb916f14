"""The log on disk: what is acknowledged is there, what is damaged is found."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import zlib

import pytest

from boostline.serve.store.log import Event, Log, StoreError, connect, create
from boostline.serve.store.store_lock import StoreLock
from boostline.serve.store.writer import Checkpoints, Entry, Writer


@pytest.fixture
def store(tmp_path):
    path = str(tmp_path / "s.db")
    create(path)
    return path


def rank(id, **told):
    return Entry("rank", id, body=json.dumps(told).encode(), answer=b"{}")


def test_events_have_offsets_without_gaps_in_the_order_in_which_they_came(store):
    writer = Writer(store)
    entries = [rank(f"a{i}") for i in range(500)]
    for i in range(0, 500, 7):
        writer.commit(entries[i : i + 7])
    writer.write(Entry("labels", body=b"{}"))
    writer.close()
    assert [entry.offset for entry in entries] == list(range(1, 501))
    assert writer.commits == 73
    log = Log(store)
    assert [event.id for event in log.events()] == [f"a{i}" for i in range(500)] + [None]
    assert log.head()[0] == 501 and log.last_to_apply() == 501
    assert log.check() == 501


def test_threads_that_write_at_the_same_time_take_turns(store):
    writer = Writer(store)
    entries = [[rank(f"{n}-{i}") for i in range(50)] for n in range(4)]

    def write(ours):
        for entry in ours:
            writer.keep_window("m", 1, {"id": entry.id})
            writer.write(entry)

    threads = [threading.Thread(target=write, args=(ours,)) for ours in entries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert sorted(entry.offset for ours in entries for entry in ours) == list(range(1, 201))
    for ours in entries:
        assert [entry.offset for entry in ours] == sorted(entry.offset for entry in ours)
    assert Log(store).check() == 200


def test_what_is_to_be_written_later_waits_for_the_next_transaction_that_succeeds(store):
    writer = Writer(store)
    writer.keep_window("m", 1, {})
    with pytest.raises(StoreError):
        writer.write(Entry("rank", id=b"no text", body="no bytes"))
    assert Log(store).windows("m", 5) == []
    writer.write(rank("a"))
    assert len(Log(store).windows("m", 5)) == 1
    writer.keep_window("m", 2, {})
    writer.close()
    assert len(Log(store).windows("m", 5)) == 2


def test_the_write_ahead_log_is_written_from_its_start_again(store):
    writer = Writer(store)
    checkpoints = Checkpoints(store, writer)
    sizes = []
    for _ in range(6):
        for _ in range(40):
            writer.write(rank(None, filler="x" * 3000))
        checkpoints.step()  # its thread does so every two seconds
        sizes.append(os.path.getsize(f"{store}-wal"))
    checkpoints.close()
    writer.close()
    assert sizes[-1] < 2 * sizes[0]  # six times as much was written
    assert Log(store).check() == 240


def test_a_full_disk_is_said_and_later_events_are_written(store):
    writer = Writer(store)
    writer.write(rank("a"))
    (pages,) = writer._db.execute("PRAGMA page_count").fetchone()
    writer._db.execute(f"PRAGMA max_page_count={pages + 1}")
    with pytest.raises(StoreError, match="the log cannot be written: database or disk is full"):
        writer.write(Entry("rank", "b", body=b"x" * 100_000))
    assert "full" in str(writer.failure)
    writer._db.execute("PRAGMA max_page_count=1000000")
    assert writer.write(rank("c")).offset == 2
    assert writer.failure is None
    writer.close()
    assert [event.id for event in Log(store).events()] == ["a", "c"]


def test_a_ranking_and_its_feedback_are_written_together_or_not_at_all(store):
    writer = Writer(store)
    ranked = rank("a")
    writer.commit([ranked, Entry("feedback", "a", ranked, b"{}")])
    assert [event.of for event in Log(store).of_id("a")] == [None, 1]
    failed = [rank("b"), Entry("feedback", "b", None, "no bytes")]
    failed[1].of = failed[0]
    writer.commit(failed)
    assert all(isinstance(entry.error, StoreError) and entry.offset is None for entry in failed)
    writer.close()
    assert Log(store).check() == 2


def test_time_in_the_log_never_runs_backwards_and_jumps_are_noticed(store):
    times = iter([1000.0, 1000.0, 500.0, 501.0, 90000.0])
    writer = Writer(store, wall=lambda: next(times))
    written = [writer.write(rank(f"a{i}")).time for i in range(4)]
    writer.close()
    assert written == [1000.0, 1000.0, 1000.0, 90000.0]
    assert writer.n_jumps == 1
    assert writer.jumped_at is not None


@pytest.mark.parametrize("column", ["body = 'other'", "time = 5.0", "id = 'b'", "answer = 'no'"])
def test_a_change_of_an_event_is_found(store, column):
    writer = Writer(store)
    for i in range(3):
        writer.write(rank(f"a{i}"))
    writer.close()
    db = connect(store, writes=True)
    db.execute(f"UPDATE log SET {column} WHERE offset = 2")
    db.close()
    with pytest.raises(
        StoreError, match=r"is damaged: event 2 \(rank\) does not have its checksum"
    ):
        Log(store).check()


def test_what_a_start_asks_for_does_not_read_the_whole_log(store):
    plans = []
    log = Log(store)
    query = log._query

    def explained(sql, *values):
        plans.append(str(query(f"EXPLAIN QUERY PLAN {sql}", *values)))
        return query(sql, *values)

    log._query = explained
    log.of_kinds("begin", "snapshot", "challenger")
    log.head()
    log.last_to_apply()
    assert "USING INDEX log_rare" in plans[0]
    assert "log_to_apply" in plans[2]


def test_a_missing_event_is_found(store):
    writer = Writer(store)
    for i in range(4):
        writer.write(rank(f"a{i}"))
    writer.close()
    db = connect(store, writes=True)
    db.execute("DELETE FROM log WHERE offset IN (2, 3)")
    db.close()
    with pytest.raises(StoreError, match="lacks the events from 2 to 3"):
        Log(store).check()


def test_a_file_damaged_in_the_middle_is_refused(store):
    writer = Writer(store)
    for i in range(200):
        writer.write(rank(f"a{i}", filler="x" * 500))
    writer.close()
    with open(store, "r+b") as file:
        file.seek(20 * 4096)
        file.write(b"\xff" * 8192)
    with pytest.raises(StoreError, match=r"cannot be read|damaged"):
        Log(store).check()


def test_other_files_are_no_stores(tmp_path):
    other = tmp_path / "other.db"
    sqlite3.connect(other).execute("CREATE TABLE a (b)").connection.close()
    with pytest.raises(StoreError, match="is not a boostline store"):
        Log(other)
    (tmp_path / "text.db").write_text("hello, this is a text file, and no database at all\n" * 100)
    with pytest.raises(StoreError, match="cannot be read"):
        Log(tmp_path / "text.db")
    with pytest.raises(FileNotFoundError):
        Log(tmp_path / "none.db")


def test_a_store_has_one_server(store):
    one = StoreLock(store)
    with pytest.raises(StoreError, match="is in use by process"):
        StoreLock(store)
    one.close()
    StoreLock(store).close()


def test_checksums_tell_absent_columns_from_others():
    event = Event(1, 2.0, "rank", "a", None, b"{}")
    head = zlib.crc32(b"(1, 2.0, 'rank', 'a', None)")
    assert event.checksum() == zlib.crc32(b"{}", head)
    assert event.checksum() != Event(1, 2.0, "rank", "a", 1, b"{}").checksum()
