"""How well a model does, window by window: losses of what it would have ranked and of what was served.

Rows wait in a buffer until a window is full, and are measured together. A window is part of the state: the same log
gives the same windows.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.contract.label_sets import UNKNOWN
from boostline.inspect.label_rows import LabelLosses
from boostline.metrics import Ranking

__all__ = ["DEPTHS", "Windows", "measured"]

FloatArray = NDArray[np.float64]

#: Rows of a window; fewer with many labels, so that the buffer stays small.
_ROWS, _LEAST_ROWS, _MOST_VALUES = 100, 10, 200_000
#: Depths at which precision is measured.
DEPTHS = (1, 3, 5)


class Windows:
    """The rows of the window that is being filled, and the number of those before it."""

    def __init__(self, n_labels: int, number: int = 0) -> None:
        self.number = number
        self._start(n_labels)

    def _start(self, n_labels: int) -> None:
        self._size = max(_LEAST_ROWS, min(_ROWS, _MOST_VALUES // n_labels))
        self._n = 0
        self._own = np.zeros((self._size, n_labels))
        self._served = np.full((self._size, n_labels), np.nan)
        self._relevance = np.full((self._size, n_labels), UNKNOWN, np.int8)
        self._delay = np.full(self._size, np.nan)
        self._time = np.zeros(self._size)

    def __len__(self) -> int:
        return self._n

    def state(self) -> dict[str, Any]:
        n = self._n
        return {
            "number": self.number,
            "size": self._size,
            "own": self._own[:n].copy(),
            "served": self._served[:n].copy(),
            "relevance": self._relevance[:n].copy(),
            "delay": self._delay[:n].copy(),
            "time": self._time[:n].copy(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], n_labels: int) -> Windows:
        made = cls(n_labels, state["number"])
        made._size = state["size"]
        n = made._n = len(state["time"])
        for name in ("own", "served", "relevance", "delay", "time"):
            getattr(made, f"_{name}")[:n] = state[name]
        return made

    def with_labels(self, n: int) -> Windows:
        """The same with more labels, which are unknown in the rows so far."""
        pad = ((0, 0), (0, n))
        made = copy.copy(self)
        made._own = np.pad(self._own, pad)
        made._served = np.pad(self._served, pad, constant_values=np.nan)
        made._relevance = np.pad(self._relevance, pad, constant_values=UNKNOWN)
        return made

    def add(
        self,
        own: FloatArray,
        served: FloatArray | None,
        relevance: NDArray[np.int8],
        delay: float | None,
        time: float,
    ) -> bool:
        """Take in a row that was learned; tell whether the window is full."""
        i = self._n
        self._own[i], self._relevance[i], self._time[i] = own, relevance, time
        self._served[i] = np.nan
        if served is not None:
            self._served[i, : len(served)] = served
        self._delay[i] = np.nan if delay is None else delay
        self._n += 1
        return self._n == self._size

    def begin_next(self, n_labels: int) -> None:
        """Forget the rows of this window."""
        self.number += 1
        self._start(n_labels)

    def measure(self) -> dict[str, Any]:
        """What is known of the rows so far."""
        n = self._n
        return measured(
            *(self._own[:n], self._served[:n], self._relevance[:n], self._delay[:n], self._time[:n])
        )


def measured(
    own: FloatArray,
    served: FloatArray,
    relevance: NDArray[np.int8],
    delay: FloatArray,
    time: FloatArray,
) -> dict[str, Any]:
    """Losses of some rows, as JSON-able values; None for the mean of nothing."""
    if not len(time):
        return {"rows": 0}
    delays = delay[~np.isnan(delay)]
    was_served = ~np.isnan(served).all(axis=1)
    labels = LabelLosses(own.shape[1])
    labels.update(own, relevance == 1, relevance == UNKNOWN)
    n_yes, missed = labels.sums[0], labels.sums[1]
    shares = np.divide(missed, n_yes, out=np.full(len(n_yes), np.nan), where=n_yes > 0)
    return {
        "rows": len(time),
        "from": float(time[0]),
        "to": float(time[-1]),
        **_losses(own, relevance),
        "served": _losses(*_known_when_served(served[was_served], relevance[was_served])),
        "agreement": _agreement(own[was_served], served[was_served]),
        "delay_median": _quantile(delays, 0.5),
        "delay_95": _quantile(delays, 0.95),
        "labels": {
            "relevant": n_yes.astype(int).tolist(),
            "loss": [None if np.isnan(v) else round(float(v), 6) for v in shares],
        },
    }


def _known_when_served(
    served: FloatArray, relevance: NDArray[np.int8]
) -> tuple[FloatArray, NDArray[np.int8]]:
    """Labels that came later were not ranked: they count as unknown."""
    absent = np.isnan(served)
    return np.where(absent, 0.0, served), np.where(absent, np.int8(UNKNOWN), relevance)


def _losses(scores: FloatArray, relevance: NDArray[np.int8]) -> dict[str, Any]:
    """Means over the rows that have a pair to rank."""
    if not len(scores):
        return {"rank_loss": None, **{f"precision@{k}": None for k in DEPTHS}}
    ranking = Ranking(relevance == 1, scores, relevance == UNKNOWN)
    pairs = ~ranking.without_pairs
    values = {"rank_loss": ranking.rank_loss("half")}
    values |= {f"precision@{depth}": ranking.precision_at(depth) for depth in DEPTHS}
    return {name: float(v[pairs].mean()) if pairs.any() else None for name, v in values.items()}


def _agreement(own: FloatArray, served: FloatArray) -> float | None:
    """Share of rows whose first label would have been the one that was served."""
    if not len(own):
        return None
    first = np.nan_to_num(served, nan=-np.inf).argmax(axis=1)
    return float((own.argmax(axis=1) == first).mean())


def _quantile(values: FloatArray, q: float) -> float | None:
    return float(np.quantile(values, q)) if len(values) else None
