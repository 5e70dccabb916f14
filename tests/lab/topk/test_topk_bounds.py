"""The statements of docs/top-k.md, on random streams and by brute force."""

import functools
import itertools

import numpy as np
import pytest
from scipy.stats import binomtest

import boostline as bl
from boostline.lab.theory import adversary, bounds
from boostline.losses import Exponential, Hinge, Logistic
from boostline.potentials import pair_potential

STREAMS = 200
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
        pytest.param("random", marks=pytest.mark.gate),
        pytest.param("adversary", marks=pytest.mark.slow),
    ],
)


def random_stream(rng, m, T):
    X = rng.normal(size=(T, 3))
    Y = X @ rng.normal(size=(3, m)) + rng.normal(size=(T, m)) > rng.normal(size=m)
    return X, Y, bl.learners.paper_trees(8)


def adversarys_stream(rng, m, T):
    game = adversary.Adversary(m, float(rng.uniform(0.2, 1.0)) / (2 * (m - 1)), 8)
    stream = game.stream(T, int(rng.integers(2**31)))
    return stream.X, stream.relevant, stream.learners()


@functools.cache
def runs(booster, kind="random"):
    """(true loss, model) of 200 streams."""
    found = []
    for seed in range(STREAMS):
        rng = np.random.default_rng([seed, 5])
        m, T = int(rng.integers(5, 9)), 150
        draw = random_stream if kind == "random" else adversarys_stream
        X, Y, learners = draw(rng, m, T)
        options = {"edge": float(rng.uniform(0.02, 0.3))} if booster is bl.TopkBMR else {}
        model = booster(
            m,
            n_shown=int(rng.integers(3, m)),
            exploration=float(rng.uniform(0.1, 0.6)),
            learners=learners,
            seed=seed,
            **options,
        )
        found.append((float(all_pairs(Y, model.learn(X, Y)).sum()), model))
    return found


@STREAMS_OF
@pytest.mark.parametrize("booster", [bl.TopkBMR, bl.TopkAdaptive])
def test_the_sum_of_the_estimates_is_right_on_average(booster, kind):
    gaps = np.array([model.suffered_loss - loss for loss, model in runs(booster, kind)])
    assert abs(gaps.mean()) <= 4 * gaps.std(ddof=1) / np.sqrt(len(gaps))
    assert gaps.std() > 1  # they are estimates


@STREAMS_OF
def test_what_a_run_of_topk_bmr_certifies_holds(kind):
    failed = 0
    for loss, model in runs(bl.TopkBMR, kind):
        (bound,) = bounds.report(model, DELTA)
        assert model.suffered_loss <= bound.terms["of the estimates"] * (1 + 1e-9)
        failed += loss > bound.total
    assert binomtest(failed, STREAMS, DELTA, "greater").pvalue > 0.01


@STREAMS_OF
def test_what_is_promised_for_topk_adaptive_holds(kind):
    failed = {"from the edges": 0, "Hedge": 0}
    for loss, model in runs(bl.TopkAdaptive, kind):
        edges, hedge, progress = bounds.report(model, DELTA)
        assert progress.holds
        failed["from the edges"] += loss > edges.total
        failed["Hedge"] += loss > hedge.total
        assert hedge.total <= edges.total + 1e-9 or hedge.terms["best expert"] > 0
    for count in failed.values():
        assert binomtest(count, STREAMS, DELTA, "greater").pvalue > 0.01


@STREAMS_OF
def test_the_estimates_fall_short_by_no_more_than_the_deviation(kind):
    # The deviation alone, without what the other inequalities give away, at a delta where it is small.
    for booster in (bl.TopkBMR, bl.TopkAdaptive):
        short = sum(
            loss - model.suffered_loss > bounds.topk_deviation(model, 0.5)
            for loss, model in runs(booster, kind)
        )
        assert binomtest(short, STREAMS, 0.5, "greater").pvalue > 0.01


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
        bl.TopkBMR(6, loss="rank")


def test_a_certificate_grows_with_the_labels():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 3)), rng.random((300, 9)) < 0.4
    model = bl.TopkBMR(5, exploration=0.4, edge=0.1, learners=bl.learners.paper_trees(6))
    model.learn(X[:150], Y[:150, :5])
    model.add_labels(4)
    model.learn(X[150:], Y[150:])
    (bound,) = bounds.report(model)
    assert model.suffered_loss <= bound.terms["of the estimates"] * (1 + 1e-9)
