"""Parquet files, read by pyarrow in constant memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

from boostline.array_types import FloatArray
from boostline.data.dataset import Block
from boostline.data.errors import DataError, need
from boostline.data.formats.table_reader import Categories, Cells, Drop, TableReader, encode_or_drop
from boostline.data.source import Source, source_name
from boostline.data.unseen import Unseen

#: Buffer per column with which pages are read, instead of whole row groups.
BUFFER_BYTES = 2**16


class ParquetReader(TableReader):
    """A Parquet file; rows are counted from 1."""

    format = "parquet"
    extensions = (".parquet", ".pq")

    def __init__(
        self,
        file: BinaryIO,
        source: Source,
        labels: Any,
        drop: Drop = None,
        categories: Categories = None,
        unseen: Unseen | None = None,
    ) -> None:
        self._parquet = ParquetRows(file, source_name(source))
        columns = self._parquet.columns
        self._lay_out(self._parquet.name, columns, labels, drop, categories, unseen)
        self._first_group = self._n_skipped = 0

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield blocks of `size` rows, the last one shorter."""
        pa = need("pyarrow", "reading parquet")
        first = 1 + self._n_skipped
        batches = self._parquet.batches([*self.inputs, *self.labels], size, self._first_group)
        for pieces in _in_blocks(batches, size):
            table = pa.Table.from_batches(pieces)
            rows = range(first, first + table.num_rows)
            cells = {name: Cells(table.column(name), rows) for name in table.column_names}
            for name in (*self.categories, *self.labels):
                cells[name] = Cells(self._values(cells[name].values, name), rows)
            yield self._block(cells, len(rows))
            first = rows.stop

    def skip(self, n: int | None = None) -> int:
        """Whole row groups only."""
        for rows in islice(self._parquet.group_sizes(), self._first_group, None):
            if n is not None and self._n_skipped + rows > n:
                break
            self._n_skipped += rows
            self._first_group += 1
        return self._n_skipped

    def _values(self, values: Any, column: str) -> list[Any]:
        if need("pyarrow", "reading parquet").types.is_nested(values.type):
            raise DataError(f"the column {column!r} is of type {values.type}", path=self.name)
        return values.to_pylist()  # type: ignore[no-any-return]

    def _numbers(self, cells: Cells, column: str) -> FloatArray:
        pa = need("pyarrow", "reading parquet")
        kind = cells.values.type
        plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)
        if not plain and not pa.types.is_boolean(kind) and not pa.types.is_decimal(kind):
            raise DataError(
                f"the column {column!r} is of type {kind}; {encode_or_drop(column)}",
                path=self.name,
            )
        return cells.values.cast(pa.float64(), safe=False).to_numpy()  # type: ignore[no-any-return]


class ParquetRows:
    """The rows of a Parquet file, and what is wrong with it as a `DataError`."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        pa, parquet = need("pyarrow", "reading parquet"), need("pyarrow.parquet", "reading parquet")
        if not file.seekable():
            raise DataError("cannot be read as a stream: parquet needs a file", path=name)
        try:
            self._file = parquet.ParquetFile(
                file,
                buffer_size=BUFFER_BYTES,
                pre_buffer=False,
                page_checksum_verification=True,
            )
            self.columns: list[str] = self._file.schema_arrow.names
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DataError(
                f"is not a Parquet file, or is incomplete: {error}", path=name
            ) from error
        self.name = name

    def group_sizes(self) -> Iterator[int]:
        """Rows in each row group."""
        described = self._file.metadata
        return (described.row_group(i).num_rows for i in range(described.num_row_groups))

    def batches(self, columns: Sequence[str], size: int, first_group: int = 0) -> Iterator[Any]:
        """Yield batches of at most `size` rows, each row group by itself.

        Reading a row group from its start is where pyarrow checks its description; within a batch over several
        groups it does not compare types.
        """
        pa = need("pyarrow", "reading parquet")
        wanted = list(dict.fromkeys(columns))
        described, n_rows = self._file.metadata, sum(islice(self.group_sizes(), first_group))
        try:
            for group in range(first_group, described.num_row_groups):
                batches = self._file.iter_batches(
                    batch_size=size, row_groups=[group], columns=wanted, use_threads=False
                )
                for number, batch in enumerate(batches):
                    if number == 0:
                        self._check_types(group, set(wanted))
                    batch.validate(full=True)  # pyarrow believes what a file says of its texts
                    n_rows += batch.num_rows
                    yield batch
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DataError(f"is damaged: {error}", path=self.name) from error
        if described.num_rows != n_rows:
            raise DataError(
                f"is damaged: it has {n_rows} rows, but says {described.num_rows}", path=self.name
            )

    def _check_types(self, group: int, columns: set[str]) -> None:
        """The columns of a row group are of the schema's types, which older versions of pyarrow do not check.

        Only for what has been read already: asked for a description that cannot be parsed, pyarrow ends the process.
        """
        description, schema = self._file.metadata.row_group(group), self._file.schema
        for i in range(len(schema)):
            column = schema.column(i)
            if column.path not in columns:
                continue
            found = description.column(i).physical_type
            if found != column.physical_type:
                raise DataError(
                    f"is damaged: in row group {group + 1} the type does not match the schema for {column.path!r}: "
                    f"{found} vs. {column.physical_type}",
                    path=self.name,
                )


def _in_blocks(batches: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Group batches, cutting them where needed, so that each list has `size` rows, the last one fewer."""
    pieces: list[Any] = []
    room = size
    for batch in batches:
        rest = batch
        while rest.num_rows >= room:
            yield [*pieces, rest.slice(0, room)]
            rest, pieces, room = rest.slice(room), [], size
        if rest.num_rows:
            pieces.append(rest)
            room -= rest.num_rows
    if pieces:
        yield pieces
