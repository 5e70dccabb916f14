"""Multi-label svmlight: ``2,5 1:0.5 7:1.25`` is a row with the labels 2 and 5.

A first line ``rows features labels`` (as in the files of the Extreme
Classification Repository) is taken as a header; indices then begin at 0, else at 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from boostline.contract.advice import advice
from boostline.contract.rows import ALLOWED_NUMBERS, LARGEST_VALUE, large_text
from boostline.data.dataset import Block
from boostline.data.errors import DataError
from boostline.data.formats.reader import Reader
from boostline.data.matrices import from_cells, from_relevant
from boostline.data.source import LineReader, Source, open_bytes, source_name
from boostline.data.unseen import Unseen

_HEADER = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s*")
#: Most features or labels that a file may have if the caller does not give their number: 30 bytes can name
#: feature 2,000,000,000, and the names alone would take all memory.
MAX_COLUMNS = 2**22


class Shape(NamedTuple):
    """First line of a file of the Extreme Classification Repository."""

    rows: int
    features: int
    labels: int


class _NumberedRows:
    """Rows of a file with their line numbers, after the header line if it has one."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.lines = LineReader(file, name)
        self._rest = iter(self.lines)
        self._first = next(self._rest, b"")
        self.shape: Shape | None = None
        if match := _HEADER.fullmatch(self._first):
            self.shape = Shape(*(int(number) for number in match.groups()))
        self.numbered = self._numbered()

    def __iter__(self) -> Iterator[tuple[int, list[float], dict[int, float]]]:
        """Yield line, labels and cells of each row."""
        for number, text in self.numbered:
            try:
                yield number, *_parse(text)
            except ValueError as error:
                message = f"is not of the form 'label,label index:value ...' ({error})"
                raise self.lines.error(message, number) from error

    def promised(self, what: str) -> int:
        """Return how many labels or features the header line promises, if that is believable."""
        count: int = getattr(self.shape, what)
        if count > MAX_COLUMNS:
            raise self.lines.error(
                f"the first line says that there are {count} {what}; more than {MAX_COLUMNS} are "
                f"accepted only if {what}= gives their number"
            )
        return count

    def _numbered(self) -> Iterator[tuple[int, bytes]]:
        if self.shape is None and _has_data(self._first):
            yield 1, self._first
        count = 0
        for line in self._rest:
            if _has_data(line):
                count += 1
                yield self.lines.number, line
        if self.shape is not None and count != self.shape.rows:
            raise self.lines.error(
                f"the first line says that there are {self.shape.rows} rows, but there are {count}"
            )


def _has_data(line: bytes) -> bool:
    return bool(line.split(b"#", 1)[0].strip())


class SvmlightReader(Reader):
    """A multi-label svmlight file.

    Parameters
    ----------
    file, source
        Unpacked bytes, and where they come from.
    labels
        A number k (labels 0 .. k-1), label numbers in the order of the columns, or the names of
        the labels 0, 1, ...; None where the file has a header line; an empty tuple: the labels
        of the rows are not read.
    features
        Number of features; None where the file has a header line.
    zero_based
        Whether the first feature is 0; None: only in files with a header line.
    unseen
        Counts features beyond the last one, which are left out then, instead of being errors.

    """

    format = "svmlight"
    extensions = (".svm", ".svmlight", ".libsvm")

    def __init__(
        self,
        file: BinaryIO,
        source: Source,
        labels: Any,
        features: int | None = None,
        zero_based: bool | None = None,
        unseen: Unseen | None = None,
    ) -> None:
        self._unseen = unseen
        if features is not None and not isinstance(features, int):
            raise TypeError(
                "features is a list, but must be the number of features, because svmlight has no feature names"
            )
        name = source_name(source)
        self._rows = _NumberedRows(file, name)
        shape = self._rows.shape
        if labels is None and shape is not None:
            labels = self._rows.promised("labels")
        if features is None and shape is not None:
            features = self._rows.promised("features")
        if labels is None or features is None:
            what = "labels" if labels is None else "features"
            raise DataError(
                f"does not say how many {what} there are: "
                + advice(f"pass {what}=, or a path", "give the name of a file")
                + " instead of a stream, so that it can be scanned first",
                path=name,
            )
        self._first = 0 if _is_zero_based(zero_based, shape) else 1
        self.labels, self._index = _label_index(labels)
        self.features = [str(index + self._first) for index in range(features)]

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield the rows, at most `size` at a time, always as CSR."""
        rows = iter(self._rows)
        while batch := list(islice(rows, size)):
            cells = [self._cells(found, number) for number, _, found in batch]
            relevant = [self._indices(labels, number) for number, labels, _ in batch]
            yield Block(
                from_cells(cells, len(self.features), sparse=True),
                from_relevant(relevant, len(self.labels)),
            )

    def skip(self, n: int | None = None) -> int:
        return sum(1 for _ in islice(self._rows.numbered, n))

    def _cells(self, found: dict[int, float], number: int) -> dict[int, float]:
        """Cells by column, not by the file's index."""
        first, end = self._first, self._first + len(self.features)
        if found and min(found) < first:
            raise self._rows.lines.error(
                "the row has the feature 0, but the first one is 1: "
                + advice("pass zero_based=True", "give --zero-based"),
                number,
            )
        for index in [index for index in found if index >= end]:
            if self._unseen is None:
                message = f"the row has the feature {index}, but the last one is {end - 1}"
                raise self._rows.lines.error(message, number)
            self._unseen.add(str(index))
            del found[index]
        return {index - first: value for index, value in found.items()}

    def _indices(self, labels: list[float], number: int) -> list[int]:
        if len(set(labels)) != len(labels):
            raise self._rows.lines.error("the row has a label twice", number)
        if not self.labels:
            return []
        try:
            return [self._index[label] for label in labels]
        except KeyError as unknown:
            raise self._rows.lines.error(
                f"the row has the label {unknown.args[0]:g}, which is not one of the "
                f"{len(self.labels)} labels",
                number,
            ) from None

    @classmethod
    def scan(
        cls,
        sources: Sequence[Source],
        labels: Any = None,
        features: int | None = None,
        zero_based: bool | None = None,
        **_: Any,
    ) -> tuple[list[int], int]:
        """Return the label numbers that occur, and how many features there are."""
        seen: set[int] = set()
        width = 0
        for source in sources:
            with open_bytes(source) as file:
                rows = _NumberedRows(file, source_name(source))
                first = 0 if _is_zero_based(zero_based, rows.shape) else 1
                if rows.shape is not None:
                    if labels is None:
                        seen.update(range(rows.promised("labels")))
                    if features is None:
                        width = max(width, rows.promised("features"))
                    continue
                for number, row_labels, cells in rows:
                    last = max(cells, default=first - 1)
                    width = max(width, last + 1 - first)
                    if features is None and width > MAX_COLUMNS:
                        raise rows.lines.error(
                            f"the row has the feature {last}; more than {MAX_COLUMNS} "
                            "are accepted only if features= gives their number",
                            number,
                        )
                    for label in row_labels:
                        if not label.is_integer():
                            raise rows.lines.error(f"the label {label:g} is not an integer", number)
                        seen.add(int(label))
        return sorted(seen), width


def _is_zero_based(said: bool | None, shape: Shape | None) -> bool:
    return shape is not None if said is None else said


def _parse(line: bytes) -> tuple[list[float], dict[int, float]]:
    """Labels and cells of a row."""
    text = line.partition(b"#")[0]
    if b"_" in text:
        raise ValueError("a number has an underscore")  # Python's numbers may, no data file's
    words = text.split()
    has_labels = b":" not in words[0]
    labels = list(map(float, words[0].split(b","))) if has_labels else []
    pairs = [word.split(b":") for word in words[has_labels:]]
    cells = {int(index): float(value) for index, value in pairs}
    indices = list(cells)
    if len(cells) < len(pairs) or indices != sorted(indices) or (cells and indices[0] < 0):
        raise ValueError("indices of features must be sorted and unique")
    for value in cells.values():
        if abs(value) > LARGEST_VALUE:
            raise ValueError(f"a feature has {large_text(value)}, but must have {ALLOWED_NUMBERS}")
    return labels, cells


def _label_index(labels: Any) -> tuple[list[str], dict[float, int]]:
    """Names of the label columns, and the column of each label number."""
    if isinstance(labels, (int, np.integer)):
        if labels < 1:
            raise ValueError(f"labels is {labels}, but must be at least 1")
        labels = range(int(labels))
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Sequence):
        raise TypeError(f"labels is {labels!r}, but must be a number or a list")
    if len(set(labels)) != len(labels):
        raise ValueError("labels has the same label twice")
    if all(isinstance(label, (int, np.integer)) for label in labels):
        numbers = [int(label) for label in labels]
    else:
        numbers = list(range(len(labels)))
    index = {float(number): column for column, number in enumerate(numbers)}
    return [str(label) for label in labels], index
