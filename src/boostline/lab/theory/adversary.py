"""The adversary of the optimality theorem, and simulated learners of known edge.

Label sets are uniform over all subsets but the empty and the full one; every learner votes for one
label drawn from u_{2 gamma}. By Azuma-Hoeffding such learners satisfy OnlineWLC(delta, gamma, S)
with S = k ln(1/delta) / (2 gamma), although they know no more than an edge of 2 gamma. For the
sample complexity they are useless (u_0) for the first T_0 = S / (4 gamma max(1, D)) rounds, where D is the largest
value of c . (u_0 - u_gamma) / gamma. The paper takes 1 for D, which is too little from k = 5 on (docs/theory.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostline.array_types import BoolArray, FloatArray
from boostline.losses import PairLoss, Rank
from boostline.potentials import start_potential

__all__ = [
    "Adversary",
    "SimulatedLearner",
    "Stream",
    "draw_label_sets",
    "draw_votes",
    "label_set_probabilities",
    "largest_advantage",
    "uniform_vote_loss",
]

IntArray = NDArray[np.int8]


def draw_label_sets(shape: tuple[int, ...], n_labels: int, rng: np.random.Generator) -> BoolArray:
    """Draw indicators (*shape, k), uniform over all subsets but the empty and the full one.

    Examples
    --------
    >>> sets = draw_label_sets((100,), 3, np.random.default_rng(0))
    >>> bool(sets.any(axis=1).all()), bool(sets.all(axis=1).any())
    (True, False)
    """
    if not 2 <= n_labels <= 62:
        raise ValueError(f"n_labels is {n_labels}, but must lie in 2..62")
    codes = rng.integers(1, 2**n_labels - 1, size=shape)
    return (codes[..., None] >> np.arange(n_labels)) & 1 > 0


def label_set_probabilities(n_labels: int) -> FloatArray:
    """P(|Y| = m), m = 0..k, for such label sets.

    Examples
    --------
    >>> label_set_probabilities(3)
    array([0. , 0.5, 0.5, 0. ])
    """
    counts = np.array([math.comb(n_labels, m) for m in range(n_labels + 1)], dtype=np.float64)
    counts[[0, -1]] = 0.0
    return np.asarray(counts / counts.sum(), dtype=np.float64)


def draw_votes(relevant: BoolArray, edges: ArrayLike, rng: np.random.Generator) -> IntArray:
    """Single-label votes (*shape, N): learner i draws from u^Y with the clipped edge edges[..., i].

    A negative edge favours the irrelevant labels in the same way.

    Examples
    --------
    >>> rng, relevant = np.random.default_rng(0), np.tile([True, False, False], (20_000, 1))
    >>> votes = draw_votes(relevant, [0.3], rng)
    >>> round(float((votes == 0).mean()), 2)  # a + gamma = .7 / 3 + .3
    0.53
    """
    k = relevant.shape[-1]
    size = relevant.sum(axis=-1, keepdims=True)
    g = np.asarray(edges, dtype=np.float64)
    n = g.shape[-1]
    if n > 1 and (g == g[..., :1]).all():
        g = g[..., :1]  # equal learners: the arithmetic below is done once per round
    favoured = np.where(g >= 0, size, k - size)
    strength = np.minimum(np.abs(g), 1.0 / np.maximum(favoured, 1))
    base = np.maximum(1.0 - strength * favoured, 0.0) / k
    # Inverse of the distribution function, with the relevant labels first.
    at_relevant = np.where(g >= 0, base + strength, base).astype(np.float32)
    at_others = np.where(g >= 0, base, base + strength).astype(np.float32)
    first, rest = size.astype(np.float32), (k - size).astype(np.float32)
    split = first * at_relevant
    u = rng.random((*relevant.shape[:-1], n), dtype=np.float32)
    in_relevant = np.minimum(u / np.maximum(at_relevant, 1e-30), first - np.float32(0.5))
    in_others = first + np.minimum(
        (u - split) / np.maximum(at_others, 1e-30), rest - np.float32(0.5)
    )
    place = np.where(u < split, in_relevant, in_others).astype(np.int8)
    np.minimum(place, k - 1, out=place)
    order = np.argsort(~relevant, axis=-1, kind="stable").astype(np.int8)
    # One flat look-up: much faster than take_along_axis on small last axes.
    rows = np.arange(order.size // k, dtype=np.int32).reshape((*relevant.shape[:-1], 1)) * k
    return np.asarray(order.ravel()[rows + place], dtype=np.int8)


def uniform_vote_loss(
    n_labels: int, edge: float, n_learners: int, loss: PairLoss | None = None
) -> float:
    """Exact expected loss of the uniform vote of learners that draw from u_edge.

    No booster does better against the adversary, whose learners have ``edge = 2 gamma``: this is
    the lower curve of the pictures.

    Examples
    --------
    >>> round(uniform_vote_loss(2, 0.2, 1), 12), uniform_vote_loss(2, 0.2, 100) < 0.03
    (0.4, True)
    """
    return math.fsum(
        p * start_potential(loss or Rank(), n_learners, n_labels, size, edge)
        for size, p in enumerate(label_set_probabilities(n_labels))
        if p
    )


def largest_advantage(n_labels: int) -> float:
    """Largest value of c . (u_0 - u_gamma) / gamma over label sets and costs in C0eor: |Y| |Y^c| / k at the middle.

    It is reached by costs of 1 off Y and 0 on Y.

    Examples
    --------
    >>> largest_advantage(2), largest_advantage(20)
    (0.5, 5.0)
    """
    return (n_labels // 2) * ((n_labels + 1) // 2) / n_labels


class SimulatedLearner:
    """One column of a stream's votes as a weak learner: x[0] is the number of the round."""

    votes_single_label = True  # so that boosters accept the rank loss

    def __init__(self, votes: IntArray, n_labels: int) -> None:
        self.votes = votes
        self.n_labels = n_labels

    def predict(self, x: ArrayLike) -> FloatArray:
        """Vote that the adversary chose for round x[0], whatever was learned."""
        h = np.zeros(self.n_labels)
        h[self.votes[int(np.asarray(x, dtype=np.float64).ravel()[0])]] = 1.0
        return h

    def learn(self, x: ArrayLike, relevant: BoolArray, costs: FloatArray, weight: float) -> None:
        """Nothing: what it knows does not depend on the costs."""

    def grow_labels(self, n_labels: int) -> None:
        """Make room for labels that come later in the stream."""
        self.n_labels = n_labels

    def __deepcopy__(self, memo: dict[int, Any]) -> SimulatedLearner:
        """Itself: rounds do not change it, and boosters copy learners before each round."""
        return self


@dataclass(frozen=True)
class Stream:
    """Rounds of an adversary: ``X`` (T, 1) holds t, ``relevant`` (T, k), ``votes`` (T, N)."""

    relevant: BoolArray
    votes: IntArray

    @property
    def X(self) -> FloatArray:
        """Features: the number of the round, all that the simulated learners look at."""
        return np.arange(len(self.relevant), dtype=np.float64)[:, None]

    def learners(self) -> list[SimulatedLearner]:
        """Weak learners that any booster of the package accepts."""
        k = self.relevant.shape[1]
        return [SimulatedLearner(self.votes[:, i], k) for i in range(self.votes.shape[1])]

    def __iter__(self) -> Iterator[tuple[FloatArray, BoolArray]]:
        return zip(self.X, self.relevant, strict=True)


@dataclass(frozen=True)
class Adversary:
    """The construction in the proof of the optimality theorem.

    Parameters
    ----------
    n_labels, edge, n_learners
        k, gamma and N; u_{2 gamma} is a distribution for every label set if gamma <= 1 / (2 (k - 1)). (The paper asks
        for 1/(2k) in the theorem and 1/(4k) in its appendix.)
    delta
        Of OnlineWLC.
    excess_loss
        S; by default the smallest one of the theorem, k ln(1/delta) / gamma.
    warm_up
        True for the variant of the sample complexity: u_0 for the first `useless_rounds`.

    Examples
    --------
    >>> adversary = Adversary(n_labels=3, edge=0.05, n_learners=10, delta=0.01)
    >>> stream = adversary.stream(rounds=100, seed=0)
    >>> stream.votes.shape, round(adversary.S, 1)
    ((100, 10), 276.3)
    """

    n_labels: int
    edge: float
    n_learners: int
    delta: float = 0.01
    excess_loss: float | None = None
    warm_up: bool = False

    def __post_init__(self) -> None:
        most = 1 / (2 * (self.n_labels - 1))
        if not 0 < self.edge <= most:
            raise ValueError(
                f"edge is {self.edge}, but must lie in (0, 1 / (2 (n_labels - 1))] = (0, {most:g}]: "
                "the learners vote with twice the edge"
            )
        if self.S / self._smallest < 1 - 1e-12:
            raise ValueError(
                f"excess_loss is {self.excess_loss}, but the theorem needs at least "
                f"n_labels ln(1/delta) / edge = {self._smallest:g}"
            )

    @property
    def _smallest(self) -> float:
        return self.n_labels * math.log(1 / self.delta) / self.edge

    @property
    def S(self) -> float:
        """Excess loss of OnlineWLC."""
        return self._smallest if self.excess_loss is None else self.excess_loss

    @property
    def useless_rounds(self) -> int:
        """T_0, 0 without the warm-up."""
        if not self.warm_up:
            return 0
        return int(self.S / (4 * self.edge * max(1.0, largest_advantage(self.n_labels))))

    def stream(self, rounds: int, seed: int) -> Stream:
        """Draw label sets and votes."""
        rng = np.random.default_rng(seed)
        relevant = draw_label_sets((rounds,), self.n_labels, rng)
        edges = np.full((rounds, self.n_learners), 2 * self.edge)
        edges[: self.useless_rounds] = 0.0
        return Stream(relevant, draw_votes(relevant, edges, rng))
