"""The model of the tests of `boostline.scale`."""

from __future__ import annotations

from typing import Any

import numpy as np

import boostline as bl
from boostline import scale
from boostline.learners import (
    Committee,
    Kernel,
    Linear,
    OutputNeighbours,
    Recency,
    Ridge,
    SlidingWindow,
)
from boostline.learners.scorer import Scorer

COLOURS = ["red", "green", "blue"]
LABELS = [f"tag_{j}" for j in range(6)]


def small_model(**settings: Any) -> bl.LabelRanker:
    """Members of every kind of rule, with few landmarks, so that a small sample will do."""
    members: list[Scorer] = [Kernel(n_landmarks=80), Linear(), Ridge(), Ridge(forgetting=0.99)]
    members += [OutputNeighbours(reads=("kernel", "linear")), SlidingWindow(Linear(), length=100)]
    return bl.LabelRanker(labels=LABELS, learners=[Committee(members), Recency(1.0)], **settings)


def tenants(n_rows: int = 600, n_keys: int = 20, seed: int = 0) -> Any:
    """Rows of tenants whose labels follow from the features in a way that all share in part."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    tenant = rng.integers(n_keys, size=n_rows)
    common, own = rng.normal(size=(4, 3)), rng.normal(size=(n_keys, 4, 3))
    scores = X @ common + 0.5 * np.einsum("nd,ndk->nk", X, own[tenant])
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.insert(0, "tenant", [f"tenant {t}/ü" for t in tenant])
    frame[COLOURS] = scores > 0.5
    return frame


def tenant_model(**settings: Any) -> bl.LabelRanker:
    """What each tenant's model starts as."""
    return bl.LabelRanker(labels=COLOURS, learners=[Ridge(), Linear(), Recency(1.0)], **settings)


def assert_same_stores(one: Any, two: Any) -> None:
    """The same keys with models of the same bits."""
    here, there = scale.ModelStore(one), scale.ModelStore(two)
    assert sorted(here) == sorted(there)
    for key in here:
        a, b = (store[key].state()["arrays"] for store in (here, there))
        assert a.keys() == b.keys()
        for name, values in a.items():
            np.testing.assert_array_equal(values, b[name], err_msg=f"{key}: {name}")
