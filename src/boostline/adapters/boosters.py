"""From the parameters of an adapter to its booster."""

from __future__ import annotations

import copy
import inspect
from typing import Any

from boostline.boosters import Booster
from boostline.text.ranker import text_learners

_OF_ALL = {"n_labels", "labels", "learners", "seed", "n_threads"}


def make_booster(adapter: Any, labels: list[Any], *, seed: int | None, n_threads: int) -> Booster:
    """Make the booster that an adapter wraps; the booster's own settings are parameters of the adapter."""
    own = set(inspect.signature(adapter.booster_type).parameters) - _OF_ALL
    settings = {name: getattr(adapter, name) for name in own}
    if settings.get("n_shown", 0) >= len(labels):  # all are shown, and none is swapped
        settings |= {"n_shown": len(labels), "n_swapped": None}
    # Learners written in Python carry state: a copy leaves the parameter as it was given.
    learners = copy.deepcopy(adapter.learners)
    if hasattr(adapter, "n_columns"):
        learners = text_learners(learners)
    return adapter.booster_type(  # type: ignore[no-any-return]
        labels=labels, learners=learners, seed=seed, n_threads=n_threads, **settings
    )
