"""Centroids: against the definition, and what is forgotten when there is no more room."""

import numpy as np
import pytest
from learner_arrays import learner_arrays

import boostline as bl
from boostline.lab.reference import SparseLinear
from boostline.learners import Centroids


def documents(n=120, d=30, k=9, seed=0):
    """Rows of counts of words; a label has words of its own."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, k)) < 0.2
    return rng.poisson(0.2 + 2.0 * (Y @ (rng.random((k, d)) < 0.1))).astype(float), Y


def test_votes_are_by_the_cosine_with_the_mean_row_of_each_label():
    """With unknown labels, missing values and weights; rows are scaled as SparseLinear scales them."""
    X, Y = documents()
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.02] = np.nan
    unknown = (rng.random(Y.shape) < 0.1) & ~Y
    weight = rng.choice([0.3, 1.0], size=len(X))
    model = bl.LabelRanker(9, learners=[Centroids()], drift=None)
    sums = np.zeros((9, 30))
    for x, y, u, w in zip(X, Y, unknown, weight, strict=True):
        row = SparseLinear.scaled(x).astype(float)
        length = np.linalg.norm(sums, axis=1)
        cosine = np.divide(sums @ row, length, out=np.zeros(9), where=length > 0)
        expected = np.exp(10 * cosine) + 1e-6
        np.testing.assert_allclose(model.votes(x)[0], expected / expected.sum(), rtol=2e-4)
        model.learn(x, y, unknown=u, weight=w)
        if (
            y.any() and not (y | u).all()
        ):  # otherwise there is no pair to rank, and nothing is learned
            sums[y] += w * row
    np.testing.assert_allclose(learner_arrays(model)["squares"], (sums**2).sum(axis=1), rtol=1e-4)


def test_beyond_max_bytes_the_smallest_sums_are_forgotten():
    X, Y = documents(400)
    noise = (np.random.default_rng(2).random((400, 400)) < 0.005).astype(float)
    model = bl.LabelRanker(9, learners=[Centroids(max_bytes=16_000)], drift=None)
    model.learn(np.hstack([X, noise]), Y)
    arrays = learner_arrays(model)
    assert set(range(30)) <= set(arrays["features"]) and len(arrays["features"]) < 200
    squares = np.zeros(9)  # lengths are those of what is left
    np.add.at(squares, arrays["weight_labels"], arrays["weights"].astype(float) ** 2)
    np.testing.assert_allclose(arrays["squares"], squares, rtol=1e-3)


def test_settings_out_of_range_are_refused():
    with pytest.raises(ValueError, match="max_bytes is -1"):
        Centroids(max_bytes=-1)
