"""Where bytes come from: a path, an open file or standard input, plain or gzip, line by line."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeAlias, cast

from boostline.contract.advice import advice
from boostline.data.errors import DataError

Source: TypeAlias = str | os.PathLike[str] | IO[Any]

GZIP_MAGIC = b"\x1f\x8b"

PARQUET_MAGIC = b"PAR1"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
#: Text has no zero byte; a binary file has one near its beginning.
BYTES_LOOKED_AT = 1024

#: No row of an honest file is longer; a longer one is a file of another kind, or a gzip bomb.
MAX_LINE_BYTES = 64 * 2**20


def is_path(source: Source) -> bool:
    """Whether `source` is a file on disk, which can be opened again (``"-"`` cannot)."""
    return isinstance(source, (str, os.PathLike)) and os.fspath(source) != "-"


def source_name(source: Source) -> str:
    """Name of `source` in messages."""
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if os.fspath(source) == "-" else os.fspath(source)
    return str(getattr(source, "name", "<stream>"))


def stem(source: Source) -> str:
    """Return the file's name without ``.gz`` and its extension."""
    path = Path(source_name(source))
    if path.suffix.lower() == ".gz":
        path = path.with_suffix("")
    return path.stem if path.suffix else path.name


def suffix(source: Source) -> str:
    """Extension in lower case, looking through ``.gz``."""
    path = Path(source_name(source))
    if path.suffix.lower() == ".gz":
        path = path.with_suffix("")
    return path.suffix.lower()


@contextmanager
def open_bytes(source: Source) -> Iterator[BinaryIO]:
    """Open `source` for reading bytes, unpacking gzip by its first bytes, not by its name.

    What the caller opened (standard input, a file object) is left open.
    """
    name = source_name(source)
    if is_path(source):
        try:
            raw: BinaryIO = open(cast("str", source), "rb")  # noqa: SIM115 (closed below)
        except OSError as error:
            raise DataError(f"cannot be opened: {error.strerror or error}", path=name) from error
    elif isinstance(source, (str, os.PathLike)):
        if sys.stdin is None:  # closed by the shell: <&-
            raise DataError("is closed", path=name)
        raw = sys.stdin.buffer
    else:
        binary: object = getattr(source, "buffer", source)
        if isinstance(binary, io.TextIOBase):
            raise TypeError(f"source {name!r} is a text stream; open it in binary mode ('rb')")
        raw = cast("BinaryIO", binary)
    peekable = raw if hasattr(raw, "peek") else io.BufferedReader(cast("io.RawIOBase", raw))
    try:
        if peekable.peek(2)[:2] == GZIP_MAGIC:
            with gzip.GzipFile(fileobj=cast("IO[bytes]", peekable), mode="rb") as unpacked:
                yield cast("BinaryIO", io.BufferedReader(cast("io.RawIOBase", unpacked), 2**18))
        else:
            yield peekable
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"the gzip data are damaged or incomplete ({error})", path=name) from error
    finally:
        if is_path(source):
            raw.close()


def checked_encoding(encoding: str | None) -> str:
    """Return the encoding of a text file that is read line by line; None is UTF-8."""
    try:
        if encoding is None or len("\n\n".encode(encoding)) - len("\n".encode(encoding)) == 1:
            return encoding or "utf-8"
    except LookupError:
        pass
    raise ValueError(
        f"encoding is {encoding!r}, but must be a known encoding whose line ends are single "
        "bytes, such as 'utf-8' or 'latin-1'"
    )


class LineReader:
    """Lines of a byte stream with their numbers; broken gzip becomes a `DataError`."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self.name = name
        self.number = 0  # of the line read last, from 1

    def __iter__(self) -> Iterator[bytes]:
        if self.number == 0:
            _refuse_binary(self._file, self.name)
        readline = self._file.readline
        while True:
            try:
                line = readline(MAX_LINE_BYTES)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise self.error(f"the gzip data are damaged or incomplete ({error})") from error
            if not line:
                return
            self.number += 1
            if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                raise self.error(f"the line is longer than {MAX_LINE_BYTES} bytes")
            yield line

    def decode(self, line: bytes, encoding: str) -> str:
        """The text of the line read last."""
        try:
            return line.decode(encoding)
        except UnicodeDecodeError as error:
            other = advice("pass encoding='latin-1'", "give --encoding latin-1")
            raise self.error(f"is not {encoding}; {other} if it is that") from error

    def error(self, message: str, line: int | None = None) -> DataError:
        """Build a `DataError` at `line`, or at the line read last."""
        return DataError(message, path=self.name, line=self.number if line is None else line)


def _refuse_binary(file: BinaryIO, name: str) -> None:
    """Say what a file is that is no text, before a reader says what it lacks as a text."""
    head = bytes(getattr(file, "peek", lambda size: b"")(BYTES_LOOKED_AT)[:BYTES_LOOKED_AT])
    if head.startswith(UTF_16_MARKS):
        raise DataError(
            "is UTF-16 text, but must be UTF-8: convert it, for example with "
            "iconv -f UTF-16 -t UTF-8",
            path=name,
        )
    if head.startswith(PARQUET_MAGIC):
        give = advice("pass format='parquet'", "give --format parquet")
        raise DataError(f"is a Parquet file, not text: {give}", path=name)
    if b"\0" in head:
        raise DataError("is a binary file, but must be text", path=name)
