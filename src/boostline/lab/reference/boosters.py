"""The online boosting schema (Algorithm 1), OnlineBMR (Algorithm 2) and Ada.OLMR (Algorithm 3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np

from boostline.lab.reference.edge_search import EdgeSearch
from boostline.lab.reference.losses import (
    BoolArray,
    FloatArray,
    Labels,
    gaps,
    known_sets,
    logistic_gradient,
    rank_loss,
    smallest_positive,
)
from boostline.lab.reference.potentials import PotentialLoss, potential, potential_costs

Expert: TypeAlias = Literal["draw", "weighted", "best", "last"]


class Learner(Protocol):
    """A weak learner: votes with a distribution over the labels, then hears what each cost."""

    def predict(self, x: FloatArray) -> FloatArray:
        """Return the votes h (k,), non-negative with sum 1."""

    def learn(self, x: FloatArray, relevant: BoolArray, costs: FloatArray, weight: float) -> None:
        """Learn from one example: costs in [0, 1]^k, importance weight >= 0."""


@dataclass
class Round:
    """All that happened in one round of the schema, for inspection.

    `expert_scores[j]` is s^j (row 0 is s^0 = 0), `costs[i - 1]` is c^i and `followed` is i_t in
    1..N, so that s^{i_t} is `expert_scores[followed]` (None if no single expert was followed).
    """

    votes: FloatArray  # h^i (N, k)
    expert_scores: FloatArray  # s^j (N + 1, k)
    followed: int | None  # i_t
    scores: FloatArray  # the final decision (k,)
    costs: FloatArray  # c^i raw: (N, k) for OnlineBMR, (N + 1, k) for Ada.OLMR
    normalised_costs: FloatArray  # d^i (N, k), what the learners were given
    weights: FloatArray  # w^i[t] times the importance of the example (N,), likewise
    closest_decision: (
        float  # how near the nearest decision of the booster came to falling otherwise
    )


class Booster(ABC):
    """Algorithm 1. A subclass says how to choose an expert, what to charge, what to update.

    Attributes
    ----------
    t : int
        The clock: the number of the round at hand, from 1.
    learner_weights : array (N,)
        alpha^i_t.
    expert_losses : array (N,)
        M_i, the sum of the rank losses of experts 1..N (times the importance of the examples).
    weight_sums : array (N,)
        ||w^i||_1, the denominators of the empirical edges.
    max_weights : array (N,)
        w^{i*}, the largest max - min of the raw costs of learner i in any round.
    last_round : Round or None
    """

    initial_weight: float  # alpha^i_1

    def __init__(self, n_labels: int, learners: Sequence[Learner]) -> None:
        self.n_labels = n_labels
        self.learners = list(learners)
        n = len(self.learners)
        self.t = 1
        self.learner_weights = np.full(n, self.initial_weight)  # line 1
        self.expert_losses = np.zeros(n)
        self.weight_sums = np.zeros(n)
        self.max_weights = np.zeros(n)
        self.last_round: Round | None = None
        self._edge_sums = np.zeros(n)

    def _predict(self, x: FloatArray) -> Round:
        """Lines 3 to 7: gather the votes, accumulate them, follow an expert."""
        k = self.n_labels
        votes = np.array([learner.predict(x) for learner in self.learners], dtype=np.float64)
        expert_scores = np.zeros((len(votes) + 1, k))
        for j, h in enumerate(votes):
            expert_scores[j + 1] = expert_scores[j] + self.learner_weights[j] * h
        followed, scores, closest = self._follow(expert_scores)
        nothing = np.zeros_like(votes)
        no_weights = np.zeros(len(votes))
        return Round(votes, expert_scores, followed, scores, nothing, nothing, no_weights, closest)

    def score(self, x: FloatArray) -> FloatArray:
        """Return the final decision on x; nothing changes."""
        return self._predict(x).scores

    def learn(
        self,
        x: FloatArray,
        relevant: Labels,
        weight: float = 1.0,
        unknown: Labels | None = None,
    ) -> FloatArray:
        """One round of the schema; returns the scores given before the labels were revealed."""
        y, z = known_sets(relevant, unknown, self.n_labels)
        now = self._predict(x)  # lines 3 to 7
        now.costs = self._costs(now, y, z)  # line 10, all 0 if there is no pair to rank
        if y.any() and z.any():  # otherwise there is nothing to learn
            self._teach(now, x, y, weight, int(y.sum()))
            losses = rank_loss(now.expert_scores[1:], y, z)
            self.expert_losses += weight * losses
            self._update(now, losses, weight)  # lines 9 and 13
            now.closest_decision = min(
                now.closest_decision, smallest_positive(np.abs(gaps(now.expert_scores, y, z)))
            )
        self.t += 1
        self.last_round = now
        return now.scores

    def _teach(
        self, now: Round, x: FloatArray, y: BoolArray, weight: float, n_relevant: int
    ) -> None:
        """Line 12: the learners learn; what the empirical edges are made of is added up."""
        for i, learner in enumerate(self.learners):
            c, h = now.costs[i], now.votes[i]
            spread = c.max() - c.min()  # w^i[t], and d^i by eq. normalizedCost
            if spread > 0:
                now.normalised_costs[i] = (c - c.min()) / spread
                now.weights[i] = spread * weight
            mean = c.mean()  # 0 for Ada.OLMR
            self._edge_sums[i] += weight * (mean - c @ h)
            self.weight_sums[i] += weight * (n_relevant * mean - c[y].sum())
            self.max_weights[i] = max(self.max_weights[i], spread)
            learner.learn(x, y, now.normalised_costs[i], float(now.weights[i]))

    def edges(self) -> FloatArray:
        """Return the empirical edges gamma_i (eq. empiricalEdge), 0 before there is evidence."""
        edges = np.zeros(len(self.learners))
        np.divide(self._edge_sums, self.weight_sums, out=edges, where=self.weight_sums != 0)
        return edges

    @abstractmethod
    def _follow(self, expert_scores: FloatArray) -> tuple[int | None, FloatArray, float]:
        """Return i_t, the final decision, and how nearly another expert was chosen."""

    @abstractmethod
    def _costs(self, now: Round, relevant: BoolArray, irrelevant: BoolArray) -> FloatArray:
        """Return the raw cost vectors c^1, c^2, ..."""

    @abstractmethod
    def _update(self, now: Round, losses: FloatArray, weight: float) -> None:
        """Move the booster's own parameters; `losses` are the rank losses of experts 1..N."""


class OnlineBMR(Booster):
    """Algorithm 2: simple cumulative votes; costs are potentials (known edge).

    Parameters
    ----------
    n_labels : int
    learners : sequence of Learner
    edge : float or "auto"
        gamma, cut to 1/|Y| for each example; "auto" learns it (ours, see `EdgeSearch`).
    loss : {"hinge", "rank"}
        The loss under the potentials. Rank loss is not convex, so its bound needs votes for
        single labels; other votes are refused.
    margin : float
        The 1 in the paper's hinge loss.

    Attributes
    ----------
    promised_loss, assumed_gain : float
        Sums over the rounds of phi^N_t(0), and of gamma_t, cut to 1 / |Y_t|, times the weights of all learners.

    >>> class Stubborn:   # it always votes for label 0
    ...     def predict(self, x): return np.array([1.0, 0.0])
    ...     def learn(self, x, relevant, costs, weight): pass
    >>> model = OnlineBMR(2, [Stubborn(), Stubborn()], edge=0.5, loss="rank")
    >>> model.learn(np.zeros(1), {0}).tolist()
    [2.0, 0.0]
    >>> model.last_round.costs.tolist()   # of phi^1 at s = 0, then of phi^0 at s = e_0
    [[-0.125, 0.375], [0.0, 0.5]]
    """

    initial_weight = 1.0

    def __init__(
        self,
        n_labels: int,
        learners: Sequence[Learner],
        edge: float | Literal["auto"],
        loss: PotentialLoss = "hinge",
        margin: float = 1.0,
    ) -> None:
        super().__init__(n_labels, learners)
        self.search = EdgeSearch(len(self.learners), loss, margin) if edge == "auto" else None
        self._edge = 0.0 if edge == "auto" else edge
        self.loss: PotentialLoss = loss
        self.margin = margin
        self.promised_loss = self.assumed_gain = 0.0

    @property
    def edge(self) -> float:
        """gamma, or gamma_t of the round to come."""
        return self._edge if self.search is None else self.search.edge

    def learn(
        self,
        x: FloatArray,
        relevant: Labels,
        weight: float = 1.0,
        unknown: Labels | None = None,
    ) -> FloatArray:
        """As in the schema; the round's promise is added up, then the edge may move."""
        before = self.weight_sums.sum()
        scores = super().learn(x, relevant, weight, unknown)
        y, z = known_sets(relevant, unknown, self.n_labels)
        if y.any() and z.any():
            size, n = int(y.sum()), len(self.learners)
            start = potential(self.loss, n, np.zeros(self.n_labels), y, self.edge, self.margin, z)
            self.promised_loss += weight * float(start)
            self.assumed_gain += min(self.edge, 1.0 / size) * float(self.weight_sums.sum() - before)
            if self.search is not None and self.last_round is not None:
                self.search.learn(y, self.last_round.costs, weight)
        if self.search is not None:
            self.search.end_round(self.t - 1)
        return scores

    def _follow(self, expert_scores: FloatArray) -> tuple[int | None, FloatArray, float]:
        return len(self.learners), expert_scores[-1], np.inf  # line 6: i_t = N

    def _costs(self, now: Round, relevant: BoolArray, irrelevant: BoolArray) -> FloatArray:
        if self.loss == "rank" and not ((now.votes == 0) | (now.votes == 1)).all():
            raise ValueError(
                "loss is 'rank', but a learner spread its votes: rank loss is not convex, so its "
                "potentials need single-label votes; use loss='hinge'"
            )
        n = len(self.learners)
        costs = np.array(  # line 10: c^i[l] = phi^{N-i}(s^{i-1} + e_l), less phi^{N-i}(s^{i-1})
            [
                potential_costs(
                    self.loss,
                    n - i,
                    now.expert_scores[i - 1],
                    relevant,
                    self.edge,
                    self.margin,
                    irrelevant,
                )
                for i in range(1, n + 1)
            ]
        )
        # Whether a relevant label is taught at all hangs on max - c[l] being 0 or a little more.
        room = costs.max(axis=1, keepdims=True) - costs[:, relevant]
        now.closest_decision = min(now.closest_decision, smallest_positive(room))
        return costs

    def _update(self, now: Round, losses: FloatArray, weight: float) -> None:
        """Lines 9 and 13: the weights stay 1, and there are no other parameters."""


class AdaOLMR(Booster):
    """Algorithm 3: logistic costs, online gradient descent on the weights, Hedge on the experts.

    Parameters
    ----------
    n_labels : int
    learners : sequence of Learner
    seed : int
        Key of the generator that draws i_t; the clock is its counter.
    expert : {"draw", "weighted", "best", "last"}
        Follow an expert drawn by its Hedge weight (the paper's), the average of the experts'
        scores with these weights, the expert of the largest weight, or the last one.
    steps : {"paper", "adagrad"}
        How far the weights move: by slope / sqrt(t), or (ours) 2 sqrt(2) slope / sqrt(sum of slope^2).

    Attributes
    ----------
    expert_log_weights : array (N,)
        log v^i_t.
    slope_squares, spread_sums : array (N,)
        With AdaGrad: the sums of slope^2, and of p (1 - p) (h[l] - h[r])^2 over all pairs, p the sigmoid of
        s[r] - s[l].

    >>> class Stubborn:   # it always votes for label 0
    ...     def predict(self, x): return np.array([1.0, 0.0])
    ...     def learn(self, x, relevant, costs, weight): pass
    >>> model = AdaOLMR(2, [Stubborn()], seed=0)
    >>> _ = model.learn(np.zeros(1), {1})   # wrong: f' = c^2 . h = 1/2, and t = 1
    >>> model.learner_weights.tolist(), model.expert_log_weights.tolist()
    ([-0.5], [-0.5])
    """

    initial_weight = 0.0

    def __init__(
        self,
        n_labels: int,
        learners: Sequence[Learner],
        seed: int,
        expert: Expert = "draw",
        steps: Literal["paper", "adagrad"] = "paper",
    ) -> None:
        super().__init__(n_labels, learners)
        if expert not in ("draw", "weighted", "best", "last"):
            raise ValueError(
                f"expert is {expert!r}, but must be 'draw', 'weighted', 'best', 'last'"
            )
        self.seed = seed
        self.expert: Expert = expert
        self.steps = steps
        self.expert_log_weights, self.slope_squares, self.spread_sums = np.zeros(
            (3, len(self.learners))
        )

    def learn(
        self,
        x: FloatArray,
        relevant: Labels,
        weight: float = 1.0,
        unknown: Labels | None = None,
    ) -> FloatArray:
        """As in the schema; with AdaGrad's steps the spread of the votes is added up for the bound."""
        scores = super().learn(x, relevant, weight, unknown)
        y, z = known_sets(relevant, unknown, self.n_labels)
        if self.steps == "adagrad" and self.last_round is not None and y.any() and z.any():
            d = gaps(self.last_round.expert_scores[:-1], y, z)
            b = gaps(self.last_round.votes, y, z)
            sigmoid = 0.5 * (1.0 + np.tanh(d / 2.0))
            self.spread_sums += weight * (sigmoid * (1 - sigmoid) * b**2).mean(axis=(1, 2))
        return scores

    def _follow(self, expert_scores: FloatArray) -> tuple[int | None, FloatArray, float]:
        log_v = self.expert_log_weights
        p = np.exp(log_v - log_v.max())  # v itself would underflow
        if self.expert == "weighted":
            return None, p @ expert_scores[1:] / p.sum(), np.inf
        if self.expert == "last":
            return len(p), expert_scores[-1], np.inf
        if self.expert == "best":
            best = int(np.argmax(log_v))
            return best + 1, expert_scores[best + 1], smallest_positive(log_v[best] - log_v)
        # Line 6, P(i_t = i) proportional to v^i, from a generator that is keyed by (seed, t).
        raw = int(np.random.Philox(counter=self.t, key=self.seed).random_raw())
        u = (raw >> 11) * 2.0**-53
        cumulative = np.cumsum(p)
        i = int(np.argmax(cumulative > u * cumulative[-1]))
        near = np.abs(cumulative[:-1] / cumulative[-1] - u).min(initial=np.inf)
        return i + 1, expert_scores[i + 1], float(near)

    def _costs(self, now: Round, relevant: BoolArray, irrelevant: BoolArray) -> FloatArray:
        return logistic_gradient(now.expert_scores, relevant, irrelevant)  # line 10, and c^{N+1}

    def _update(self, now: Round, losses: FloatArray, weight: float) -> None:
        # f'_i = c^{i+1} . h^i. Costs sum to 0, so a constant may be taken from the votes: then a
        # uniform vote gives 0 and not 1e-17, whose sign would rank all labels in the next round.
        slopes = (now.costs[1:] * (now.votes - now.votes[:, :1])).sum(axis=1)
        if self.steps == "paper":
            moved = self.learner_weights - weight * slopes / np.sqrt(self.t)  # line 9
        else:
            self.slope_squares += (weight * slopes) ** 2
            root = np.sqrt(np.where(self.slope_squares > 0, self.slope_squares, 1.0))
            moved = self.learner_weights - 2 * np.sqrt(2) * weight * slopes / root
        self.learner_weights = np.clip(moved, -2.0, 2.0)  # F = [-2, 2]
        self.expert_log_weights = self.expert_log_weights - weight * losses  # line 13
