"""Tables of the steps D_n(d) = g_n(d + 1) - g_n(d), which the compiled core interpolates."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boostline.array_types import FloatArray
from boostline.contract.numbers import whole_number
from boostline.losses import Exponential, Hinge, Logistic, PairLoss, Rank
from boostline.potentials.walk import exponential_rate, walk_step

# Grid of smooth losses: sixteenths keep the logistic steps within 5e-5 (see step_table).
GRID = 16
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


def step_table(
    loss: PairLoss, n_learners: int, n_labels: int, n_relevant: int, edge: float
) -> StepTable:
    """Tabulate D_n for n = 0 .. n_learners - 1; see `StepTable`.

    Hinge is exact at every real d (its potentials are piecewise linear with knots where
    d + margin is an integer, and those are on the grid), rank and other losses that are not convex
    at every integer. The exponential loss is returned in closed form. For a smooth loss the grid
    has 16 points per unit: interpolation is linear and commutes with the walk's integer
    steps, so its error for any n is an average of its errors for n = 0, and is bounded

    - for logistic by h^2/8 * sup |D_0''| <= h^2 / (48 sqrt 3), with h = 1/16;
    - for any other convex loss by the largest distance that a convex function through the grid
      values can have from its chords, which needs no derivatives.

    Examples
    --------
    >>> table = step_table(Logistic(), 10, n_labels=6, n_relevant=2, edge=0.05)
    >>> table.values.shape, table.error < 5e-5
    ((10, 385), True)
    """
    whole_number(n_learners, "n_learners", 1)
    if not isinstance(loss, PairLoss):
        raise TypeError(
            f"loss {loss.name!r} does not split into pairs, so it has no table; "
            "use potentials.costs (Monte Carlo)"
        )
    kernel = np.array(walk_step(n_labels, n_relevant, edge)[::-1])  # (up, stay, down)
    if isinstance(loss, Exponential):
        rho = exponential_rate(n_labels, n_relevant, edge)
        # A product, because the last bit of NumPy's power depends on the CPU.
        column = np.cumprod([math.e - 1.0, *[rho] * (n_learners - 1)], dtype=np.float64)
        return StepTable(0.0, 1.0, column[:, None], 0.0, rho)
    if isinstance(loss, Rank):
        return _unit_table(n_learners, -n_learners - 2.0, np.array([0.5, 0.5]), 0.0, kernel, -1.0)
    if isinstance(loss, Hinge):
        lo = -n_learners - 2.0 - loss.margin
        return _unit_table(n_learners, lo, np.array([1.0]), 1.0, kernel, -loss.margin)
    return _shrinking_table(loss, n_learners, kernel, GRID if loss.convex else 1)


def _unit_table(
    n_learners: int,
    lo: float,
    jumps: FloatArray,
    right: float,
    kernel: FloatArray,
    first_jump: float,
) -> StepTable:
    """Table with step 1 of a D_0 that is 0 left of first_jump, then jumps, then ``right``."""
    start = round(first_jump - lo)
    # Right of what N steps can reach from the jumps every D_n is ``right``, however large the margin is. The core
    # reads one unit to the left of any d as well.
    width = min(math.ceil(n_learners + 2 - lo) + 1, start + len(jumps) + n_learners + 2)
    values = np.empty((n_learners, width))
    values[0] = right
    values[0, :start] = 0.0
    values[0, start : start + len(jumps)] = jumps
    up, stay, down = kernel
    for n in range(1, n_learners):
        # The ends are beyond the reach of n steps, where D_n still is what D_0 was.
        values[n, 0], values[n, -1] = 0.0, right
        last = values[n - 1]
        values[n, 1:-1] = down * last[:-2] + stay * last[1:-1] + up * last[2:]
    return StepTable(lo, 1.0, values, 0.0)


def _shrinking_table(loss: PairLoss, n_learners: int, kernel: FloatArray, grid: int) -> StepTable:
    """Table on a grid of 1/grid, from D_0 on a range wide enough that no end is ever missed."""
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
