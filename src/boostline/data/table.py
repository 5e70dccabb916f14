"""Tables with named columns: CSV and Parquet, both read by pyarrow in constant memory."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .build import compact_indicator
from .dataset import Block
from .errors import DataError, need
from .source import MAX_LINE_BYTES, LineReader

__all__ = ["CsvReader", "ParquetReader"]

#: CSV values that are missing values.
NULL_TEXT = ["", "?", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None"]
#: Buffer per column with which Parquet pages are read, instead of whole row groups.
PARQUET_BUFFER_BYTES = 2**16

#: How a text column may write the two values of a label.
LABEL_TEXT = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}

_ROW = re.compile(r"(?:In CSV column #(\d+): )?(?:CSV parse error: )?Row #(\d+): (.*)", re.DOTALL)
_VALUE = re.compile(r"invalid value '(.*)'", re.DOTALL)


class _Table:
    """What becomes of each column: a feature, the 0/1 columns of a category, a label, nothing."""

    def __init__(
        self,
        name: str,
        columns: Sequence[str],
        labels: Any,
        drop: Sequence[str],
        categories: Mapping[str, Sequence[str]],
    ) -> None:
        self.name = name
        twice = next((c for i, c in enumerate(columns) if c in columns[:i]), None)
        if twice is not None:
            raise DataError(f"has the column {twice!r} twice", path=name, line=1)
        self.categories = {column: [str(v) for v in given] for column, given in categories.items()}
        wanted = _label_columns(labels, name)
        for what, names in (("label", wanted), ("drop", drop), ("categories", categories)):
            for column in names:
                if column not in columns:
                    shown = ", ".join(columns[:10]) + (", ..." if len(columns) > 10 else "")
                    raise DataError(
                        f"has no column {column!r}, which is named as a {what}; it has {shown}",
                        path=name,
                    )
        clash = next((c for c in wanted if c in set(drop) | set(categories)), None)
        if clash is not None:
            raise ValueError(f"the label {clash!r} is also named in drop or categories")
        is_label = set(wanted)
        self.labels = [column for column in columns if column in is_label]
        self.inputs = [c for c in columns if c not in is_label and c not in set(drop)]
        self.features: list[str] = []
        for column in self.inputs:
            values = self.categories.get(column)
            self.features += [column] if values is None else [f"{column}={v}" for v in values]

    def block(self, batch: Any, numbers: Sequence[int]) -> Block:
        """Encode a pyarrow table whose rows stand in the lines `numbers` of the file."""
        X = np.empty((batch.num_rows, len(self.features)))
        position = 0
        for column in self.inputs:
            values = batch.column(column)
            known = self.categories.get(column)
            if known is None:
                X[:, position] = self._numbers(values, column)
                position += 1
            else:
                X[:, position : position + len(known)] = self._one_hot(
                    values, column, known, numbers
                )
                position += len(known)
        infinite = np.argwhere(np.isinf(X))
        if infinite.size:
            row, feature = infinite[0]
            raise DataError(
                f"the column {self.features[feature]!r} has an infinite value",
                path=self.name,
                line=numbers[int(row)],
            )
        Y = np.empty((batch.num_rows, len(self.labels)), dtype=np.bool_)
        for index, column in enumerate(self.labels):
            Y[:, index] = self._bits(batch.column(column), column, numbers)
        return Block(X, compact_indicator(Y))

    def _numbers(self, values: Any, column: str) -> NDArray[np.float64]:
        pa = need("pyarrow", "reading tables")
        kind = values.type
        plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)
        if not plain and not pa.types.is_boolean(kind) and not pa.types.is_decimal(kind):
            raise DataError(
                f"the column {column!r} is of type {kind}; pass categories={{{column!r}: [...]}} "
                f"with its values, or drop=[{column!r}]",
                path=self.name,
            )
        return values.cast(pa.float64()).to_numpy()  # type: ignore[no-any-return]

    def _one_hot(
        self, values: Any, column: str, known: list[str], numbers: Sequence[int]
    ) -> NDArray[np.float64]:
        place = {value: column for column, value in enumerate(known)}
        codes, found = _encode(values)
        columns = np.array([place.get(str(value), -1) for value in found], dtype=np.int64)
        for code in np.flatnonzero(columns < 0):
            if (codes == code).any():  # a dictionary may list values that no row has
                raise DataError(
                    f"the column {column!r} has {str(found[code])!r}, which is not among its "
                    "categories",
                    path=self.name,
                    line=numbers[int(np.argmax(codes == code))],
                )
        encoded = np.zeros((len(codes), len(known)))
        present = np.flatnonzero(codes >= 0)
        encoded[present, columns[codes[present]]] = 1.0
        encoded[codes < 0] = np.nan
        return encoded

    def _bits(self, values: Any, column: str, numbers: Sequence[int]) -> NDArray[np.bool_]:
        codes, found = _encode(values)
        bits = [LABEL_TEXT.get(str(value).strip().lower()) for value in found]
        for code in [code for code, bit in enumerate(bits) if bit is None] + [-1]:
            if (codes == code).any():
                given = "a missing value" if code < 0 else repr(found[code])
                raise DataError(
                    f"the label {column!r} has {given}; a label is 0 or 1",
                    path=self.name,
                    line=numbers[int(np.argmax(codes == code))],
                )
        return np.array(bits, dtype=np.bool_)[codes]


def _encode(values: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """Codes (-1: missing) and the values they stand for."""
    column = values.combine_chunks().dictionary_encode()
    codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes, column.dictionary.to_pylist()


class CsvReader(_Table):
    """A CSV file with a header line; what is empty or ``?`` is missing, blank lines are skipped.

    Rows are cut out here, line by line, and parsed by pyarrow a block at a time. pyarrow's own
    streaming reads ahead, so that rows from a pipe would wait for those that follow them.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        labels: Any,
        drop: Sequence[str] = (),
        categories: Mapping[str, Sequence[str]] | None = None,
        delimiter: str = ",",
        encoding: str = "utf-8",
    ) -> None:
        self._lines = LineReader(file, name)
        self._rest = iter(self._lines)
        try:
            header = next(self._rest, b"").decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            raise self._lines.error(
                f"is not {encoding}; pass encoding='latin-1' if it is that"
            ) from error
        self._columns = next(csv.reader([header], delimiter=delimiter), [])
        if not any(self._columns):
            raise DataError("is empty, or has no header line", path=name, line=1)
        super().__init__(name, self._columns, labels, drop, categories or {})
        self._delimiter = delimiter
        self._encoding = encoding

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield blocks of `size` rows, the last one shorter."""
        rows = self._rows()
        while batch := list(islice(rows, size)):
            numbers = [number for number, _ in batch]
            yield self.block(self._parse(b"".join(text for _, text in batch), numbers), numbers)

    def _rows(self) -> Iterator[tuple[int, bytes]]:
        """Yield rows with the line where each begins: quoted values may hold line ends."""
        for line in self._rest:
            start = self._lines.number
            if line.count(b'"') % 2 == 0:
                if line.strip():
                    yield start, line if line.endswith(b"\n") else line + b"\n"
                continue
            pieces, size = [line], len(line)
            for piece in self._rest:
                pieces.append(piece)
                size += len(piece)
                if piece.count(b'"') % 2 == 1:
                    break
                if size > MAX_LINE_BYTES:
                    raise self._lines.error("the row has a quote that is never closed", start)
            else:
                raise self._lines.error("the row has a quote that is never closed", start)
            yield start, b"".join(pieces) if piece.endswith(b"\n") else b"".join([*pieces, b"\n"])

    def _parse(self, text: bytes, numbers: Sequence[int]) -> Any:
        pa, arrow_csv = need("pyarrow", "reading csv"), need("pyarrow.csv", "reading csv")
        types = {column: pa.string() for column in (*self.labels, *self.categories)}
        types |= {column: pa.float64() for column in self.inputs if column not in self.categories}
        try:
            return arrow_csv.read_csv(
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
                    null_values=NULL_TEXT,
                    strings_can_be_null=True,
                ),
            )
        except pa.ArrowInvalid as error:
            raise self._explain(str(error), numbers) from error

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
                f"the column {title!r} has {value[1]!r}, which is no number; pass "
                f"categories={{{title!r}: [...]}} with its values, or drop=[{title!r}]"
                if value
                else f"the column {title!r}: {reason}"
            )
        return DataError(reason, path=self.name, line=numbers[int(row) - 1])


class ParquetReader(_Table):
    """A Parquet file; rows are counted from 1."""

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        labels: Any,
        drop: Sequence[str] = (),
        categories: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        pa, parquet = need("pyarrow", "reading parquet"), need("pyarrow.parquet", "reading parquet")
        if not file.seekable():
            raise DataError("cannot be read as a stream: parquet needs a file", path=name)
        try:
            self._parquet = parquet.ParquetFile(
                file,
                buffer_size=PARQUET_BUFFER_BYTES,
                pre_buffer=False,
                page_checksum_verification=True,
            )
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"is no Parquet file, or is cut off: {error}", path=name) from error
        super().__init__(name, self._parquet.schema_arrow.names, labels, drop, categories or {})

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield blocks of `size` rows, the last one shorter."""
        pa = need("pyarrow", "reading parquet")
        first = 1
        try:
            for batch in self._parquet.iter_batches(
                batch_size=size, columns=[*self.inputs, *self.labels], use_threads=False
            ):
                numbers = range(first, first + batch.num_rows)
                yield self.block(pa.Table.from_batches([batch]), numbers)
                first = numbers.stop
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"is damaged: {error}", path=self.name) from error


def _label_columns(labels: Any, name: str) -> list[str]:
    if labels is None:
        raise DataError("does not say which columns are labels: pass labels=[...]", path=name)
    if isinstance(labels, (int, str, bytes)) or not isinstance(labels, Sequence):
        raise TypeError(f"labels is {labels!r}, but a table needs a list of column names")
    wanted = [str(label) for label in labels]
    twice = next((c for i, c in enumerate(wanted) if c in wanted[:i]), None)
    if twice is not None:
        raise ValueError(f"labels names {twice!r} twice")
    if not wanted and labels != ():  # an empty tuple: rows that are to be ranked
        raise ValueError("labels is empty, but at least one label is needed")
    return wanted
