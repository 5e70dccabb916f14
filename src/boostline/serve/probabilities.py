"""Probabilities from ranking scores: a regression on the scores, learned online.

The scores of one example are measured against each other, z = (score - mean) / standard deviation over the labels, so
that nothing changes when a booster's scores grow. Then P(label is relevant) = (1 + u / sqrt(1 + u^2)) / 2 for
u = a z + b_label, with one slope and an intercept for each label, fitted to scores that were given *before* their
example was learned. The curve is used instead of the logistic one because it needs no exp: roots and quotients have the
same bits on every machine, and so has a snapshot. Issue 14 brings probabilities of the models themselves;
`Probabilities` is the seam where they will come in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Probabilities"]

FloatArray = NDArray[np.float64]

#: Step of AdaGrad, which divides by the root of the sum of squared gradients.
_STEP = 0.3


class Probabilities:
    """A slope and an intercept for each label.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = Probabilities(2)
    >>> for _ in range(3000):
    ...     scores = rng.normal(size=2)
    ...     relevant = scores == scores.max()
    ...     p.observe(scores, relevant & (rng.random() < 0.8), np.zeros(2, bool))
    >>> bool(abs(p.of(np.array([1.0, 0.0]))[0] - 0.8) < 0.05)
    True
    """

    def __init__(self, n_labels: int) -> None:
        self._slope = np.array([1.0])
        self._intercepts = np.zeros(n_labels)
        self._slope_squares = np.array([1.0])
        self._squares = np.ones(n_labels)

    def state(self) -> dict[str, Any]:
        return {
            "slope": self._slope,
            "intercepts": self._intercepts,
            "slope_squares": self._slope_squares,
            "squares": self._squares,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Probabilities:
        made = cls(len(state["intercepts"]))
        made._slope, made._intercepts = state["slope"].copy(), state["intercepts"].copy()
        made._slope_squares, made._squares = state["slope_squares"].copy(), state["squares"].copy()
        return made

    def add_labels(self, n: int) -> None:
        self._intercepts = np.concatenate([self._intercepts, np.zeros(n)])
        self._squares = np.concatenate([self._squares, np.ones(n)])

    def of(self, scores: FloatArray) -> FloatArray:
        """P(relevant) of each label."""
        return self._curve(_relative(scores))

    def observe(
        self, scores: FloatArray, relevant: NDArray[np.bool_], unknown: NDArray[np.bool_]
    ) -> None:
        """Learn from scores that were given before their example was learned."""
        z = _relative(scores)
        gradient = self._curve(z) - relevant
        gradient[unknown] = 0.0
        of_slope = _sum(gradient * z)
        self._slope_squares += of_slope * of_slope
        self._squares += gradient * gradient
        self._slope -= _STEP * of_slope / np.sqrt(self._slope_squares)
        self._intercepts -= _STEP * gradient / np.sqrt(self._squares)

    def _curve(self, z: FloatArray) -> FloatArray:
        u = self._slope[0] * z + self._intercepts
        return np.asarray(0.5 + 0.5 * u / np.sqrt(1.0 + u * u))


def _relative(scores: FloatArray) -> FloatArray:
    centred = scores - _sum(scores) / len(scores)
    spread = np.sqrt(_sum(centred * centred) / len(scores))
    return np.asarray(centred / spread if spread > 0 else centred)


def _sum(values: FloatArray) -> float:
    """From left to right: in one order on every machine."""
    return float(np.add.accumulate(values)[-1])
