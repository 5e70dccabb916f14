"""What each feature of a row adds to a label's score: exactly for linear members, and by taking it out for the model.

A score is relative to those of the other labels: without a feature it may change because another label's does. What a
linear member says of the label itself is a sum over the features, without the others. So features are ordered by that
where there are such members.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray
from boostline.contract.rows import Rows
from boostline.inspect.linear_parts import LinearParts

# Votes of so many numbers are at hand at a time.
_MOST_NUMBERS = 2**22


@dataclass(frozen=True)
class FeaturePart:
    """One feature of the row.

    Attributes
    ----------
    feature : int
        Its column.
    name : str
    value : float
        Its value in the row.
    evidence : float
        Its share of what the linear members say of the label, from -1 to 1: its part of each member's score, over the
        sum of the sizes of all parts, weighted by the members' weights. NaN without linear members.
    part : float
        How much lower the label's score is without it: if the feature is missing, or, in a sparse row, zero.
    of_votes : array (N,)
        The same of each learner's share of the score; the sum is ``part``.
    """

    feature: int
    name: str
    value: float
    evidence: float
    part: float
    of_votes: FloatArray

    @property
    def importance(self) -> float:
        """What features are ordered by: the evidence, or the part if there is none."""
        return self.part if np.isnan(self.evidence) else self.evidence

    def to_dict(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return {
            "feature": self.feature,
            "name": self.name,
            "value": self.value,
            "evidence": None if np.isnan(self.evidence) else self.evidence,
            "part": self.part,
            "of_votes": self.of_votes.tolist(),
        }


def evidence_of(
    linear: Sequence[LinearParts], weights: FloatArray, n_features: int
) -> FloatArray | None:
    """Each feature's share of the linear members' evidence (d,); None without such members."""
    total = np.zeros(n_features)
    weight = 0.0
    for parts in linear:
        size = float(np.abs(parts.parts).sum())
        own = abs(float(weights[parts.vote]))
        if size > 0.0 and own > 0.0:
            total[parts.features] += own * parts.parts / size
            weight += own
    return total / weight if weight else None


def removals(model: Any, row: Rows, label: int, groups: Sequence[NDArray[np.int64]]) -> FloatArray:
    """Shares of the score (N,) less those without a group of features, for each group: (groups, N)."""
    whole = model.contributions(Rows.together([row]))[0, :, label]
    size = max(1, _MOST_NUMBERS // max(1, len(whole) * model.n_labels))
    if not isinstance(row.native, tuple):
        size = max(1, min(size, _MOST_NUMBERS // row.n_features))
    parts = np.empty((len(groups), len(whole)))
    for start in range(0, len(groups), size):
        some = [_without(row, group) for group in groups[start : start + size]]
        without = model.contributions(Rows.together(some))[:, :, label]
        parts[start : start + len(some)] = whole - without
    return parts


def stored_features(row: Rows) -> tuple[NDArray[np.int64], FloatArray]:
    """The features that a row has a value of, and their values; of a sparse row those that are not zero."""
    if isinstance(row.native, tuple):
        _, columns, values = row.native
        kept = np.flatnonzero(~np.isnan(values) & (values != 0.0))
        return columns[kept], values[kept]
    values = row.native[0]
    kept = np.flatnonzero(~np.isnan(values))
    return kept, values[kept]


def _without(row: Rows, features: NDArray[np.int64]) -> Rows:
    if isinstance(row.native, tuple):
        _, columns, values = row.native
        kept = ~np.isin(columns, features)
        native: Any = (np.array([0, int(kept.sum())]), columns[kept], values[kept])
    else:
        native = row.native.copy()
        native[0, features] = np.nan
    return Rows(native, 1, row.n_features, is_single=False)
