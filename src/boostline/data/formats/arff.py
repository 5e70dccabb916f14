"""Rows of ARFF files, dense and sparse, in blocks.

Two ways through a block: where all attributes are numbers, NumPy's own text parser reads it whole;
else, or when that parser stumbles, each row is read token by token, which is slower, takes
everything (quotes, nominal values, comments behind a row) and knows the line of what it cannot.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from boostline.data.dataset import Block
from boostline.data.errors import DataError
from boostline.data.formats.arff_header import Attribute, lay_out, read_header, split_quoted
from boostline.data.formats.mulan_xml import read_label_names
from boostline.data.formats.reader import Labels, Reader
from boostline.data.matrices import compact_indicator, csr, from_cells, from_relevant
from boostline.data.source import LineReader, Source, is_path, source_name, stem

__all__ = ["ArffReader"]

#: One "index value" pair of a sparse row; the value may be quoted.
_PAIR = re.compile(
    r"""\s*(\d+)\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s,'"{}%][^,'"{}%]*?))\s*(?:,|$)"""
)


class ArffReader(Reader):
    r"""An ARFF file whose header has been read.

    Parameters
    ----------
    file, source
        Unpacked bytes, and where they come from.
    labels
        Names of the label attributes, in any order (they keep the order of the file's columns), or
        the MULAN xml that lists them. Default: the xml beside the file.
    drop
        Attributes to leave out.
    encoding
        Of the names and nominal values.

    Examples
    --------
    >>> import io
    >>> text = b"@relation r\n@attribute x numeric\n@attribute y {0,1}\n@data\n.5,1\n2,0\n"
    >>> block = next(ArffReader(io.BytesIO(text), "r.arff", ["y"]).blocks(10))
    >>> block.X.tolist(), block.Y.tolist()
    ([[0.5], [2.0]], [[True], [False]])

    """

    format = "arff"
    extensions = (".arff",)

    def __init__(
        self,
        file: BinaryIO,
        source: Source,
        labels: Labels,
        drop: Sequence[str] | None = None,
        encoding: str | None = None,
    ) -> None:
        names = _label_names(source, labels)
        self._lines = LineReader(file, source_name(source))
        self._encoding = encoding or "utf-8"
        attributes = read_header(self._lines, self._encoding)
        self._layout = lay_out(attributes, names, drop or (), self._lines.name)
        self.features = self._layout.features
        self.labels = self._layout.labels
        self._feature_attributes = np.flatnonzero(np.array(self._layout.column_of) >= 0)
        self._label_attributes = np.flatnonzero(np.array(self._layout.label_of) >= 0)
        # An absent value of a sparse row is the first of its domain (Weka's rule), so that plain
        # parsing, where absent is 0, needs every domain to begin with 0.
        self._absent_is_zero = all(a.values is None or a.values[0] == "0" for a in attributes)

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield the rows, at most `size` at a time; CSR if the first row is sparse."""
        rows = self._rows()
        sparse: bool | None = None
        while batch := list(islice(rows, size)):
            numbers = [number for number, _ in batch]
            texts = [text for _, text in batch]
            if sparse is None:
                sparse = texts[0].startswith(b"{")
                if sparse:
                    self._check_sparse_labels()
            block = None
            if self._layout.is_plain and all(t.startswith(b"{") == sparse for t in texts):
                block = self._plain_sparse(texts) if sparse else self._plain_dense(texts)
            yield self._token_by_token(texts, numbers, sparse) if block is None else block

    def _rows(self) -> Iterator[tuple[int, bytes]]:
        lines = self._lines
        for raw in lines:
            text = raw.strip()
            if text and not text.startswith(b"%"):
                yield lines.number, text

    def _check_sparse_labels(self) -> None:
        for index in self._label_attributes:
            attribute = self._layout.attributes[index]
            if attribute.values is not None and attribute.values[0] != "0":
                raise self._lines.error(
                    f"the label {attribute.name!r} has a domain that begins with "
                    f"{attribute.values[0]!r}, so that it would be relevant wherever a sparse row "
                    "leaves it out; write the domain as {0,1}",
                    attribute.line,
                )

    # -- blocks of numbers ---------------------------------------------------------------------

    def _plain_dense(self, texts: list[bytes]) -> Block | None:
        """Parse with NumPy; None if something in the block needs the other way."""
        if any(b"?" in text for text in texts):
            texts = [text.replace(b"?", b"nan") for text in texts]
        try:
            table = np.loadtxt(texts, delimiter=",", comments=None, ndmin=2, dtype=np.float64)
        except ValueError:
            return None
        if table.shape != (len(texts), len(self._layout.attributes)):
            return None
        labels = table[:, self._label_attributes]
        X = table[:, self._feature_attributes]
        if not _bits(labels).all() or np.isinf(X).any():
            return None
        binary = [
            column
            for column, index in enumerate(self._feature_attributes)
            if self._layout.attributes[index].values is not None
        ]
        if binary and not (_bits(X[:, binary]) | np.isnan(X[:, binary])).all():
            return None
        return Block(X, compact_indicator(labels == 1.0))

    def _plain_sparse(self, texts: list[bytes]) -> Block | None:
        """Parse all "index value" pairs of the block at once; None as above."""
        if not self._absent_is_zero or any(
            not text.endswith(b"}") or text.count(b"{") != 1 or text.count(b"}") != 1
            for text in texts
        ):
            return None
        inner = [text[1:-1].strip() for text in texts]
        counts = np.array([text.count(b",") + 1 if text else 0 for text in inner])
        pairs = b",".join(text for text in inner if text).replace(b"?", b"nan").split(b",")
        ends = np.concatenate([[0], np.cumsum(counts)])
        if not counts.any():
            table = np.empty((0, 2))
        else:
            try:
                table = np.loadtxt(pairs, comments=None, ndmin=2, dtype=np.float64)
            except ValueError:
                return None
        if table.shape != (ends[-1], 2):
            return None
        index, value = table[:, 0], table[:, 1]
        n_attributes = len(self._layout.attributes)
        if not ((index >= 0) & (index < n_attributes) & (index == np.floor(index))).all():
            return None
        where = index.astype(np.int64)
        rows = np.repeat(np.arange(len(texts)), counts)
        label = np.array(self._layout.label_of)[where]
        column = np.array(self._layout.column_of)[where]
        nominal = np.array([a.values is not None for a in self._layout.attributes])[where]
        only_bits = _bits(value)
        places = rows * n_attributes + where
        if (
            np.unique(places).size != places.size
            or not only_bits[label >= 0].all()
            or not (only_bits | np.isnan(value) | ~nominal).all()
            or np.isinf(value).any()
        ):
            return None
        kept = column >= 0
        kept_ends = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=len(texts)))])
        X = csr(value[kept], column[kept], kept_ends, (len(texts), len(self.features)))
        on = (label >= 0) & (value == 1.0)
        relevant = np.split(label[on], np.cumsum(np.bincount(rows[on], minlength=len(texts)))[:-1])
        return Block(X, from_relevant([r.tolist() for r in relevant], len(self.labels)))

    # -- token by token ------------------------------------------------------------------------

    def _token_by_token(self, texts: list[bytes], numbers: list[int], sparse: bool) -> Block:
        cells: list[dict[int, float]] = []
        relevant: list[list[int]] = []
        for text, number in zip(texts, numbers, strict=True):
            row_cells: dict[int, float] = {}
            row_labels: list[int] = []
            try:
                for index, token in self._tokens(text):
                    self._put(index, token, row_cells, row_labels)
            except UnicodeDecodeError as error:
                raise self._lines.error(f"is not {self._encoding} ({error})", number) from error
            except ValueError as error:
                raise self._lines.error(str(error), number) from error
            cells.append(row_cells)
            relevant.append(row_labels)
        return Block(
            from_cells(cells, len(self.features), sparse), from_relevant(relevant, len(self.labels))
        )

    def _tokens(self, text: bytes) -> Iterator[tuple[int, str | None]]:
        """Pairs (attribute, value) of a row of either kind; None is a missing value."""
        row = text.decode(self._encoding)
        attributes = self._layout.attributes
        if not row.startswith("{"):
            tokens = split_quoted(row, ",")
            if len(tokens) != len(attributes):
                raise ValueError(
                    f"the row has {len(tokens)} values, but the header names "
                    f"{len(attributes)} attributes"
                )
            for index, (token, quoted) in enumerate(tokens):
                yield index, None if token == "?" and not quoted else token
            return
        given = dict(self._sparse_tokens(row))
        for index, attribute in enumerate(attributes):
            if index in given:
                yield index, given[index]
            elif attribute.values is not None:
                yield index, attribute.values[0]

    def _sparse_tokens(self, row: str) -> Iterator[tuple[int, str | None]]:
        body, brace, comment = row[1:].rpartition("}")
        if not brace or (comment.strip() and not comment.lstrip().startswith("%")):
            raise ValueError("the sparse row does not end with }: it is cut off or damaged")
        position, seen = 0, set()
        body = body.strip()
        while position < len(body):
            match = _PAIR.match(body, position)
            if match is None:
                raise ValueError(
                    f"the sparse row has {body[position : position + 30]!r}, where "
                    "'index value' is wanted"
                )
            index = int(match[1])
            if index >= len(self._layout.attributes):
                raise ValueError(
                    f"the sparse row has the index {index}, but the header names "
                    f"{len(self._layout.attributes)} attributes (the first is 0)"
                )
            if index in seen:
                raise ValueError(f"the sparse row has the index {index} twice")
            seen.add(index)
            quoted = match[2] if match[2] is not None else match[3]
            if quoted is not None:
                yield index, re.sub(r"\\(.)", r"\1", quoted)
            else:
                yield index, None if match[4] == "?" else match[4]
            position = match.end()

    def _put(self, index: int, token: str | None, cells: dict[int, float], on: list[int]) -> None:
        """Encode one value into the row's feature cells or relevant labels."""
        layout = self._layout
        attribute = layout.attributes[index]
        if (label := layout.label_of[index]) >= 0:
            if token is None:
                raise ValueError(f"the label {attribute.name!r} is missing (?); a label is 0 or 1")
            value = _number(attribute, token)
            if value not in (0.0, 1.0):
                raise ValueError(f"the label {attribute.name!r} is {token!r}; a label is 0 or 1")
            if value == 1.0:
                on.append(label)
        elif (column := layout.column_of[index]) >= 0:
            codes = layout.codes[index]
            if codes is None:
                cells[column] = math.nan if token is None else _number(attribute, token)
            elif token is None:
                cells.update((column + code, math.nan) for code in codes.values())
            elif token in codes:
                cells[column + codes[token]] = 1.0
            else:
                raise ValueError(_unknown_value(attribute, token))


def _bits(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where `values` are 0 or 1 (np.isin sorts, which takes longer than parsing)."""
    return (values == 0.0) | (values == 1.0)  # type: ignore[no-any-return]


def _number(attribute: Attribute, token: str) -> float:
    try:
        if "_" in token:  # float() takes 1_000, no data file means that
            raise ValueError
        value = float(token)
    except ValueError:
        if attribute.values is not None:
            raise ValueError(_unknown_value(attribute, token)) from None
        raise ValueError(
            f"the attribute {attribute.name!r} is numeric, but has the value {token!r}"
        ) from None
    # A domain {0,1} takes 1.0 as well, as the quick way through numbers does.
    if attribute.values is not None and not any(value == float(bit) for bit in attribute.values):
        raise ValueError(_unknown_value(attribute, token))
    if math.isinf(value):
        raise ValueError(f"the attribute {attribute.name!r} has the infinite value {token!r}")
    return value


def _unknown_value(attribute: Attribute, token: str) -> str:
    values = attribute.values or ()
    shown = ", ".join(values[:8]) + (", ..." if len(values) > 8 else "")
    return (
        f"the attribute {attribute.name!r} has the value {token!r}, but its domain is {{{shown}}}"
    )


def _label_names(source: Source, labels: Labels) -> list[str]:
    """Names of the labels: given, from the xml given, or from the xml beside the file."""
    if isinstance(labels, int):
        raise TypeError(f"labels is {labels}, but an arff file needs the names of its labels")
    if isinstance(labels, (str, os.PathLike)):
        if Path(labels).suffix.lower() != ".xml":
            raise ValueError(f"labels is {os.fspath(labels)!r}: give a list of names, or an xml")
        return read_label_names(labels)
    if labels is not None:
        return [str(label) for label in labels]
    candidates: list[Path] = []
    if is_path(source):
        base, folder = stem(source), Path(source_name(source)).parent
        short = base.removesuffix("-train").removesuffix("-test")
        candidates = [folder / f"{name}.xml" for name in dict.fromkeys((base, short))]
        for candidate in candidates:
            if candidate.is_file():
                return read_label_names(candidate)
    looked = f" (there is no {' or '.join(map(str, candidates))})" if candidates else ""
    raise DataError(
        "does not say which attributes are labels: pass labels= a list of names or "
        f"the path of the MULAN xml{looked}",
        path=source_name(source),
    )
