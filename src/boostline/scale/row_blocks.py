"""Rows with their labels, as the statistics of workers take them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.contract.label_sets import LabelSets
from boostline.contract.numbers import read_weights
from boostline.contract.rows import Rows, read_rows
from boostline.scale.sums import FloatArray, Moments

__all__ = ["MOST_CELLS", "RowBlock", "row_blocks"]

#: Numbers in a block of inputs or labels that statistics are made of at once, which bounds a worker's memory.
MOST_CELLS = 2**21


@dataclass(frozen=True)
class RowBlock:
    """Some rows that have been read."""

    rows: Rows
    sets: LabelSets
    given_weights: FloatArray

    @cached_property
    def is_learned(self) -> NDArray[np.bool_]:
        """Rows that learners hear of: with a weight, and with a pair of labels or some labels that are unknown."""
        n_known = self.sets.n_labels - self.sets.unknown.sizes
        without_pairs = (n_known > 0) & (n_known < self.sets.n_labels)
        return (self.has_pairs | without_pairs) & (self.given_weights > 0.0)

    @cached_property
    def has_pairs(self) -> NDArray[np.bool_]:
        n_relevant = self.sets.relevant.sizes
        n_known = self.sets.n_labels - self.sets.unknown.sizes
        return np.asarray((n_relevant > 0) & (n_relevant < n_known))

    @cached_property
    def weights(self) -> FloatArray:
        """Importance; 0 for rows that learners do not hear of."""
        return np.where(self.is_learned, self.given_weights, 0.0)

    @cached_property
    def relevant(self) -> FloatArray:
        """1 for relevant labels, else 0: (n, k)."""
        return self.sets.is_relevant.astype(np.float64)

    @cached_property
    def unknown(self) -> NDArray[np.bool_] | None:
        return self.sets.is_unknown

    def dense(self, n_features: int) -> FloatArray:
        """The first features as a matrix."""
        native = self.rows.native
        if not isinstance(native, tuple):
            return native[:, :n_features]
        start, columns, values = native
        kept = columns < n_features
        matrix = np.zeros((self.rows.n, n_features))
        row = np.repeat(np.arange(self.rows.n), np.diff(start))
        matrix[row[kept], columns[kept]] = values[kept]
        return matrix

    def entries(self) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
        """Row, column and value of what is not zero."""
        native = self.rows.native
        if isinstance(native, tuple):
            start, columns, values = native
            row = np.repeat(np.arange(self.rows.n), np.diff(start))
            some = values != 0.0
            return row[some], columns[some], values[some]
        row, column = np.nonzero(native)
        return row, column, native[row, column]

    def moments(self) -> Moments:
        """Of the rows that learners hear of."""
        row, column, value = self.entries()
        kept = self.is_learned[row]
        n_rows = int(self.is_learned.sum())
        return Moments.of_entries(n_rows, self.rows.n_features, column[kept], value[kept])

    def pieces(self, width: int) -> Iterator[RowBlock]:
        """The same rows, so few at a time that matrices of this width stay small."""
        size = max(1, MOST_CELLS // max(1, width))
        if self.rows.n <= size:
            yield self
            return
        for start in range(0, self.rows.n, size):
            part = slice(start, start + size)
            yield RowBlock(self.rows.take(part), self.sets.take(part), self.given_weights[part])


def row_blocks(model: Any, rows: Any) -> Iterator[RowBlock]:
    """Read rows: ``(X, Y)``, ``(X, Y, weights)``, or an iterable of these."""
    is_one = isinstance(rows, tuple) and len(rows) in (2, 3) and not isinstance(rows[0], tuple)
    blocks: Iterable[Any] = [rows] if is_one else rows
    for place, block in enumerate(blocks):
        if not isinstance(block, tuple | list) or len(block) not in (2, 3):
            raise TypeError(
                f"rows has {type(block).__name__} at {place}, but must have (X, Y) or (X, Y, weights)"
            )
        read = read_rows(block[0], model.features)
        if model.n_features is not None and read.n_features != model.n_features:
            raise ValueError(
                f"x has {read.n_features} features, but the model has learned with {model.n_features}"
            )
        sets = model._space.read(block[1], read.n, read.is_single)
        weights = read_weights(1.0 if len(block) == 2 else block[2], read.n)
        weights = np.broadcast_to(np.asarray(weights, dtype=np.float64), (read.n,))
        yield RowBlock(read, sets, weights)
