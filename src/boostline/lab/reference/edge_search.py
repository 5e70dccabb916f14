"""The edge that OnlineBMR learns (``edge="auto"``; ours, not the paper's): follow the regularised leader.

In round t an edge gamma promises F_t(gamma) = phi^N_t(0; gamma) + gamma D_t, with D_t the sum over the learners of
|Y| mean(c) - sum of c over Y. docs/theory.md has the theorem.
"""

from __future__ import annotations

import numpy as np

from boostline.lab.reference.losses import BoolArray, FloatArray
from boostline.lab.reference.potentials import PotentialLoss, pair_potential, walk_steps

LEVELS: FloatArray = np.array([float(f"{level:.6g}") for level in np.geomspace(0.001, 1.0, 37)])
START = 0.02
PERIOD = 25


class EdgeSearch:
    """What each edge of a grid has promised, and the edge to use.

    Attributes
    ----------
    edge : float
        gamma_t.
    potentials, promises : array
        Sums of phi^N_t(0; gamma) and of F_t at the levels.
    slope_squares : float
        Sum over the periods of (slope of the sum of F_t over the period, at its edge)^2.

    >>> search = EdgeSearch(n_learners=10, loss="hinge", margin=1.0)
    >>> costs = np.tile([-0.1, 0.1], (10, 1))
    >>> for t in range(1, 51):
    ...     search.learn(np.array([True, False]), costs, 1.0)
    ...     search.end_round(t)
    >>> search.edge > 0.2   # costs this small are those of learners that are far better than chance
    True
    """

    def __init__(self, n_learners: int, loss: PotentialLoss, margin: float) -> None:
        self.n_learners, self.loss, self.margin = n_learners, loss, margin
        self.edge = START
        self._slope_squares = 0.0
        self.potentials = np.zeros(len(LEVELS))
        self.promises = np.zeros(len(LEVELS))
        self._convex = np.zeros(len(LEVELS))  # F_t made convex where the edge is cut
        self._at_last_look = np.zeros(len(LEVELS))

    def learn(self, relevant: BoolArray, costs: FloatArray, weight: float) -> None:
        """Count a round with pairs; `costs` (N, k) are raw."""
        k, size = relevant.size, int(relevant.sum())
        spread = size * costs.mean(axis=1) - costs[:, relevant].sum(axis=1)
        d = weight * float(spread.sum())
        limit = 1.0 / size

        def phi(edge: float) -> float:  # at s = 0 all pairs are alike
            up, down = walk_steps(k, size, edge)
            at_0 = pair_potential(self.loss, self.n_learners, np.zeros(1), up, down, self.margin)
            return float(at_0[0])

        cut = np.minimum(LEVELS, limit)
        potentials = weight * np.array([phi(edge) for edge in cut])
        value = potentials + cut * d
        self.potentials += potentials
        self.promises += value
        slope = weight * self._slope(k, size, limit) + d
        self._convex += value + max(slope, 0.0) * (LEVELS - cut)

    def _slope(self, k: int, size: int, edge: float) -> float:
        """d phi^N(0; gamma) / d gamma: one of the N steps goes down more often, up and nowhere less often."""
        around = np.array([-1.0, 0.0, 1.0])
        up, down = walk_steps(k, size, edge)
        g = pair_potential(self.loss, self.n_learners - 1, around, up, down, self.margin)
        p = size / k
        return self.n_learners * float((1 - p) * g[0] - p * g[2] - (1 - 2 * p) * g[1])

    @property
    def slope_squares(self) -> float:
        """The rounds since the last look count as a period, too."""
        cell = int(np.clip(np.searchsorted(LEVELS, self.edge, side="right"), 1, len(LEVELS) - 1))
        added = self._convex - self._at_last_look
        slope = (added[cell] - added[cell - 1]) / (LEVELS[cell] - LEVELS[cell - 1])
        return self._slope_squares + float(slope) ** 2

    def end_round(self, t: int) -> None:
        """Move the edge after every 25 rounds, those without a pair included."""
        if t % PERIOD:
            return
        self._slope_squares = self.slope_squares
        self._at_last_look = self._convex.copy()
        # Minimise the sum, linear between the levels, plus strength / 2 (edge - START)^2, cell by cell.
        strength = np.sqrt(2 * self.slope_squares) / (LEVELS[-1] - LEVELS[0])
        slopes = np.diff(self._convex) / np.diff(LEVELS)
        with np.errstate(divide="ignore", invalid="ignore"):
            lowest = np.where(strength > 0, START - slopes / strength, np.where(slopes > 0, 0, 2))
        edges = np.clip(lowest, LEVELS[:-1], LEVELS[1:])
        sums = self._convex[:-1] + slopes * (edges - LEVELS[:-1])
        self.edge = float(edges[np.argmin(sums + strength / 2 * (edges - START) ** 2)])
