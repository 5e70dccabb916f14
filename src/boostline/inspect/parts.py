"""What each feature of a row, and each past row, adds to a label's score, as a share of all that is added.

Linear members give exact parts: their score of a label is a sum over the features. A model without such members is
scored once without each feature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray
from boostline.contract.rows import Rows
from boostline.models.diagnostics import Evidence

# At most so many scores, or features of dense rows, are in memory at a time.
_MOST_NUMBERS = 2**22


@dataclass(frozen=True)
class FeaturePart:
    """One feature of the row, or one category.

    Attributes
    ----------
    feature : int
        Its column; of a category its first column.
    name : str
        Its name. A category is named by what the row has: ``city=Rome``, or ``not city=Rome``.
    value : float or None
        Its value in the row; None for categories and words, which are in the name.
    part : float
        Its share of all that speaks for the label (positive) or against it (negative). The sizes of all parts add up
        to 1 at most.
    """

    feature: int
    name: str
    value: float | None
    part: float

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name} = {self.value:.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class FeatureGroup:
    """Columns of one quantity: a feature, or the one-hot columns ``city=...`` of a category."""

    columns: NDArray[np.int64]
    name: str
    value: float | None


def feature_groups(row: Rows, names: Sequence[Any] | None) -> list[FeatureGroup]:
    """What a row has: its features that are not missing, with the columns of a category as one.

    Of a sparse row only the stored values count as features.
    """
    stored, values = _stored(row)
    value_of = dict(zip(stored.tolist(), values.tolist(), strict=True))
    columns_of: dict[str, list[int]] = {}
    for column, name in enumerate(names or ()):
        category, equals, _ = str(name).partition("=")
        if equals:
            columns_of.setdefault(category, []).append(column)
    group_of: dict[int, FeatureGroup] = {}
    absent = 0.0 if isinstance(row.native, tuple) else np.nan
    for category, columns in columns_of.items():
        own = [value_of.get(column, absent) for column in columns]
        if sorted(own) not in ([0.0] * len(own), [0.0] * (len(own) - 1) + [1.0]):
            continue  # numbers, or missing
        assert names is not None
        if 1.0 in own:
            name = str(names[columns[own.index(1.0)]])
        else:
            name = f"not {names[columns[0]]}" if len(columns) == 1 else f"another {category}"
        group_of |= dict.fromkeys(columns, FeatureGroup(np.array(columns), name, None))
    groups = {}
    for column, value in value_of.items():
        group = group_of.get(column)
        if group is None:
            name = f"feature {column}" if names is None else str(names[column])
            group = FeatureGroup(np.array([column]), name, value)
        groups[int(group.columns[0])] = group
    return list(groups.values())


def evidence_of(
    linear: Sequence[Evidence], weights: FloatArray, n_features: int
) -> FloatArray | None:
    """Each feature's share of the linear members' evidence (d,); None without such members."""
    total = np.zeros(n_features)
    weight = 0.0
    for parts in linear:
        size = float(np.abs(parts.parts).sum())
        own = abs(float(weights[parts.vote]))
        if size > 0.0 and own > 0.0:
            total[parts.index] += own * parts.parts / size
            weight += own
    return total / weight if weight else None


def removals(model: Any, row: Rows, label: int, groups: Sequence[NDArray[np.int64]]) -> FloatArray:
    """How much lower the score is without each group of features, as shares of the sum of the sizes."""
    whole = float(np.asarray(model.score(row)).reshape(-1)[label])
    size = max(1, _MOST_NUMBERS // model.n_labels)
    if not isinstance(row.native, tuple):
        size = max(1, min(size, _MOST_NUMBERS // row.n_features))
    parts = np.empty(len(groups))
    for start in range(0, len(groups), size):
        some = [_without(row, group) for group in groups[start : start + size]]
        parts[start : start + len(some)] = whole - model.score(Rows.concat(some))[:, label]
    total = float(np.abs(parts).sum())
    return parts / total if total > 0.0 else parts


def _stored(row: Rows) -> tuple[NDArray[np.int64], FloatArray]:
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
    return Rows(native, row.n_features)


@dataclass(frozen=True)
class PastRow:
    """A row that was learned, and what it adds to a label's score.

    Attributes
    ----------
    row : int
        Its number among the rows that the member has learned, 1 for the first. Rows without a pair to rank are not
        learned, and after a restart counting begins again. Of a sliding window: among those of the serving scorer.
    part : float
        Its share of the evidence of past rows for the label (positive) or against it (negative): of each member's sum
        over its rows, weighted by the members' weights. The sizes of all parts add up to 1 at most.
    vote : int
        Which vote the member has.
    """

    row: int
    part: float
    vote: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return {"row": self.row, "part": self.part, "vote": self.vote}


# A member names at most so many rows.
_MOST_ROWS = 5


def strongest_rows(past: Sequence[Evidence], weights: FloatArray) -> list[PastRow]:
    """The rows with the most evidence, by each member, as shares of that of all members."""
    used = [of for of in past if weights[of.vote] and np.any(of.parts)]
    total = sum(abs(float(weights[of.vote])) for of in used)
    rows = []
    for of in used:
        shares = of.parts * (abs(float(weights[of.vote])) / total / float(np.abs(of.parts).sum()))
        strongest = np.argsort(-np.abs(shares), kind="stable")[:_MOST_ROWS]
        rows += [
            PastRow(int(of.index[i]), float(shares[i]), of.vote) for i in strongest if shares[i]
        ]
    return sorted(rows, key=lambda row: -abs(row.part))
