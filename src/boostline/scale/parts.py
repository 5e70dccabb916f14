"""Parts of the data: files, each of which a worker reads by itself."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from boostline.contract.text_models import is_text_model

__all__ = ["FilePart", "count_rows", "file_parts", "read_part", "stacked"]

#: Rows that are read at a time.
BLOCK = 2048


@dataclass(frozen=True)
class FilePart:
    """Rows `start` up to `stop` of a file (None: to its end).

    Attributes
    ----------
    options : dict
        What `boostline.data.stream` is told: ``labels``, ``format``, ``drop`` and so on.
    features, labels : list of str
        Order of the columns in the model.
    """

    path: str
    options: Mapping[str, Any] = field(default_factory=dict)
    features: Sequence[Any] | None = None
    labels: Sequence[Any] | None = None
    start: int = 0
    stop: int | None = None

    def rows(self, start: int, stop: int | None) -> FilePart:
        """Some of its rows."""
        return replace(self, start=start, stop=stop)

    def blocks(self) -> Iterator[tuple[Any, Any]]:
        """Yield (X, Y), columns in the model's order."""
        from boostline.contract.frames import column_order
        from boostline.data import stream

        block = BLOCK if self.stop is None else max(1, min(BLOCK, self.stop))
        source = stream(self.path, block=block, **self.options)
        columns = column_order(source.features, self.features, self.path, "features")
        labels = column_order(source.labels, self.labels, self.path, "labels")
        first = 0
        for X, Y in source:
            last = first + X.shape[0]
            stop = last if self.stop is None else min(last, self.stop)
            if stop > self.start and first < stop:
                part = slice(max(self.start - first, 0), stop - first)
                yield _columns(X[part], columns), _columns(Y[part], labels)
            first = last
            if self.stop is not None and first >= self.stop:
                return


def file_parts(source: Any, model: Any, **options: Any) -> list[FilePart]:
    """The files that paths and patterns name, in order; their labels are those of the model."""
    patterns = [source] if isinstance(source, str | os.PathLike) else list(source)
    paths: list[str] = []
    for pattern in [str(os.fspath(one)) for one in patterns]:
        found = sorted(glob.glob(pattern)) if glob.has_magic(pattern) else [pattern]
        if not found:
            raise FileNotFoundError(f"no file matches {pattern!r}")
        paths += found
    missing = next((path for path in paths if not os.path.isfile(path)), None)
    if missing is not None:
        raise FileNotFoundError(f"there is no file {missing!r}")
    if not paths:
        raise ValueError("source names no file, but must name at least one")
    names = model.labels
    if names is None and "labels" not in options:
        raise ValueError(
            "model has no names of labels, but must have some: the files' columns are matched by them"
        )
    options = {"labels": names, **options}
    features = None if is_text_model(model) else model.features
    return [FilePart(path, options, features, names) for path in paths]


def count_rows(_: Any, part: FilePart) -> tuple[int, list[str]]:
    """How many rows a file has, and its features."""
    from boostline.data import stream
    from boostline.data.formats import format_of

    source = stream(part.path, block=BLOCK, **part.options)
    if format_of(part.path, part.options.get("format")) == "parquet":
        from pyarrow import parquet

        return int(parquet.read_metadata(part.path).num_rows), list(source.features)
    return sum(X.shape[0] for X, _ in source), list(source.features)


def read_part(_: Any, part: FilePart) -> list[tuple[Any, Any]]:
    """All rows of a (small) part, as a worker sends them."""
    return list(part.blocks())


def stacked(blocks: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Blocks as one."""
    return _stack([X for X, _ in blocks]), _stack([Y for _, Y in blocks])


def _stack(matrices: list[Any]) -> Any:
    if any(hasattr(m, "tocsr") for m in matrices):
        from scipy.sparse import vstack

        return vstack(matrices, format="csr")
    return np.concatenate([np.asarray(m, dtype=np.float64) for m in matrices])


def _columns(matrix: Any, order: Any) -> Any:
    if order is None:
        return matrix
    chosen = matrix[:, order]
    if hasattr(chosen, "sort_indices"):
        chosen.sort_indices()
    return chosen
