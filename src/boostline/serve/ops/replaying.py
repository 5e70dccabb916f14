"""Experiments on what was served: the log learned by another model."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from boostline.serve.live.bootstrap import start_of
from boostline.serve.live.replica import replay
from boostline.serve.live.snapshots import Snapshots
from boostline.serve.store.log import Log

__all__ = ["experiment"]


def experiment(
    store: str,
    make: Callable[[list[str]], Any],
    save_to: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Learn the log, as far back as it goes, with a new model; return its losses beside those that were served."""
    log = Log(store)
    try:
        snapshots = Snapshots(store, log)
        start = start_of(log, snapshots)
        state = start.state("replay", make(start.labels.names))
        windows: list[dict[str, Any]] = []
        refused = 0

        def count(offset: int, reason: str) -> None:
            nonlocal refused
            refused += 1

        state.on_window = lambda number, figures: windows.append(figures)
        state.on_refused = count
        began = time.perf_counter()
        replay(state, log)
        seconds = time.perf_counter() - began
        if len(state.windows):
            windows.append(state.figures())
    finally:
        log.close()
    if save_to is not None:
        state.model.save(save_to)
    return {
        "algorithm": type(state.model).__name__,
        "rows": state.model.clock,
        "refused": refused,
        "rank_loss": _mean(windows, "rank_loss"),
        "precision@1": _mean(windows, "precision@1"),
        "served_rank_loss": _mean(
            [w["served"] | {"rows": w["rows"]} for w in windows], "rank_loss"
        ),
        "served_precision@1": _mean(
            [w["served"] | {"rows": w["rows"]} for w in windows], "precision@1"
        ),
        "seconds": seconds,
        "memory_bytes": state.model.memory_usage(),
    }


def _mean(windows: list[dict[str, Any]], name: str) -> float | None:
    pairs = [(w[name], w["rows"]) for w in windows if w.get(name) is not None]
    total = sum(rows for _, rows in pairs)
    return sum(value * rows for value, rows in pairs) / total if total else None
