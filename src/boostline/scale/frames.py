"""Parts of a frame: partitions of which a worker makes rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from boostline.scale.parts import BLOCK

__all__ = ["FramePart", "feature_columns"]


@dataclass(frozen=True)
class FramePart:
    """Rows `start` up to `stop` (None: to the end) of partition `place` of a frame.

    Attributes
    ----------
    source
        A pandas frame, or what a subclass makes one of.
    features, labels : list
        Its columns; features None: all that are not labels.
    """

    source: Any
    place: int
    features: Sequence[Any] | None
    labels: Sequence[Any]
    start: int = 0
    stop: int | None = None

    def frames(self) -> Iterator[Any]:
        """The partition as pandas frames, one after the other."""
        yield self.source

    def rows(self, start: int, stop: int | None) -> FramePart:
        """Some of its rows."""
        return replace(self, start=start, stop=stop)

    def pieces(self) -> Iterator[tuple[int, Any]]:
        """Its rows, some at a time, each with the number of rows of the partition that came before."""
        first = 0
        for frame in self.frames():
            last = first + len(frame)
            stop = last if self.stop is None else min(last, self.stop)
            for start in range(max(self.start, first), stop, BLOCK):
                yield start, frame.iloc[start - first : min(start + BLOCK, stop) - first]
            first = last

    def describe(self) -> tuple[int, list[Any]]:
        """How many rows the partition has; the features are those of the frame."""
        return sum(len(frame) for frame in self.frames()), []

    def blocks(self) -> Iterator[tuple[Any, Any]]:
        """Yield (X, Y) as frames."""
        for before, rows in self.pieces():
            yield self.read(before, rows)

    def read(self, before: int, rows: Any) -> tuple[Any, Any]:
        """(X, Y) of a piece."""
        labels = list(self.labels)
        features = self.features or feature_columns(rows.columns, labels)
        return self.checked(rows[list(features)], before), rows[labels]

    def checked(self, rows: Any, first: int) -> Any:
        """The rows, unless one is bad: then the error names partition and row."""
        from boostline.contract.rows import read_rows, too_large

        try:
            read_rows(rows)
        except (ValueError, TypeError) as error:
            bad = first
            if all(kind.kind in "fiub" for kind in rows.dtypes):
                bad += int(too_large(rows.to_numpy(dtype="float64")).any(axis=1).argmax())
            raise type(error)(f"partition {self.place}, row {bad + 1}: {error}") from error
        return rows


def feature_columns(columns: Iterable[Any], labels: Sequence[Any] | None) -> list[Any]:
    """The columns of a frame that are features, if every label has a column."""
    if labels is None:
        raise ValueError(
            "model has no names of labels, but must have some: the frame's columns are matched by them"
        )
    known = list(columns)
    found, wanted = set(known), set(labels)
    if missing := [name for name in labels if name not in found]:
        raise ValueError(f"the frame has no column {missing[0]!r}, which is a label of the model")
    return [name for name in known if name not in wanted]
