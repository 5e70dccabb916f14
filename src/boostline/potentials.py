"""Potentials phi^n(s) of OnlineBMR (Equation 1 of the paper), exact wherever they can be.

phi^n(s) is the expected loss once n more labels have been drawn i.i.d. from the baseline u_gamma
and added to the votes s. For a loss that is a sum over pairs only Z_n = X_r - X_l matters, a lazy
random walk whose law does not depend on the pair or on time::

    step    +1       -1             0
    prob    a        a + gamma      1 - 2a - gamma        a = (1 - gamma |Y|) / k

    phi^n(s) = w_Y * sum over pairs of g_n(s[r] - s[l]),     g_n(d) = E pair(d + Z_n)

Costs need only the steps D_n(d) = g_n(d + 1) - g_n(d), because adding e_j to s moves only the
pairs that contain j. `step_table` tabulates them for the compiled core; `potential` and `costs`
compute single values from the law of Z_n, and are what the tables are tested against.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostline.losses import (
    Exponential,
    GeneralLoss,
    Hinge,
    Logistic,
    Loss,
    PairLoss,
    Rank,
)

__all__ = [
    "Estimate",
    "StepTable",
    "baseline",
    "clipped_edge",
    "costs",
    "estimate",
    "exponential_rate",
    "largest_weight",
    "pair_potential",
    "potential",
    "start_potential",
    "step_table",
    "walk_law",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# Grid of smooth losses: sixteenths keep the logistic steps within 5e-5 (see step_table).
GRID = 16
# Probabilities that no sum of losses can tell from 0.
_NEGLIGIBLE = 1e-200
# |s'(x + 1) - s'(x)| <= sup |s''| = 1 / (6 sqrt 3) for the logistic function s = g_0', and s' is
# g_0'': this bounds the second derivative of the logistic loss's step D_0.
_LOGISTIC_STEP_CURVATURE = 1.0 / (6.0 * math.sqrt(3.0))


class StepTable(NamedTuple):
    """D_n(d) = g_n(d + 1) - g_n(d) for n = 0 .. N-1 learners still to come.

    ``values[n, j]`` belongs to ``d = lo + j * step``; between the points interpolate linearly,
    outside take the nearest point. ``step`` is 1 over an integer, so d - 1 is on the grid as well.

    Attributes
    ----------
    error : float
        Bound on the absolute error for every d in [-N-2, N+2] that the loss may be used with: all
        reals for a convex loss, the integers for one that needs single-label votes.
    rho : float or None
        Only the exponential loss has it: then values has one column, (e - 1) rho^n, and
        D_n(d) = values[n, 0] * e^d exactly.
    """

    lo: float
    step: float
    values: FloatArray
    error: float
    rho: float | None = None

    def at(self, n: int, d: ArrayLike) -> FloatArray:
        """D_n(d), as the core reads it.

        Examples
        --------
        >>> table = step_table(Hinge(), n_learners=2, n_labels=2, n_relevant=1, edge=0.2)
        >>> table.at(1, [-1.5, 0.0])  # at -1.5 the hinge is felt if the walk goes up: .4
        array([0.4, 1. ])
        """
        x = np.asarray(d, dtype=np.float64)
        if self.rho is not None:
            return np.asarray(self.values[n, 0] * np.exp(x), dtype=np.float64)
        grid = self.lo + self.step * np.arange(self.values.shape[1])
        return np.asarray(np.interp(x, grid, self.values[n]), dtype=np.float64)


class Estimate(NamedTuple):
    """A value with its standard error, 0 where the value is exact."""

    value: float
    standard_error: float


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


def _walk_step(n_labels: int, n_relevant: int, edge: float) -> tuple[float, float, float]:
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
    down, stay, up = _walk_step(n_labels, n_relevant, edge)
    law, factor = np.ones(1), np.array([down, stay, up])
    law_lo, factor_lo = 0, -1
    # Repeated squaring: all terms are positive, so nothing cancels, and n may be large.
    remaining = n
    while remaining:
        if remaining & 1:
            law, law_lo = _trimmed(np.convolve(law, factor), law_lo + factor_lo)
        remaining >>= 1
        if remaining:
            factor, factor_lo = _trimmed(np.convolve(factor, factor), 2 * factor_lo)
    full = np.zeros(2 * n + 1)
    full[n + law_lo : n + law_lo + len(law)] = law
    full.flags.writeable = False
    return full


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
    down, stay, up = _walk_step(n_labels, n_relevant, edge)
    return down / math.e + stay + up * math.e


def pair_potential(
    loss: PairLoss, n: int, d: ArrayLike, n_labels: int, n_relevant: int, edge: float
) -> FloatArray:
    """g_n(d) = E pair(d + Z_n), exact at every real d.

    Examples
    --------
    >>> float(pair_potential(Rank(), 1, 0.0, n_labels=4, n_relevant=1, edge=0.2).round(12))
    0.4
    """
    x = np.asarray(d, dtype=np.float64)
    if isinstance(loss, Exponential):
        rate = exponential_rate(n_labels, n_relevant, edge)
        return np.asarray(np.exp(x) * rate**n, dtype=np.float64)
    law = walk_law(n, n_labels, n_relevant, edge)
    if isinstance(loss, Rank):
        # tail[j] = P(Z >= j - n); at a real d strictly between the integers m and m + 1 the
        # potential is P(Z >= -m), at an integer the tie counts half.
        tail: FloatArray = np.append(np.cumsum(law[::-1])[::-1], 0.0)
        floor = np.floor(x)
        first = np.clip(n - floor, 0, 2 * n + 1).astype(np.int64)
        after = np.clip(n - floor + 1, 0, 2 * n + 1).astype(np.int64)
        at_tie = np.asarray(x == floor, dtype=bool)
        halfway: FloatArray = 0.5 * (tail[first] + tail[after])
        return np.where(at_tie, halfway, tail[first])
    if isinstance(loss, Hinge):
        # With y = d + margin: E(y + Z)_+ is linear between integer y, and at them a sum of tails.
        tail = np.cumsum(law[::-1])  # tail[j] = P(Z >= n - j)
        at_integers = np.concatenate([[0.0], np.cumsum(tail)])  # y = -n .. n + 1
        y = x + loss.margin
        inside = np.interp(y, np.arange(-n, n + 2), at_integers)
        return np.where(y > n + 1, y + float(law @ np.arange(-n, n + 1)), inside)
    if not isinstance(loss, PairLoss):
        raise TypeError(f"loss {loss.name!r} does not split into pairs; use potentials.potential")
    z = np.arange(-n, n + 1, dtype=np.float64)
    return np.asarray(loss.pair(x[..., None] + z) @ law, dtype=np.float64)


def estimate(
    loss: Loss,
    n: int,
    scores: ArrayLike,
    relevant: ArrayLike,
    edge: float,
    *,
    irrelevant: ArrayLike | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> Estimate:
    """phi^n(s) with its standard error: exact for sums over pairs, else a Monte Carlo mean.

    Parameters
    ----------
    loss
        Any loss; `GeneralLoss` is the one that needs Monte Carlo.
    n
        Learners still to come.
    relevant, irrelevant
        Indicators of length k; irrelevant defaults to the complement (labels in neither are
        unknown: they take votes but form no pair).
    draws, seed
        Of the Monte Carlo estimate.

    Examples
    --------
    >>> relevant = np.array([True, False, False])
    >>> estimate(Exponential(), 0, [1.0, 0.0, 1.0], relevant, edge=0.1).standard_error
    0.0
    """
    s, mask, rest = _example(scores, relevant, irrelevant)
    if not mask.any() or not rest.any():
        return Estimate(0.0, 0.0)
    if isinstance(loss, GeneralLoss):
        walks = _draw_votes(mask, n, edge, draws, seed)
        found = loss.values(mask, s + walks)
        return Estimate(float(found.mean()), float(_standard_error(found)))
    pair_loss = _need_pairs(loss)
    differences = s[rest][:, None] - s[mask][None, :]
    g = pair_potential(pair_loss, n, differences, len(mask), int(mask.sum()), edge)
    return Estimate(float(g.mean()), 0.0)


def potential(
    loss: Loss,
    n: int,
    scores: ArrayLike,
    relevant: ArrayLike,
    edge: float,
    *,
    irrelevant: ArrayLike | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> float:
    """phi^n(s), the value of `estimate`.

    Examples
    --------
    >>> round(potential(Hinge(), 1, [0.0, 0.0], np.array([True, False]), edge=0.2), 12)
    0.8
    """
    return estimate(
        loss, n, scores, relevant, edge, irrelevant=irrelevant, draws=draws, seed=seed
    ).value


def start_potential(
    loss: PairLoss, n_learners: int, n_labels: int, n_relevant: int, edge: float
) -> float:
    """phi^N(0), the promised loss per round: it depends on the example through |Y| only.

    Examples
    --------
    >>> round(start_potential(Rank(), 1, 4, 1, 0.2), 12)  # .2 for a wrong vote, .4 / 2 for a tie
    0.4
    """
    return float(pair_potential(loss, n_learners, 0.0, n_labels, n_relevant, edge))


def costs(
    loss: Loss,
    n: int,
    scores: ArrayLike,
    relevant: ArrayLike,
    edge: float,
    *,
    irrelevant: ArrayLike | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """Costs c[l] = phi^n(s + e_l) up to a constant, and their standard errors (0 when exact).

    For a sum over pairs the constant is phi^n(s), so relevant labels cost <= 0 and irrelevant ones
    >= 0. A Monte Carlo estimate uses the same draws for all labels, is centred, and its standard
    errors are those of the centred costs.

    Examples
    --------
    >>> c, error = costs(Hinge(), 0, [0.0, 0.0, 0.0], np.array([True, False, False]), edge=0.1)
    >>> c, float(error.max())
    (array([-1. ,  0.5,  0.5]), 0.0)
    """
    s, mask, rest = _example(scores, relevant, irrelevant)
    result = np.zeros(len(mask))
    if not mask.any() or not rest.any():
        return result, np.zeros(len(mask))
    if isinstance(loss, GeneralLoss):
        walks = s + _draw_votes(mask, n, edge, draws, seed)
        found = np.stack([loss.values(mask, walks + e) for e in np.eye(len(mask))], axis=1)
        found = found - found.mean(axis=1, keepdims=True)
        return found.mean(axis=0), _standard_error(found)
    pair_loss = _need_pairs(loss)
    d = s[rest][:, None] - s[mask][None, :]
    here, below, above = (
        pair_potential(pair_loss, n, d + move, len(mask), int(mask.sum()), edge)
        for move in (0.0, -1.0, 1.0)
    )
    result[mask] = (below - here).sum(axis=0) / d.size
    result[rest] = (above - here).sum(axis=1) / d.size
    return result, np.zeros(len(mask))


def largest_weight(
    loss: PairLoss,
    n: int,
    n_past: int,
    n_labels: int,
    n_relevant: int,
    edge: float,
    n_irrelevant: int | None = None,
) -> float:
    """Bound on w = max c - min c over all votes of n_past learners, with n learners to come.

    Moving one vote from l to r changes at most |Y| + |I| pairs by D_n each, so
    w <= (1/|Y| + 1/|I|) max D_n, the maximum over the d that n_past votes can reach.

    Examples
    --------
    >>> largest_weight(Hinge(), n=5, n_past=20, n_labels=4, n_relevant=1, edge=0.1)
    1.3333333333333333
    """
    rest = n_labels - n_relevant if n_irrelevant is None else n_irrelevant
    # D_n of a convex loss is nondecreasing; another loss meets single-label votes, so integers.
    lowest = float(n_past) if loss.convex else -n_past - 1.0
    d = np.arange(lowest, n_past + 1.0)
    g = pair_potential(loss, n, np.append(d, d[-1] + 1.0), n_labels, n_relevant, edge)
    return (1.0 / n_relevant + 1.0 / rest) * float(np.diff(g).max())


def step_table(
    loss: PairLoss,
    n_learners: int,
    n_labels: int,
    n_relevant: int,
    edge: float,
    *,
    grid: int = GRID,
) -> StepTable:
    """Tabulate D_n for n = 0 .. n_learners - 1; see `StepTable`.

    Hinge is exact at every real d (its potentials are piecewise linear with knots where
    d + margin is an integer, and those are on the grid), rank and other losses that are not convex
    at every integer. The exponential loss is returned in closed form. For a smooth loss the grid
    has ``grid`` points per unit: interpolation is linear and commutes with the walk's integer
    steps, so its error for any n is an average of its errors for n = 0, and is bounded

    - for logistic by h^2/8 * sup |D_0''| <= h^2 / (48 sqrt 3), with h = 1/grid;
    - for any other convex loss by the largest distance that a convex function through the grid
      values can have from its chords, which needs no derivatives.

    Examples
    --------
    >>> table = step_table(Logistic(), 10, n_labels=6, n_relevant=2, edge=0.05)
    >>> table.values.shape, table.error < 5e-5
    ((10, 385), True)
    """
    if n_learners < 1:
        raise ValueError(f"n_learners is {n_learners}, but must be at least 1")
    if not isinstance(loss, PairLoss):
        raise TypeError(
            f"loss {loss.name!r} does not split into pairs, so it has no table; "
            "use potentials.costs (Monte Carlo)"
        )
    kernel = np.array(_walk_step(n_labels, n_relevant, edge)[::-1])  # (up, stay, down)
    if isinstance(loss, Exponential):
        rho = exponential_rate(n_labels, n_relevant, edge)
        column = (math.e - 1.0) * rho ** np.arange(n_learners, dtype=np.float64)
        return StepTable(0.0, 1.0, column[:, None], 0.0, rho)
    if isinstance(loss, Rank):
        return _unit_table(n_learners, -n_learners - 2.0, np.array([0.5, 0.5]), 0.0, kernel, -1.0)
    if isinstance(loss, Hinge):
        lo = -n_learners - 2.0 - loss.margin
        return _unit_table(n_learners, lo, np.array([1.0]), 1.0, kernel, -loss.margin)
    return _shrinking_table(loss, n_learners, kernel, grid if loss.convex else 1)


def _unit_table(
    n_learners: int,
    lo: float,
    jumps: FloatArray,
    right: float,
    kernel: FloatArray,
    first_jump: float,
) -> StepTable:
    """Table with step 1 of a D_0 that is 0 left of first_jump, then jumps, then ``right``."""
    width = math.ceil(n_learners + 2 - lo) + 1
    values = np.empty((n_learners, width))
    values[0] = right
    start = round(first_jump - lo)
    values[0, :start] = 0.0
    values[0, start : start + len(jumps)] = jumps
    for n in range(1, n_learners):
        # The ends are beyond the reach of n steps, where D_n still is what D_0 was.
        values[n, 0], values[n, -1] = 0.0, right
        values[n, 1:-1] = np.convolve(values[n - 1], kernel, "valid")
    return StepTable(lo, 1.0, values, 0.0)


def _shrinking_table(loss: PairLoss, n_learners: int, kernel: FloatArray, grid: int) -> StepTable:
    """Table on a grid of 1/grid, from D_0 on a range wide enough that no end is ever missed."""
    if grid < 1:
        raise ValueError(f"grid is {grid}, but must be at least 1 point per unit")
    reach = n_learners + 2
    wide = reach + n_learners
    x = np.arange(-wide * grid, (wide + 1) * grid + 1) / grid
    g = loss.pair(x)
    current = g[grid:] - g[:-grid]
    width = 2 * reach * grid + 1
    values = np.empty((n_learners, width))
    up, stay, down = kernel
    for n in range(n_learners):
        start = (len(current) - width) // 2
        values[n] = current[start : start + width]
        current = (
            down * current[: -2 * grid] + stay * current[grid:-grid] + up * current[2 * grid :]
        )
    if isinstance(loss, Logistic):
        error = _LOGISTIC_STEP_CURVATURE / (8.0 * grid**2)
    elif loss.convex:
        error = _chord_error(g, 1.0 / grid)
    else:
        error = 0.0
    return StepTable(-float(reach), 1.0 / grid, values, error)


def _chord_error(g: FloatArray, h: float) -> float:
    """Largest distance between a convex function with grid values g and its chords.

    In a cell the function lies below its chord and above the prolonged chords of both
    neighbours; with slopes p <= q <= r the gap is at most h (q - p)(r - q) / (r - p). Both ends of
    a step D = g(d + 1) - g(d) err in the same direction, so D errs by no more.
    """
    bend = np.maximum(np.diff(g, 2) / h, 0.0)
    left, right = bend[:-1], bend[1:]
    total = left + right
    gap = np.divide(left * right, total, out=np.zeros_like(total), where=total > 0)
    return float(h * gap.max())


def _example(
    scores: ArrayLike, relevant: ArrayLike, irrelevant: ArrayLike | None
) -> tuple[FloatArray, BoolArray, BoolArray]:
    mask = np.asarray(relevant, dtype=bool)
    rest = ~mask if irrelevant is None else np.asarray(irrelevant, dtype=bool)
    s = np.asarray(scores, dtype=np.float64)
    if s.shape != mask.shape or rest.shape != mask.shape or mask.ndim != 1:
        raise ValueError(
            f"scores has shape {s.shape}, relevant {mask.shape} and irrelevant {rest.shape}, but "
            "all must be (n_labels,)"
        )
    if (mask & rest).any():
        raise ValueError(f"label {np.flatnonzero(mask & rest)[0]} is relevant and irrelevant")
    return s, mask, rest


def _draw_votes(mask: BoolArray, n: int, edge: float, draws: int, seed: int) -> FloatArray:
    if draws < 2:
        raise ValueError(f"draws is {draws}, but a standard error needs at least 2")
    if n == 0:  # nothing is random: one row, exact
        return np.zeros((1, len(mask)))
    rng = np.random.default_rng(seed)
    u = baseline(mask, edge)
    return rng.multinomial(n, u / u.sum(), size=draws).astype(np.float64)


def _standard_error(draws: FloatArray) -> FloatArray:
    if len(draws) == 1:
        return np.zeros(draws.shape[1:])
    return np.asarray(draws.std(axis=0, ddof=1) / math.sqrt(len(draws)), dtype=np.float64)


def _need_pairs(loss: Loss) -> PairLoss:
    if not isinstance(loss, PairLoss):
        raise TypeError(f"loss is {loss!r}, but must be a PairLoss or a GeneralLoss")
    return loss
