"""Top-k feedback: the probabilities and estimates, by enumeration of everything that may be shown."""

from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from boostline.lab.reference import AdaOLMR, OnlineBMR
from boostline.lab.topk import TopkAdaptive, TopkBMR, TopkFeedback
from boostline.potentials import pair_potential

#: Every (m, k', d) up to m = 8 with which each pair can be heard.
SIZES = [
    (m, k, d)
    for m in range(3, 9)
    for k in range(2, m + 1)
    for d in range(k)
    if min(2, m - k) <= d <= min(k - 1, m - k)
]


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
    both, one, none = feedback.probabilities
    assert both == pytest.approx(counted[0, 1], abs=1e-12)
    if k < m:
        assert one == pytest.approx(counted[0, m - 1], abs=1e-12) and one > 0
    if k + 1 < m:
        assert none == pytest.approx(counted[m - 2, m - 1], abs=1e-12) and none > 0


def test_sizes_for_which_a_pair_is_never_heard_are_refused():
    for m in range(3, 9):
        for k in range(2, m + 1):
            for d in range(m + 1):
                if (m, k, d) not in SIZES:
                    with pytest.raises(ValueError, match="n_s"):
                        TopkFeedback(m, k, d, 0.3)
                    continue
                feedback, top = TopkFeedback(m, k, d, 0.3), np.arange(m) < k
                counted = sum(p * np.outer(s, s) for p, s in feedback.outcomes(top))
                assert (counted > 0).all()


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
    feedback, top, most = TopkFeedback(m, k, d, 0.1), np.arange(m) < k, 0.0
    for _, shown in feedback.outcomes(top):
        w, labels = feedback.weights(top, shown), np.flatnonzero(shown)
        for n in range(1, k):
            for some in combinations(labels, n):
                y = np.isin(np.arange(m), some)
                most = max(most, float(w[np.ix_(y, shown & ~y)].sum()))
    assert feedback.most() == pytest.approx(most, rel=1e-12)
    assert TopkAdaptive(m, [], feedback).most_loss == pytest.approx(most / (m - 1), rel=1e-12)


def test_draws_are_the_outcomes_with_their_probabilities():
    feedback, scores, n = TopkFeedback(6, 3, 2, 0.4), np.arange(6.0), 6000
    top = np.isin(np.arange(6), feedback.top(scores))
    found = {}
    for turn in range(n):
        shown = frozenset(feedback.draw(scores, 7, turn)[0])
        found[shown] = found.get(shown, 0) + 1
    expected = {frozenset(np.flatnonzero(a).tolist()): p for p, a in feedback.outcomes(top)}
    assert found.keys() == expected.keys()
    for shown, p in expected.items():
        assert abs(found[shown] - n * p) < 4.5 * np.sqrt(n * p * (1 - p))


class Voter:
    """It votes for the labels at random, the same for the same x."""

    def __init__(self, m, seed):
        self.m, self.seed = m, seed

    def predict(self, x):
        return np.random.default_rng([self.seed, int(x[0])]).dirichlet(np.ones(self.m))

    def learn(self, x, relevant, costs, weight):
        pass


class Scripted(TopkFeedback):
    """Shows the labels that the test sets."""

    next: tuple[Any, Any]

    def draw(self, scores, seed, turn):
        labels, top = self.next
        return labels, top


@pytest.mark.parametrize("booster", [TopkBMR, TopkAdaptive])
@pytest.mark.parametrize(("m", "k", "d"), [(4, 3, 1), (5, 3, 2), (6, 3, 2), (6, 4, 2)])
def test_costs_are_those_of_all_pairs_on_average(booster, m, k, d):
    def made():
        learners = [Voter(m, 1), Voter(m, 2)]
        feedback = Scripted(m, k, d, 0.25)
        if booster is TopkBMR:
            return TopkBMR(m, learners, 0.1, feedback)
        model = TopkAdaptive(m, learners, feedback, expert="last")
        model.learner_weights = np.array([0.7, -0.4])
        return model

    x = np.zeros(1)
    model = made()
    scores = model.score(x)
    feedback = model.feedback
    top = np.isin(np.arange(m), feedback.top(scores))
    s = model._predict(x).expert_scores
    for y in label_sets(m)[:: max(1, 2 ** (m - 4))]:
        mean, loss = 0.0, 0.0
        for p, shown in feedback.outcomes(top):
            model = made()
            model.feedback.next = np.flatnonzero(shown).tolist(), top
            model.learn(x, y)
            mean, loss = mean + p * model.last_round.costs[:2], loss + p * model.suffered_loss
        expected = np.zeros((2, m))
        for i in range(2):
            for a in np.flatnonzero(y):
                for r in np.flatnonzero(~y):
                    gap = s[i, r] - s[i, a]
                    if booster is TopkAdaptive:
                        up = down = 1.0 / (1.0 + np.exp(-gap))
                    else:
                        here, below, above = (
                            float(pair_potential(model.loss, 1 - i, gap + move, m, 1, 0.1))
                            for move in (0.0, -1.0, 1.0)
                        )
                        up, down = above - here, here - below
                    expected[i, r] += up / (m - 1)
                    expected[i, a] -= down / (m - 1)
        np.testing.assert_allclose(mean, expected, atol=1e-12)
        gaps = scores[None, ~y] - scores[y, None]
        pairs = ((gaps > 0) + 0.5 * (gaps == 0)).sum() / (m - 1)
        assert loss == pytest.approx(pairs, abs=1e-12)


def test_by_default_the_rarest_pair_is_heard_most_often():
    for m, k in {(m, k) for m, k, _ in SIZES} | {(14, 6), (101, 10), (101, 64)}:
        able = [d for d in range(k) if min(2, m - k) <= d <= min(k - 1, m - k)]
        rarest = {d: min(TopkFeedback(m, k, d, 0.2).probabilities) for d in able}
        # p_2 is at least 1 - rho: never the rarest for a small rho
        assert rarest[TopkFeedback(m, k, None, 0.2).n_swapped] == pytest.approx(
            max(rarest.values())
        )


def test_for_a_large_rho_another_number_would_be_better():
    """What docs/top-k.md says: the default looks at p_1 and p_0 only."""
    assert TopkFeedback(30, 10, None, 0.99).n_swapped == 7
    seven, six = (min(TopkFeedback(30, 10, d, 0.99).probabilities) for d in (7, 6))
    assert seven == pytest.approx(0.0760, abs=5e-5) and six == pytest.approx(0.0782, abs=5e-5)


# All labels shown: nothing is estimated, and what is left are the algorithms that see everything.


def votes_of(m, n):
    return [Voter(m, i) for i in range(n)]


def test_with_all_labels_shown_topk_bmr_is_online_bmr_where_one_label_is_relevant():
    topk = TopkBMR(5, votes_of(5, 4), 0.1, TopkFeedback(5, 5))
    full = OnlineBMR(5, votes_of(5, 4), 0.1)
    for t in range(40):
        relevant = {t % 5}
        np.testing.assert_allclose(
            topk.learn(np.full(1, t), relevant), full.learn(np.full(1, t), relevant)
        )
        np.testing.assert_allclose(topk.last_round.costs, full.last_round.costs, atol=1e-12)
    np.testing.assert_allclose(topk.edges(), full.edges(), rtol=1e-9)
    assert topk.promised_loss == pytest.approx(full.promised_loss)
    assert topk.suffered_loss == pytest.approx(full.expert_losses[-1])


def test_with_all_labels_shown_the_costs_of_topk_adaptive_are_those_of_ada_olmr():
    topk = TopkAdaptive(6, votes_of(6, 4), TopkFeedback(6, 6))
    full = AdaOLMR(6, votes_of(6, 4), seed=0)
    for model in (topk, full):
        model.learn(np.zeros(1), {0, 1})
    # the mean over 2 * 4 pairs there, the sum in units of 5 here
    ours, theirs = topk.last_round.costs, full.last_round.costs
    np.testing.assert_allclose(ours, theirs * (2 * 4) / 5, rtol=1e-12)
    assert topk.most_loss == 3 * 3 / 5


@pytest.mark.parametrize("booster", [TopkBMR, TopkAdaptive])
def test_what_is_not_shown_is_not_learned(booster):
    options = {"edge": 0.1} if booster is TopkBMR else {}
    told, lied_to = (
        booster(6, votes_of(6, 5), feedback=TopkFeedback(6, exploration=0.4), **options)
        for _ in range(2)
    )
    rng = np.random.default_rng(0)
    for t in range(120):
        y = rng.random(6) < 0.4
        told.learn(np.full(1, t), y)
        other = np.where(np.isin(np.arange(6), told.last_shown), y, rng.random(6) < 0.5)
        lied_to.learn(np.full(1, t), other)
        assert lied_to.last_shown == told.last_shown
    np.testing.assert_array_equal(told.edges(), lied_to.edges())
    np.testing.assert_array_equal(told.learner_weights, lied_to.learner_weights)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(n_shown=1), "n_shown is 1, but must be"),
        (dict(n_shown=7), "n_shown is 7, but must be"),
        (dict(n_shown=2), "n_shown is 2, but must be at least 3 with 6 labels"),
        (dict(n_shown=3, n_swapped=1), "n_swapped is 1, but must be between 2 and 2"),
        (dict(n_shown=6, n_swapped=1), "n_swapped is 1, but must be between 0 and 0"),
        (dict(exploration=0.0), r"exploration is 0.0, but must be in \(0, 1\]"),
        (dict(exploration=1.0), "exploration is 1, but must be below 1"),
    ],
)
def test_settings_that_cannot_hear_all_pairs_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TopkFeedback(6, **options)
