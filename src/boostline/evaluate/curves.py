"""A learning curve of bounded size, made while the stream goes by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray

# A curve is thinned to half when it has twice this many points; no screen shows more.
_POINTS = 500


@dataclass(frozen=True)
class Curve:
    """Mean of a metric along the stream.

    Attributes
    ----------
    n
        After how many examples each point was taken; the last is the end of the stream.
    cumulative
        Mean over all n examples.
    windowed
        Mean over the last `window` of them (over all of them while there are fewer).
    window
        Examples in the window.
    """

    n: NDArray[np.int64]
    cumulative: FloatArray
    windowed: FloatArray
    window: int

    def __len__(self) -> int:
        return len(self.n)

    def to_dict(self) -> dict[str, Any]:
        """Return lists and numbers only, ready for JSON."""
        return {
            "window": self.window,
            "n": self.n.tolist(),
            "cumulative": self.cumulative.tolist(),
            "windowed": self.windowed.tolist(),
        }


class CurveRecorder:
    """Takes values block by block; how they are cut into blocks does not change the curve.

    Points are taken at multiples of a step that doubles as the stream grows.

    Examples
    --------
    >>> recorder = CurveRecorder(window=2)
    >>> recorder.extend(np.array([1.0, 0.0, 0.0]))
    >>> curve = recorder.curve()
    >>> curve.windowed.tolist(), curve.cumulative[1].item()
    ([1.0, 0.5, 0.0], 0.5)
    """

    def __init__(self, window: int, points: int = _POINTS) -> None:
        self._window = window
        self._points = points
        self._step = 1
        self._n = 0
        # Sums of the first i values, for the last window + 1 values of i. A window's sum is the
        # difference of two of them, which does not depend on where blocks end.
        self._sums: FloatArray = np.zeros(1)
        self._kept = np.empty((0, 3))
        self._end = np.empty((0, 3))

    def extend(self, values: FloatArray) -> None:
        """Take in the values of the next examples."""
        if values.size == 0:
            return
        sums = np.add.accumulate(np.concatenate((self._sums[-1:], values)))
        first = self._n + 1 - len(self._sums)  # the i of self._sums[0]
        sums = np.concatenate((self._sums, sums[1:]))
        n = np.arange(self._n + 1, self._n + 1 + values.size)
        start = np.maximum(0, n - self._window)
        rows = np.stack(
            (n, sums[n - first] / n, (sums[n - first] - sums[start - first]) / (n - start)), axis=1
        )
        self._n += values.size
        self._sums = sums[-(self._window + 1) :].copy()
        self._end = rows[-1:]
        self._kept = np.concatenate((self._kept, rows[n % self._step == 0]))
        while len(self._kept) >= 2 * self._points:
            self._step *= 2
            self._kept = self._kept[self._kept[:, 0] % self._step == 0]

    def curve(self) -> Curve:
        """Return the curve so far, its last point being the present end."""
        rows = self._kept
        if len(rows) == 0 or rows[-1, 0] != self._n:
            rows = np.concatenate((rows, self._end))
        return Curve(rows[:, 0].astype(np.int64), rows[:, 1], rows[:, 2], self._window)
