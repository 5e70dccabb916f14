"""What the adapters share whose models show some labels and hear only of those."""

from __future__ import annotations

from typing import Any

from boostline.boosters import Booster, Explorer
from boostline.boosters.topk_booster import TopkBooster


def showing(adapter: Any, booster: Booster) -> Any:
    """What chooses the labels to show and learns from what was heard: the booster, or an `Explorer` around it."""
    if isinstance(booster, TopkBooster):
        return booster
    n_shown = min(adapter.n_shown, booster.n_labels)
    # It has no state of its own: the booster's clock is its turn.
    return Explorer(
        booster,
        n_shown,
        n_explored=min(adapter.n_explored, n_shown),
        rate=adapter.rate,
        seed=booster.seed,
    )


def labels_needed(adapter: Any) -> int:
    """The fewest labels with which the adapter's booster can be made and go on growing."""
    return int(adapter.n_shown + (getattr(adapter, "n_swapped", None) or 0))
