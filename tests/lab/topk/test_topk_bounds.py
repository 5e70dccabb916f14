"""The statements of docs/top-k.md, on random streams and by brute force."""

import functools
import itertools

import numpy as np
import pytest
from scipy.stats import binomtest

import boostline as bl
from boostline.lab.reference import HoeffdingTree
from boostline.lab.theory import adversary, bounds
from boostline.lab.topk import TopkAdaptive, TopkBMR, TopkFeedback
from boostline.losses import Exponential, Hinge, Logistic
from boostline.potentials import pair_potential

#: In the gate; the slow tier has 200.
FEW, MANY = 15, 200
DELTA = 0.1


def all_pairs(Y, scores):
    """The rank loss of each row in units of m - 1 pairs."""
    d = scores[:, None, :] - scores[:, :, None]
    wrong = (d > 0) + 0.5 * (d == 0)
    return (wrong * (Y[:, :, None] & ~Y[:, None, :])).sum(axis=(1, 2)) / (Y.shape[1] - 1)


#: Random streams, and those of the optimality theorem's adversary.
STREAMS_OF = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(("random", FEW), marks=pytest.mark.gate),
        pytest.param(("random", MANY), marks=pytest.mark.slow),
        pytest.param(("adversary", MANY), marks=pytest.mark.slow),
    ],
)


def random_stream(rng, m, T):
    X = rng.normal(size=(T, 3))
    Y = X @ rng.normal(size=(3, m)) + rng.normal(size=(T, m)) > rng.normal(size=m)
    trees = [
        HoeffdingTree(m, 5, 0.1, 0.3, float(weight), features=[i % 3])
        for i, weight in enumerate(rng.uniform(10, 100, size=8))
    ]
    return X, Y, trees


def adversarys_stream(rng, m, T):
    game = adversary.Adversary(m, float(rng.uniform(0.2, 1.0)) / (2 * (m - 1)), 8)
    stream = game.stream(T, int(rng.integers(2**31)))
    return stream.X, stream.relevant, stream.learners()


@functools.cache
def runs(booster, kind):
    """(true loss, model) of many streams."""
    kind, streams = kind
    found = []
    for seed in range(streams):
        rng = np.random.default_rng([seed, 5])
        m, T = int(rng.integers(5, 9)), 150
        draw = random_stream if kind == "random" else adversarys_stream
        X, Y, learners = draw(rng, m, T)
        options = {"edge": float(rng.uniform(0.02, 0.3))} if booster is TopkBMR else {}
        feedback = TopkFeedback(
            m, int(rng.integers(3, m)), exploration=float(rng.uniform(0.1, 0.6))
        )
        model = booster(m, learners, feedback=feedback, seed=seed, **options)
        scores = np.array([model.learn(x, y) for x, y in zip(X, Y, strict=True)])
        found.append((float(all_pairs(Y, scores).sum()), model))
    return found


def fails_no_more_often(failed, runs, delta):
    assert binomtest(failed, runs, delta, "greater").pvalue > 0.01


@STREAMS_OF
def test_what_a_run_of_topk_bmr_certifies_holds(kind):
    failed, short, gaps = 0, 0, []
    for loss, model in runs(TopkBMR, kind):
        (bound,) = bounds.report(model, DELTA)
        assert model.suffered_loss <= bound.terms["of the estimates"] * (1 + 1e-9)
        failed += loss > bound.total
        short += loss - model.suffered_loss > bounds.topk_deviation(model, 0.5)
        gaps.append(model.suffered_loss - loss)
    fails_no_more_often(failed, len(gaps), DELTA)
    # The deviation alone, without what the other inequalities give away, at a delta where it is small.
    fails_no_more_often(short, len(gaps), 0.5)
    assert abs(np.mean(gaps)) <= 4 * np.std(gaps, ddof=1) / np.sqrt(len(gaps))
    assert np.std(gaps) > 1  # they are estimates


@STREAMS_OF
def test_what_is_promised_for_topk_adaptive_holds(kind):
    failed, gaps = {"from the edges": 0, "Hedge": 0}, []
    for loss, model in runs(TopkAdaptive, kind):
        edges, hedge, progress = bounds.report(model, DELTA)
        assert progress.holds
        failed["from the edges"] += loss > edges.total
        failed["Hedge"] += loss > hedge.total
        gaps.append(model.suffered_loss - loss)
    for count in failed.values():
        fails_no_more_often(count, len(gaps), DELTA)
    assert abs(np.mean(gaps)) <= 4 * np.std(gaps, ddof=1) / np.sqrt(len(gaps))


def test_no_better_than_guessing_is_vacuous():
    """m = 40, all shown, one relevant label: half of a pair is lost by guessing, not 5.13."""
    stream = adversary.Stream(np.eye(40, dtype=bool)[:5], np.arange(1, 6)[:, None])
    model = TopkBMR(40, stream.learners(), 0.1, TopkFeedback(40, 40))
    for t in range(5):
        model.learn(np.full(1, t), {t})
    (bound,) = bounds.report(model)
    assert bound.trivial == pytest.approx(0.5 * 5) and bound.vacuous
    assert bound.trivial_reason == "half of the pairs, as estimated"


@pytest.mark.parametrize("loss", [Hinge(), Hinge(0.3), Logistic(), Exponential()])
def test_potentials_of_one_relevant_label_are_the_largest(loss):
    d = np.linspace(-6, 6, 49)
    for m, n, edge in itertools.product((3, 6, 14), (0, 1, 7, 30), (0.01, 0.1)):
        g = [pair_potential(loss, n, d, m, size, edge) for size in range(1, m) if edge * size <= 1]
        assert (np.diff(np.array(g), axis=0) <= 1e-9 * np.maximum(1.0, g[0])).all()


def test_they_are_not_the_largest_for_a_loss_that_is_not_convex():
    # why TopkBMR refuses the rank loss
    values = [pair_potential(bl.losses.Rank(), 1, 1.0, 6, size, 0.1) for size in (1, 5)]
    assert values[1] > values[0]
    with pytest.raises(ValueError, match="convex"):
        TopkBMR(6, [], 0.1, TopkFeedback(6), loss="rank")
