"""The learner for texts: linear machine, nearest rows and centroids, blended by learned weights."""

from __future__ import annotations

import numpy as np

from boostline.lab.reference.sparse_linear import FloatArray, SparseLinear

_LEAST_SHARE, _LEAST_SCORE, _MOST_SCORE = 0.01, -1.0, 3.0
_FIRST_WEIGHTS = np.array([4.0, 0.0, 0.0, 4.0, 8.0, 0.5, 0.05])
_FIRST_SQUARE, _MOST_STEP, _FORGETTING = 0.3, 0.1, 1e-4
_DOUBT, _LEAST_COUNT = 0.01, 0.1
_FIRST_ROWS = 32


class SparseRanker:
    """The sums of all rows and all products, without an index.

    Parameters
    ----------
    n_labels, n_features
        k and d.
    C, n_replays, memory, seed
        As in `SparseLinear`.
    n_neighbours
        Nearest rows that vote for their labels.

    Examples
    --------
    >>> model = SparseRanker(2, 3)
    >>> for _ in range(20):
    ...     model.learn(np.array([2.0, 0.0, 1.0]), np.array([1.0, 0.0]))
    ...     model.learn(np.array([0.0, 3.0, 1.0]), np.array([0.0, 1.0]))
    >>> bool(np.diff(model.score(np.array([1.0, 0.0, 0.0])))[0] < 0)
    True
    """

    def __init__(
        self,
        n_labels: int,
        n_features: int,
        C: float = 0.5,
        n_replays: int = 8,
        memory: int = 2**16,
        n_neighbours: int = 60,
        seed: int = 0,
    ) -> None:
        self.machine = SparseLinear(n_labels, n_features, C, n_replays, memory, seed=seed)
        self.n_neighbours = n_neighbours
        self.weights = _FIRST_WEIGHTS.copy()
        self.squares = _FIRST_SQUARE * np.eye(len(self.weights))
        # Of the rows in memory, oldest first: which features they have, their values, labels and importance.
        self.rows: list[tuple[FloatArray, FloatArray, FloatArray, float]] = []

    def weighted(self, u: FloatArray) -> FloatArray:
        """A row for the products: rare features count more, those of more than half of the rows not at all."""
        n = len(self.rows)
        n_with = sum((row[0] for row in self.rows), np.zeros(len(u)))
        rarity = np.sqrt(np.log((n + 2) / (n_with + 1)))
        if n >= _FIRST_ROWS:
            rarity[2 * n_with > n] = 0.0
        values = u * rarity
        length = np.linalg.norm(values)
        return values / length if length > 0 else values

    def parts(self, x: FloatArray) -> FloatArray:
        """What the score of each label is made of, (k, 7)."""
        k = len(self.machine.bias)
        u = self.machine.scaled(x)
        v = self.weighted(u.astype(float))
        z = np.clip(self.machine.sums(u).astype(float), _LEAST_SCORE, _MOST_SCORE)
        bias = np.clip(self.machine.bias.astype(float), -_MOST_SCORE, _MOST_SCORE)
        centroids = sum((a * np.outer(y, w) for _, w, y, a in self.rows), np.zeros((k, len(x))))
        lengths = np.linalg.norm(centroids, axis=1)
        cosine = np.divide(centroids @ v, lengths, out=np.zeros(k), where=lengths > 1e-3)
        products = np.array([w @ v for _, w, _, _ in self.rows])
        ages = np.arange(len(self.rows))[::-1]
        near = [i for i in np.lexsort((ages, -products)) if products[i] > 0][: self.n_neighbours]
        shares = np.array([self.rows[i][3] * products[i] ** 3 for i in near])
        votes = np.zeros(k)
        for i, share in zip(near, shares / shares.sum() if near else [], strict=True):
            votes += share * self.rows[i][2]
        counts = np.log1p(self.machine.counts)
        return np.stack(
            [z, np.maximum(z, 0), bias, cosine, votes, np.log1p(votes / _LEAST_SHARE), counts], 1
        )

    def score(self, x: FloatArray) -> FloatArray:
        """Votes before they are divided by their sum."""
        sums = self.parts(x) @ self.weights
        return np.asarray(np.exp(sums - sums.max()))

    def learn(self, x: FloatArray, targets: FloatArray, importance: float = 1.0) -> None:
        """Learn a row; targets are 1 (relevant), 0 (irrelevant) and -1 (unknown)."""
        relevant = targets > 0
        known = relevant & (self.machine.counts > 0)
        p = self.score(x) * (known | (targets == 0))
        p[(p < 1e-6) & ~known] = 0.0
        if 0 < p[known].sum() < p.sum():
            parts = self.parts(x)
            mean_of_relevant = p[known] @ parts[known] / p[known].sum()
            q = p[known].sum() / p.sum()
            count = _LEAST_COUNT + (1 - _LEAST_COUNT) * q / (q + _DOUBT)
            gradient = importance * count * (p @ parts / p.sum() - mean_of_relevant)
            first = _FIRST_SQUARE * np.eye(len(self.weights))
            self.squares += _FORGETTING * (first - self.squares) + np.outer(gradient, gradient)
            step = np.linalg.solve(self.squares, gradient)
            self.weights -= step * _MOST_STEP / max(np.abs(step).max(), _MOST_STEP)
        u = self.machine.scaled(x).astype(float)
        row = ((u != 0).astype(float), self.weighted(u), relevant.astype(float), importance)
        self.machine.learn(x, targets, importance)
        self.rows = [*self.rows, row][-self.machine.memory :]
