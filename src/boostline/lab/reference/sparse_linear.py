"""The linear learner for sparse rows: a support vector machine per label by dual coordinate ascent with replay.

Hsieh, Chang, Lin, Keerthi and Sundararajan, "A dual coordinate descent method for large-scale linear SVM" (ICML
2008), squared hinge loss: the dual problem of a label has a variable a >= 0 for every row, and w = sum of a y x. Here
rows come one by one, and those of a memory are visited again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]

_FIRST_SCORE = np.float32(-1.0)  # an irrelevant label has no loss there
_BIAS = np.float32(0.3)  # squared value of the constant feature
_LEAST_STEP = np.float32(0.03)
_MOST_STEPS = 24
_MANY_LABELS, _FULL_REPLAYS = 1024, 4


@dataclass
class _Row:
    x: SingleArray
    targets: FloatArray
    importance: float
    duals: SingleArray


class SparseLinear:
    """One weight for every feature and label, all of them in memory.

    Sums are in single precision and in the order of the features, as in the core.

    Parameters
    ----------
    n_labels, n_features
        k and d.
    C
        How much a row counts against the penalty.
    n_replays, memory
        So many of the last ``memory`` rows are visited again after every new one.
    emphasis
        Power of (1 + z) that votes of labels with a positive z are multiplied by.
    seed
        Of the draws.

    Examples
    --------
    >>> model = SparseLinear(2, 3)
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
        C: float = 0.3,
        n_replays: int = 8,
        memory: int = 4000,
        emphasis: int = 0,
        seed: int = 0,
    ) -> None:
        self.C, self.n_replays, self.memory, self.seed = C, n_replays, memory, seed
        self.emphasis = emphasis
        self.weights = np.zeros((n_features, n_labels), np.float32)
        self.bias = np.full(n_labels, _FIRST_SCORE)
        self.counts, self.total, self.clock = np.zeros(n_labels), 0.0, 0
        self.rows: list[_Row] = []  # oldest first

    @staticmethod
    def scaled(x: FloatArray) -> SingleArray:
        """sign(x) log(1 + abs(x)), brought to length 1; a missing value has no part."""
        size = np.abs(np.nan_to_num(x, nan=0.0, posinf=np.inf))
        u = np.sign(np.nan_to_num(x)) * np.where(size < 1e-4, size, np.log1p(size))
        length = np.sqrt((u * u).sum())
        return (u / length if length > 0 else np.zeros(len(x))).astype(np.float32)

    def sums(self, u: SingleArray) -> SingleArray:
        """z = b + w x, feature by feature."""
        z = self.bias.copy()
        for feature in np.flatnonzero(u):
            z += u[feature] * self.weights[feature]
        return z

    def score(self, x: FloatArray) -> FloatArray:
        """Votes before they are divided by their sum: steep in z, and by frequency where z says nothing."""
        z = self.sums(self.scaled(x)).astype(float)
        p = 1 / (1 + np.exp(-8.0 * z))
        frequency = self.counts / self.total if self.total > 0 else self.counts
        votes = p * p / (p + 1e-3) + 3e-3 * frequency
        return np.asarray(votes * (1 + np.maximum(z, 0.0)) ** self.emphasis)

    def visit(self, row: _Row, of_all: bool = True) -> None:
        """Set the dual variables of a row to what is best for this row, those furthest from it first.

        Of all labels, or of those alone that are relevant or whose variable is not zero.
        """
        y = np.where(row.targets > 0, np.float32(1), np.float32(-1))
        slack = np.float32(0.5 / (self.C * row.importance))
        curvature = np.float32(1.0 if row.x.any() else 0.0) + _BIAS + slack
        step = (np.float32(1) - y * self.sums(row.x) - row.duals * slack) / curvature
        step = np.maximum(step, -row.duals)
        step[(np.abs(step) < _LEAST_STEP) | (row.targets < 0)] = 0  # nothing of unknown labels
        if not of_all:
            step[(row.duals == 0) & (row.targets <= 0)] = 0
        furthest = np.lexsort((np.arange(len(step)), -np.abs(step)))
        step[furthest[_MOST_STEPS:]] = 0
        row.duals += step
        self.bias += _BIAS * (y * step)
        for feature in np.flatnonzero(row.x):
            self.weights[feature] += row.x[feature] * (y * step)

    def learn(self, x: FloatArray, targets: FloatArray, importance: float = 1.0) -> None:
        """Learn a row; targets are 1 (relevant), 0 (irrelevant) and -1 (unknown)."""
        self.counts += importance * (targets > 0)
        self.total += importance
        row = _Row(self.scaled(x), targets, importance, np.zeros(len(targets), np.float32))
        self.visit(row)
        for q in range(self.n_replays if self.rows else 0):
            counter = self.clock * self.n_replays + q
            draw = np.random.Generator(np.random.Philox(counter=counter, key=self.seed)).random()
            few = len(targets) > _MANY_LABELS and q % _FULL_REPLAYS != _FULL_REPLAYS - 1
            self.visit(self.rows[-1 - int(draw * len(self.rows))], of_all=not few)
        self.clock += 1
        self.rows = [*self.rows, row][-self.memory :]
