"""A thread that applies the log's events to one model in order, and makes snapshots of it."""

from __future__ import annotations

import json
import logging
import threading
import time
from typing import Any

from boostline.serve.live.replica_state import ReplicaState
from boostline.serve.store.log import Log, StoreError
from boostline.serve.store.snapshots import Snapshots
from boostline.serve.store.writer import Entry, Writer

__all__ = ["Replica", "replay"]

_LOG = logging.getLogger("boostline.serve")
#: A snapshot that could not be written is tried again after so many seconds.
_RETRY_SECONDS = 10.0


def replay(state: ReplicaState, log: Log, up_to: int | None = None) -> int:
    """Apply the events after the state up to an offset (default: the log's end); return how many there were."""
    n = 0
    while events := log.to_apply(state.offset, up_to):
        for event in events:
            state.apply(event, log.at)
        n += len(events)
    return n


class Replica:
    """Learns what is on disk, in the order of the log. Nobody else changes its state.

    Parameters
    ----------
    every_rows, every_seconds
        A snapshot is made after so many rows, or so much time if anything was learned.
    """

    def __init__(
        self,
        state: ReplicaState,
        path: str,
        writer: Writer,
        snapshots: Snapshots,
        *,
        every_rows: int = 2000,
        every_seconds: float = 300.0,
    ) -> None:
        self.state = state
        self._log = Log(path)
        self._writer = writer
        self._snapshots = snapshots
        self._every_rows, self._every_seconds = every_rows, every_seconds
        self._saved_clock = state.model.clock
        self._saved_at = time.monotonic()
        self._restarts = 0 if state.is_cold else state.model.n_restarts
        self._saved_offset = -1
        self._saving: threading.Thread | None = None
        self._save_turn = threading.Lock()
        self._retry_at = 0.0
        #: Set when there is something new in the log.
        self._news = threading.Event()
        self._ended = False
        #: Seconds of processor time that learning took in this process, from this row on.
        self.busy_seconds, self.first_clock = 0.0, state.model.clock
        #: Seconds of processor time that snapshots took.
        self.save_seconds = 0.0
        #: Why learning has stopped; None while it goes on.
        self.failure: Exception | None = None
        state.on_window = self._keep_window
        state.on_refused = self._keep_refusal
        self._thread = threading.Thread(
            target=self._run, name=f"boostline-learn-{state.name}", daemon=True
        )
        self._thread.start()

    def wake(self) -> None:
        """There is something new in the log."""
        self._news.set()

    def version(self) -> int:
        """The offset that the state has reached."""
        head, to_apply = self._writer.heads
        return head if self.state.offset >= to_apply else self.state.offset

    def lag(self) -> int:
        """How many offsets it is behind."""
        head, to_apply = self._writer.heads
        return 0 if self.state.offset >= to_apply else head - self.state.offset

    def reach(self, offset: int, timeout: float) -> bool:
        """Wait until it has applied an event."""
        end = time.monotonic() + timeout
        while self.version() < offset and self.failure is None:
            if time.monotonic() > end:
                return False
            self.wake()
            time.sleep(0.002)
        return self.failure is None

    def close(self, *, snapshot: bool = True, finish: bool = True) -> None:
        """Learn what is on disk if asked to, save, and end."""
        if finish:
            self.reach(self._writer.head, 60.0)
        self._ended = True
        self.wake()
        self._thread.join()
        if self._saving is not None:
            self._saving.join()
        if snapshot and self.failure is None and self.state.model.clock != self._saved_clock:
            self._try_to_save(self.state)
        self._log.close()

    def save_now(self) -> None:
        """Make a snapshot and wait until the log names it."""
        with self.state.turn:
            twin = self.state.frozen()
        self._save(twin)

    def _run(self) -> None:
        while not self._ended:
            try:
                self._news.clear()
                if not self._step():
                    self._news.wait(0.5)
            except Exception as error:
                self.failure = error
                _LOG.critical("%s has stopped learning: %s", self.state.name, error, exc_info=True)
                return

    def _step(self) -> bool:
        """Apply up to 64 events; return whether there were any."""
        _, to_apply = self._writer.heads
        if self.state.offset >= to_apply:
            self._save_if_due()
            return False
        used = time.thread_time()
        events = self._log.to_apply(self.state.offset, to_apply, most=64)
        if not events:
            raise StoreError(f"the log lacks the events from {self.state.offset + 1} to {to_apply}")
        for event in events:
            if self._ended:
                break
            self.state.apply(event, self._log.at)
        self.busy_seconds += time.thread_time() - used
        self._save_if_due()
        return True

    def _save_if_due(self) -> None:
        rows = self.state.model.clock - self._saved_clock
        now = time.monotonic()
        if rows < self._every_rows and not (rows and now - self._saved_at > self._every_seconds):
            return
        if now < self._retry_at or (self._saving is not None and self._saving.is_alive()):
            return  # the last one failed a moment ago, or is not done yet: the disk is full, or slow
        used = time.thread_time()
        twin = self.state.frozen()  # nobody else changes it, so rankings need not wait
        self.save_seconds += time.thread_time() - used
        saving = threading.Thread(
            target=self._try_to_save, args=(twin,), name=f"boostline-save-{twin.name}", daemon=True
        )
        saving.start()
        self._saving = saving

    def _try_to_save(self, state: ReplicaState) -> None:
        try:
            self._save(state)
        except StoreError as error:
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            _LOG.error("%s", error)

    def _save(self, state: ReplicaState) -> None:
        with self._save_turn:
            if state.offset < self._saved_offset:
                return  # a later one overtook it, which an erasure may rely on
            began, used = time.perf_counter(), time.thread_time()
            snapshot = self._snapshots.write(state)
            self.save_seconds += time.thread_time() - used
            event = {"snapshot": snapshot}
            entry = self._writer.write(Entry(kind="snapshot", body=json.dumps(event).encode()))
            self._saved_clock, self._saved_offset = state.model.clock, state.offset
            self._saved_at = time.monotonic()
            self._snapshots.apply("snapshot", event, entry.time)
            self._snapshots.thin(state.name, entry.time)
        _LOG.info(
            "snapshot of %s at %d: %.1f MB in %.2f s",
            *(state.name, state.offset, snapshot["bytes"] / 1e6, time.perf_counter() - began),
        )

    def _keep_window(self, number: int, figures: dict[str, Any]) -> None:
        restarts = figures.get("restarts", 0)
        if restarts > self._restarts:
            _LOG.warning(
                "drift: %s has restarted by row %d (%d times so far)",
                *(self.state.name, figures["clock"], restarts),
            )
        self._restarts = restarts
        self._writer.keep_window(self.state.name, number, figures)

    def _keep_refusal(self, offset: int, reason: str) -> None:
        _LOG.warning("%s did not learn event %d: %s", self.state.name, offset, reason)
        self._writer.keep_refusal(self.state.name, offset, reason)
