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

FloatArray = NDArray[np.float64]

# Edges that potentials are tabulated for: a fine grid would only build more tables.
LEVELS: FloatArray = np.geomspace(0.001, 0.3, 18)
_START = 0.02
#: Rows between two looks at the learners' edges.
PERIOD = 25
_HALF_LIFE = 500.0  # rows
_DECAY = 0.5 ** (PERIOD / _HALF_LIFE)


class EdgeSearch:
    """The realised edge of all learners together, with a half-life of 500 rows, on a grid.

    Attributes
    ----------
    edge : float
        The edge to use now.
    promised : float
        Sum over the rounds of phi^N(0) at the edge used in each.
    assumed : float
        Sum of gamma_t D_{i,t} over the learners and the rounds up to the last look.
    """

    def __init__(self) -> None:
        self._gain = 0.0
        self._weight = 0.0
        self._seen = (0.0, 0.0)  # the learners' cumulative sums at the last look
        self._level = int(np.abs(LEVELS - _START).argmin())
        self.promised = 0.0
        self.assumed = 0.0

    @property
    def edge(self) -> float:
        return float(LEVELS[self._level])

    def look(self, gain: float, weight: float) -> bool:
        """Take the learners' cumulative edge sums; return whether the edge has changed."""
        self._gain = _DECAY * self._gain + gain - self._seen[0]
        self._weight = _DECAY * self._weight + weight - self._seen[1]
        self.assumed = self.assumed_until(weight)
        self._seen = (gain, weight)
        if self._weight <= 0:
            return False
        level = int(np.abs(np.log(LEVELS / max(self._gain / self._weight, LEVELS[0]))).argmin())
        changed = level != self._level
        self._level = level
        return changed

    def assumed_until(self, weight: float) -> float:
        """Return `assumed` at a moment between two looks; `weight` as in `look`."""
        return self.assumed + self.edge * (weight - self._seen[1])

    def values(self) -> FloatArray:
        """Return the state, for saving."""
        return np.array(
            [self._gain, self._weight, *self._seen, self._level, self.promised, self.assumed]
        )

    def set_values(self, values: FloatArray) -> None:
        """Take back what `values` gave."""
        if values.shape != (7,) or not np.isfinite(values).all():
            raise ValueError("the array 'edge_search' is damaged")
        if not 0 <= values[4] < len(LEVELS) or values[4] != int(values[4]):
            raise ValueError("the array 'edge_search' has no valid level")
        self._gain, self._weight = float(values[0]), float(values[1])
        self._seen = (float(values[2]), float(values[3]))
        self._level, self.promised, self.assumed = (
            int(values[4]),
            float(values[5]),
            float(values[6]),
        )


def assumed_gain(model: Any) -> float:
    """Sum of gamma_t D_{i,t} over all learners and rounds of an OnlineBMR with ``edge="auto"``."""
    search: EdgeSearch = model._search
    return search.assumed_until(float(model.weight_sums.sum()))
