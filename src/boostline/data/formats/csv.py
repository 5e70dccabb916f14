"""CSV files with a header line, parsed by pyarrow in constant memory."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

from boostline.contract.advice import advice
from boostline.data.dataset import Block
from boostline.data.errors import DataError, need
from boostline.data.formats.tables import Categories, Drop, TableReader, encode_or_drop
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
#: What may stand between values; looked for where it is not what was said.
DELIMITERS = (",", ";", "\t", "|")

_ROW = re.compile(r"(?:In CSV column #(\d+): )?(?:CSV parse error: )?Row #(\d+): (.*)", re.DOTALL)
_QUOTED = re.compile(rb'"[^"]*+"')
_VALUE = re.compile(r"invalid value '(.*)'", re.DOTALL)


class CsvReader(TableReader):
    """A CSV file with a header line; blank lines are skipped.

    Rows are cut out here, line by line, and parsed by pyarrow a block at a time. pyarrow's own
    streaming reads ahead, so that rows from a pipe would wait for those that follow them.
    """

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
        name = source_name(source)
        delimiter = delimiter or ("\t" if suffix(source) == ".tsv" else ",")
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
            raise ValueError(f"delimiter is {delimiter!r}, but must be one ASCII character")
        encoding = checked_encoding(encoding)
        self._lines = LineReader(file, name)
        self._rest = iter(self._lines)
        _, first = next(self._rows(), (1, b""))
        header = self._lines.decode(first, encoding).removeprefix("\ufeff")
        try:
            self._columns = next(csv.reader([header], delimiter=delimiter), [])
        except csv.Error as error:
            raise self._lines.error(f"has a header that cannot be read: {error}") from error
        if not any(self._columns):
            raise DataError("is empty, or has no header line", path=name, line=1)
        _refuse_other_delimiter(self._columns, delimiter, name)
        self._lay_out(name, self._columns, labels, drop, categories, unseen)
        self._delimiter = delimiter
        self._encoding = encoding

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield blocks of `size` rows, the last one shorter."""
        rows = self._rows()
        while batch := list(islice(rows, size)):
            numbers = [number for number, _ in batch]
            yield self._block(self._parse(b"".join(text for _, text in batch), numbers), numbers)

    def skip(self, n: int | None = None) -> int:
        return sum(1 for _ in islice(self._rows(), n))

    def _rows(self) -> Iterator[tuple[int, bytes]]:
        """Yield rows with the line where each begins: quoted values may hold line ends."""
        for line in self._rest:
            start = self._lines.number
            pieces, size, is_open = [line], len(line), line.count(b'"') % 2 == 1
            while is_open:
                piece = next(self._rest, b"")
                pieces.append(piece)
                size += len(piece)
                if not piece or size > MAX_LINE_BYTES:
                    raise self._lines.error("the row has a quote that is never closed", start)
                is_open = piece.count(b'"') % 2 == 0
            row = b"".join(pieces).removesuffix(b"\n").removesuffix(b"\r")
            if b"\r" in row and b"\r" in _QUOTED.sub(b"", row):
                raise self._lines.error(
                    "has a carriage return within a line; lines must end with \\n or \\r\\n",
                    start,
                )
            if row.strip():
                yield start, row + b"\n"

    def _parse(self, text: bytes, numbers: Sequence[int]) -> Any:
        pa, arrow_csv = need("pyarrow", "reading csv"), need("pyarrow.csv", "reading csv")
        types = {column: pa.string() for column in (*self.labels, *self.categories)}
        types |= {column: pa.float64() for column in self.inputs if column not in self.categories}
        if text.startswith(codecs.BOM_UTF8) and codecs.lookup(self._encoding).name == "utf-8":
            # pyarrow drops one, wherever in the file these rows begin.
            text = codecs.BOM_UTF8 + text
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(text),
                read_options=arrow_csv.ReadOptions(
                    use_threads=False,
                    block_size=len(text) + 1,
                    column_names=self._columns,
                    encoding=self._encoding,
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self._delimiter, newlines_in_values=True
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types,
                    include_columns=[*self.inputs, *self.labels],
                    null_values=list(MISSING),
                    strings_can_be_null=False,  # a category may have such a name
                ),
            )
        except pa.ArrowInvalid as error:
            raise self._explain(str(error), numbers) from error
        if table.num_rows != len(numbers):
            raise DataError(
                f"has {len(numbers)} rows from this line on, but pyarrow reads "
                f"{table.num_rows}: a quote is misplaced",
                path=self.name,
                line=numbers[0],
            )
        return table

    def _explain(self, message: str, numbers: Sequence[int]) -> DataError:
        """Say pyarrow's complaint with the column's name and the file's line."""
        match = _ROW.match(message)
        if match is None:
            return DataError(message, path=self.name, line=numbers[0])
        column, row, reason = match.groups()
        if column is not None:
            title = self._columns[int(column)]
            value = _VALUE.search(reason)
            reason = (
                f"the column {title!r} has {value[1]!r}, which is no number; {encode_or_drop(title)}"
                if value
                else f"the column {title!r}: {reason}"
            )
        return DataError(reason, path=self.name, line=numbers[min(int(row), len(numbers)) - 1])


def _refuse_other_delimiter(columns: Sequence[str], delimiter: str, name: str) -> None:
    """One column is not enough for a feature and a label: it must be several that were not told apart."""
    if len(columns) > 1:
        return
    for other in DELIMITERS:
        if other != delimiter and other in columns[0]:
            shown = {"\t": "tab"}.get(other, f"'{other}'")
            raise DataError(
                f"has a single column, {columns[0]!r}: its values seem to be separated by {other!r}; "
                + advice(f"pass delimiter={other!r}", f"give --delimiter {shown}"),
                path=name,
                line=1,
            )
