"""Multi-label streams like those of the MLHAT paper: MOA's generators, each with four kinds of change.

A binary generator (hyperplane, radial basis functions, random tree; River's, which follow MOA's) gives positive and
negative rows. The meta generator of Read, Bifet, Holmes and Pfahringer ("Scalable and efficient multi-label
classification for evolving data streams", Machine Learning 88, 2012) draws a label set from priors and dependencies,
and composes a row from them: each feature belongs to a combination of labels, and is taken from a positive row if the
label set contains that combination, else from a negative one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from river.datasets import synth

Stream = tuple[NDArray[np.float64], NDArray[np.bool_]]
FEATURES, LABELS, CARDINALITY = 20, 8, 2.5

GENERATORS: dict[str, Callable[[int], Iterator[tuple[dict[object, float], int]]]] = {
    "hyperplane": lambda seed: iter(synth.Hyperplane(seed=seed, n_features=FEATURES)),
    "RBF": lambda seed: iter(
        synth.RandomRBF(seed_model=seed, seed_sample=seed + 1, n_features=FEATURES, n_centroids=50)
    ),
    "random tree": lambda seed: iter(
        synth.RandomTree(seed, seed + 1, n_num_features=FEATURES, n_cat_features=0)
    ),
}
CHANGES = ("sudden", "gradual", "incremental", "recurrent")


class Concept:
    """One way to make rows: priors and dependencies of labels, and which labels each feature shows."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        prior = rng.random(LABELS) + 0.2
        self.prior = np.minimum(prior * CARDINALITY / prior.sum(), 0.9)
        # A quarter of the ordered pairs of labels depend on each other: the second is then much more, or less, likely.
        self.factor = np.where(
            rng.random((LABELS, LABELS)) < 0.25,
            rng.choice([0.3, 2.0], (LABELS, LABELS)),
            1.0,
        )
        self.shows = [
            rng.choice(LABELS, rng.choice([1, 2], p=[0.7, 0.3]), replace=False)
            for _ in range(FEATURES)
        ]

    def labels(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        present = np.zeros(LABELS, bool)
        for label in rng.permutation(LABELS):
            chance = self.prior[label] * np.prod(self.factor[present, label])
            present[label] = rng.random() < min(chance, 0.95)
        if not present.any():
            present[rng.choice(LABELS, p=self.prior / self.prior.sum())] = True
        return present


def share_of_the_second(change: str, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """How likely a row follows the second concept, `at` running from 0 to 1 over the stream."""
    if change == "sudden":
        return (at >= 0.5).astype(float)
    if change == "recurrent":
        return ((at * 4).astype(int) % 2).astype(float)
    if change == "gradual":
        return 1 / (1 + np.exp(-40 * (at - 0.5)))
    return at  # incremental: feature by feature, see below


def make(generator: str, change: str, seed: int, n: int) -> Stream:
    rng = np.random.default_rng(seed)
    concepts = (Concept(seed), Concept(seed + 1000))
    source = GENERATORS[generator](seed)
    pools: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] = ([], [])
    for x, y in islice(source, 4 * n):
        pools[int(bool(y))].append(np.fromiter(x.values(), float, FEATURES))
    negative, positive = (np.array(pool) for pool in pools)
    share = share_of_the_second(change, np.arange(n) / n)
    turn = rng.random(FEATURES)  # when a feature changes, in an incremental stream
    X, Y = np.empty((n, FEATURES)), np.empty((n, LABELS), bool)
    for t in range(n):
        second = rng.random() < share[t]
        Y[t] = concepts[int(second)].labels(rng)
        row, other = positive[rng.integers(len(positive))], negative[rng.integers(len(negative))]
        for j in range(FEATURES):
            which = int(turn[j] < share[t]) if change == "incremental" else int(second)
            X[t, j] = row[j] if Y[t, concepts[which].shows[j]].all() else other[j]
    return X, Y
