"""Parquet files, read by pyarrow in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from boostline.data.dataset import Block
from boostline.data.errors import DataError, need
from boostline.data.formats.tables import Categories, Drop, TableReader
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
        name = source_name(source)
        pa, parquet = need("pyarrow", "reading parquet"), need("pyarrow.parquet", "reading parquet")
        if not file.seekable():
            raise DataError("cannot be read as a stream: parquet needs a file", path=name)
        try:
            self._parquet = parquet.ParquetFile(
                file,
                buffer_size=BUFFER_BYTES,
                pre_buffer=False,
                page_checksum_verification=True,
            )
            columns = self._parquet.schema_arrow.names
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DataError(
                f"is not a Parquet file, or is incomplete: {error}", path=name
            ) from error
        self._lay_out(name, columns, labels, drop, categories, unseen)
        self._first_group = self._n_skipped = 0

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield blocks of `size` rows, the last one shorter."""
        pa = need("pyarrow", "reading parquet")
        first = 1 + self._n_skipped
        try:
            for pieces in _in_blocks(self._batches(size), size):
                numbers = range(first, first + sum(piece.num_rows for piece in pieces))
                yield self._block(pa.Table.from_batches(pieces), numbers)
                first = numbers.stop
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"is damaged: {error}", path=self.name) from error
        if (promised := self._parquet.metadata.num_rows) != first - 1:
            raise DataError(
                f"is damaged: it has {first - 1} rows, but says {promised}", path=self.name
            )

    def skip(self, n: int | None = None) -> int:
        """Whole row groups only."""
        described = self._parquet.metadata
        while self._first_group < described.num_row_groups:
            rows = described.row_group(self._first_group).num_rows
            if n is not None and self._n_skipped + rows > n:
                break
            self._n_skipped += rows
            self._first_group += 1
        return self._n_skipped

    def _batches(self, size: int) -> Iterator[Any]:
        """Yield batches of at most `size` rows, each row group by itself.

        Reading a row group from its start is where pyarrow looks at its description; within a batch over several
        groups it does not compare types.
        """
        columns = [*self.inputs, *self.labels]
        for group in range(self._first_group, self._parquet.metadata.num_row_groups):
            batches = self._parquet.iter_batches(
                batch_size=size, row_groups=[group], columns=columns, use_threads=False
            )
            for number, batch in enumerate(batches):
                if number == 0:
                    self._check_types(group, set(columns))
                batch.validate(full=True)  # pyarrow believes what a file says of its texts
                yield batch

    def _check_types(self, group: int, columns: set[str]) -> None:
        """The columns of a row group are of the schema's types, which older versions of pyarrow do not look at.

        Only for what has been read already: asked for a description that cannot be parsed, pyarrow ends the process.
        """
        description, schema = self._parquet.metadata.row_group(group), self._parquet.schema
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
