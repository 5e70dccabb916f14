"""Parquet files, read by pyarrow in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from boostline.data.dataset import Block
from boostline.data.errors import DataError, need
from boostline.data.formats.tables import Categories, Drop, TableReader
from boostline.data.source import Source, source_name
from boostline.data.unseen import Unseen

__all__ = ["ParquetReader"]

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
        self._check_types(name)
        self._lay_out(name, columns, labels, drop, categories, unseen)

    def _check_types(self, name: str) -> None:
        """Every row group must have the columns that the schema names: pyarrow looks at some block sizes only."""
        metadata, schema = self._parquet.metadata, self._parquet.schema
        wanted = [schema.column(i).physical_type for i in range(metadata.num_columns)]
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            found = [group.column(i).physical_type for i in range(group.num_columns)]
            if found != wanted:
                raise DataError(
                    f"is damaged: row group {number + 1} has columns of types {', '.join(found)}, but the schema has "
                    f"{', '.join(wanted)}",
                    path=name,
                )

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield blocks of `size` rows, the last one shorter."""
        pa = need("pyarrow", "reading parquet")
        first = 1
        try:
            for batch in self._parquet.iter_batches(
                batch_size=size, columns=[*self.inputs, *self.labels], use_threads=False
            ):
                batch.validate(full=True)  # pyarrow believes what a file says of its texts
                numbers = range(first, first + batch.num_rows)
                yield self._block(pa.Table.from_batches([batch]), numbers)
                first = numbers.stop
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"is damaged: {error}", path=self.name) from error
        if (promised := self._parquet.metadata.num_rows) != first - 1:
            raise DataError(
                f"is damaged: it has {first - 1} rows, but says {promised}", path=self.name
            )
