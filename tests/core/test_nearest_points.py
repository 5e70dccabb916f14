"""The nearest points by way of a few coordinates are those that a look at all of them finds."""

import numpy as np
import pytest

from boostline import _core

N, INPUTS, NEIGHBOURS = 2600, 60, 7


def points(kind):
    """Eight coordinates differ much and the others little, with points that are hard to tell apart."""
    rng = np.random.default_rng(3)
    wide = np.where(np.arange(INPUTS) % 8 == 3, 1.0, 0.02)
    found = rng.normal(size=(N, INPUTS)) * wide
    if kind == "ties":
        found = np.round(found, 1)
        found[1::2] = found[::2]
    elif kind == "far":  # rounding is as large as most distances
        found += 1000.0
    elif kind == "giants":
        found[::50] *= 1e12
    elif kind == "even":
        found /= wide
    elif kind == "turned":  # what differs most is another set later on
        found[N // 2 :] = np.roll(found[N // 2 :], 1, axis=1)
    return found.astype(np.float32)


def distances(points, query):
    """|p|^2 + |q|^2 - 2 p q in single precision, each sum in the order of the coordinates."""
    squares, products, own = (
        np.zeros(len(points), np.float32),
        np.zeros(len(points), np.float32),
        np.float32(0),
    )
    for column, x in zip(points.T, query, strict=True):
        squares += column * column
        products += column * x
        own += x * x
    return np.maximum((squares + own) - np.float32(2) * products, np.float32(0))


def expected(points, t, capacity):
    """The mean of the labels of the nearest points, and of how often each came, with its weight of one."""
    first = max(0, t - capacity)
    said = np.zeros(len(points))
    said[:t] = 1.0 / t
    squares = distances(points[first:t], points[t])
    nearest = np.lexsort((-np.arange(t - first), squares))[:NEIGHBOURS]
    width = float(squares[nearest[-1]]) + 1e-12
    total = 1.0
    for i in nearest:
        x = float(squares[i]) / width
        weight = (1.0 - x) / (x + 0.05)
        total += weight
        said[first + i] += weight
    return said / total


@pytest.mark.parametrize("capacity", [N, 2300])
@pytest.mark.parametrize("kind", ["usual", "ties", "far", "giants", "even", "turned"])
def test_the_nearest_are_found(kind, capacity):
    given = points(kind)
    said, prefix_size = _core.testing.learn_nearest(given.ravel(), INPUTS, NEIGHBOURS, capacity)
    assert (prefix_size > 0) == (kind != "even")
    rng = np.random.default_rng(0)
    for t in [1, 5, 300, *range(2045, 2070), *rng.integers(2100, N, size=100)]:
        np.testing.assert_allclose(
            said[t], expected(given, t, capacity), rtol=0, atol=1e-13, err_msg=str(t)
        )


def test_vector_widths_find_the_same():
    given = points("ties").ravel()
    widest = _core.testing.set_simd_level(-1)
    try:
        answers = []
        for width in range(widest + 1):
            _core.testing.set_simd_level(width)
            answers.append(_core.testing.learn_nearest(given, INPUTS, NEIGHBOURS, 2300)[0])
    finally:
        _core.testing.set_simd_level(widest)
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])
