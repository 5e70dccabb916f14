"""What the adapters to scikit-learn and River share."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract.numbers import Optimize
from boostline.models import Booster, Explorer
from boostline.text.ranker import text_learners

_OF_ALL = {"n_labels", "labels", "learners", "seed", "n_threads"}


def make_booster(adapter: Any, labels: list[Any], *, seed: int | None, n_threads: int) -> Booster:
    """Make the booster that an adapter wraps; the booster's own settings are parameters of the adapter."""
    own = set(inspect.signature(adapter.booster_type).parameters) - _OF_ALL
    settings = {name: getattr(adapter, name) for name in own}
    # Learners written in Python carry state: a copy leaves the parameter as it was given.
    learners = copy.deepcopy(adapter.learners)
    if hasattr(adapter, "n_columns"):
        learners = text_learners(learners)
    return adapter.booster_type(  # type: ignore[no-any-return]
        labels=labels, learners=learners, seed=seed, n_threads=n_threads, **settings
    )


def logit(p: FloatArray | float) -> FloatArray:
    """Log-odds of probabilities strictly between 0 and 1."""
    return np.asarray(np.log(p) - np.log1p(-p))


def margins(booster: Booster, probabilities: FloatArray, optimize: Optimize) -> FloatArray:
    """Log-odds less that of the threshold: above 0 exactly where ``booster.predict`` names a label."""
    threshold = booster.threshold(optimize)
    found = logit(probabilities) - logit(threshold)
    # Rounding does not decide.
    named = probabilities > threshold
    return np.where(named == (found > 0), found, np.where(named, 1e-300, 0.0))


def explorer_for(adapter: Any, booster: Booster) -> Explorer:
    """Return what chooses the labels to show and learns from the feedback.

    It has no state of its own: the booster's clock is its turn.
    """
    n_shown = min(adapter.n_shown, booster.n_labels)
    return Explorer(
        booster,
        n_shown,
        n_explored=min(adapter.n_explored, n_shown),
        rate=adapter.rate,
        seed=booster.seed,
    )
