"""Edges of weak learners: normalised costs, empirical edges and the OnlineWLC condition.

A learner satisfies OnlineWLC(delta, gamma, S) (Definition 1) if for any T, with probability at
least 1 - delta::

    sum_t w_t c_t . h_t  <=  sum_t w_t c_t . u_gamma  +  S,      w_t in [0, 1], c_t in C0eor

`EdgeRecorder` wraps a learner inside any booster and keeps the four numbers per round that the
condition needs; `Record` answers for one run, `check_wlc` for runs with several seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostline.array_types import BoolArray, FloatArray
from boostline.lab.theory.binomial import failure_limit
from boostline.potentials import clipped_edge

__all__ = [
    "EdgeRecorder",
    "EmpiricalEdge",
    "Membership",
    "Record",
    "WeakLearningCheck",
    "check_wlc",
    "membership",
    "normalised",
]


class NormalisedCosts(NamedTuple):
    """d = (c - min c) / w in [0, 1]^k and its weight w = max c - min c (Equation 3)."""

    costs: FloatArray
    weight: float


def normalised(costs: ArrayLike) -> NormalisedCosts:
    """Costs as a learner gets them; equal costs carry no weight and become 0.

    Examples
    --------
    >>> normalised([-0.5, 0.25, 0.25, 0.0])
    NormalisedCosts(costs=array([0.        , 1.        , 1.        , 0.66666667]), weight=0.75)
    """
    c = np.asarray(costs, dtype=np.float64)
    low = float(c.min())
    weight = float(c.max()) - low
    return NormalisedCosts((c - low) / weight if weight > 0 else np.zeros_like(c), weight)


class Membership(NamedTuple):
    """Whether costs lie in the paper's set, and if not, why."""

    member: bool
    reason: str

    def __bool__(self) -> bool:
        return self.member


def membership(costs: ArrayLike, relevant: ArrayLike, tolerance: float = 1e-12) -> Membership:
    """Is c in C0eor: within [0, 1], no relevant label dearer than an irrelevant one, min 0, max 1?

    Examples
    --------
    >>> bool(membership([0.0, 0.4, 1.0], [True, False, False]))
    True
    >>> membership([0.5, 0.0, 1.0], [True, False, False]).reason
    'relevant label 0 costs 0.5, more than irrelevant label 1 at 0'
    """
    c, mask = np.asarray(costs, dtype=np.float64), np.asarray(relevant, dtype=bool)
    if c.shape != mask.shape or c.ndim != 1:
        raise ValueError(f"costs has shape {c.shape}, but relevant has shape {mask.shape}")
    if c.min() < -tolerance or c.max() > 1 + tolerance:
        return Membership(False, f"costs span [{c.min():g}, {c.max():g}], outside [0, 1]")
    if abs(c.min()) > tolerance:
        return Membership(False, f"the smallest cost is {c.min():g}, not 0")
    if abs(c.max() - 1) > tolerance:
        return Membership(False, f"the largest cost is {c.max():g}, not 1")
    if mask.any() and not mask.all() and c[mask].max() > c[~mask].min() + tolerance:
        worst = int(np.flatnonzero(mask)[np.argmax(c[mask])])
        best = int(np.flatnonzero(~mask)[np.argmin(c[~mask])])
        return Membership(
            False,
            f"relevant label {worst} costs {c[worst]:g}, "
            f"more than irrelevant label {best} at {c[best]:g}",
        )
    return Membership(True, "")


def _moments(
    costs: FloatArray, votes: FloatArray, relevant: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """(c.h - mean c, |Y| mean c - sum of c over Y), over the last axis.

    Then c . u_gamma = mean c - gamma * second, for every gamma <= 1/|Y|.
    """
    mean = costs.mean(axis=-1)
    advantage = (costs * votes).sum(axis=-1) - mean
    spread = relevant.sum(axis=-1) * mean - (costs * relevant).sum(axis=-1)
    return advantage, spread


class EmpiricalEdge:
    """Streaming empirical edge of one learner (Equation 9, shifted so that constants cancel).

    gamma = sum w (mean c - c.h) / sum w (|Y| mean c - sum of c over Y). For the costs of Ada.OLMR,
    which sum to 0, this is the paper's formula. The baseline u_gamma has exactly the edge gamma.

    Examples
    --------
    >>> from boostline.potentials import baseline
    >>> edge, relevant = EmpiricalEdge(), np.array([True, False, False])
    >>> edge.update([-0.5, 0.2, 0.3], baseline(relevant, 0.25), relevant)
    >>> round(edge.value, 12)
    0.25
    """

    def __init__(self) -> None:
        self.gain = 0.0
        self.weight_sum = 0.0

    def update(
        self, costs: ArrayLike, votes: ArrayLike, relevant: ArrayLike, weight: float = 1.0
    ) -> None:
        """Count one round (or a block: arrays of shape (n, k))."""
        mask = np.asarray(relevant, dtype=bool)
        advantage, spread = _moments(
            np.asarray(costs, dtype=np.float64), np.asarray(votes, dtype=np.float64), mask
        )
        self.gain -= weight * float(np.sum(advantage))
        self.weight_sum += weight * float(np.sum(spread))

    @property
    def value(self) -> float:
        """gamma_i so far, 0 before the first round with a pair."""
        return self.gain / self.weight_sum if self.weight_sum > 0 else 0.0


@dataclass(frozen=True)
class Record:
    """What OnlineWLC needs of one learner's run, one entry per round.

    Attributes
    ----------
    advantage : array (T,)
        w (c.h - mean c): negative when the votes are better than uniform ones.
    spread : array (T,)
        w (|Y| mean c - sum of c over Y): what one unit of edge is worth.
    n_relevant : array (T,)
        |Y|, for the clipped edge.
    """

    advantage: FloatArray
    spread: FloatArray
    n_relevant: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        costs: ArrayLike,
        votes: ArrayLike,
        relevant: ArrayLike,
        weights: ArrayLike | None = None,
    ) -> Record:
        """Record from arrays (T, k) and weights (T,), which are scaled to a maximum of 1.

        The paper does the same with its weights w^i[t] / w^{i*}.
        """
        c, mask = np.asarray(costs, dtype=np.float64), np.asarray(relevant, dtype=bool)
        h = np.asarray(votes, dtype=np.float64)
        if c.ndim != 2 or c.shape != h.shape or c.shape != mask.shape:
            raise ValueError(
                f"costs has shape {c.shape}, votes {h.shape} and relevant {mask.shape}, but all "
                "must be (rounds, n_labels)"
            )
        w = np.ones(len(c)) if weights is None else np.asarray(weights, dtype=np.float64)
        if w.shape != (len(c),) or (w < 0).any():
            raise ValueError(f"weights must be {len(c)} numbers >= 0")
        largest = float(w.max(initial=0.0))
        w = w / largest if largest > 0 else w
        advantage, spread = _moments(c, h, mask)
        return cls(w * advantage, w * spread, mask.sum(axis=1).astype(np.int64))

    def _edges(self, edge: float) -> FloatArray:
        clipped_edge(edge, 1)  # validates
        return np.minimum(edge, 1.0 / np.maximum(self.n_relevant, 1))

    def excess(self, edge: float) -> FloatArray:
        """Sum w c.(h - u_gamma) over every prefix 1..T: OnlineWLC asks that it be <= S."""
        return np.asarray(np.cumsum(self.advantage + self._edges(edge) * self.spread))

    def smallest_excess_loss(self, edge: float) -> float:
        """Smallest S >= 0 with which this run satisfies the condition at every prefix."""
        return max(0.0, float(self.excess(edge).max(initial=0.0)))

    def satisfies(self, edge: float, excess_loss: float) -> bool:
        """Whether the condition holds at every prefix of this run."""
        return self.smallest_excess_loss(edge) <= excess_loss

    def largest_edge(self, excess_loss: float) -> float:
        """Largest edge in [0, 1] that the run satisfies at every prefix with this S, else nan.

        Without clipping it is the minimum over T of (S - sum advantage) / sum spread. The excess
        never falls with the edge, so bisection finds it with clipping as well.

        Examples
        --------
        >>> rounds = Record(np.array([-0.2, -0.2]), np.array([0.5, 0.5]), np.array([1, 1]))
        >>> round(rounds.largest_edge(0.0), 9), round(rounds.largest_edge(0.1), 9)
        (0.4, 0.5)
        """
        return _largest(lambda edge: self.satisfies(edge, excess_loss))

    @property
    def edge(self) -> float:
        """Empirical edge over the whole run."""
        total = float(self.spread.sum())
        return -float(self.advantage.sum()) / total if total > 0 else 0.0


class _Learner(Protocol):
    def predict(self, x: Any) -> FloatArray: ...
    def learn(self, x: Any, relevant: BoolArray, costs: FloatArray, weight: float) -> None: ...


class _Log:
    """A list that only grows, and whose copies cost nothing.

    Boosters copy a learner before each round, to undo the round on an error; copying all rounds
    each time would take quadratic time. Copies share the list until one of them writes behind
    another's back.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[float, ...]] = []
        self._count = 0

    def append(self, row: tuple[float, ...]) -> None:
        if len(self._rows) > self._count:
            self._rows = self._rows[: self._count]
        self._rows.append(row)
        self._count += 1

    def rows(self) -> list[tuple[float, ...]]:
        return self._rows[: self._count]

    def __deepcopy__(self, memo: dict[int, Any]) -> _Log:
        other = _Log()
        other._rows, other._count = self._rows, self._count
        return other


class EdgeRecorder:
    """A weak learner that does what the one inside does, and remembers what OnlineWLC needs.

    Examples
    --------
    >>> class Uniform:
    ...     def predict(self, x):
    ...         return np.full(2, 0.5)
    ...     def learn(self, x, relevant, costs, weight):
    ...         pass
    >>> recorder = EdgeRecorder(Uniform())
    >>> recorder.learn(None, np.array([True, False]), np.array([0.0, 1.0]), 0.7)
    >>> recorder.record().edge == 0.0
    True
    """

    def __init__(self, learner: _Learner) -> None:
        self.learner = learner
        self._log = _Log()

    def predict(self, x: Any) -> FloatArray:
        """Votes of the learner inside."""
        return self.learner.predict(x)

    def learn(self, x: Any, relevant: BoolArray, costs: FloatArray, weight: float) -> None:
        """Record the round with the votes of the state before it, then pass it on."""
        # Asked again rather than remembered: boosters may predict for other rows in between.
        votes = np.asarray(self.learner.predict(x), dtype=np.float64)
        mask = np.asarray(relevant, dtype=bool)
        advantage, spread = _moments(np.asarray(costs, dtype=np.float64), votes, mask)
        self._log.append((float(advantage), float(spread), float(weight), float(mask.sum())))
        self.learner.learn(x, relevant, costs, weight)

    def record(self) -> Record:
        """Rounds so far, with weights scaled to a maximum of 1."""
        rows = np.array(self._log.rows(), dtype=np.float64).reshape(-1, 4)
        weight = rows[:, 2] / max(float(rows[:, 2].max(initial=0.0)), 1e-300)
        return Record(weight * rows[:, 0], weight * rows[:, 1], rows[:, 3].astype(np.int64))


@dataclass(frozen=True)
class WeakLearningCheck:
    """Verdict of `check_wlc`.

    Attributes
    ----------
    failure_rate : float
        Largest share, over the prefixes T, of the seeds whose run violates the condition at T:
        the estimate of delta in the definition ("for any T, with probability 1 - delta").
    any_prefix_rate : float
        Share of the seeds that violate it at some T, which is more than the definition forbids.
    failure_limit : float
        Upper end of a one-sided 95 % interval for the failure probability at the worst T.
    satisfied : bool
        failure_rate <= delta.
    established : bool
        failure_limit <= delta: the seeds suffice to say so with 95 % confidence.
    largest_edge : float
        Largest edge with failure_rate <= delta for this S; nan if not even edge 0 has.
    """

    delta: float
    edge: float
    excess_loss: float
    seeds: int
    failure_rate: float
    any_prefix_rate: float
    failure_limit: float
    satisfied: bool
    established: bool
    largest_edge: float


def _failure_rate(records: Sequence[Record], edge: float, excess_loss: float) -> float:
    violated = np.stack([record.excess(edge) > excess_loss for record in records])
    return float(violated.mean(axis=0).max(initial=0.0))


def check_wlc(
    records: Sequence[Record], delta: float, edge: float, excess_loss: float
) -> WeakLearningCheck:
    """Does a learner satisfy OnlineWLC(delta, gamma, S)? One record per seed, same stream.

    Examples
    --------
    >>> run = Record(np.full(50, -0.2), np.full(50, 0.5), np.ones(50, dtype=int))
    >>> verdict = check_wlc([run] * 100, delta=0.05, edge=0.3, excess_loss=0.0)
    >>> verdict.satisfied, verdict.established, round(verdict.largest_edge, 6)
    (True, True, 0.4)
    """
    if not records:
        raise ValueError("records is empty, but must have at least one run")
    if len({len(record.advantage) for record in records}) != 1:
        raise ValueError("records have different numbers of rounds, but must share one stream")
    rate = _failure_rate(records, edge, excess_loss)
    seeds = len(records)
    limit = failure_limit(round(rate * seeds), seeds)
    return WeakLearningCheck(
        delta=delta,
        edge=edge,
        excess_loss=excess_loss,
        seeds=seeds,
        failure_rate=rate,
        any_prefix_rate=float(np.mean([not r.satisfies(edge, excess_loss) for r in records])),
        failure_limit=limit,
        satisfied=rate <= delta,
        established=limit <= delta,
        largest_edge=_largest(lambda other: _failure_rate(records, other, excess_loss) <= delta),
    )


def _largest(holds: Callable[[float], bool]) -> float:
    """The largest edge in [0, 1] for which a statement holds that holds for all smaller ones; nan if for none."""
    if not holds(0.0):
        return math.nan
    if holds(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
