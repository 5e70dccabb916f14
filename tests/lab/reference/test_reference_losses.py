"""Losses of the reference against the paper's sums, written as loops over the pairs."""

import doctest
import importlib
import math

import numpy as np
import pytest

from boostline.lab import reference
from boostline.lab.reference import losses


@pytest.mark.parametrize("module", ["losses", "potentials", "boosters", "tree", ""])
def test_examples_in_the_docstrings_hold(module):
    name = f"boostline.lab.reference.{module}".rstrip(".")
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


def random_case(rng):
    k = int(rng.integers(2, 9))
    s = rng.integers(-2, 3, size=k) * 0.5  # coarse, so that ties occur
    status = rng.integers(0, 3, size=k)  # relevant, irrelevant, unknown
    status[:2] = [0, 1]
    return s, set(np.flatnonzero(status == 0)), set(np.flatnonzero(status == 1))


@pytest.mark.parametrize("seed", range(20))
def test_losses_are_averages_over_the_pairs(seed):
    s, relevant, irrelevant = random_case(np.random.default_rng(seed))
    gaps = [s[r] - s[m] for m in relevant for r in irrelevant]
    rank = np.mean([1.0 if d > 0 else 0.5 if d == 0 else 0.0 for d in gaps])
    hinge = np.mean([max(0.0, 0.7 + d) for d in gaps])
    logistic = np.mean([math.log(1 + math.exp(d)) for d in gaps])
    assert reference.rank_loss(s, relevant, irrelevant) == pytest.approx(rank)
    assert reference.hinge_loss(s, relevant, irrelevant, margin=0.7) == pytest.approx(hinge)
    assert reference.logistic_loss(s, relevant, irrelevant) == pytest.approx(logistic)


def test_rank_loss_agrees_with_scikit_learn_without_ties():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(50, 6))
    truth = rng.random((50, 6)) < 0.4
    truth[:, 0], truth[:, 1] = True, False
    ours = np.mean([reference.rank_loss(s, y) for s, y in zip(scores, truth, strict=True)])
    assert ours == pytest.approx(metrics.label_ranking_loss(truth, scores))


@pytest.mark.parametrize("relevant", [set(), {0, 1, 2}])
def test_without_a_pair_every_loss_and_the_gradient_are_zero(relevant):
    s = np.array([3.0, 1.0, 2.0])
    for loss in (reference.rank_loss, reference.hinge_loss, reference.logistic_loss):
        assert loss(s, relevant) == 0
    assert (reference.logistic_gradient(s, relevant) == 0).all()


@pytest.mark.parametrize("seed", range(20))
def test_gradient_is_the_slope_of_the_logistic_loss_and_sums_to_zero(seed):
    rng = np.random.default_rng(seed)
    _, relevant, irrelevant = random_case(rng)
    k = 9
    s = rng.normal(size=k)
    step = 1e-6
    slope = [
        reference.logistic_loss(s + step * e, relevant, irrelevant)
        - reference.logistic_loss(s - step * e, relevant, irrelevant)
        for e in np.eye(k)
    ]
    gradient = reference.logistic_gradient(s, relevant, irrelevant)
    np.testing.assert_allclose(gradient, np.array(slope) / (2 * step), atol=1e-8)
    assert abs(gradient.sum()) < 1e-15
    unknown = [label for label in range(k) if label not in relevant | irrelevant]
    assert (gradient[unknown] == 0).all()
    assert max(gradient[list(relevant)]) < 0 < min(gradient[list(irrelevant)])


def test_gradient_does_not_overflow():
    gradient = reference.logistic_gradient(np.array([1000.0, -1000.0]), {1})
    np.testing.assert_array_equal(gradient, [1.0, -1.0])
    assert (reference.logistic_gradient(np.array([1000.0, -1000.0]), {0}) == 0).all()


def test_labels_and_indicators_mean_the_same():
    expected = [True, False, True]
    for given in ({0, 2}, [0, 2], (2, 0), [True, False, True], np.array([1, 0, 1])):
        assert losses.indicator(given, 3).tolist() == expected
    assert losses.indicator([], 3).tolist() == [False] * 3


def test_bad_labels_are_named():
    with pytest.raises(ValueError, match="relevant has label 17, but n_labels is 14"):
        losses.indicator({17}, 14)
    with pytest.raises(ValueError, match=r"relevant has shape \(3,\)"):
        losses.indicator(np.ones(3), 4)
    with pytest.raises(ValueError, match="label 1 is both"):
        losses.label_sets({0, 1}, {1, 2}, 3)
