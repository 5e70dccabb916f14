"""Top-k feedback, after Zhang, Jung and Tewari, "Online boosting for multilabel ranking with top-k feedback" (2019).

Of m labels the k' with the highest scores are shown; with probability rho, d of them, drawn at random, make room for d
others. A is the set that is shown, and feedback covers its labels only. A sum over all pairs (l relevant, r irrelevant)
is estimated from the pairs within A, each divided by the probability that both its labels are shown. docs/top-k.md has
the proofs; `boostline.Explorer` is the model to use.

>>> from boostline.lab.reference import HoeffdingTree
>>> trees = [HoeffdingTree(5, 3, 0.1, 0.5, 1.0, features=[i]) for i in range(5)]
>>> model = TopkBMR(5, trees, edge=0.1, feedback=TopkFeedback(5, n_shown=3, exploration=0.4))
>>> for x in np.random.default_rng(0).normal(size=(300, 5)):
...     _ = model.learn(x, x > 0.5)
>>> int(model.score(np.array([2.0, -1.0, -1.0, -1.0, -1.0])).argmax())
0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from boostline import losses, potentials
from boostline.contract.numbers import real_number, whole_number
from boostline.lab.reference.boosters import AdaOLMR, Booster, Learner, OnlineBMR, Round
from boostline.lab.reference.losses import BoolArray, FloatArray, Labels, known_sets

__all__ = ["TopkAdaptive", "TopkBMR", "TopkBooster", "TopkFeedback"]


class TopkFeedback:
    """Which labels are shown, and with what probability.

    Parameters
    ----------
    n_labels, n_shown
        m and k'.
    n_swapped
        d. By default the number with which the rarest pair is shown most often, if rho is small.
    exploration
        rho.

    >>> feedback = TopkFeedback(5, 3, 2, 0.3)
    >>> top = np.array([True, True, True, False, False])
    >>> round(float(feedback.pair_probabilities(top)[0, 3]), 12)   # .3 * 1/3 (0 stays) * 1 (3 comes)
    0.1
    """

    def __init__(
        self,
        n_labels: int,
        n_shown: int = 3,
        n_swapped: int | None = None,
        exploration: float = 0.02,
    ) -> None:
        self.n_labels = n_labels
        self.n_shown = whole_number(n_shown, "n_shown", 2, n_labels)
        self.exploration = real_number(exploration, "exploration", 0.0, 1.0, open_low=True)
        if exploration == 1.0:
            raise ValueError(
                "exploration is 1, but must be below 1: else the best labels are never shown together"
            )
        others = n_labels - n_shown
        least, most = min(2, others), min(n_shown - 1, others)
        if most < least:
            raise ValueError(
                f"n_shown is {n_shown}, but must be at least 3 with {n_labels} labels, so that every pair can be shown"
            )
        sizes = range(least, most + 1)
        if n_swapped is None:
            self.n_swapped = max(sizes, key=lambda d: (self._rarest_swap(d), -d))
        elif n_swapped in sizes:
            self.n_swapped = n_swapped
        else:
            raise ValueError(
                f"n_swapped is {n_swapped}, but must be between {least} and {most} if {n_shown} of {n_labels} labels "
                "are shown, so that every pair can be shown"
            )

    def _rarest_swap(self, d: int) -> float:
        """The smaller of p_1 and p_0, up to a factor; p_2 is smaller only if rho is near 1."""
        k, others = self.n_shown, self.n_labels - self.n_shown
        one = (k - d) * d / k
        return min(one, d * (d - 1.0) / (others - 1.0)) if others > 1 else one

    def top(self, scores: FloatArray) -> list[int]:
        """Return the k' labels with the highest scores, best first, ties by label."""
        order = np.lexsort((np.arange(len(scores)), -scores))
        return [int(label) for label in order[: self.n_shown]]

    def draw(self, scores: FloatArray, seed: int, turn: int) -> tuple[list[int], BoolArray]:
        """Return the labels that are shown, and which of all labels are among the top k'."""
        shown = self.top(scores)
        is_top = np.isin(np.arange(self.n_labels), shown)
        others = np.flatnonzero(~is_top).tolist()
        if self.n_swapped and _uniform(seed, turn, 0) < self.exploration:
            places = list(range(self.n_shown))
            for i in range(self.n_swapped):
                j = i + int(_uniform(seed, turn, 1 + 2 * i) * (len(places) - i))
                places[i], places[j] = places[j], places[i]
                j = i + int(_uniform(seed, turn, 2 + 2 * i) * (len(others) - i))
                others[i], others[j] = others[j], others[i]
                shown[places[i]] = others[i]
        return shown, is_top

    def outcomes(self, is_top: BoolArray) -> Iterator[tuple[float, BoolArray]]:
        """Yield every set A that may be shown, with its probability: what `draw` draws from."""
        yield 1.0 - self.exploration if self.n_swapped else 1.0, is_top
        if not self.n_swapped:
            return
        out = list(combinations(np.flatnonzero(is_top), self.n_swapped))
        come = list(combinations(np.flatnonzero(~is_top), self.n_swapped))
        for away in out:
            for instead in come:
                shown = is_top.copy()
                shown[list(away)] = False
                shown[list(instead)] = True
                yield self.exploration / (len(out) * len(come)), shown

    @property
    def probabilities(self) -> tuple[float, float, float]:
        """Probabilities p_2, p_1, p_0 that both labels of a pair are shown: both, one, none of them in the top k'.

        >>> [round(p, 12) for p in TopkFeedback(6, 3, 2, 0.3).probabilities]   # p_0: .3 * 2 / (3 * 2)
        [0.7, 0.066666666667, 0.1]
        """
        m, k, d, rho = self.n_labels, self.n_shown, self.n_swapped, self.exploration
        if m == k:
            return 1.0, 1.0, 1.0
        both = 1 - rho + rho * (k - d) * (k - d - 1) / (k * (k - 1))
        one = rho * (k - d) * d / (k * (m - k))
        none = rho * d * (d - 1) / ((m - k) * (m - k - 1)) if m > k + 1 else 1.0
        return both, one, none

    def pair_probabilities(self, is_top: BoolArray) -> FloatArray:
        """Return P(i and j are shown) for all i != j."""
        n_top = is_top[:, None].astype(int) + is_top[None, :]
        found: FloatArray = np.array(self.probabilities[::-1])[n_top]
        return found

    def weights(self, is_top: BoolArray, shown: BoolArray) -> FloatArray:
        """Return 1{i and j are shown} / P(i and j are shown)."""
        return (shown[:, None] & shown[None, :]) / self.pair_probabilities(is_top)

    def most(self) -> float:
        """Return the largest sum of weights that the pairs of one round can have, whatever is relevant."""
        both, one, none = self.probabilities
        k, d = self.n_shown, self.n_swapped
        found = [a * (k - a) / both for a in range(k + 1)]
        for a in range(k - d + 1):  # relevant ones of those that stayed, and of those that came
            for b in range(d + 1):
                mixed = a * (d - b) + (k - d - a) * b
                found.append(a * (k - d - a) / both + mixed / one + b * (d - b) / none)
        return max(found)


def _uniform(seed: int, turn: int, draw: int) -> float:
    key = np.array([seed, 2], dtype=np.uint64)
    raw = int(np.random.Philox(counter=[turn, 0, draw, 0], key=key).random_raw())
    return (raw >> 11) * 2.0**-53


class TopkBooster(Booster):
    """What both share; losses are in units of m - 1 pairs, so that one relevant label gives the rank loss.

    Attributes
    ----------
    heard_weight : float
        Sum over the rounds of the weights of all pairs that were observed.
    suffered_loss : float
        Sum of the estimated losses of the scores that were given.
    last_shown : list
        What was shown in the last round.
    """

    def __init__(
        self, n_labels: int, learners: Sequence[Learner], feedback: TopkFeedback, seed: int
    ) -> None:
        super().__init__(n_labels, learners)
        self.feedback = feedback
        self.seed = seed
        self.heard_weight = 0.0
        self.suffered_loss = 0.0
        self.last_shown: list[int] = []

    def learn(
        self,
        x: FloatArray,
        relevant: Labels,
        weight: float = 1.0,
        unknown: Labels | None = None,
    ) -> FloatArray:
        """One round: show labels, observe those, learn from the pairs among them."""
        y, z = known_sets(relevant, unknown, self.n_labels)
        now = self._predict(x)
        self.last_shown, is_top = self.feedback.draw(now.scores, self.seed, self.t - 1)
        shown = np.isin(np.arange(self.n_labels), self.last_shown)
        y, z = y & shown, z & shown
        self.pair_weights = self.feedback.weights(is_top, shown) / (self.n_labels - 1)
        if y.any() and z.any():
            now.costs = self._costs(now, y, z)
            self._teach(now, x, y, weight, n_relevant=1)  # as if |Y| were 1
            w = self.pair_weights[np.ix_(y, z)]
            d = now.expert_scores[:, None, z] - now.expert_scores[:, y, None]
            losses = (w * ((d > 0) + 0.5 * (d == 0))).sum(axis=(1, 2))[1:]  # estimates
            self.expert_losses += weight * losses
            self.suffered_loss += weight * float(losses[(now.followed or len(losses)) - 1])
            self.heard_weight += weight * float(w.sum())
            self._update(now, losses, weight)
        self.t += 1
        self.last_round = now
        return now.scores


class TopkBMR(TopkBooster):
    """OnlineBMR from estimated costs, with the potentials of one relevant label.

    Parameters
    ----------
    n_labels, learners, edge
        As in `boostline.lab.reference.OnlineBMR`.
    feedback, seed
        What is shown, and the seed of its draws.
    loss
        The loss of the potentials, a convex loss of pairs: only then are those of one relevant label the largest.
    """

    initial_weight = 1.0

    def __init__(
        self,
        n_labels: int,
        learners: Sequence[Learner],
        edge: float,
        feedback: TopkFeedback,
        seed: int = 0,
        loss: str | losses.Loss = "hinge",
    ) -> None:
        super().__init__(n_labels, learners, feedback, seed)
        found = losses.get(loss)
        if not (isinstance(found, losses.PairLoss) and found.convex):
            raise ValueError(f"loss is {found.name!r}, but must be a convex loss of pairs")
        self.edge = edge
        self.loss = found
        walk = (found, len(self.learners), n_labels, 1, edge)
        self._steps = potentials.step_table(*walk)
        self._start = potentials.start_potential(*walk)

    @property
    def promised_loss(self) -> float:
        """Estimate of what the potentials promise for the examples so far, if all learners have the edge."""
        return self.heard_weight * self._start

    _follow = OnlineBMR._follow

    def _costs(self, now: Round, relevant: BoolArray, irrelevant: BoolArray) -> FloatArray:
        """c^{i+1}[l] = phi^{N-i-1}(s^i + e_l) - phi^{N-i-1}(s^i), phi the estimate."""
        costs = np.zeros((len(self.learners), self.n_labels))
        w = self.pair_weights[np.ix_(relevant, irrelevant)]
        for i, s in enumerate(now.expert_scores[:-1]):
            n = len(self.learners) - 1 - i  # still to vote
            d = s[irrelevant][None, :] - s[relevant][:, None]
            costs[i, relevant] = -(w * self._steps.at(n, d - 1.0)).sum(axis=1)
            costs[i, irrelevant] = (w * self._steps.at(n, d)).sum(axis=0)
        return costs

    def _update(self, now: Round, losses: FloatArray, weight: float) -> None:
        """Nothing to move."""


class TopkAdaptive(TopkBooster):
    """Ada.OLMR from the gradient of the estimated logistic loss.

    Parameters
    ----------
    n_labels, learners, expert
        As in `boostline.lab.reference.AdaOLMR`, without the mean of the experts.
    feedback, seed
        As in `TopkBMR`; the seed draws the experts as well.
    """

    initial_weight = 0.0

    def __init__(
        self,
        n_labels: int,
        learners: Sequence[Learner],
        feedback: TopkFeedback,
        seed: int = 0,
        expert: str = "draw",
    ) -> None:
        super().__init__(n_labels, learners, feedback, seed)
        if expert not in ("draw", "best", "last"):
            raise ValueError(f"expert is {expert!r}, but must be 'draw', 'best' or 'last'")
        self.expert = expert
        self.expert_log_weights = np.zeros(len(self.learners))
        self.most_loss = feedback.most() / (n_labels - 1)  # G: no estimate of a round is larger

    _follow = AdaOLMR._follow

    def _costs(self, now: Round, relevant: BoolArray, irrelevant: BoolArray) -> FloatArray:
        s = now.expert_scores
        d = s[:, None, irrelevant] - s[:, relevant, None]
        slopes = self.pair_weights[np.ix_(relevant, irrelevant)] / (1.0 + np.exp(-d))
        costs = np.zeros_like(s)
        costs[:, relevant] = -slopes.sum(axis=2)
        costs[:, irrelevant] = slopes.sum(axis=1)
        return costs

    def _update(self, now: Round, losses: FloatArray, weight: float) -> None:
        slopes = (now.costs[1:] * (now.votes - now.votes[:, :1])).sum(axis=1)
        step = 2.0 * np.sqrt(2.0) / (self.most_loss * np.sqrt(self.t))  # diameter 4 over sqrt(2) G
        self.learner_weights = np.clip(self.learner_weights - weight * step * slopes, -2.0, 2.0)
        self.expert_log_weights = self.expert_log_weights - weight * losses / self.most_loss
