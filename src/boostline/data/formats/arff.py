"""Rows of ARFF files, dense and sparse, in blocks.

Rows are read token by token, which takes everything (quotes, nominal values, comments behind a row)
and knows the line of what it cannot take. NumPy's own text parser is many times faster on dense
rows of plain numbers, and gets the blocks that hold nothing else.

Why not liac-arff: its errors name no line when it reads row by row, it takes the last of two values
with one index, and it refuses comments behind a row.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract.advice import advice
from boostline.contract.rows import too_large
from boostline.data.dataset import MAX_DENSE_LABELS, Block
from boostline.data.errors import DataError
from boostline.data.formats.arff_header import Attribute, read_header, why_unfit
from boostline.data.formats.arff_tokens import split_dense, split_sparse
from boostline.data.formats.mulan_xml import read_label_names
from boostline.data.formats.reader import Chooser, Labels, chosen, number_in
from boostline.data.formats.table_reader import Categories, Cells, TableReader
from boostline.data.source import LineReader, Source, checked_encoding, is_path, source_name, stem
from boostline.data.unseen import Unseen

#: The bytes of dense rows of plain numbers: in these, NumPy and `_number` read the same things.
PLAIN_BYTES = b"0123456789+-.eE?, \t"
_NOT_ALONE = re.compile(rb"[^, \t]\?|\?[^, \t]")


class ArffReader(TableReader):
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
    categories
        Values of nominal attributes, which become one 0/1 column each. Default: those that the file declares.
    unseen
        Counts values that are not among the categories, which are missing values then, not errors.

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
        drop: Sequence[str] | Chooser[Sequence[str]] | None = None,
        encoding: str | None = None,
        categories: Categories = None,
        unseen: Unseen | None = None,
    ) -> None:
        self._lines = LineReader(file, source_name(source))
        self._encoding = checked_encoding(encoding)
        self._attributes = attributes = read_header(self._lines, self._encoding)
        self._by_name = {attribute.name: attribute for attribute in attributes}
        columns = list(self._by_name)
        names = _label_names(source, chosen(labels, columns))
        declared = {a.name: a.values or () for a in attributes if a.values and not a.is_plain}
        given = chosen(categories, columns) or {}
        self._lay_out(self._lines.name, columns, names, drop, given, unseen, declared)
        for column in (*self.labels, *self.inputs):
            one = self._by_name[column]
            if column not in given and (reason := why_unfit(one, column in self.labels)):
                raise self._lines.error(reason, one.line)
        # What a sparse row leaves out is the first value of its domain (Weka's rule), by the attribute's index.
        self._absent = {
            index: one.values[0]
            for index, one in enumerate(attributes)
            if one.values and one.name in self.inputs
            if one.name in self.categories or one.values[0] != "0"
        }
        self._on_where_absent = next(
            (a for a in attributes if a.name in self.labels and a.values and a.values[0] == "1"),
            None,
        )

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield the rows, at most `size` at a time; CSR if the first row is sparse."""
        rows = self._rows()
        sparse: bool | None = None
        while batch := list(islice(rows, size)):
            if sparse is None:
                sparse = batch[0][1].startswith(b"{")
            block = None if sparse else self._plain([text for _, text in batch])
            yield self._token_by_token(batch, sparse) if block is None else block

    def _rows(self) -> Iterator[tuple[int, bytes]]:
        lines = self._lines
        for raw in lines:
            text = raw.strip()
            if text and not text.startswith(b"%"):
                yield lines.number, text

    def _plain(self, texts: list[bytes]) -> Block | None:
        """Parse dense rows of numbers with NumPy; None if something in them needs the other way."""
        is_plain = all(attribute.is_plain for attribute in self._attributes)
        if self.categories or not is_plain or len(self.labels) > MAX_DENSE_LABELS:
            return None
        for row, text in enumerate(texts):
            if text.translate(None, PLAIN_BYTES):
                return None
            if b"?" in text:
                if _NOT_ALONE.search(text):
                    return None
                texts[row] = text.replace(b"?", b"nan")
        try:
            table = np.loadtxt(texts, delimiter=",", comments=None, ndmin=2, dtype=np.float64)
        except ValueError:
            return None
        if table.shape != (len(texts), len(self._attributes)) or too_large(table).any():
            return None
        for one, column in zip(self._attributes, table.T, strict=True):
            is_label = one.name in self.labels
            if is_label or one.values is not None:
                domain = [float(value) for value in one.values or "01"]
                fits = (column == domain[0]) | (column == domain[-1])
                if not (fits if is_label else fits | np.isnan(column)).all():
                    return None
        X = table[:, [one.name in self.inputs for one in self._attributes]]
        Y = table[:, [one.name in self.labels for one in self._attributes]] == 1.0
        return Block(X, Y)

    def _token_by_token(self, batch: list[tuple[int, bytes]], sparse: bool) -> Block:
        found: list[tuple[list[str | None], list[int], list[int]]]
        found = [([], [], []) for _ in self._attributes]
        for row, (number, text) in enumerate(batch):
            try:
                for index, value in self._values_of(text.decode(self._encoding)):
                    values, lines, rows = found[index]
                    values.append(value)
                    lines.append(number)
                    rows.append(row)
            except UnicodeDecodeError as error:
                raise self._lines.error(f"is not {self._encoding} ({error})", number) from error
            except ValueError as error:
                if isinstance(error, DataError):
                    raise
                raise self._lines.error(str(error), number) from error
        table = {name: Cells(*cells) for name, cells in zip(self._by_name, found, strict=True)}
        return self._block(table, len(batch), sparse)

    def _values_of(self, row: str) -> Iterator[tuple[int, str | None]]:
        """The values of a row of either kind, with the index of their attribute."""
        n = len(self._attributes)
        if not row.startswith("{"):
            values = split_dense(row)
            if len(values) != n:
                raise ValueError(
                    f"the row has {len(values)} value{'' if len(values) == 1 else 's'}, but the header "
                    f"names {n} attributes"
                )
            yield from enumerate(values)
            return
        if (label := self._on_where_absent) is not None:
            raise self._lines.error(
                f"the label {label.name!r} is declared as {{1,0}}, so it would be relevant in every "
                "sparse row that leaves it out; declare it as {0,1}",
                label.line,
            )
        seen: set[int] = set()
        for index, value in split_sparse(row):
            if index >= n:
                raise ValueError(
                    f"the sparse row has the index {index}, but the header names {n} attributes (the first is 0)"
                )
            if index in seen:
                raise ValueError(f"the sparse row has the index {index} twice")
            seen.add(index)
            yield index, value
        for index in self._absent.keys() - seen:
            yield index, self._absent[index]

    def _numbers(self, cells: Cells, column: str) -> FloatArray:
        attribute = self._by_name[column]
        # A domain {0,1} takes 1.0 as well, as files written by way of floats have it.
        domain = None if attribute.values is None else {float(v) for v in attribute.values}
        known: dict[str | None, float] = {None: math.nan}
        for text, line in zip(cells.values, cells.lines, strict=True):
            if text in known:
                continue
            try:
                known[text] = number_in(text)
                fits = domain is None or known[text] in domain
            except ValueError:
                fits = False
            if not fits:
                raise self._lines.error(_misfit(attribute, text), line)
        return np.array([known[text] for text in cells.values], np.float64)

    def _bits(self, cells: Cells, column: str) -> FloatArray:
        bits = self._numbers(cells, column)
        for text, bit, line in zip(cells.values, bits, cells.lines, strict=True):
            if text is not None and bit not in (0.0, 1.0):
                message = (
                    f"the label {column!r} has {text!r}, but must have 0 or 1, or ? for unknown"
                )
                raise self._lines.error(message, line)
        return bits

    def _one_hot(self, cells: Cells, column: str, known: list[str]) -> FloatArray:
        attribute = self._by_name[column]
        if attribute.values is not None:
            domain = {None, *attribute.values}
            for text, line in zip(cells.values, cells.lines, strict=True):
                if text not in domain:
                    raise self._lines.error(_misfit(attribute, text), line)
        return super()._one_hot(cells, column, known)


def _misfit(attribute: Attribute, text: str) -> str:
    if attribute.values is None:
        return f"the column {attribute.name!r} is numeric, but has the value {text!r}"
    domain = str(attribute).removeprefix("nominal ")
    return f"the column {attribute.name!r} has the value {text!r}, but its domain is {domain}"


def _label_names(source: Source, labels: Any) -> Sequence[str]:
    """Names of the labels: given, from the xml given, or from the xml next to the file."""
    if isinstance(labels, int):
        raise TypeError(f"labels is {labels}, but an arff file needs the names of its labels")
    if isinstance(labels, (str, os.PathLike)):
        if Path(labels).suffix.lower() != ".xml":
            raise ValueError(f"labels is {os.fspath(labels)!r}: give a list of names, or an xml")
        return read_label_names(labels)
    if labels is not None:
        return tuple(str(label) for label in labels)
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
        f"does not say which attributes are labels: {advice('pass labels=', 'give --labels')} a list of names or "
        f"the path of the MULAN xml{looked}",
        path=source_name(source),
    )
