"""Top-k feedback: the probabilities and estimates, by enumeration of everything that may be shown."""

import copy
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import boostline as bl
from boostline import _core
from boostline.lab.reference import TopkFeedback
from boostline.learners import HoeffdingTree
from boostline.models.topk_booster import most_heard, pair_probabilities
from boostline.potentials import pair_potential

#: Every (m, k', d) up to m = 8 with which each pair can be heard.
SIZES = [
    (m, k, d)
    for m in range(3, 9)
    for k in range(2, m + 1)
    for d in range(k)
    if min(2, m - k) <= d <= min(k - 1, m - k)
]
TREES = [HoeffdingTree(features=(0,))] * 2


def label_sets(m):
    """All sets of labels but the empty and the full one."""
    return [np.array(bits, dtype=bool) for bits in product([0, 1], repeat=m)][1:-1]


@pytest.mark.parametrize(("m", "k", "d"), SIZES)
def test_probabilities_are_those_of_all_outcomes(m, k, d):
    rho = Fraction(3, 10)
    feedback = TopkFeedback(m, k, d, float(rho))
    top = np.arange(m) < k
    outcomes = list(feedback.outcomes(top))
    counted = sum(p * np.outer(shown, shown) for p, shown in outcomes)
    assert sum(p for p, _ in outcomes) == pytest.approx(1.0, abs=1e-12)
    closed = feedback.pair_probabilities(top)
    off_diagonal = ~np.eye(m, dtype=bool)
    np.testing.assert_allclose(closed[off_diagonal], counted[off_diagonal], atol=1e-12)
    both, one, none = pair_probabilities(m, k, d, float(rho))
    assert both == pytest.approx(counted[0, 1], abs=1e-12)
    if k < m:
        assert one == pytest.approx(counted[0, m - 1], abs=1e-12) and one > 0
    if k + 1 < m:
        assert none == pytest.approx(counted[m - 2, m - 1], abs=1e-12) and none > 0


def test_sizes_for_which_a_pair_is_never_heard_are_refused():
    for m in range(3, 9):
        for k in range(2, m + 1):
            for d in range(m + 1):
                able = (m, k, d) in SIZES
                if d <= min(k, m - k):  # else nothing can be drawn at all
                    feedback = TopkFeedback(m, k, d, 0.3)
                    top = np.arange(m) < k
                    counted = sum(p * np.outer(s, s) for p, s in feedback.outcomes(top))
                    assert able == bool((counted > 0).all())
                if not able:
                    with pytest.raises(ValueError, match="n_s"):
                        bl.TopkBMR(m, n_shown=k, n_swapped=d)
                    continue
                bl.TopkBMR(m, n_shown=k, n_swapped=d)


@pytest.mark.parametrize(("m", "k", "d"), [size for size in SIZES if size[0] <= 7])
def test_estimates_are_right_on_average(m, k, d):
    rng = np.random.default_rng([m, k, d])
    feedback = TopkFeedback(m, k, d, 0.25)
    s = rng.normal(size=m)
    top = np.isin(np.arange(m), feedback.top(s))
    losses = np.maximum(1.0 + s[None, :] - s[:, None], 0.0)  # of all pairs, hinge
    for y in label_sets(m):
        pairs = np.outer(y, ~y)
        estimates = [
            (p, (feedback.weights(top, shown) * pairs * losses).sum())
            for p, shown in feedback.outcomes(top)
        ]
        assert sum(p * e for p, e in estimates) == pytest.approx((pairs * losses).sum(), rel=1e-12)


@pytest.mark.parametrize(("m", "k", "d"), [size for size in SIZES if size[0] <= 6])
def test_the_largest_sum_of_weights_is_found(m, k, d):
    found = TopkFeedback(m, k, d, 0.1).most()
    assert most_heard(m, k, d, 0.1) == pytest.approx(found, rel=1e-12)
    model = bl.TopkAdaptive(m, n_shown=k, n_swapped=d, exploration=0.1)
    assert model.most_loss == pytest.approx(found / (m - 1), rel=1e-12)


def costs_when(model, x, y, labels, explored):
    """The costs (N, m) and the loss that the compiled model finds if these labels are shown."""
    before = model.suffered_loss
    model.learn(x, y, shown=bl.Shown(labels, explored), weight=1.0)
    last = _core.testing.last_round(model._native)
    n = model.n_learners
    return last["costs"].reshape(n + 1, -1)[:n], model.suffered_loss - before


@pytest.mark.parametrize("booster", [bl.TopkBMR, bl.TopkAdaptive])
@pytest.mark.parametrize(("m", "k", "d"), [(4, 3, 1), (5, 3, 2), (6, 3, 2), (6, 4, 2)])
def test_costs_of_the_core_are_those_of_all_pairs_on_average(booster, m, k, d):
    rng = np.random.default_rng([m, k])
    X = rng.normal(size=(60, 1))
    Y = rng.random((60, m)) < 0.4
    settings = dict(n_shown=k, n_swapped=d, exploration=0.25, learners=TREES, seed=1)
    taught = booster(m, **settings)
    taught.learn(X, Y)
    x, scores = X[0], taught.score(X[0])
    feedback = TopkFeedback(m, k, d, 0.25)
    top = np.isin(np.arange(m), feedback.top(scores))
    h = taught.votes(x)
    s = np.concatenate([np.zeros((1, m)), np.cumsum(taught.learner_weights[:, None] * h, axis=0)])
    for y in label_sets(m)[:: max(1, 2 ** (m - 4))]:
        mean, loss = 0.0, 0.0
        for p, shown in feedback.outcomes(top):
            labels = np.flatnonzero(shown)
            model = copy.deepcopy(taught)
            costs, suffered = costs_when(model, x, y, labels, ~top[labels])
            if not (shown & y).any() or not (shown & ~y).any():  # nothing was heard or learned
                assert suffered == 0
                continue
            mean, loss = mean + p * costs, loss + p * suffered
        expected = np.zeros((2, m))
        for i in range(2):
            for a in np.flatnonzero(y):
                for r in np.flatnonzero(~y):
                    gap = s[i, r] - s[i, a]
                    if booster is bl.TopkAdaptive:
                        up = down = 1.0 / (1.0 + np.exp(-gap))
                    else:
                        here, below, above = (
                            float(pair_potential(taught.loss, 1 - i, gap + move, m, 1, taught.edge))
                            for move in (0.0, -1.0, 1.0)
                        )
                        up, down = above - here, here - below
                    expected[i, r] += up / (m - 1)
                    expected[i, a] -= down / (m - 1)
        np.testing.assert_allclose(mean, expected, atol=1e-12)
        gaps = scores[None, ~y] - scores[y, None]
        pairs = ((gaps > 0) + 0.5 * (gaps == 0)).sum() / (m - 1)
        assert loss == pytest.approx(pairs, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("m", "k", "d"), [size for size in SIZES if size[2] > 0])
def test_a_million_draws_agree_with_the_estimates(m, k, d):
    # a loss of all pairs, estimated from what the compiled model shows
    n, rng = 1_000_000, np.random.default_rng([m, k, d, 7])
    model = bl.TopkBMR(m, n_shown=k, n_swapped=d, exploration=0.1, learners=TREES, seed=m)
    y = rng.permutation(m) < rng.integers(1, m)
    losses = np.outer(y, ~y) * rng.uniform(0.5, 2.0, size=(m, m))
    both, one, none = pair_probabilities(m, k, d, 0.1)
    probability = np.array([both, one, none])
    sums = squares = 0.0
    for first in range(0, n, 100_000):
        shown = model.show(np.zeros((100_000, 1)), turn=first)
        drawn = shown.explored.astype(np.int64)
        labels = shown.labels
        pair = losses[labels[:, :, None], labels[:, None, :]]
        estimate = (pair / probability[drawn[:, :, None] + drawn[:, None, :]]).sum(axis=(1, 2))
        sums, squares = sums + estimate.sum(), squares + (estimate**2).sum()
    mean = sums / n
    error = np.sqrt((squares / n - mean**2) / n)
    print(f"m={m} k'={k} d={d}: {mean:.4f} +- {error:.4f}, all pairs {losses.sum():.4f}")
    assert abs(mean - losses.sum()) <= 4 * error


def test_by_default_the_rarest_pair_is_heard_most_often():
    for m, k in {(m, k) for m, k, _ in SIZES} | {(14, 6), (101, 10), (101, 64)}:
        model = bl.TopkBMR(m, n_shown=k, learners=TREES, exploration=0.2)
        able = [d for d in range(k) if min(2, m - k) <= d <= min(k - 1, m - k)]
        rarest = {d: min(pair_probabilities(m, k, d, 0.2)[: 1 + min(2, m - k)]) for d in able}
        # both of the best are heard with 1 - rho at least: never the rarest but where there is nothing else
        assert rarest[model.n_swapped] == pytest.approx(max(rarest.values()))
        # the compiled model swaps as many
        explored = model.show(np.zeros((200, 1))).explored.sum(axis=1)
        assert set(explored) == ({0, model.n_swapped} if m > k else {0})
