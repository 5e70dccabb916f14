"""CSV files with a header line, in constant memory."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, BinaryIO

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract.advice import advice
from boostline.data.dataset import Block
from boostline.data.errors import DataError
from boostline.data.formats.reader import number_in
from boostline.data.formats.table_reader import Categories, Cells, Drop, TableReader, encode_or_drop
from boostline.data.source import (
    MAX_LINE_BYTES,
    LineReader,
    Source,
    checked_encoding,
    source_name,
    suffix,
)
from boostline.data.unseen import Unseen

#: Values that are missing values: the usual ones among those of pandas.
MISSING = frozenset({"", "?", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None"})
#: Possible separators of values: errors suggest one of them where another was given.
DELIMITERS = (",", ";", "\t", "|")


class CsvReader(TableReader):
    """A CSV file with a header line; blank lines are skipped."""

    format = "csv"
    extensions = (".csv", ".tsv")
    missing = MISSING

    def __init__(
        self,
        file: BinaryIO,
        source: Source,
        labels: Any,
        drop: Drop = None,
        categories: Categories = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        unseen: Unseen | None = None,
    ) -> None:
        self._columns, self._rows = csv_rows(file, source, delimiter, encoding)
        self._lay_out(source_name(source), self._columns, labels, drop, categories, unseen)

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield blocks of `size` rows, the last one shorter."""
        while batch := list(islice(self._rows, size)):
            columns = zip(*(row for _, row in batch), strict=True)
            lines = [number for number, _ in batch]
            table = {c: Cells(v, lines) for c, v in zip(self._columns, columns, strict=True)}
            yield self._block(table, len(batch))

    def skip(self, n: int | None = None) -> int:
        return sum(1 for _ in islice(self._rows, n))

    def _numbers(self, cells: Cells, column: str) -> FloatArray:
        values = cells.values
        text = "".join(values)
        if text.isascii() and "_" not in text:  # float takes no more than number_in then
            with suppress(ValueError):
                return np.array(list(map(float, values)))
        found = np.full(len(values), np.nan)
        for i, cell in enumerate(values):
            if (text := cell.strip()) not in MISSING:
                try:
                    found[i] = number_in(text)
                except ValueError:
                    raise DataError(
                        f"the column {column!r} has {cell!r}, which is no number; {encode_or_drop(column)}",
                        path=self.name,
                        line=cells.lines[i],
                    ) from None
        return found


def csv_rows(
    file: BinaryIO, source: Source, delimiter: str | None = None, encoding: str | None = None
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header of a CSV file, and its other rows with the lines where they begin."""
    delimiter = delimiter or ("\t" if suffix(source) == ".tsv" else ",")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise ValueError(f"delimiter is {delimiter!r}, but must be one ASCII character")
    rows = _rows(LineReader(file, source_name(source)), delimiter, checked_encoding(encoding))
    _, header = next(rows, (1, []))
    if not any(header):
        raise DataError("is empty, or has no header line", path=source_name(source), line=1)
    if len(header) == 1:  # several that were not separated: a table has a feature and a label
        for other in DELIMITERS:
            if other != delimiter and other in header[0]:
                shown = {"\t": "tab"}.get(other, f"'{other}'")
                raise DataError(
                    f"has a single column, {header[0]!r}: its values seem to be separated by {other!r}; "
                    + advice(f"pass delimiter={other!r}", f"give --delimiter {shown}"),
                    path=source_name(source),
                    line=1,
                )
    return header, rows


def _rows(lines: LineReader, delimiter: str, encoding: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(MAX_LINE_BYTES)
    rows = csv.reader(_text(lines, encoding), delimiter=delimiter, strict=True)
    width = 0
    while True:
        start = lines.number + 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise lines.error(
                _EXPLAINED.get(str(error)[:10], f"is not valid CSV: {error}"), start
            ) from error
        if row is None:
            return
        if not row or (len(row) == 1 and row[0].isspace()):
            continue
        if not width:
            width = len(row)
        if len(row) != width:
            raise lines.error(f"the row has {len(row)} values, but the header has {width}", start)
        yield start, row


def _text(lines: LineReader, encoding: str) -> Iterator[str]:
    for line in lines:
        text = lines.decode(line, encoding)
        yield text.removeprefix("\ufeff") if lines.number == 1 else text


#: Errors of the csv module, by their first letters.
_EXPLAINED = {
    "unexpected": "the row has a quote that is never closed",
    "new-line c": "has a carriage return within a line; lines must end with \\n or \\r\\n",
}
