"""Log loss and calibration error: against scikit-learn, and by brute force over the bins."""

from __future__ import annotations

import numpy as np
import pytest

import boostline as bl
from boostline.metrics import (
    ProbabilityTally,
    calibration_error,
    expected_calibration_error,
    log_loss,
)


def draw(n=400, k=7, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.beta(0.6, 1.2, size=(n, k))
    return rng.random((n, k)) < P, P


def test_log_loss_is_scikit_learns_over_all_labels():
    metrics = pytest.importorskip("sklearn.metrics")
    Y, P = draw()
    assert log_loss(Y, P) == pytest.approx(metrics.log_loss(Y.ravel(), P.ravel()))
    P[0, :2] = 0.0, 1.0
    assert log_loss(Y, P) == pytest.approx(metrics.log_loss(Y.ravel(), P.ravel()))


def test_unknown_labels_count_for_nothing():
    Y, P = draw()
    hidden = np.random.default_rng(1).random(Y.shape) < 0.3
    hidden[3] = True
    Y &= ~hidden
    expected = [
        -np.mean(np.where(y[~h], np.log(p[~h]), np.log(1 - p[~h]))) if not h.all() else 0.0
        for y, p, h in zip(Y, P, hidden, strict=True)
    ]
    np.testing.assert_allclose(ProbabilityTally().update(Y, P, hidden), expected)
    changed = np.where(hidden, 0.99, P)
    assert calibration_error(Y, P, unknown=hidden) == calibration_error(Y, changed, unknown=hidden)


@pytest.mark.parametrize("top", [1, 5, None])
def test_calibration_error_by_brute_force(top):
    Y, P = draw()
    pairs = [
        (p[label], y[label]) for y, p in zip(Y, P, strict=True) for label in np.argsort(-p)[:top]
    ]
    error = 0.0
    for i in range(15):
        inside = [(p, y) for p, y in pairs if i / 15 <= p < (i + 1) / 15]
        if inside:
            said, was = np.mean([p for p, _ in inside]), np.mean([y for _, y in inside])
            error += len(inside) / len(pairs) * abs(said - was)
    assert calibration_error(Y, P, top=top) == pytest.approx(error)


def test_perfect_probabilities_have_the_expected_error_and_wrong_ones_more():
    Y, P = draw(4000)
    assert calibration_error(Y, P) == pytest.approx(expected_calibration_error(P), rel=0.5)
    assert calibration_error(Y, P**2) > 4 * expected_calibration_error(P**2)


def test_what_is_no_probability_is_refused():
    with pytest.raises(ValueError, match=r"P has the value 1\.5, but must have probabilities"):
        bl.metrics.log_loss([{0}], [[1.5, 0.0]])
    with pytest.raises(ValueError, match="top is 0"):
        calibration_error([{0}], [[0.5, 0.0]], top=0)
