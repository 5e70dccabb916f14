"""The formats of data files: a module each, and a line each here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from boostline.contract.advice import advice
from boostline.data.errors import DataError
from boostline.data.formats.arff import ArffReader
from boostline.data.formats.csv import CsvReader
from boostline.data.formats.jsonlines import JsonLinesReader
from boostline.data.formats.parquet import ParquetReader
from boostline.data.formats.reader import Labels, Reader
from boostline.data.formats.svmlight import SvmlightReader
from boostline.data.source import Source, is_path, open_bytes, source_name, suffix

__all__ = ["FORMATS", "Labels", "Reader", "format_of", "open_reader", "settle_options"]

FORMATS: dict[str, type[Reader]] = {
    reader.format: reader
    for reader in (
        ArffReader,
        SvmlightReader,
        CsvReader,
        ParquetReader,
        JsonLinesReader,
    )
}


def format_of(source: Source, named: str | None) -> str:
    """Return the format that the caller or the file's extension names."""
    if named is not None:
        if named not in FORMATS:
            raise ValueError(f"format is {named!r}, but must be one of {', '.join(FORMATS)}")
        return named
    for name, reader in FORMATS.items():
        if suffix(source) in reader.extensions:
            return name
    give = advice("pass format=", "give --format")
    raise ValueError(
        f"the format of {source_name(source)!r} is not known from its extension; "
        f"{give} one of {', '.join(FORMATS)}"
    )


def settle_options(
    sources: Sequence[Source], format_name: str, labels: Labels, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Keep the options that are given (None is "not given"); add names that only the rows have.

    A source that can be read only once is not scanned: its reader requires the names.
    """
    reader = FORMATS[format_name]
    said = {option: value for option, value in options.items() if value is not None}
    for option in said:
        if option not in (takes := reader.options()):
            raise ValueError(
                advice(option, "--" + option.replace("_", "-"))
                + f" is not an option of the format {format_name}"
                + advice(f", which takes {', '.join(takes)}", "")
            )
    said["labels"] = labels
    if (labels is None or "features" not in said) and all(map(is_path, sources)):
        found = reader.scan(sources, **said)
        if found is not None:
            if labels is None and not found[0]:
                raise DataError(
                    "no row has a label: " + advice("pass labels=", "give --labels")
                    if found[1]
                    else "has no rows",
                    path=source_name(sources[0]),
                )
            said["labels"] = found[0] if labels is None else labels
            said.setdefault("features", found[1])
    return said


@contextmanager
def open_reader(source: Source, format_name: str, options: Mapping[str, Any]) -> Iterator[Reader]:
    """Open `source`, read what comes before the rows, and hand out its reader."""
    with open_bytes(source) as file:
        yield FORMATS[format_name](file, source, **options)
