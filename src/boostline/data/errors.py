"""Errors in data, and what would fix them."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType


class DataError(ValueError):
    """A file that cannot be read.

    Parameters
    ----------
    message
        What is wrong, and what it must be.
    path
        The file, or the name of the stream.
    line
        The line (text formats) or row (tables) with the error; the first is 1.

    Examples
    --------
    >>> from boostline.data import DataError
    >>> str(DataError("row has 3 values, the header names 4", path="a.arff", line=17))
    'a.arff:17: row has 3 values, the header names 4'

    """

    def __init__(self, message: str, *, path: str | None = None, line: int | None = None) -> None:
        # A damaged row may be one value of many megabytes.
        self.message = message if len(message) < 1000 else f"{message[:500]} ... {message[-400:]}"
        self.path = path
        self.line = line
        where = "" if path is None else path if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {self.message}" if where else self.message)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.path, self.line))


def _rebuild(kind: type[DataError], message: str, path: str | None, line: int | None) -> DataError:
    """Unpickle: the constructor takes its places by keyword, so worker processes need this."""
    return kind(message, path=path, line=line)


class DownloadError(DataError):
    """A named data set could not be downloaded; the message says what to do instead."""


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that has come before, or None."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def need(module: str, purpose: str, extra: str = "data") -> ModuleType:
    """Import an optional package, or say which extra brings it."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as missing:
        package = module.partition(".")[0]
        raise ImportError(
            f"{purpose} needs {package}, which is not installed: pip install boostline[{extra}]"
        ) from missing
