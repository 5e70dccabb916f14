"""Learning OnlineBMR's edge while it runs (``edge="auto"``), by online convex optimisation.

The proof of the general bound holds for any edge gamma_t that is chosen before round t. After the round it is known
what every other edge would have promised::

    loss of round t  <=  F_t(gamma_t) - n_t,      F_t(gamma) = phi^N_t(0; gamma) + gamma D_t

with the two parts n_t and D_t of the learners' edges (`Booster.edges`), summed over the learners. For a convex pair
loss F_t is convex in gamma, so following the regularised leader has small regret against the best edge in hindsight.
Theorem, proof and what holds for other losses: docs/theory.md. The compiled core keeps the sums and moves the edge
(edge_search.hpp).
"""

from __future__ import annotations

import numpy as np

from boostline import _core, potentials
from boostline.array_types import FloatArray
from boostline.losses import PairLoss

#: Edges whose promises are added up; between them the sums are taken as linear. Rounded, as the last bits of NumPy's
#: powers depend on the CPU.
LEVELS: FloatArray = np.array([float(f"{level:.6g}") for level in np.geomspace(0.001, 1.0, 37)])
START = 0.02
#: Rows between two moves of the edge.
PERIOD = 25


def new_search() -> _core.EdgeSearch:
    """A search that has seen nothing yet."""
    return _core.EdgeSearch(LEVELS, START, PERIOD)


def start_potentials(
    loss: PairLoss, n_learners: int, n_labels: int, n_relevant: int
) -> tuple[FloatArray, float, float]:
    """phi^N(0) at the levels, cut to 1 / |Y|; that limit; the slope of phi^N(0) in the edge there."""
    walk = (loss, n_learners, n_labels, n_relevant)
    limit = 1.0 / n_relevant
    values = np.empty(len(LEVELS))
    for j, edge in enumerate(LEVELS):
        # Beyond the limit nothing changes any more.
        is_cut = j > 0 and LEVELS[j - 1] >= limit
        values[j] = values[j - 1] if is_cut else potentials.start_potential(*walk, float(edge))
    slope = potentials.start_slope(*walk, limit) if limit < LEVELS[-1] else 0.0
    return values, limit, slope
