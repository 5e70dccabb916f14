"""What a format has to offer: a `Reader`, whose keyword arguments are the format's options."""

from __future__ import annotations

import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, ClassVar, TypeAlias, TypeVar

from boostline.data.dataset import Block
from boostline.data.source import Source

#: What a caller may say about the labels: see `boostline.data.load`.
Labels: TypeAlias = (
    "Sequence[str] | Sequence[int] | int | str | os.PathLike[str] | Chooser[Sequence[str]] | None"
)
Said = TypeVar("Said")
#: A choice that depends on the names of a file's columns.
Chooser: TypeAlias = Callable[[list[str]], Said]


def chosen(said: Said | Chooser[Said], columns: Sequence[str]) -> Said:
    """Return a value, or what a function makes of the names of the columns."""
    return said(list(columns)) if callable(said) else said


def number_in(text: str) -> float:
    """The number that a text is; `float` alone takes 1_000 and digits of other scripts."""
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is no number")
    return float(text)


class Reader(ABC):
    """A file whose names are known and whose rows are still to be read.

    A format is a subclass of this, and a line in `boostline.data.formats`. The constructor reads
    what comes before the rows. Its keyword arguments, with the default None, are the options of
    `load` and `stream` that have a meaning for the format.

    Parameters
    ----------
    file
        Unpacked bytes.
    source
        Where they come from, for messages and for files next to it.
    labels
        What the caller says about the labels.

    Attributes
    ----------
    features, labels : list of str
        Names of the columns of X and Y; the constructor sets them.

    """

    format: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]]
    #: Whether a header names the columns: options about them may then be a `Chooser`.
    names_columns: ClassVar[bool] = False

    features: list[str]
    labels: list[str]

    @abstractmethod
    def __init__(self, file: BinaryIO, source: Source, labels: Any) -> None: ...

    @abstractmethod
    def blocks(self, size: int) -> Iterator[Block]:
        """Yield the rows, at most `size` at a time; can be called once."""

    def skip(self, n: int | None = None) -> int:
        """Pass over the next n rows (None: all) without reading their values; return how many it passed over.

        A format that cannot skip, or not so many, returns fewer: the caller reads the others.
        """
        return 0

    @classmethod
    def scan(
        cls, sources: Sequence[Source], **options: Any
    ) -> tuple[Sequence[str | int], Sequence[str] | int] | None:
        """Return labels and features that occur in the rows; None where a header says them."""
        return None

    @classmethod
    def options(cls) -> list[str]:
        """Names of the options that the format takes besides the labels."""
        common = ("file", "source", "labels")
        return [name for name in inspect.signature(cls).parameters if name not in common]
