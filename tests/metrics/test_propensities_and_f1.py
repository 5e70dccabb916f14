"""Propensity-scored precision by brute force over label orders, F1 against scikit-learn, both along a stream."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from boostline.metrics import (
    F1,
    PropensityScoredPrecisionAt,
    propensities,
)


def test_propensities_are_those_of_the_formula():
    rng = np.random.default_rng(0)
    Y = rng.random((500, 9)) < np.linspace(0.01, 0.6, 9)
    found = propensities(Y, a=0.6, b=2.6)
    for label in range(9):
        c = (math.log(500) - 1) * (2.6 + 1) ** 0.6
        expected = 1 / (1 + c * math.exp(-0.6 * math.log(Y[:, label].sum() + 2.6)))
        assert found[label] == pytest.approx(expected)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_psp_by_brute_force_over_the_orders_that_break_ties(k):
    rng = np.random.default_rng(k)
    Y = rng.random((60, 5)) < 0.4
    S = rng.integers(0, 3, size=(60, 5)).astype(float)
    p = rng.uniform(0.1, 1.0, 5)
    found = best = 0.0
    for y, s in zip(Y, S, strict=True):
        orders = [
            order
            for order in itertools.permutations(range(5))
            if all(s[a] >= s[b] for a, b in itertools.pairwise(order))
        ]
        found += np.mean([sum(y[i] / p[i] for i in order[:k]) for order in orders])
        best += max(
            sum(y[i] / p[i] for i in order[:k]) for order in itertools.permutations(range(5))
        )
    blocks, loop = PropensityScoredPrecisionAt(k, p), PropensityScoredPrecisionAt(k, p)
    blocks.update(Y, S)
    for y, s in zip(Y, S, strict=True):
        loop.update(y, s)
    assert blocks.get() == loop.get() == pytest.approx(found / best)


def test_f1_is_scikit_learns_and_the_same_in_blocks():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    Y, named = rng.random((200, 8)) < 0.2, rng.random((200, 8)) < 0.25
    Y[:, 7] = named[:, 7] = False
    expected = {
        how: metrics.f1_score(Y, named, average=how, zero_division=0)
        for how in ("micro", "macro", "samples")
    }
    blocks, loop = F1(8), F1(8)
    for part in np.split(np.arange(200), [3, 50]):
        blocks.update(Y[part], named[part])
    for y, z in zip(Y, named, strict=True):
        loop.update(y, z)
    found = {"micro": blocks.micro, "macro": blocks.macro, "samples": blocks.example}
    assert found == pytest.approx(expected)
    assert (loop.micro, loop.macro, loop.example) == (blocks.micro, blocks.macro, blocks.example)


def test_bad_propensities_are_refused():
    with pytest.raises(ValueError, match="one number in"):
        PropensityScoredPrecisionAt(1, [0.5, 0.0])
    with pytest.raises(ValueError, match="propensities has 2 numbers, but must have 3"):
        PropensityScoredPrecisionAt(1, [0.5, 0.5]).update({0}, [1.0, 2.0, 3.0])
