"""OnlineBMR and its certificate, computed again from the definitions alone, while labels are added.

Nothing here calls the library's losses, potentials, costs or metrics: potentials are sums over all outcomes of a walk,
losses are sums over pairs. The library has to suffer the same loss, print the same certificate, and keep it.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

import boostline as bl
from boostline.lab.theory import bounds

PAIR = {
    "rank": lambda d: 1.0 if d > 0 else 0.5 if d == 0 else 0.0,
    "hinge": lambda d: max(0.0, 1.0 + d),
}


class Fixed:
    """Votes as it was told, whatever the row; row t is [t]."""

    def __init__(self, votes, single):
        self.votes, self.votes_single_label, self.n = votes, single, 2

    def predict(self, x):
        return self.votes[int(x[0])][: self.n]

    def learn(self, x, relevant, costs, weight):
        pass

    def grow_labels(self, n_labels):
        self.n = n_labels

    def grow_features(self, n_features):
        pass

    def get_state(self):
        return {"n": self.n}

    def set_state(self, state):
        self.n = state["n"]


def potential(loss, n, d, k, size, edge):
    """Expected loss of a pair that is d apart after n more votes drawn from u_edge."""
    irrelevant = (1.0 - edge * size) / k
    steps = {-1: irrelevant + edge, 0: 1.0 - 2.0 * irrelevant - edge, 1: irrelevant}
    at = {d: 1.0}
    for _ in range(n):
        after: dict[float, float] = {}
        for (place, p), (step, q) in itertools.product(at.items(), steps.items()):
            after[place + step] = after.get(place + step, 0.0) + p * q
        at = after
    return sum(p * PAIR[loss](place) for place, p in at.items())


def mean_over_pairs(value, s, relevant):
    yes, no = np.flatnonzero(relevant), np.flatnonzero(~relevant)
    return sum(value(s[b] - s[a]) for a in yes for b in no) / (len(yes) * len(no))


def stream(seed):
    """Rounds with 2 labels at first and more later; votes that are better than guessing, or worse."""
    rng = np.random.default_rng(seed)
    sizes = np.cumsum([2, *rng.integers(1, 3, size=2)])
    n, single = int(rng.integers(2, 6)), bool(seed % 2)
    rows, votes = [], [[] for _ in range(n)]
    lean = rng.uniform(-0.2, 0.7, size=n)
    for k in np.repeat(sizes, 6):
        relevant = rng.random(k) < 0.4
        if rng.random() < 0.9:  # a pair to rank
            relevant[rng.permutation(k)[:2]] = True, False
        rows.append(relevant)
        for i in range(n):
            weights = rng.random(k) + lean[i] * relevant
            weights = np.maximum(weights, 1e-3) ** 3
            vote = np.eye(k)[int(weights.argmax())] if single else weights / weights.sum()
            votes[i].append(vote)
    return rows, votes, single


def certificate(rows, votes, loss, edges):
    """Suffered rank loss and the loss of the potentials, and sum phi_t(0) + sum_i (gamma_t D_it - n_it)."""
    rank = of_loss = certified = 0.0
    for t, (relevant, edge) in enumerate(zip(rows, edges, strict=True)):
        k, size, n = len(relevant), int(relevant.sum()), len(votes)
        if size in (0, k):
            continue
        cut = min(edge, 1.0 / size)
        phi = functools.cache(lambda m, d, a=(k, size, cut): potential(loss, m, d, *a))
        s = np.zeros(k)
        certified += phi(n, 0.0)
        for i in range(n):
            costs = np.array(
                [
                    mean_over_pairs(
                        lambda d, m=n - 1 - i, phi=phi: phi(m, round(d, 12)), s + one, relevant
                    )
                    for one in np.eye(k)
                ]
            )
            advantage = size * costs.mean() - costs[relevant].sum()
            certified += cut * advantage - (costs.mean() - costs @ votes[i][t])
            s = s + votes[i][t]
        rank += mean_over_pairs(PAIR["rank"], np.round(s, 12), relevant)
        of_loss += mean_over_pairs(PAIR[loss], s, relevant)
    return rank, of_loss, certified


@pytest.mark.parametrize(
    "streams",
    [pytest.param(6), pytest.param(200, marks=pytest.mark.slow)],
)
def test_the_certificate_is_that_of_the_definitions_and_is_kept(streams):
    tight = 0
    for seed in range(streams):
        rows, votes, single = stream(seed)
        loss = "rank" if single and seed % 4 == 1 else "hinge"
        edge = ("auto", 0.05, 0.4, 1.0)[seed // 2 % 4]
        learners = [Fixed(of, single) for of in votes]
        model = bl.OnlineBMR(2, learners=learners, edge=edge, loss=loss)
        edges = []
        for t, relevant in enumerate(rows):
            if len(relevant) > model.n_labels:
                model.add_labels(len(relevant) - model.n_labels)
            edges.append(model.edge)
            model.learn([float(t)], relevant)
        rank, of_loss, certified = certificate(rows, votes, loss, edges)
        assert model.suffered_loss == pytest.approx(rank, abs=1e-9), seed
        assert bounds.bmr_realised(model).total == pytest.approx(certified, abs=1e-8), seed
        # Theorem 2: what was suffered is at most this, and exactly this for single labels.
        assert rank - 1e-9 <= of_loss <= certified + 1e-9, seed
        if single:
            assert of_loss == pytest.approx(certified, abs=1e-9), seed
            tight += 1
        for bound in bounds.report(model):
            assert bound.holds or bound.probability < 1, (seed, str(bound))
    assert tight == streams // 2
