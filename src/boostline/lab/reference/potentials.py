"""Potentials (eq. potential): the expected final loss when n learners are still to vote.

    phi^0(s) = L^Y(s),    phi^n(s) = E_{l ~ u_gamma} phi^{n-1}(s + e_l)

With the paper's random walk framework (appendix A), phi^n(s) = E L^Y(s + X), X counting n draws
from the baseline u_gamma. For a loss that is a sum over pairs only Z_n = X_r - X_l matters, a lazy
random walk: +1 with probability a, -1 with probability a + gamma, 0 otherwise.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from boostline.lab.reference.losses import BoolArray, FloatArray, Labels, gaps, label_sets

PotentialLoss: TypeAlias = Literal["hinge", "rank"]


def baseline(relevant: BoolArray, edge: float) -> FloatArray:
    """Return u_gamma^Y: a + gamma at relevant labels, a = (1 - gamma |Y|)/k at all others.

    The edge is cut to 1/|Y|, beyond which a would be negative.

    >>> baseline(np.array([True, False, False, False]), 0.2).round(3).tolist()
    [0.4, 0.2, 0.2, 0.2]
    """
    up, down = walk_steps(relevant.size, int(relevant.sum()), edge)
    return np.where(relevant, down, up)


def walk_steps(n_labels: int, n_relevant: int, edge: float) -> tuple[float, float]:
    """Return the probabilities of the walk's steps +1 and -1."""
    edge = min(edge, 1.0 / max(n_relevant, 1))
    a = max(1.0 - edge * n_relevant, 0.0) / n_labels
    return a, a + edge


@lru_cache(maxsize=4096)
def walk_law(n: int, up: float, down: float) -> FloatArray:
    """Return P(Z_n = z) for z = -n .. n.

    >>> walk_law(2, 0.25, 0.5).tolist()
    [0.25, 0.25, 0.3125, 0.125, 0.0625]
    """
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, [down, max(1.0 - up - down, 0.0), up])
    law.flags.writeable = False  # it is shared by all who ask again
    return law


def _pair_loss(loss: PotentialLoss, d: FloatArray, margin: float) -> FloatArray:
    """Return g_0(d), the loss of one pair."""
    if loss == "hinge":
        return np.maximum(margin + d, 0.0)
    if loss == "rank":
        return np.where(d > 0, 1.0, np.where(d == 0, 0.5, 0.0))
    raise ValueError(f"loss is {loss!r}, but it must be 'hinge' or 'rank'")


def pair_potential(
    loss: PotentialLoss, n: int, d: FloatArray, up: float, down: float, margin: float = 1.0
) -> FloatArray:
    """Return g_n(d) = E g_0(d + Z_n), exact at every real d.

    >>> float(pair_potential("hinge", 1, np.array(0.5), up=0.25, down=0.5))  # .25*2.5+.25*1.5+.5*.5
    1.25
    """
    z = np.arange(-n, n + 1)
    values = _pair_loss(loss, np.asarray(d)[..., None] + z, margin)
    g: FloatArray = (walk_law(n, up, down) * values).sum(axis=-1)
    return g


def potential(
    loss: PotentialLoss,
    n: int,
    s: FloatArray,
    relevant: Labels,
    edge: float,
    margin: float = 1.0,
    irrelevant: Labels | None = None,
) -> FloatArray:
    """Return phi^n(s) = w_Y * sum over the pairs of g_n(s[r] - s[l]).

    Parameters
    ----------
    loss : {"hinge", "rank"}
    n : int
        Learners still to vote.
    s : array (..., k)
        Cumulative votes so far.
    relevant, irrelevant : labels
        Y, and the labels known not to be in Y (default: all others).
    edge : float
        gamma, cut to 1/|Y|.
    margin : float
        The 1 in the paper's hinge loss.

    >>> float(potential("rank", 1, np.zeros(2), {0}, 0.5))   # a = .25: P(the wrong label)
    0.25
    """
    y, z = label_sets(relevant, irrelevant, s.shape[-1])
    d = gaps(s, y, z)
    up, down = walk_steps(s.shape[-1], int(y.sum()), edge)
    g = pair_potential(loss, n, d, up, down, margin)
    phi: FloatArray = g.sum(axis=(-2, -1)) / max(g.shape[-2] * g.shape[-1], 1)
    return phi


def potential_costs(
    loss: PotentialLoss,
    n: int,
    s: FloatArray,
    relevant: Labels,
    edge: float,
    margin: float = 1.0,
    irrelevant: Labels | None = None,
) -> FloatArray:
    """Return c[l] = phi^n(s + e_l) - phi^n(s) for every label l (eq. optimalCost).

    The paper's cost less a constant that cancels in every use. It is subtracted inside the
    expectation, pair by pair and outcome by outcome: there all terms of one label have the same
    sign, so nothing cancels and a cost is 0 only if it truly is (the difference of two sums would
    drown a tail of 1e-17 that decides whether a label is learned at all).

    >>> potential_costs("rank", 1, np.zeros(2), {0}, 0.5).tolist()   # from .25 to .125 or .625
    [-0.125, 0.375]
    """
    y, z = label_sets(relevant, irrelevant, s.shape[-1])
    up, down = walk_steps(s.shape[-1], int(y.sum()), edge)
    steps = np.arange(-n, n + 1)
    after = gaps(s + np.eye(s.shape[-1]), y, z)[..., None] + steps  # (k, |Y|, |Y^c|, 2n + 1)
    before = gaps(s, y, z)[..., None] + steps
    change = _pair_loss(loss, after, margin) - _pair_loss(loss, before, margin)
    costs: FloatArray = (walk_law(n, up, down) * change).sum(axis=(-3, -2, -1))
    return costs / max(int(y.sum()) * int(z.sum()), 1)
