"""Losses with a name, and what all losses have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostline.array_types import BoolArray, FloatArray
from boostline.contract.advice import advice

# A margin beyond twice the number of learners changes no cost any more; sums of losses have to stay finite.
_LARGEST_MARGIN = 1e6


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
