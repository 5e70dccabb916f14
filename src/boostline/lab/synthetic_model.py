"""The model behind the synthetic problems, and how its rows are drawn; see `synthetic`.

Rows are drawn in blocks of 1024 by NumPy's counter-based Philox, keyed by the seed and what is
drawn, so that any block can be drawn without the ones before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import BoolArray, FloatArray
from boostline.contract.numbers import whole_number
from boostline.data.dataset import Dataset

#: Rows drawn from one state of the generator; part of what a seed means, so never to be changed.
DRAWN_AT_ONCE = 1024

_DIRECTIONS, _DRIFT, _ROWS = 1, 2, 3  # second half of the generator's key: what is drawn


@dataclass(frozen=True, eq=False)
class Synthetic(Dataset):
    """A `Dataset` that knows its truth.

    Attributes
    ----------
    scores
        True scores (n, k); ranking by them is the best that can be done.
    probabilities
        Probability (n, k) that a label is relevant, given x and the row's place in the stream.

    """

    scores: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    probabilities: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    def _part(self, rows: Any, n_train: int) -> Synthetic:
        return replace(
            self,
            X=self.X[rows],
            Y=self.Y[rows],
            n_train=n_train,
            scores=self.scores[rows],
            probabilities=self.probabilities[rows],
        )


class Drawn(NamedTuple):
    """Rows with their truth."""

    X: FloatArray
    Y: BoolArray
    scores: FloatArray
    probabilities: FloatArray

    def take(self, rows: Any) -> Drawn:
        """Some of the rows."""
        return Drawn(self.X[rows], self.Y[rows], self.scores[rows], self.probabilities[rows])


@dataclass(frozen=True)
class Problem:
    """The arguments of a problem, checked, and how its rows are drawn."""

    kind: str
    n: int | None
    d: int
    k: int
    seed: int
    relevant: float
    noise: float
    drift: tuple[float, float]

    def __post_init__(self) -> None:
        if self.n is not None:
            whole_number(self.n, "n", 0)
        elif self.kind not in {"separable", "noisy"}:
            raise ValueError(f"n is None, but {self.kind} needs the length of the stream")
        whole_number(self.d, "d", 1)
        whole_number(self.k, "k", 2)
        whole_number(self.seed, "seed", 0, 2**64 - 1)
        if not 0 < self.relevant < self.k:
            raise ValueError(f"relevant is {self.relevant}, but must lie between 0 and k={self.k}")
        if not (self.noise > 0 and math.isfinite(self.noise)):
            raise ValueError(f"noise is {self.noise}, but must be positive")
        start, end = self.drift
        if not 0 <= start <= end <= 1:
            raise ValueError(
                f"the drift is from {start} to {end}, but must satisfy 0 <= start <= end <= 1"
            )

    def _random(self, purpose: int, block: int = 0) -> np.random.Generator:
        key = np.array([self.seed, purpose], dtype=np.uint64)
        counter = np.array([0, 0, 0, block], dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=key, counter=counter))

    def draw(self) -> Iterator[Drawn]:
        """Yield the rows in file order, `DRAWN_AT_ONCE` at a time."""
        if self.kind == "sorted":
            yield from self._sorted()
            return
        first = _unit_rows(self._random(_DIRECTIONS), self.k, self.d)
        second = self._second_directions(first)
        block = 0
        while self.n is None or block * DRAWN_AT_ONCE < self.n:
            random = self._random(_ROWS, block)
            X = random.standard_normal((DRAWN_AT_ONCE, self.d))
            uniform = random.random((DRAWN_AT_ONCE, self.k))
            place = block * DRAWN_AT_ONCE + np.arange(DRAWN_AT_ONCE)
            scores = self._scores(X, first, second, place)
            probabilities = self._probabilities(scores)
            drawn = Drawn(X, uniform < probabilities, scores, probabilities)
            end = DRAWN_AT_ONCE if self.n is None else min(DRAWN_AT_ONCE, self.n - int(place[0]))
            yield drawn.take(slice(end))
            block += 1

    def _second_directions(self, first: FloatArray) -> FloatArray:
        random = self._random(_DRIFT)
        if self.kind == "abrupt":
            order = random.permutation(self.k)  # one cycle through all labels: none keeps its place
            moved = np.empty_like(first)
            moved[order] = first[np.roll(order, 1)]
            return moved
        return _unit_rows(random, self.k, self.d)

    def _scores(
        self, X: FloatArray, first: FloatArray, second: FloatArray, place: NDArray[Any]
    ) -> FloatArray:
        before: FloatArray = X @ first.T
        if self.kind not in {"abrupt", "gradual"}:
            return before
        after: FloatArray = X @ second.T
        start, end = (share * (self.n or 0) for share in self.drift)
        if self.kind == "abrupt":
            return np.where((place >= start)[:, None], after, before)
        turned = np.clip((place - start) / max(end - start, 1.0), 0.0, 1.0)
        angle = (turned * (math.pi / 2))[:, None]
        # W and W' are not at right angles: the divisor brings every direction back to length 1 (and
        # stays above 0 half way between opposite directions, which are common when d is 1).
        squares = 1.0 + np.sin(2 * angle) * (first * second).sum(axis=1)
        lengths = np.sqrt(np.maximum(squares, 1e-12))
        return (np.cos(angle) * before + np.sin(angle) * after) / lengths  # type: ignore[no-any-return]

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        if self.kind == "separable":
            return _above_largest_gap(scores, self.relevant).astype(np.float64)
        # s + noise * L with L logistic is close to N(0, 1 + (1.7 noise)^2), hence the threshold.
        spread = math.sqrt(1.0 + (1.7 * self.noise) ** 2)
        tau = spread * NormalDist().inv_cdf(1.0 - self.relevant / self.k)
        return 0.5 * (1.0 + np.tanh((scores - tau) / (2.0 * self.noise)))

    def _sorted(self) -> Iterator[Drawn]:
        whole = join(replace(self, kind="noisy"))
        order = np.argsort(whole.scores.argmax(axis=1), kind="stable")
        for start in range(0, len(order), DRAWN_AT_ONCE):
            rows = order[start : start + DRAWN_AT_ONCE]
            yield whole.take(rows)


def _unit_rows(random: np.random.Generator, k: int, d: int) -> FloatArray:
    directions = random.standard_normal((k, d))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)  # type: ignore[no-any-return]


def _above_largest_gap(scores: FloatArray, relevant: float) -> BoolArray:
    """Labels above the largest gap among the first 2 * relevant places."""
    k = scores.shape[1]
    places = max(1, min(k - 1, round(2 * relevant - 1)))
    falling = -np.sort(-scores, axis=1)
    gaps = falling[:, :places] - falling[:, 1 : places + 1]
    last = falling[np.arange(len(scores)), gaps.argmax(axis=1)]
    above: BoolArray = scores >= last[:, None]
    return above


def join(problem: Problem) -> Drawn:
    """All rows of a problem."""
    parts = list(problem.draw())
    if not parts:
        k = problem.k
        none = np.empty((0, k))
        return Drawn(np.empty((0, problem.d)), np.empty((0, k), dtype=np.bool_), none, none)
    return Drawn(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def make_dataset(problem: Problem, n_train: int | None) -> Synthetic:
    """All rows of a problem as a data set."""
    drawn = join(problem)
    return Synthetic(
        drawn.X,
        drawn.Y,
        len(drawn.X) if n_train is None else n_train,
        name=problem.kind,
        scores=drawn.scores,
        probabilities=drawn.probabilities,
    )
