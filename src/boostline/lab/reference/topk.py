"""TopkBMR and TopkAdaptive: the boosters when only some labels are shown, and heard of (docs/top-k.md).

After Zhang, Jung and Tewari, "Online boosting for multilabel ranking with top-k feedback" (2019). Of m labels the k'
with the highest scores are shown; with probability rho, d of them, drawn at random, make room for d others. A is the
set that is shown. A sum over all pairs (l relevant, r irrelevant) is estimated from the pairs within A, each divided by
the probability that both its labels are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from boostline.lab.reference.boosters import AdaOLMR, Booster, Learner, OnlineBMR, Round
from boostline.lab.reference.losses import (
    BoolArray,
    FloatArray,
    Labels,
    known_sets,
    smallest_positive,
)
from boostline.lab.reference.potentials import baseline, walk_law


class TopkFeedback:
    """Who is shown, and with what probability.

    Parameters
    ----------
    n_labels, n_shown, n_swapped : int
        m, k' and d.
    exploration : float
        rho.

    >>> feedback = TopkFeedback(5, 3, 2, 0.3)
    >>> top = np.array([True, True, True, False, False])
    >>> round(float(feedback.pair_probabilities(top)[0, 3]), 12)   # .3 * 1/3 (0 stays) * 1 (3 comes)
    0.1
    """

    def __init__(self, n_labels: int, n_shown: int, n_swapped: int, exploration: float) -> None:
        self.n_labels = n_labels
        self.n_shown = n_shown
        self.n_swapped = n_swapped
        self.exploration = exploration

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

    def pair_probabilities(self, is_top: BoolArray) -> FloatArray:
        """Return P(i and j are shown) for all i != j, in closed form."""
        m, k, d, rho = self.n_labels, self.n_shown, self.n_swapped, self.exploration
        both = 1 - rho + rho * (k - d) * (k - d - 1) / (k * (k - 1))
        one = rho * (k - d) * d / (k * (m - k)) if m > k else 1.0
        none = rho * d * (d - 1) / ((m - k) * (m - k - 1)) if m > k + 1 else 1.0
        if m == k:
            both = 1.0
        n_top = is_top[:, None].astype(int) + is_top[None, :]
        probabilities: FloatArray = np.array([none, one, both])[n_top]
        return probabilities

    def weights(self, is_top: BoolArray, shown: BoolArray) -> FloatArray:
        """Return 1{i and j are shown} / P(i and j are shown)."""
        return (shown[:, None] & shown[None, :]) / self.pair_probabilities(is_top)

    def most(self) -> float:
        """Return the largest sum of weights that the pairs of one round can have, whatever is relevant."""
        is_top = np.arange(self.n_labels) < self.n_shown
        found = 0.0
        for _, shown in self.outcomes(is_top):
            w = self.weights(is_top, shown)
            labels = np.flatnonzero(shown)
            for n in range(1, len(labels)):
                for some in combinations(labels, n):
                    y = np.isin(np.arange(self.n_labels), some)
                    found = max(found, float(w[np.ix_(y, shown & ~y)].sum()))
        return found


def _uniform(seed: int, turn: int, draw: int) -> float:
    key = np.array([seed, 2], dtype=np.uint64)
    raw = int(np.random.Philox(counter=[turn, 0, draw, 0], key=key).random_raw())
    return (raw >> 11) * 2.0**-53


class TopkBooster(Booster):
    """What both share; losses are in units of m - 1 pairs, so that one relevant label gives the rank loss.

    Attributes
    ----------
    heard_weight : float
        Sum over the rounds of the weights of all pairs that were heard.
    last_shown : list
        What was shown in the last round.
    """

    feedback: TopkFeedback
    seed: int

    def __init__(self, n_labels: int, learners: Sequence[Learner]) -> None:
        super().__init__(n_labels, learners)
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
        """One round: show labels, hear of those, learn from the pairs among them."""
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
            now.closest_decision = min(now.closest_decision, smallest_positive(np.abs(d)))
        ranked = np.sort(now.scores)
        now.closest_decision = min(now.closest_decision, smallest_positive(np.diff(ranked)))
        self.t += 1
        self.last_round = now
        return now.scores


class TopkBMR(TopkBooster):
    """OnlineBMR from estimated costs, with the hinge loss and the potentials of one relevant label.

    Parameters
    ----------
    n_labels, learners, edge, margin
        As in `OnlineBMR`.
    feedback : TopkFeedback
    seed : int
        Of what is shown.
    """

    initial_weight = 1.0

    def __init__(
        self,
        n_labels: int,
        learners: Sequence[Learner],
        edge: float,
        feedback: TopkFeedback,
        seed: int = 0,
        margin: float = 1.0,
    ) -> None:
        super().__init__(n_labels, learners)
        self.edge = edge
        self.feedback = feedback
        self.seed = seed
        self.margin = margin

    _follow = OnlineBMR._follow

    def _costs(self, now: Round, relevant: BoolArray, irrelevant: BoolArray) -> FloatArray:
        one = np.arange(self.n_labels) == 0
        u = baseline(one, self.edge)  # the walk of one relevant label
        costs = np.zeros((len(self.learners), self.n_labels))
        for i, s in enumerate(now.expert_scores[:-1]):
            n = len(self.learners) - 1 - i  # still to vote
            z, law = np.arange(-n, n + 1), walk_law(n, float(u[1]), float(u[0]))
            for p in np.flatnonzero(relevant):
                for r in np.flatnonzero(irrelevant):
                    w = self.pair_weights[p, r]
                    below, here, above = (
                        np.maximum(self.margin + (s[r] - s[p]) + move + z, 0.0)
                        for move in (-1.0, 0.0, 1.0)
                    )
                    costs[i, p] += w * float(law @ (below - here))
                    costs[i, r] += w * float(law @ (above - here))
        room = costs.max(axis=1, keepdims=True) - costs[:, relevant]
        now.closest_decision = min(now.closest_decision, smallest_positive(room))
        return costs

    def _update(self, now: Round, losses: FloatArray, weight: float) -> None:
        """Nothing to move."""


class TopkAdaptive(TopkBooster):
    """Ada.OLMR from the gradient of the estimated logistic loss.

    Parameters
    ----------
    n_labels, learners, seed, expert
        As in `AdaOLMR`; the seed draws what is shown as well.
    feedback : TopkFeedback
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
        super().__init__(n_labels, learners)
        self.feedback = feedback
        self.seed = seed
        self.expert = expert
        self.expert_log_weights = np.zeros(len(self.learners))
        self.most_loss = feedback.most() / (n_labels - 1)  # G: no estimate of a round is larger

    _follow = AdaOLMR._follow

    def _costs(self, now: Round, relevant: BoolArray, irrelevant: BoolArray) -> FloatArray:
        costs = np.zeros_like(now.expert_scores)
        for i, s in enumerate(now.expert_scores):
            for p in np.flatnonzero(relevant):
                for r in np.flatnonzero(irrelevant):
                    slope = self.pair_weights[p, r] / (1.0 + np.exp(s[p] - s[r]))
                    costs[i, p] -= slope
                    costs[i, r] += slope
        return costs

    def _update(self, now: Round, losses: FloatArray, weight: float) -> None:
        slopes = (now.costs[1:] * (now.votes - now.votes[:, :1])).sum(axis=1)
        step = 2.0 * np.sqrt(2.0) / (self.most_loss * np.sqrt(self.t))  # diameter 4 over sqrt(2) G
        self.learner_weights = np.clip(self.learner_weights - weight * step * slopes, -2.0, 2.0)
        self.expert_log_weights = self.expert_log_weights - weight * losses / self.most_loss
