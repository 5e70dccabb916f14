"""`stream`: a file of any size, block by block, in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.data.dataset import Block, iterate_rows
from boostline.data.formats import Labels, Reader, format_of, open_reader, settle_options
from boostline.data.source import Source, is_path, source_name, stem

__all__ = ["Stream", "stream"]


class Stream:
    """Rows of a file, block by block; made by `stream`.

    A file can be read several times. Standard input and open files can be read once.

    Attributes
    ----------
    name : str
        Name of the file.
    features, labels : list of str
        Names of the columns of X and Y.

    """

    def __init__(
        self, source: Source, format_name: str, options: dict[str, Any], block: int
    ) -> None:
        self._source = source
        self._format = format_name
        self._options = options
        self._block = block
        self._opened: tuple[ExitStack, Reader] | None = None
        self.name = stem(source)
        with ExitStack() as stack:
            reader = stack.enter_context(open_reader(source, format_name, options))
            self.features = list(reader.features)
            self.labels = list(reader.labels)
            if not is_path(source):  # what has been read of it cannot be read again
                self._opened = stack.pop_all(), reader

    @property
    def n_features(self) -> int:
        """Number of columns of X (d)."""
        return len(self.features)

    @property
    def n_labels(self) -> int:
        """Number of labels (k)."""
        return len(self.labels)

    def __repr__(self) -> str:
        return (
            f"Stream({self.name!r}, {self._format}, blocks of {self._block}, "
            f"{self.n_features} features, {self.n_labels} labels)"
        )

    def __iter__(self) -> Iterator[Block]:
        """Yield blocks ``(X, Y)``; the last one may be shorter."""
        if is_path(self._source):
            with open_reader(self._source, self._format, self._options) as reader:
                yield from reader.blocks(self._block)
            return
        if self._opened is None:
            raise ValueError(
                f"{source_name(self._source)} has been read already, and can be read only once"
            )
        stack, reader = self._opened
        self._opened = None
        with stack:
            yield from reader.blocks(self._block)

    def rows(self) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
        """Yield single rows ``(x, relevant)``: a row of X and k bools."""
        for block in self:
            yield from iterate_rows(block)


def stream(
    source: Source,
    *,
    block: int = 1024,
    labels: Labels = None,
    format: str | None = None,
    **options: Any,
) -> Stream:
    r"""Read a file in blocks of rows, for files larger than memory.

    Takes every format of `load`, with the same options. Text formats also come from standard input
    (``"-"``) or an open binary file, plain or gzip; they need ``format=``.

    svmlight and JSON lines have no header: pass ``features=`` and ``labels=``, or a path, which is
    read once beforehand to find them.

    Parameters
    ----------
    source
        A path, ``"-"`` for standard input, or an open binary file.
    block
        Rows in a block.
    labels, format, **options
        As in `load`. Use ``labels=()`` for rows without labels.

    Returns
    -------
    Stream
        Iterating yields ``(X, Y)`` blocks; ``.rows()`` yields single ``(x, relevant)``.

    Examples
    --------
    >>> import io
    >>> from boostline.data import stream
    >>> text = b"width,warm,cold\n0.5,1,0\n2.5,0,1\n1.0,1,1\n"
    >>> blocks = stream(io.BytesIO(text), format="csv", labels=["warm", "cold"], block=2)
    >>> [X.ravel().tolist() for X, Y in blocks]
    [[0.5, 2.5], [1.0]]

    """
    if block < 1:
        raise ValueError(f"block is {block}, but must be at least 1")
    format_name = format_of(source, format)
    settled = settle_options([source], format_name, labels, options)
    return Stream(source, format_name, settled, block)
