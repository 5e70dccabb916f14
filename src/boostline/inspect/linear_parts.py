"""What each feature adds to the score of a linear member: exact, because that score is a sum over features.

`SparseLinear`, `Linear` and `Tracker` add to the margin of the label (before it becomes a probability), `Ridge` to its
prediction, `Centroids` to the cosine between the row and the label's mean row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray
from boostline.inspect.members import Member, scaled_units, standardised

# Below it log(1 + x) is taken as x, as in the core.
_LINEAR_BELOW = 1e-4

#: Features, what each adds to the score, and the bias.
_Parts = tuple[NDArray[np.int64], FloatArray, float]


@dataclass(frozen=True)
class LinearParts:
    """The score of a label by one linear member, as a sum.

    Attributes
    ----------
    vote : int
        Which vote the member has.
    score : float
        ``bias + parts.sum()``.
    bias : float
    features : array of int
        Features that take part.
    parts : array
        What each of them adds.
    """

    vote: int
    score: float
    bias: float
    features: NDArray[np.int64]
    parts: FloatArray


def linear_parts(member: Member, x: FloatArray, label: int) -> LinearParts | None:
    """The parts of a label's score for a row (d,); None if the member is not linear."""
    member = member.serving()
    explain = _EXPLAIN.get(member.kind)
    if explain is None or getattr(member.settings, "n_hashed", False):
        return None
    features, parts, bias = explain(member, x[: member.n_features], label)
    taking_part = parts != 0.0
    features, parts = features[taking_part], parts[taking_part]
    return LinearParts(member.vote, bias + float(parts.sum()), bias, features, parts)


def sparse_units(x: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    """A row as `SparseLinear` sees it: sign(x) log(1 + |x|), of length 1."""
    features = np.flatnonzero(np.nan_to_num(x, nan=0.0))
    size = np.abs(x[features])
    values = np.sign(x[features]) * np.where(size < _LINEAR_BELOW, size, np.log1p(size))
    length = float(np.sqrt(values @ values))
    return features, values / length if length else values


def _sparse_linear(member: Member, x: FloatArray, label: int) -> _Parts:
    (bias,) = member.arrays("bias")
    features, parts = _sparse_products(member, x, label)
    return features, parts, float(bias[label])


def _centroids(member: Member, x: FloatArray, label: int) -> _Parts:
    (squares,) = member.arrays("squares")
    features, parts = _sparse_products(member, x, label)
    length = float(np.sqrt(squares[label]))
    return features, parts / length if length else 0.0 * parts, 0.0


def _sparse_products(
    member: Member, x: FloatArray, label: int
) -> tuple[NDArray[np.int64], FloatArray]:
    """The features of a row, and what each adds to its product with the label's sparse weights."""
    features, values = sparse_units(x)
    known, lengths, labels, weights = member.arrays(
        "features", "n_weights", "weight_labels", "weights"
    )
    own = labels == label
    of_label = np.repeat(known, lengths)[own]  # ascending
    parts = np.zeros(len(features))
    if len(of_label):
        place = np.minimum(np.searchsorted(of_label, features), len(of_label) - 1)
        found = of_label[place] == features
        parts[found] = values[found] * weights[own][place[found]].astype(np.float64)
    return features, parts


def _linear(member: Member, x: FloatArray, label: int) -> _Parts:
    weights, bias = member.arrays("weights", "bias")
    own = weights.reshape(len(x), -1)[:, label]
    return np.arange(len(x)), scaled_units(member, x) * own, float(bias[label])


def _tracker(member: Member, x: FloatArray, label: int) -> _Parts:
    weights, bias = member.arrays("weights", "bias")
    units = standardised(member, x)
    return np.arange(len(x)), units * weights.reshape(len(x), -1)[:, label], float(bias[label])


def _ridge(member: Member, x: FloatArray, label: int) -> _Parts:
    (weights,) = member.arrays("weights")
    own = weights.reshape(len(x) + 1, -1)[:, label]
    units = standardised(member, x) / np.sqrt(max(len(x), 1))
    return np.arange(len(x)), units * own[:-1], float(own[-1])


_EXPLAIN: dict[str, Callable[[Member, FloatArray, int], _Parts]] = {
    "sparse_linear": _sparse_linear,
    "centroids": _centroids,
    "linear": _linear,
    "ridge": _ridge,
    "tracker": _tracker,
}
