"""An audit: replay the log from the oldest snapshot kept and compare bytes with the newest."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from boostline.serve.live.registry import Registry
from boostline.serve.live.replica import replay
from boostline.serve.live.snapshots import Snapshots, sha256
from boostline.serve.store.log import Log

__all__ = ["Verdict", "verify"]


@dataclass(frozen=True)
class Verdict:
    """What came of one model."""

    model: str
    start: int
    end: int
    rows: int
    equal: bool

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def verify(store: str, n_threads: int = 1) -> Iterator[Verdict]:
    """Check every event's checksum, then replay each model; one with a single snapshot is only loaded."""
    log = Log(store)
    try:
        log.check()
        snapshots = Snapshots(store, log)
        for name in Registry.of(log).models:
            ours = snapshots.of(name)
            if not ours:
                raise FileNotFoundError(
                    f"the model {name} of {store} has no snapshot in {snapshots.folder}"
                )
            first, last = ours[0], ours[-1]
            state = snapshots.load(first, n_threads)
            clock = state.model.clock
            snapshots.load(last, n_threads)  # it has its hash and can be read
            replay(state, log, last.offset)
            state.offset = last.offset
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "replayed.blm")
                state.save(path)
                equal = sha256(path) == last.sha256
            yield Verdict(name, first.offset, last.offset, state.model.clock - clock, equal)
    finally:
        log.close()
