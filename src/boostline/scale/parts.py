"""Parts of the data that a worker reads by itself: files, and partitions of frames."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from boostline.contract.frames import column_order
from boostline.contract.rows import read_rows, too_large
from boostline.data import Stream, stream
from boostline.data.columns import arranged
from boostline.data.formats import FORMATS, Reader, format_of
from boostline.data.inputs import Input, rows_to_learn

if TYPE_CHECKING:
    from boostline.scale.engines import Engine

__all__ = [
    "FilePart",
    "FramePart",
    "describe",
    "feature_columns",
    "file_parts",
    "read_part",
    "source_parts",
]

#: Rows that are read at a time.
BLOCK = 2048


@dataclass(frozen=True)
class FilePart:
    """Rows `start` up to `stop` of a file (None: to its end).

    Attributes
    ----------
    options : dict
        Options of `boostline.data.stream`: ``labels``, ``format``, ``drop`` and so on.
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
        source = self._stream()
        columns = column_order(source.features, self.features, self.path, "features")
        labels = column_order(source.labels, self.labels, self.path, "labels")
        left = None if self.stop is None else self.stop - self.start
        for X, Y in source.after(self.start):
            yield arranged(X[:left], columns), arranged(Y[:left], labels)
            if left is not None:
                left -= X.shape[0]
                if left <= 0:
                    return

    def describe(self) -> tuple[int, list[Any]]:
        """How many rows the file has, and its features."""
        source = self._stream()
        return source.count(), list(source.features)

    @property
    def says_its_features(self) -> bool:
        """Whether the file's header names its features, or they are known."""
        return self.features is not None or self._reader.names_columns

    @property
    def _reader(self) -> type[Reader]:
        return FORMATS[format_of(self.path, self.options.get("format"))]

    def _stream(self) -> Stream:
        """The file; one whose rows name its features is not scanned if they are known."""
        options = dict(self.options)
        takes = self._reader.options()
        if self.features is not None and "features" in takes:
            of_numbers = "zero_based" in takes
            known = len(self.features) if of_numbers else list(self.features)
            options.setdefault("features", known)
        block = BLOCK if self.stop is None else max(1, min(BLOCK, self.stop - self.start))
        return stream(self.path, block=block, **options)


@dataclass(frozen=True)
class TextPart(FilePart):
    """Texts of a file and their tags; `describe` gives the tags instead of features."""

    says_its_features = False

    def blocks(self) -> Iterator[tuple[Any, Any]]:
        first = 0
        for texts, tags in rows_to_learn(Input(self.path, **self.options), BLOCK):
            stop = None if self.stop is None else max(self.stop - first, 0)
            some = slice(max(self.start - first, 0), stop)
            if len(texts[some]):
                yield list(texts[some]), list(tags[some])
            first += len(texts)
            if self.stop is not None and first >= self.stop:
                return

    def describe(self) -> tuple[int, list[Any]]:
        n, tags = 0, dict[str, None]()
        for _, block in self.blocks():
            n += len(block)
            tags |= dict.fromkeys(tag for row in block for tag in sorted(row))
        return n, list(tags)


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


def refuse_texts(model: Any, instead: str) -> None:
    """Raise an error if a model takes texts."""
    if model.takes_texts:
        raise TypeError(f"model is a {type(model).__name__}, but must take rows: {instead}")


def source_parts(
    source: Any, model: Any, engine: Engine, n_groups: int | None = None, **options: Any
) -> tuple[Engine, list[Any]]:
    """The parts of files, or of a frame that the engine knows, and the engine that reads them."""
    if hasattr(source, "columns"):
        if options:
            raise TypeError(f"{next(iter(options))} is an option of files, but source is a frame")
        refuse_texts(model, "texts come from files")
        return engine.partitions(source, model, n_groups)
    return engine, file_parts(source, model, **options)


def describe(_: Any, part: Any) -> tuple[int, list[Any]]:
    """The task of `FilePart.describe`."""
    return part.describe()  # type: ignore[no-any-return]


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
    if model.takes_texts:
        if not options.get("text"):
            raise ValueError("text is not given, but must name the column with the text")
        for name in ("text", "labels"):
            if isinstance(options.get(name), str):
                options[name] = [options[name]]
        return [TextPart(path, options) for path in paths]
    names = model.labels
    if names is None and "labels" not in options:
        raise ValueError(
            "model has no names of labels, but must have some: the files' columns are matched by them"
        )
    options = {"labels": names, **options}
    return [FilePart(path, options, model.features, names) for path in paths]


def read_part(_: Any, part: FilePart) -> list[tuple[Any, Any]]:
    """All rows of a (small) part, as a worker sends them."""
    return list(part.blocks())
