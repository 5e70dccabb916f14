"""The baseline u_gamma, and the random walk Z_n = X_r - X_l of a pair whose labels are drawn from it."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from boostline.array_types import FloatArray

# Probabilities that no sum of losses can tell from 0.
_NEGLIGIBLE = 1e-200


def clipped_edge(edge: float, n_relevant: int) -> float:
    """min(edge, 1/|Y|), the largest edge with which u_gamma is a distribution for that example.

    Every table, cost and bound uses it; with the nominal edge the bounds fail.

    Examples
    --------
    >>> clipped_edge(0.2, 4), clipped_edge(0.2, 10)
    (0.2, 0.1)
    """
    if not 0.0 <= edge <= 1.0:
        raise ValueError(f"edge is {edge}, but must lie in [0, 1]")
    return min(float(edge), 1.0 / n_relevant) if n_relevant > 0 else float(edge)


def baseline(relevant: ArrayLike, edge: float) -> FloatArray:
    """u^Y_gamma: a + gamma at the relevant labels and a at the others, with the clipped edge.

    Examples
    --------
    >>> baseline(np.array([True, False, False, False]), 0.2).round(3)
    array([0.4, 0.2, 0.2, 0.2])
    """
    mask = np.asarray(relevant, dtype=bool)
    size = int(mask.sum())
    gamma = clipped_edge(edge, size)
    return (1.0 - gamma * size) / len(mask) + gamma * mask


def walk_step(n_labels: int, n_relevant: int, edge: float) -> tuple[float, float, float]:
    """Probabilities (down, stay, up) of one step of Z."""
    if n_labels < 2 or not 1 <= n_relevant < n_labels:
        raise ValueError(
            f"n_relevant is {n_relevant} and n_labels {n_labels}, but a pair needs "
            "1 <= n_relevant < n_labels"
        )
    gamma = clipped_edge(edge, n_relevant)
    # At the clipped edge 1/|Y| the true value is 0 and rounding may leave -1e-17.
    up = max(0.0, (1.0 - gamma * n_relevant) / n_labels)
    return up + gamma, max(0.0, 1.0 - 2.0 * up - gamma), up


@lru_cache(maxsize=512)
def walk_law(n: int, n_labels: int, n_relevant: int, edge: float) -> FloatArray:
    """P(Z_n = z) for z = -n .. n, read-only.

    Examples
    --------
    >>> walk_law(1, n_labels=4, n_relevant=1, edge=0.2).round(3)
    array([0.4, 0.4, 0.2])
    """
    if n < 0:
        raise ValueError(f"n is {n}, but the number of learners to come must be >= 0")
    down, stay, up = walk_step(n_labels, n_relevant, edge)
    law, factor = np.ones(1), np.array([down, stay, up])
    law_lo, factor_lo = 0, -1
    # Repeated squaring: all terms are positive, so nothing cancels, and n may be large.
    remaining = n
    while remaining:
        if remaining & 1:
            law, law_lo = _trimmed(_convolved(law, factor), law_lo + factor_lo)
        remaining >>= 1
        if remaining:
            factor, factor_lo = _trimmed(_convolved(factor, factor), 2 * factor_lo)
    full = np.zeros(2 * n + 1)
    full[n + law_lo : n + law_lo + len(law)] = law
    full.flags.writeable = False
    return full


def _convolved(a: FloatArray, b: FloatArray) -> FloatArray:
    """The law of the sum of two independent variables: `np.convolve`, whose BLAS rounds differently on each CPU."""
    law = np.zeros(len(a) + len(b) - 1)
    for i, probability in enumerate(b):
        law[i : i + len(a)] += probability * a
    return law


def _trimmed(law: FloatArray, lo: int) -> tuple[FloatArray, int]:
    """Cut ends that are next to nothing: a long walk's law is then as wide as it is likely."""
    inside = np.flatnonzero(law > _NEGLIGIBLE)
    first, last = int(inside[0]), int(inside[-1])
    return law[first : last + 1], lo + first


def exponential_rate(n_labels: int, n_relevant: int, edge: float) -> float:
    """E e^Z for one step of the walk: the rho of g_n(d) = e^d rho^n.

    Examples
    --------
    >>> round(exponential_rate(4, 1, 0.2), 4)  # .4 / e + .4 + .2 e
    1.0908
    """
    down, stay, up = walk_step(n_labels, n_relevant, edge)
    return down / math.e + stay + up * math.e
