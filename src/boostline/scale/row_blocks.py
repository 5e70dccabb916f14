"""Rows with their labels, as the statistics of workers take them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.contract.label_sets import LabelSets
from boostline.contract.labels import LabelSpace
from boostline.contract.numbers import read_weights
from boostline.contract.rows import Rows, read_rows
from boostline.models import Booster
from boostline.scale.sums import FloatArray, Moments
from boostline.text import TextRanker
from boostline.text.features import TextFeatures
from boostline.text.tags import Waiting, read_tags

__all__ = [
    "MOST_CELLS",
    "RowBlock",
    "given_blocks",
    "judged_sets",
    "learned_texts",
    "row_blocks",
]

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
        """Rows that learners learn: with a weight, and with a pair of labels or some labels that are unknown."""
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
        """Importance; 0 for rows that are not learned."""
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
        """Of the rows that are learned."""
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


def row_blocks(model: Booster, rows: Any) -> Iterator[RowBlock]:
    """Read rows: ``(X, Y)``, ``(X, Y, weights)``, or an iterable of these."""
    space = LabelSpace(model.n_labels, model.labels)
    for X, Y, *more in given_blocks(rows):
        read = read_rows(X, model.features)
        if model.n_features is not None and read.n_features != model.n_features:
            raise ValueError(
                f"x has {read.n_features} features, but the model has learned with {model.n_features}"
            )
        sets = space.read(Y, read.n, read.is_single)
        weights = read_weights(more[0] if more else 1.0, read.n)
        weights = np.broadcast_to(np.asarray(weights, dtype=np.float64), (read.n,))
        yield RowBlock(read, sets, weights)


def given_blocks(rows: Any) -> Iterator[Any]:
    """The blocks of rows, or of texts and their tags."""
    is_one = isinstance(rows, tuple) and len(rows) in (2, 3) and not isinstance(rows[0], tuple)
    blocks: Iterable[Any] = [rows] if is_one else rows
    for place, block in enumerate(blocks):
        if not isinstance(block, tuple | list) or len(block) not in (2, 3):
            raise TypeError(
                f"rows has {type(block).__name__} at {place}, but must have (X, Y) or (X, Y, weights)"
            )
        yield block


def learned_texts(model: TextRanker, features: TextFeatures, texts: Any) -> Iterator[Any]:
    """Blocks of texts as rows and label sets of the model's booster; `features` count the words."""
    place = {tag: i for i, tag in enumerate(model.labels)}
    for some, tags, *weights in given_blocks(texts):
        waiting = Waiting(0)
        for row in read_tags(tags, len(some), False):
            if (new := next((tag for tag in row if tag not in place), None)) is not None:
                raise ValueError(
                    f"tags has {new!r}, which the model does not know: add_labels first"
                )
            waiting.add({place[tag]: code for tag, code in row.items()}, len(place), len(place))
        sets = waiting.label_sets(model.booster.n_labels)
        yield features.learn(features.count(some)), sets, *weights


def judged_sets(model: Any, Y: Any, n: int) -> LabelSets:
    """Labels of n rows, or tags of texts: those that the model does not know cannot be ranked."""
    if not model.takes_texts:
        return LabelSpace(model.n_labels, model.labels).read(Y, n, False)
    place = {tag: i for i, tag in enumerate(model.labels)}
    known = [{place[tag]: value for tag, value in row.items() if tag in place} for row in Y]
    return LabelSpace(model.n_labels).read(known, n, False)
