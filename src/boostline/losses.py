"""Losses of a score vector against a set of relevant labels (Section 3.1 of the paper).

Most losses are sums over pairs of a relevant label l and an irrelevant label r::

    L^Y(s) = w_Y * sum over pairs of pair(d),    d = s[r] - s[l],    w_Y = 1 / (|Y| |Y^c|)

so a loss is its function ``pair`` of one number. Two properties decide what may be done with it:

- *proper* (the paper's word): ``pair`` never decreases, so a higher score of a relevant label
  never hurts. Without it the costs of OnlineBMR lie outside the paper's set.
- *convex*: needed by the general bound of OnlineBMR unless every vote is a single label.

`check_use` refuses a loss that a booster cannot use, and says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostline.contract.advice import advice

__all__ = [
    "Exponential",
    "GeneralLoss",
    "Hinge",
    "Logistic",
    "Loss",
    "PairLoss",
    "PairwiseLoss",
    "Rank",
    "check_use",
    "get",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# Where user-written losses are probed: every score difference that 64 learners can produce, in
# sixteenths, which contains the integers (all that single-label votes reach).
_PROBE = np.arange(-64 * 16, 64 * 16 + 1) / 16.0
# A margin beyond twice the number of learners changes no cost any more; sums of losses have to stay finite.
_LARGEST_MARGIN = 1e6
# Differences of that size are rounding, not a violated property.
_TOLERANCE = 1e-9


class Loss:
    """What all losses have: a name, two properties, a value and a configuration.

    Attributes
    ----------
    name : str
        Short name, used in reports and in saved models.
    convex, proper : bool
        The properties of the module's docstring.
    """

    name: str = "loss"
    convex: bool = False
    proper: bool = True

    def value(self, relevant: BoolArray, scores: ArrayLike) -> float:
        """L^Y(s) for the indicator ``relevant`` of Y; 0 if there is no pair to rank."""
        raise NotImplementedError

    def config(self) -> dict[str, Any]:
        """Return the loss as values for JSON; `get` reads them."""
        return {"name": self.name}

    def __repr__(self) -> str:
        arguments = ", ".join(f"{k}={v!r}" for k, v in self.config().items() if k != "name")
        return f"{type(self).__name__}({arguments})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.config() == getattr(other, "config", dict)()

    def __hash__(self) -> int:
        return hash((type(self), tuple(sorted(self.config().items()))))


class PairLoss(Loss):
    """A loss that is a weighted sum of ``pair(s[r] - s[l])`` over the pairs."""

    def pair(self, d: ArrayLike) -> FloatArray:
        """Loss of one pair as a function of d = s[r] - s[l], elementwise."""
        raise NotImplementedError

    @property
    def rank_factor(self) -> float:
        """Smallest factor known with rank loss <= factor * this loss; infinite if there is none.

        A nonnegative proper loss is at least ``pair(0)`` wherever a pair is out of order or tied,
        so 1 / pair(0) always serves.

        Examples
        --------
        >>> Hinge().rank_factor, Hinge(margin=0.0).rank_factor
        (1.0, inf)
        """
        at_zero = float(self.pair(0.0))
        return 1.0 / at_zero if at_zero > 0 else math.inf

    def value(
        self, relevant: BoolArray, scores: ArrayLike, irrelevant: BoolArray | None = None
    ) -> float:
        """L^Y(s); ``irrelevant`` defaults to the complement of ``relevant``.

        Examples
        --------
        >>> Rank().value(np.array([True, False, False]), [1.0, 2.0, 1.0])
        0.75
        """
        mask = np.asarray(relevant, dtype=bool)
        rest = ~mask if irrelevant is None else np.asarray(irrelevant, dtype=bool)
        s = np.asarray(scores, dtype=np.float64)
        if not mask.any() or not rest.any():
            return 0.0
        return float(np.mean(self.pair(s[rest][:, None] - s[mask][None, :])))


class Rank(PairLoss):
    """Rank loss: 1 for a pair out of order, 1/2 for a tie. Proper, not convex.

    Examples
    --------
    >>> Rank().pair([-1.0, 0.0, 0.5])
    array([0. , 0.5, 1. ])
    """

    name = "rank"
    convex = False

    def pair(self, d: ArrayLike) -> FloatArray:
        x = np.asarray(d, dtype=np.float64)
        return 0.5 * ((x > 0).astype(np.float64) + (x >= 0))

    @property
    def rank_factor(self) -> float:
        return 1.0


class Hinge(PairLoss):
    """(margin + d)_+; the paper's hinge loss has margin 1, its authors' code margin 0.

    Examples
    --------
    >>> Hinge().pair([-2.0, -0.5, 1.0])
    array([0. , 0.5, 2. ])
    """

    name = "hinge"
    convex = True

    def __init__(self, margin: float = 1.0) -> None:
        if not 0 <= margin <= _LARGEST_MARGIN:  # False for NaN
            raise ValueError(f"margin is {margin}, but must be in [0, {_LARGEST_MARGIN:g}]")
        self.margin = float(margin)

    def pair(self, d: ArrayLike) -> FloatArray:
        return np.maximum(self.margin + np.asarray(d, dtype=np.float64), 0.0)

    def config(self) -> dict[str, Any]:
        return {"name": self.name, "margin": self.margin}


class Logistic(PairLoss):
    """log(1 + e^d), the surrogate inside Ada.OLMR; a grid serves OnlineBMR.

    Examples
    --------
    >>> round(float(Logistic().pair(0.0)), 4)
    0.6931
    """

    name = "logistic"
    convex = True

    def pair(self, d: ArrayLike) -> FloatArray:
        return np.logaddexp(0.0, np.asarray(d, dtype=np.float64))


class Exponential(PairLoss):
    """e^d; its potentials have a closed form.

    Examples
    --------
    >>> round(float(Exponential().pair(1.0)), 4)
    2.7183
    """

    name = "exponential"
    convex = True

    def pair(self, d: ArrayLike) -> FloatArray:
        return np.exp(np.asarray(d, dtype=np.float64))


class PairwiseLoss(PairLoss):
    """A user-written function of d = s[r] - s[l].

    Whether it is proper and convex is checked numerically at d = -64, -63.9375, ..., 64; violations
    between these points or outside the range are not found.

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


_BUILT_IN: dict[str, type[PairLoss]] = {
    "rank": Rank,
    "hinge": Hinge,
    "logistic": Logistic,
    "exponential": Exponential,
}


def get(loss: str | Loss | Mapping[str, Any]) -> Loss:
    """Return the loss that has this name or configuration.

    Examples
    --------
    >>> get("hinge"), get({"name": "hinge", "margin": 0.5}), get(Rank())
    (Hinge(margin=1.0), Hinge(margin=0.5), Rank())
    """
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str):
        loss = {"name": loss}
    if not isinstance(loss, Mapping):
        raise TypeError(f"loss is {loss!r}, but must be a name, a Loss or its config()")
    arguments = dict(loss)
    name = arguments.pop("name", None)
    if arguments.get("user_written"):
        raise ValueError(
            f"loss {name!r} was written by a user and its function is not stored; "
            "pass the loss object itself"
        )
    if name not in _BUILT_IN:
        raise ValueError(
            f"loss is {name!r}, but must be one of {', '.join(_BUILT_IN)}"
            + advice(" or a Loss object", "")
        )
    return _BUILT_IN[name](**arguments)


def check_use(loss: Loss, single_label_votes: bool) -> None:
    """Raise an error for a loss with which OnlineBMR has no guarantee.

    Parameters
    ----------
    single_label_votes
        Whether every weak learner votes for exactly one label.

    Examples
    --------
    >>> check_use(Rank(), single_label_votes=True)
    >>> check_use(Rank(), single_label_votes=False)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: loss 'rank' is not convex; the general bound of OnlineBMR needs ...
    """
    if not loss.proper:
        at = getattr(loss, "_falls_at", math.nan)
        where = f" (it falls at d = {at})" if math.isfinite(at) else ""
        raise ValueError(
            f"loss {loss.name!r} is not proper{where}; it must not increase with the score of a "
            "relevant label nor decrease with that of an irrelevant one, else relevant labels "
            "would cost more than irrelevant ones"
        )
    if not (loss.convex or single_label_votes):
        at = getattr(loss, "_bends_at", math.nan)
        where = f" (it bends down at d = {at})" if math.isfinite(at) else ""
        raise ValueError(
            f"loss {loss.name!r} is not convex{where}; the general bound of OnlineBMR needs a "
            "convex loss or learners that vote for a single label: use loss='hinge', or "
            "single-label learners"
        )
