"""How well a model does, window by window: losses of what it would have ranked and of what was served.

Rows wait in a buffer until a window is full, and are measured together. A window is part of the state: the same log
gives the same windows.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostline.contract.label_sets import UNKNOWN
from boostline.inspect.label_rows import LabelLosses
from boostline.metrics import Ranking

__all__ = ["Windows", "mean_of"]

FloatArray = NDArray[np.float64]

#: Rows of a window; fewer with many labels, so that the buffer stays small.
_ROWS, _LEAST_ROWS, _MOST_VALUES = 100, 10, 200_000
#: Depths at which precision is measured.
_DEPTHS = (1, 3, 5)


class _Row(NamedTuple):
    """One row, or many of them as arrays."""

    own: FloatArray
    served: FloatArray
    relevance: NDArray[np.int8]
    delay: Any
    time: Any


class Windows:
    """The rows of the window that is being filled, and the number of those before it.

    Labels that came later are unknown in the rows before.
    """

    def __init__(self, n_labels: int, number: int = 0) -> None:
        self.number = number
        self._begin(n_labels)

    def _begin(self, n_labels: int) -> None:
        self._size = max(_LEAST_ROWS, min(_ROWS, _MOST_VALUES // n_labels))
        self._rows: list[_Row] = []

    def __len__(self) -> int:
        return len(self._rows)

    def state(self, n_labels: int) -> dict[str, Any]:
        return {"number": self.number, "size": self._size, **self._arrays(n_labels)._asdict()}

    @classmethod
    def from_state(cls, state: dict[str, Any], n_labels: int) -> Windows:
        made = cls(n_labels, state["number"])
        made._size = state["size"]
        made._rows = [
            _Row(*row) for row in zip(*(state[name] for name in _Row._fields), strict=True)
        ]
        return made

    def copy(self) -> Windows:
        made = copy.copy(self)
        made._rows = self._rows.copy()
        return made

    def add(
        self,
        own: FloatArray,
        served: FloatArray | None,
        relevance: NDArray[np.int8],
        delay: float | None,
        time: float,
    ) -> bool:
        """Take in a row that was learned; return whether the window is full."""
        shown = np.zeros(0) if served is None else served
        self._rows.append(_Row(own, shown, relevance, np.nan if delay is None else delay, time))
        return len(self._rows) == self._size

    def begin_next(self, n_labels: int) -> None:
        """Forget the rows of this window."""
        self.number += 1
        self._begin(n_labels)

    def _arrays(self, n_labels: int) -> _Row:
        shape = (len(self._rows), n_labels)
        own, served = np.zeros(shape), np.full(shape, np.nan)
        relevance = np.full(shape, UNKNOWN, np.int8)
        for i, row in enumerate(self._rows):
            own[i, : len(row.own)] = row.own
            served[i, : len(row.served)] = row.served
            relevance[i, : len(row.relevance)] = row.relevance
        delay = np.array([row.delay for row in self._rows], dtype=float)
        time = np.array([row.time for row in self._rows], dtype=float)
        return _Row(own, served, relevance, delay, time)

    def measure(self, n_labels: int) -> dict[str, Any]:
        """Losses of the rows so far, as JSON-able values; None for the mean of nothing."""
        if not self._rows:
            return {"rows": 0}
        own, served, relevance, delay, time = self._arrays(n_labels)
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
        return {"rank_loss": None, **{f"precision@{k}": None for k in _DEPTHS}}
    ranking = Ranking(relevance == 1, scores, relevance == UNKNOWN)
    pairs = ~ranking.without_pairs
    values = {"rank_loss": ranking.rank_loss("half")}
    values |= {f"precision@{depth}": ranking.precision_at(depth) for depth in _DEPTHS}
    return {name: float(v[pairs].mean()) if pairs.any() else None for name, v in values.items()}


def _quantile(values: FloatArray, q: float) -> float | None:
    return float(np.quantile(values, q)) if len(values) else None


def mean_of(windows: list[dict[str, Any]], name: str) -> float | None:
    """The mean of a figure over the rows of windows."""
    pairs = [(w[name], w.get("rows", 1)) for w in windows if w.get(name) is not None]
    total = sum(rows for _, rows in pairs)
    return sum(value * rows for value, rows in pairs) / total if total else None
