"""The names of a file's columns, before its rows are read; also of standard input, which can be read but once."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from boostline.cli.row_sources import Input

#: Formats with a header, and which of its lines is the last; none: it is no text.
_LAST_LINE: dict[str, Callable[[bytes], bool] | None] = {
    "csv": lambda line: True,
    "arff": lambda line: line.strip().lower().startswith(b"@data"),
    "parquet": None,
}


def read_columns(given: Input, format_name: str) -> tuple[Any, list[str] | None]:
    """Give the source for `boostline.data`, and the names of its columns; None where the format has no header."""
    if format_name not in _LAST_LINE:
        return given.source, None
    if given.source != "-":
        return given.source, _names(given.source, format_name, given)
    is_last = _LAST_LINE[format_name]
    if is_last is None:
        return given.source, None  # the reader says that it takes no stream
    file = _unpacked(sys.stdin.buffer)
    header = _up_to(file, is_last)
    start = io.BytesIO(header)
    start.name = "standard input"
    return io.BufferedReader(_PushedBack(header, file)), _names(start, format_name, given)


def _names(source: Any, format_name: str, given: Input) -> list[str]:
    from boostline import data
    from boostline.data.formats.arff_header import read_header
    from boostline.data.source import LineReader, open_bytes, source_name

    options = given.options()
    if format_name == "arff":
        with open_bytes(source) as file:
            lines = LineReader(file, source_name(source))
            return [attribute.name for attribute in read_header(lines, given.encoding or "utf-8")]
    told = {name: options[name] for name in ("delimiter", "encoding") if format_name == "csv"}
    return data.stream(source, format=format_name, labels=(), **told).features


def _unpacked(file: Any) -> Any:
    from boostline.data.source import GZIP_MAGIC

    is_packed = file.peek(2)[:2] == GZIP_MAGIC
    return io.BufferedReader(cast("Any", gzip.GzipFile(fileobj=file))) if is_packed else file


def _up_to(file: Any, is_last: Callable[[bytes], bool]) -> bytes:
    """The lines up to the last of a header; what is longer than any row is none, and its reader says so."""
    from boostline.data.source import MAX_LINE_BYTES, LineReader

    lines, size = [], 0
    for line in LineReader(file, "standard input"):
        lines.append(line)
        size += len(line)
        if is_last(line) or size > MAX_LINE_BYTES:
            break
    return b"".join(lines)


class _PushedBack(io.RawIOBase):
    """A stream with its first lines put back; hands out what is there without waiting for more."""

    def __init__(self, first: bytes, file: Any) -> None:
        self._first = first
        self._file = file
        self.name = "standard input"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._first or self._file.read1(len(buffer))
        part, self._first = content[: len(buffer)], content[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)
