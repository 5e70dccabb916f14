"""Which labels are ranked badly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from boostline.array_types import BoolArray, FloatArray
from boostline.contract.labels import LabelSpace
from boostline.metrics.sorted_scores import Ranking, read_scores


@dataclass(frozen=True)
class LabelRow:
    """How well one label is ranked; NaN if there were no such rows.

    Attributes
    ----------
    label : int
    name : Any
    relevant : int
        Rows in which it was relevant, among those with a pair to rank.
    missed : float
        Mean share of the irrelevant labels that were ranked above it when it was relevant (ties count half).
    false_alarms : float
        Mean share of the relevant labels that it was ranked above when it was irrelevant (ties count half).
    rank : float
        Mean place in the ranking when it was relevant; 1 is the best, ties take the mean place.
    """

    label: int
    name: Any
    relevant: int
    missed: float
    false_alarms: float
    rank: float

    def to_dict(self) -> dict[str, Any]:
        """Return the row as values for JSON; NaN becomes None."""
        return {
            key: None if isinstance(value, float) and np.isnan(value) else value
            for key, value in asdict(self).items()
        }


class LabelLosses:
    """Sums per label over a stream, block by block; O(k log k) per row.

    The rank loss of a row is the mean of `missed` over its relevant labels, and also the mean of `false_alarms` over
    its irrelevant ones.

    Examples
    --------
    >>> losses = LabelLosses(3)
    >>> losses.update([[0.9, 0.5, 0.1]], [[False, True, False]])
    >>> row = losses.table()[1]
    >>> row.missed, row.rank
    (0.5, 2.0)
    """

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels
        self.sums: FloatArray = np.zeros((5, n_labels))

    def update(self, scores: Any, relevant: Any, unknown: Any = None) -> None:
        """Take in rows: scores (n, k), and relevant and unknown labels in any form that `learn` takes."""
        array = read_scores(scores)
        if array.shape[-1] != self.n_labels:
            raise ValueError(
                f"scores has shape {array.shape}, but must have {self.n_labels} columns, one per label"
            )
        is_single = array.ndim == 1
        scores = np.atleast_2d(array)
        sets = LabelSpace(self.n_labels).read(relevant, len(scores), is_single, unknown)
        yes, no = sets.is_relevant, ~sets.is_relevant
        if sets.is_unknown is not None:
            no = no & ~sets.is_unknown
        pairs = yes.any(axis=1) & no.any(axis=1)
        if not pairs.all():
            scores, yes, no = scores[pairs], yes[pairs], no[pairs]
        if len(scores):
            self._add(scores, yes, no)

    def _add(self, scores: FloatArray, yes: BoolArray, no: BoolArray) -> None:
        ranking = Ranking(yes, scores)
        missed = _above(no, ranking) / no.sum(axis=1, keepdims=True)
        beaten = 1.0 - _above(yes, ranking) / yes.sum(axis=1, keepdims=True)
        place = _above(yes | no, ranking) + 0.5
        rows = np.stack([yes, missed * yes, no, beaten * no, place * yes], axis=1)
        # One row after the other, so that the last bits do not depend on how rows come in blocks.
        self.sums = np.add.accumulate(np.concatenate([self.sums[None], rows]))[-1]

    def table(self, names: Sequence[Any] | None = None) -> list[LabelRow]:
        """The labels in their order."""
        n_yes, missed, n_no, beaten, place = self.sums
        with np.errstate(invalid="ignore"):
            columns = np.stack([missed / n_yes, beaten / n_no, place / n_yes])
        return [
            LabelRow(
                label=i,
                name=i if names is None else names[i],
                relevant=int(n_yes[i]),
                missed=float(columns[0, i]),
                false_alarms=float(columns[1, i]),
                rank=float(columns[2, i]),
            )
            for i in range(self.n_labels)
        ]


def labels(
    scores: Any, relevant: Any, names: Sequence[Any] | None = None, unknown: Any = None
) -> list[LabelRow]:
    """Return how well each label is ranked, from scores (n, k) and indicators (n, k).

    The worst come first, and labels with fewer than 10 relevant rows last.

    Examples
    --------
    >>> rows = labels([[0.9, 0.5, 0.1]], [[False, True, False]], ["a", "b", "c"])
    >>> rows[0].name, rows[0].missed
    ('b', 0.5)
    """
    losses = LabelLosses(np.shape(scores)[-1])
    losses.update(scores, relevant, unknown)
    return worst_first(losses.table(names))


# Fewer relevant rows than this are too few to judge how a label is ranked.
ENOUGH_ROWS = 10


def worst_first(rows: list[LabelRow]) -> list[LabelRow]:
    """Sort by what is missed; labels with fewer than 10 relevant rows come last."""
    return sorted(
        rows,
        key=lambda row: (
            row.relevant < ENOUGH_ROWS,
            np.isnan(row.missed),
            -row.missed,
            row.label,
        ),
    )


def _above(which: BoolArray, ranking: Ranking) -> FloatArray:
    """How many of `which` are ranked above each label, ties half (a label ties with itself)."""
    n, k = which.shape
    counts = np.zeros((n, k + 1))
    np.cumsum(np.take_along_axis(which, ranking.order, axis=1), axis=1, out=counts[:, 1:])
    first = np.take_along_axis(counts, ranking.first, axis=1)
    middle = 0.5 * (first + np.take_along_axis(counts, ranking.last + 1, axis=1))
    back = np.argsort(ranking.order, axis=1, kind="stable")
    return np.asarray(np.take_along_axis(middle, back, axis=1))
