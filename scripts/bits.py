"""Digests of what models compute, a line each: equal lines mean equal bits.

``scripts/compilers.sh`` compares those of gcc and clang, CI those of several machines. Inputs come from integers alone,
because the generators of other distributions call the platform's mathematical library.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

import boostline as bl
from boostline.learners import Kernel, Linear, Neighbours, Recency, Ridge, paper_trees

N_ROWS, N_FEATURES, N_LABELS = 600, 30, 8


def stream() -> tuple[np.ndarray, np.ndarray]:
    """Rows of quarters, some zero and some missing, whose labels follow from their features."""
    rng = np.random.default_rng(7)
    X = rng.integers(-40, 41, size=(N_ROWS, N_FEATURES)) / 4.0
    X[:, ::3][rng.integers(3, size=X[:, ::3].shape) > 0] = 0.0
    sums = X @ rng.integers(-2, 3, size=(N_FEATURES, N_LABELS))  # whole quarters: no rounding
    Y = sums > np.sort(sums, axis=0)[(3 * N_ROWS) // 4]
    X[rng.integers(50, size=X.shape) == 0] = np.nan
    return X, Y


def models() -> dict[str, Any]:
    trees = paper_trees(20)
    single = paper_trees(20, single_label=True)
    scorers = [Kernel(n_landmarks=200), Linear(), Ridge(), Neighbours(), Recency(0.9)]
    return {
        "LabelRanker": bl.LabelRanker(N_LABELS, seed=1),
        "LabelRanker, trees": bl.LabelRanker(N_LABELS, learners=trees, seed=1),
        "Ada.OLMR, trees": bl.AdaOLMR(N_LABELS, learners=trees, seed=1),
        "Ada.OLMR, scorers": bl.AdaOLMR(N_LABELS, learners=scorers, seed=1),
        "OnlineBMR, hinge": bl.OnlineBMR(N_LABELS, learners=trees, edge=0.05, seed=1),
        "OnlineBMR, rank": bl.OnlineBMR(N_LABELS, learners=single, edge=0.05, loss="rank", seed=1),
        "OnlineBMR, logistic": bl.OnlineBMR(
            N_LABELS, learners=trees, edge=0.05, loss="logistic", seed=1
        ),
        "OnlineBMR, exponential": bl.OnlineBMR(
            N_LABELS, learners=trees, edge=0.05, loss="exponential", seed=1
        ),
        "OnlineBMR, auto": bl.OnlineBMR(N_LABELS, learners=trees, edge="auto", seed=1),
    }


def main() -> None:
    X, Y = stream()
    for name, model in models().items():
        digest = hashlib.sha256(model.learn(X, Y).tobytes())
        digest.update(model.score(X).tobytes())
        for array, values in sorted(model.state()["arrays"].items()):
            digest.update(array.encode() + values.tobytes())
        print(f"{digest.hexdigest()}  {name}")


if __name__ == "__main__":
    main()
