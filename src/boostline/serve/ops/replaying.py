"""Experiments on what was served: the log learned by another model."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from boostline.serve.live.bootstrap import from_the_start
from boostline.serve.live.replica import replay
from boostline.serve.live.windows import mean_of
from boostline.serve.store.log import Log
from boostline.serve.store.snapshots import Snapshots

__all__ = ["experiment"]


def experiment(
    store: str,
    make: Callable[[list[str]], Any],
    save_to: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Learn the log, as far back as it goes, with a new model; return its losses next to those that were served."""
    with closing(Log(store)) as log:
        state = from_the_start("replay", make, log, Snapshots(store, log))
        windows: list[dict[str, Any]] = []
        refused: list[int] = []
        state.on_window = lambda number, figures: windows.append(figures)
        state.on_refused = lambda offset, reason: refused.append(offset)
        began = time.perf_counter()
        replay(state, log)
        seconds = time.perf_counter() - began
    if len(state.windows):
        windows.append(state.figures())
    if save_to is not None:
        state.model.save(save_to)
    served = [window["served"] | {"rows": window["rows"]} for window in windows]
    return {
        "algorithm": type(state.model).__name__,
        "rows": state.model.clock,
        "refused": len(refused),
        "rank_loss": mean_of(windows, "rank_loss"),
        "precision@1": mean_of(windows, "precision@1"),
        "served_rank_loss": mean_of(served, "rank_loss"),
        "served_precision@1": mean_of(served, "precision@1"),
        "seconds": seconds,
        "memory_bytes": state.model.memory_usage(),
    }
