"""Choosing OnlineBMR's edge while it runs (``edge="auto"``).

The proof of the general bound holds for any edge gamma_t that is chosen before round t::

    sum of losses  <=  sum_t phi^N(0; gamma_t)  +  sum_t sum_i (gamma_t D_{i,t} - n_{i,t})

where n_{i,t} / D_{i,t} is the edge that learner i realises in round t (the two parts of `Booster.edges`). With
W_t = decay W_{t-1} + D_t, G_t likewise of n_t (sums over i), and gamma_{t+1} = G_t / W_t, the last sum is
the sum of W_t (gamma_t - gamma_{t+1}): following the realised edge leaves only how far the edge moved, times a
weight that does not grow with T. The derivation is in docs/theory.md. It costs one pass over the edges every few rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline import _core

FloatArray = NDArray[np.float64]

# Edges that potentials are tabulated for: a fine grid would only build more tables.
LEVELS: FloatArray = np.geomspace(0.001, 0.3, 18)
_START = 0.02
#: Rows between two looks at the learners' edges.
PERIOD = 25
_HALF_LIFE = 500.0  # rows
_DECAY = 0.5 ** (PERIOD / _HALF_LIFE)


def new_search() -> _core.EdgeSearch:
    """A search that has seen nothing yet: all learners' edge, with a half-life of 500 rows, on the grid."""
    start = int(np.abs(LEVELS - _START).argmin())
    return _core.EdgeSearch(LEVELS, start, PERIOD, _DECAY)


def assumed_gain(model: Any) -> float:
    """Sum of gamma_t D_{i,t} over all learners and rounds of an OnlineBMR with ``edge="auto"``."""
    search: _core.EdgeSearch = model._search_now()
    return search.assumed_until(float(model.weight_sums.sum()))
