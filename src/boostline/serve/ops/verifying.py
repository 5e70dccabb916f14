"""An audit: replay the log from the oldest snapshot kept and compare bytes with the newest."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

from boostline.serve.live.models import Registry
from boostline.serve.live.replica import replay
from boostline.serve.live.replica_state import ReplicaState
from boostline.serve.store.log import Log
from boostline.serve.store.snapshots import Snapshots, sha256

__all__ = ["Verdict", "verify"]


class Verdict(NamedTuple):
    """Whether the replay of a model gave the bytes of its newest snapshot."""

    model: str
    start: int
    end: int
    rows: int
    equal: bool


def verify(store: str, n_threads: int = 1) -> Iterator[Verdict]:
    """Check every event's checksum, then replay each model; one with a single snapshot is only loaded."""
    with closing(Log(store)) as log:
        log.check()
        snapshots = Snapshots(store, log)
        for name in Registry(log).models:
            ours = snapshots.of(name)
            if not ours:
                raise FileNotFoundError(
                    f"the model {name} of {store} has no snapshot in {snapshots.folder}"
                )
            first, last = ours[0], ours[-1]
            state = ReplicaState.load(snapshots.checked(first), n_threads)
            clock = state.model.clock
            ReplicaState.load(snapshots.checked(last), n_threads)  # it can be read
            replay(state, log, last.offset)
            state.offset = last.offset
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "replayed.blm")
                state.save(path)
                equal = sha256(path) == last.sha256
            yield Verdict(name, first.offset, last.offset, state.model.clock - clock, equal)
