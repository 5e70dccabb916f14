"""`stream`: a file of any size, block by block, in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from boostline.contract.numbers import whole_number
from boostline.data.dataset import Block, Blocks
from boostline.data.formats import Labels, Reader, format_of, open_reader, settle_options
from boostline.data.source import Source, is_path, source_name, stem


class Stream(Blocks):
    """Rows of a file, block by block; made by `stream`.

    A file can be read several times. Standard input and open files can be read once.
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

    def __repr__(self) -> str:
        return (
            f"Stream({self.name!r}, {self._format}, blocks of {self._block}, "
            f"{self.n_features} features, {self.n_labels} labels)"
        )

    def __iter__(self) -> Iterator[Block]:
        return self.after(0)

    def after(self, n: int) -> Iterator[Block]:
        """The rows after the first n, whose values are not read where the format allows it."""
        with self._reader() as reader:
            left = n - reader.skip(n) if n else 0
            for X, Y in reader.blocks(self._block):
                if left < X.shape[0]:
                    yield Block(X[left:], Y[left:]) if left else Block(X, Y)
                left = max(0, left - X.shape[0])

    def count(self) -> int:
        """Number of rows; their values are not read where the format allows it."""
        with self._reader() as reader:
            return reader.skip() + sum(int(X.shape[0]) for X, _ in reader.blocks(self._block))

    @contextmanager
    def _reader(self) -> Iterator[Reader]:
        if is_path(self._source):
            with open_reader(self._source, self._format, self._options) as reader:
                yield reader
            return
        if self._opened is None:
            raise ValueError(
                f"{source_name(self._source)} has been read already, and can be read only once"
            )
        stack, reader = self._opened
        self._opened = None
        with stack:
            yield reader


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
    whole_number(block, "block", 1)
    format_name = format_of(source, format)
    settled = settle_options([source], format_name, labels, options)
    return Stream(source, format_name, settled, block)
