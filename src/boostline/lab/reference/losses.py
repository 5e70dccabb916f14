"""Losses of a score vector s (Section 3): averages over the pairs (l relevant, r irrelevant).

Everything depends on the scores through the gaps d = s[r] - s[l] alone: positive where a pair is
ranked the wrong way round. Without a pair (no relevant or no irrelevant label) every loss is 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Labels: TypeAlias = "npt.NDArray[Any] | Iterable[int]"


def indicator(labels: Labels, n_labels: int, name: str = "relevant") -> BoolArray:
    """Return a set of labels as a boolean vector: arrays and bools are indicators already.

    >>> indicator({0, 2}, 4).tolist()
    [True, False, True, False]
    """
    if not isinstance(labels, np.ndarray):
        labels = list(labels)
        if not all(isinstance(label, bool | np.bool_) for label in labels) or not labels:
            members = np.zeros(n_labels, dtype=bool)
            for label in labels:
                if not 0 <= label < n_labels:
                    raise ValueError(f"{name} has label {label}, but n_labels is {n_labels}")
                members[label] = True
            return members
    members = np.asarray(labels).astype(bool)
    if members.shape != (n_labels,):
        raise ValueError(f"{name} has shape {members.shape}, but an indicator is ({n_labels},)")
    return members


def label_sets(
    relevant: Labels, irrelevant: Labels | None, n_labels: int
) -> tuple[BoolArray, BoolArray]:
    """Return Y and its counterpart: the complement of Y, less the labels that are unknown.

    >>> [s.tolist() for s in label_sets({0}, {2}, 3)]   # label 1 is unknown
    [[True, False, False], [False, False, True]]
    """
    y = indicator(relevant, n_labels)
    if irrelevant is None:
        return y, ~y
    z = indicator(irrelevant, n_labels, "irrelevant")
    if (y & z).any():
        label = int(np.flatnonzero(y & z)[0])
        raise ValueError(f"label {label} is both in relevant and in irrelevant")
    return y, z


def known_sets(
    relevant: Labels, unknown: Labels | None, n_labels: int
) -> tuple[BoolArray, BoolArray]:
    """Return Y, and the labels that are neither in Y nor unknown.

    >>> known_sets({0}, {1}, 3)[1].tolist()
    [False, False, True]
    """
    y = indicator(relevant, n_labels)
    return y, ~y if unknown is None else ~y & ~indicator(unknown, n_labels)


def gaps(s: FloatArray, relevant: BoolArray, irrelevant: BoolArray) -> FloatArray:
    """Return d[..., l, r] = s[..., r] - s[..., l] for each pair.

    >>> gaps(np.array([1.0, 4.0, 2.0]), indicator({0}, 3), indicator({1, 2}, 3)).tolist()
    [[3.0, 1.0]]
    """
    d: FloatArray = s[..., None, irrelevant] - s[..., relevant, None]
    return d


def _pair_mean(values: FloatArray) -> FloatArray:
    """w_Y times the sum over the pairs, w_Y = 1 / (|Y| |Y^c|)."""
    pairs = values.shape[-2] * values.shape[-1]
    mean: FloatArray = values.sum(axis=(-2, -1)) / max(pairs, 1)
    return mean


def rank_loss(s: FloatArray, relevant: Labels, irrelevant: Labels | None = None) -> FloatArray:
    """Share of pairs ranked the wrong way round, a tie counting one half (L_rnk).

    >>> float(rank_loss(np.array([0.5, 0.2, 0.5]), {0}))   # one pair right, one tied
    0.25
    """
    d = gaps(s, *label_sets(relevant, irrelevant, s.shape[-1]))
    return _pair_mean((d > 0) + 0.5 * (d == 0))


def hinge_loss(
    s: FloatArray, relevant: Labels, irrelevant: Labels | None = None, margin: float = 1.0
) -> FloatArray:
    """Mean of (margin + s[r] - s[l])_+ over the pairs (L_hinge).

    >>> float(hinge_loss(np.array([0.5, 0.0, 0.5]), {0}))
    0.75
    """
    d = gaps(s, *label_sets(relevant, irrelevant, s.shape[-1]))
    return _pair_mean(np.maximum(margin + d, 0.0))


def logistic_loss(s: FloatArray, relevant: Labels, irrelevant: Labels | None = None) -> FloatArray:
    """Mean of log(1 + exp(s[r] - s[l])) over the pairs (L_log).

    >>> round(float(logistic_loss(np.zeros(3), {0})), 6)   # log 2
    0.693147
    """
    d = gaps(s, *label_sets(relevant, irrelevant, s.shape[-1]))
    return _pair_mean(np.logaddexp(0.0, d))


def logistic_gradient(
    s: FloatArray, relevant: Labels, irrelevant: Labels | None = None
) -> FloatArray:
    """Gradient of the logistic loss: the costs of Ada.OLMR (eq. adaptiveCost); it sums to 0.

    >>> logistic_gradient(np.zeros(3), {0}).tolist()
    [-0.5, 0.25, 0.25]
    """
    y, z = label_sets(relevant, irrelevant, s.shape[-1])
    d = gaps(s, y, z)
    decay = np.exp(-np.abs(d))  # the sigmoid of d, written so that no exponential overflows
    sigmoid = np.where(d >= 0, 1.0, decay) / (1.0 + decay)
    w_y = 1.0 / max(d.shape[-2] * d.shape[-1], 1)
    gradient = np.zeros_like(s)
    gradient[..., y] = -w_y * sigmoid.sum(axis=-1)
    gradient[..., z] = w_y * sigmoid.sum(axis=-2)
    return gradient


def smallest_positive(values: FloatArray | float) -> float:
    """Return the least distance to a tie: 0 is a tie in every implementation, 1e-17 need not be.

    >>> smallest_positive(np.array([0.0, 0.3, 0.2]))
    0.2
    """
    distances = np.asarray(values)
    return float(np.min(distances, where=distances > 0, initial=np.inf))
