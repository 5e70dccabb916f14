"""Which rows of the past speak for a label: exact for members whose score is a sum over rows they remember."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostline.array_types import FloatArray
from boostline.inspect.linear_parts import linear_parts, sparse_units
from boostline.inspect.members import Member, clipped, scaled_units


@dataclass(frozen=True)
class PastRow:
    """A row that was learned, and what it adds to a label's score.

    Attributes
    ----------
    row : int
        Its number among the rows that the member has learned, 1 for the first. Rows without a pair to rank are not
        learned, and after a restart counting begins anew. Of generations: among those that the serving one has learned.
    part : float
        Its share of all that past rows say for the label (positive) or against it (negative): of each member's sum
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


@dataclass(frozen=True)
class RowParts:
    """The score of a label by one member, as a sum over rows: ``rest + parts.sum()``.

    ``rest`` is what no row in memory accounts for: a frequency, or rows that have left the memory.
    """

    vote: int
    score: float
    rest: float
    rows: Any
    parts: FloatArray


def row_parts(member: Member, x: FloatArray, label: int) -> RowParts | None:
    """The parts of a label's score for a row (d,); None if the member has none."""
    member = member.serving()
    explain = _EXPLAIN.get(member.kind)
    if explain is None:
        return None
    return explain(member, x[: member.n_features], label)


# A member names at most so many rows.
_MOST_ROWS = 5


def strongest_rows(past: Sequence[RowParts], weights: FloatArray) -> list[PastRow]:
    """The rows that say most, by each member, as shares of what all members say."""
    heard = [of for of in past if weights[of.vote] and np.any(of.parts)]
    total = sum(abs(float(weights[of.vote])) for of in heard)
    rows = []
    for of in heard:
        shares = of.parts * (abs(float(weights[of.vote])) / total / float(np.abs(of.parts).sum()))
        strongest = np.argsort(-np.abs(shares), kind="stable")[:_MOST_ROWS]
        rows += [
            PastRow(int(of.rows[i]), float(shares[i]), of.vote) for i in strongest if shares[i]
        ]
    return sorted(rows, key=lambda row: -abs(row.part))


def _kernel(member: Member, x: FloatArray, label: int) -> RowParts | None:
    if not member.has("weights"):
        return None  # too few rows for a kernel yet
    is_dense, mean, inverse, unit, width, weights = member.arrays(
        "landmarks.is_dense",
        "landmarks.mean",
        "landmarks.inverse",
        "landmarks.unit",
        "landmarks.width",
        "weights",
    )
    d = len(mean)  # features that came later are not looked at
    root = 1 / np.sqrt(max(int((inverse > 0).sum()), 1))

    def units(values: FloatArray) -> FloatArray:
        return np.asarray(clipped((values - mean) * inverse) * root)

    n = int(member.arrays("n_rows")[0][0])
    own = weights.reshape(n, -1)[:, label]
    if is_dense[0]:
        centres = unit.reshape(n, -1)[:, :d]
        squares = ((centres - units(x[:d])) ** 2).sum(axis=1)
    else:
        index, offset = member.arrays("landmarks.index", "landmarks.offset")
        shifted = units(np.where(x[:d] == 0, 0.0, x[:d])) - units(np.zeros(d))
        row = np.repeat(np.arange(n), np.diff(offset))
        lengths = np.bincount(row, unit * unit, n)
        products = np.bincount(row, unit * shifted[index], n)
        squares = np.maximum(lengths + shifted @ shifted - 2 * products, 0.0)
    parts = (np.exp(-np.sqrt(squares) / float(width[0])) + 1) * own
    return RowParts(member.vote, float(parts.sum()), 0.0, np.arange(1, n + 1), parts)


def _neighbours(member: Member, x: FloatArray, label: int) -> RowParts | None:
    points, targets, importance, relevant, known, n_rows = member.arrays(
        "points", "point_targets", "point_importance", "relevant", "known", "scale_n_rows"
    )
    frequency = float(relevant[label] / known[label]) if known[label] > 0 else 0.0
    n = len(importance)
    if not n:
        return RowParts(member.vote, frequency, frequency, np.zeros(0, np.int64), np.zeros(0))
    point = scaled_units(member, x).astype(np.float32).astype(np.float64)
    squares = ((points.reshape(n, -1).astype(np.float64) - point) ** 2).sum(axis=1)
    n_neighbours = member.settings.n_neighbours
    ages = np.arange(n)[::-1]
    nearest = np.lexsort((ages, squares))[:n_neighbours]
    width = squares[nearest[-1]] + 1e-12
    weights = np.maximum((width - squares[nearest]) / (squares[nearest] + 0.05 * width), 0.0)
    weights *= importance[nearest]
    own = targets.reshape(n, -1)[nearest, label].astype(np.float64) - 1  # -1: unknown
    total = 1 + weights.sum()
    parts = weights * np.where(own < 0, frequency, own) / total
    rows = int(n_rows[0]) - ages[nearest]
    rest = frequency / total
    return RowParts(member.vote, rest + float(parts.sum()), rest, rows, parts)


def _sparse_linear(member: Member, x: FloatArray, label: int) -> RowParts | None:
    features, values = sparse_units(x)
    clock, index, length, value, relevant, n_relevant, duals, n_duals, dual = member.arrays(
        "clock",
        "row_index",
        "row_index_length",
        "row_value",
        "row_relevant",
        "row_relevant_length",
        "row_dual_label",
        "row_dual_label_length",
        "row_dual",
    )
    n = len(length)
    spread = np.zeros(len(x))
    spread[features] = values
    products = np.bincount(np.repeat(np.arange(n), length), value * spread[index], n)
    own = np.zeros(n)
    of_label = duals == label
    own[np.repeat(np.arange(n), n_duals)[of_label]] = dual[of_label]
    is_relevant = np.zeros(n, bool)
    is_relevant[np.repeat(np.arange(n), n_relevant)[relevant == label]] = True
    parts: FloatArray = np.where(is_relevant, own, -own) * products
    whole = linear_parts(member, x, label)
    assert whole is not None
    rest = whole.score - float(parts.sum())  # the bias, and rows that have left the memory
    return RowParts(member.vote, whole.score, rest, int(clock[0]) - np.arange(n)[::-1], parts)


_EXPLAIN: dict[str, Callable[[Member, FloatArray, int], RowParts | None]] = {
    "kernel": _kernel,
    "neighbours": _neighbours,
    "sparse_linear": _sparse_linear,
}
