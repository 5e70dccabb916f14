"""Streams that change, so that models start anew: however they are cut, saved and loaded, the bits are the same.

The calls of `calls` are too few for an alarm. Here a model learns several hundred rows, whose truth is inverted on the
way, in random blocks; its twin learns them one by one.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from calls import assert_same_state
from zoo import random_learners

import boostline as bl

ROWS = 900


def case(seed: int, folder: Path, outcomes: Counter[str]) -> None:
    """One stream."""
    rng = np.random.default_rng([seed, 5])
    k, d = int(rng.choice([4, 6, 8])), int(rng.choice([6, 10]))
    learners: Any = "auto"
    if rng.random() < 0.9:
        learners = [
            bl.learners.Ridge(),
            *random_learners(rng),
        ]  # one that is good enough for an alarm
    twin, model = (bl.LabelRanker(k, learners=learners, seed=seed) for _ in range(2))
    X, Y, options = _stream(rng, d, k)
    expected = np.array(
        [
            twin.learn(x, y, weight=options["weight"][i], unknown=options["unknown"][i])
            for i, (x, y) in enumerate(zip(X, Y, strict=True))
        ]
    )
    found = []
    while model.clock < ROWS:
        rows = slice(model.clock, model.clock + int(rng.choice([1, 7, 64, 65, 200])))
        x = X[rows] if rng.random() < 0.5 else sp.csr_array(X[rows])
        now = {name: values[rows] for name, values in options.items()}
        found.append(model.learn(x, Y[rows], **now))
        if rng.random() < 0.2:
            model.save(folder / "m.blm")
            model = bl.load(folder / "m.blm", n_threads=int(rng.integers(1, 3)))
    np.testing.assert_array_equal(np.concatenate(found), expected, "the scores before learning")
    assert_same_state(twin.state(), model.state(), "in the end")
    outcomes["started anew" if model.n_restarts else "went on"] += 1


def _stream(rng: np.random.Generator, d: int, k: int) -> tuple[Any, Any, dict[str, Any]]:
    X = rng.normal(size=(ROWS, d))
    Z = X @ rng.normal(size=(d, k))
    Z[int(rng.integers(400, 700)) :] *= -1
    Y = Z + 0.1 * rng.normal(size=Z.shape) > 1.0
    if rng.random() < 0.5:
        X[rng.random(X.shape) < 0.3] = 0.0
    weight = rng.choice([0.0, 0.5, 1.0], size=ROWS, p=[0.05, 0.1, 0.85])
    unknown = (rng.random(Y.shape) < rng.choice([0.0, 0.05])) & ~Y
    return X, Y, {"weight": weight, "unknown": unknown}
