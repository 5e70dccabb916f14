"""Losses that users write: a function, whose properties are found by trying it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostline.array_types import BoolArray, FloatArray
from boostline.losses.built_in import Loss, PairLoss

#: Of OnlineBMR with a user-written loss, which is probed where the scores of so many learners can lead.
MOST_LEARNERS = 128
# In sixteenths, which contain the integers (all that single-label votes reach).
_PROBE = np.arange(-(MOST_LEARNERS + 2) * 16, (MOST_LEARNERS + 2) * 16 + 1) / 16.0
# Differences of that size are rounding, not a violated property.
_TOLERANCE = 1e-9


class PairwiseLoss(PairLoss):
    """A user-written function of d = s[r] - s[l].

    Whether it is proper and convex is checked numerically at d = -130, -129.9375, ..., 130; violations
    between these points are not found. `OnlineBMR` takes at most 128 learners with such a loss.

    Parameters
    ----------
    function
        Vectorised: takes an array of d and returns an array of the same shape.
    name
        Short name for reports.

    Examples
    --------
    >>> squared = PairwiseLoss(lambda d: np.maximum(1 + d, 0) ** 2, name="squared hinge")
    >>> squared.proper, squared.convex
    (True, True)
    >>> sigmoid = PairwiseLoss(lambda d: 1 / (1 + np.exp(-d)), name="sigmoid")
    >>> sigmoid.proper, sigmoid.convex
    (True, False)
    """

    def __init__(self, function: Callable[[FloatArray], ArrayLike], name: str = "pairwise") -> None:
        if not callable(function):
            raise TypeError(f"function is {function!r}, but must be callable")
        self.function = function
        self.name = name
        values = np.asarray(function(_PROBE.copy()), dtype=np.float64)
        if values.shape != _PROBE.shape:
            raise ValueError(
                f"function of loss {name!r} gave shape {values.shape} for {_PROBE.shape} numbers; "
                "it must be vectorised, one value for each d"
            )
        if not np.isfinite(values).all():
            where = float(_PROBE[np.flatnonzero(~np.isfinite(values))[0]])
            raise ValueError(f"function of loss {name!r} is not finite at d = {where}")
        # Rounding grows with the values, so the tolerance does too.
        scale = _TOLERANCE * np.maximum(1.0, np.abs(values))
        falls = np.flatnonzero(np.diff(values) < -scale[1:])
        self.proper = falls.size == 0
        bends = np.flatnonzero(np.diff(values, 2) < -4 * scale[2:])
        self.convex = bends.size == 0
        self._falls_at = float(_PROBE[falls[0]]) if falls.size else math.nan
        self._bends_at = float(_PROBE[bends[0] + 1]) if bends.size else math.nan
        self.nonnegative = bool((values >= 0).all())

    def pair(self, d: ArrayLike) -> FloatArray:
        return np.asarray(self.function(np.asarray(d, dtype=np.float64)), dtype=np.float64)

    @property
    def rank_factor(self) -> float:
        return super().rank_factor if self.nonnegative and self.proper else math.inf

    def config(self) -> dict[str, Any]:
        return {"name": self.name, "kind": "pairwise", "user_written": True}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PairwiseLoss) and other.function is self.function

    def __hash__(self) -> int:
        return hash(self.function)


class GeneralLoss(Loss):
    """A user-written loss of a whole score vector, one that need not split into pairs.

    Its potentials are Monte Carlo estimates with a standard error (`potentials.potential`).
    Properties are probed at random score vectors and label sets.

    Parameters
    ----------
    function
        ``function(relevant, scores)``: an indicator of length k and scores of shape (k,); returns
        a number. With ``vectorised=True`` scores have shape (m, k) and the result shape (m,).
    n_labels
        Number of labels to probe with.

    Examples
    --------
    >>> one_error = GeneralLoss(
    ...     lambda relevant, scores: float(scores[relevant].max() <= scores[~relevant].max()),
    ...     name="one error",
    ... )
    >>> one_error.proper, one_error.convex
    (True, False)
    """

    def __init__(
        self,
        function: Callable[[BoolArray, FloatArray], ArrayLike],
        name: str = "general",
        *,
        vectorised: bool = False,
        n_labels: int = 4,
    ) -> None:
        if not callable(function):
            raise TypeError(f"function is {function!r}, but must be callable")
        if n_labels < 2:
            raise ValueError(f"n_labels is {n_labels}, but a pair needs at least 2 labels")
        self.function = function
        self.name = name
        self.vectorised = vectorised
        self._probe(n_labels)

    def values(self, relevant: BoolArray, scores: FloatArray) -> FloatArray:
        """Losses of the rows of ``scores``, shape (m, k); 0 if there is no pair to rank."""
        mask = np.asarray(relevant, dtype=bool)
        if mask.all() or not mask.any():
            return np.zeros(len(scores))
        if self.vectorised:
            found = np.asarray(self.function(mask, scores), dtype=np.float64)
        else:
            found = np.array([self.function(mask, row) for row in scores], dtype=np.float64)
        if found.shape != (len(scores),):
            raise ValueError(
                f"function of loss {self.name!r} gave shape {found.shape} for {len(scores)} score "
                "vectors; it must give one number for each"
            )
        return found

    def value(self, relevant: BoolArray, scores: ArrayLike) -> float:
        return float(self.values(relevant, np.atleast_2d(np.asarray(scores, np.float64)))[0])

    def _probe(self, n_labels: int, n_points: int = 200) -> None:
        rng = np.random.default_rng(0)
        worst_rise, worst_bend = 0.0, 0.0
        finite = True
        for _ in range(n_points):
            mask = rng.random(n_labels) < 0.5
            mask[:2] = rng.permutation([True, False])
            # Integers on purpose: ties are where hand-written losses go wrong.
            a, b = rng.integers(-4, 5, size=(2, n_labels)).astype(np.float64)
            better = a + rng.integers(0, 3, n_labels) * np.where(mask, 1.0, -1.0)
            at_a, at_b, middle, at_better = self.values(mask, np.stack([a, b, (a + b) / 2, better]))
            finite &= bool(np.isfinite([at_a, at_b, middle, at_better]).all())
            worst_rise = max(worst_rise, at_better - at_a)
            worst_bend = max(worst_bend, middle - (at_a + at_b) / 2)
        if not finite:
            raise ValueError(f"function of loss {self.name!r} gave a value that is not finite")
        self.proper = bool(worst_rise <= _TOLERANCE)
        self.convex = bool(worst_bend <= _TOLERANCE)

    def config(self) -> dict[str, Any]:
        return {"name": self.name, "kind": "general", "user_written": True}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GeneralLoss) and other.function is self.function

    def __hash__(self) -> int:
        return hash(self.function)
