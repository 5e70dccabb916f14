"""Parts of a frame: partitions of which a worker makes rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from boostline.scale.parts import BLOCK

__all__ = ["FramePart", "partition_size"]


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

    def frame(self) -> Any:
        """The partition as a pandas frame."""
        return self.source

    def rows(self, start: int, stop: int | None) -> FramePart:
        """Some of its rows."""
        return replace(self, start=start, stop=stop)

    def blocks(self, before: int = 0) -> Iterator[tuple[Any, Any]]:
        """Yield (X, Y) as frames; `before` is the number of rows of the partition that came before, for errors."""
        frame = self.frame()
        labels = list(self.labels)
        is_label = set(labels)
        features = self.features or [c for c in frame.columns if c not in is_label]
        end = len(frame) if self.stop is None else min(self.stop, len(frame))
        for first in range(self.start, end, BLOCK):
            rows = frame.iloc[first : min(first + BLOCK, end)]
            yield self.checked(rows[list(features)], before + first), rows[labels]

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


def partition_size(_: Any, part: FramePart) -> int:
    """Number of its rows."""
    return len(part.frame())
