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

from boostline.contract.advice import advice
from boostline.contract.rows import ALLOWED_NUMBERS, LARGEST_VALUE, large_text, too_large
from boostline.data.dataset import Block
from boostline.data.errors import DataError
from boostline.data.formats.arff_header import Attribute, Place, lay_out, read_header
from boostline.data.formats.arff_tokens import split_dense, split_sparse
from boostline.data.formats.mulan_xml import read_label_names
from boostline.data.formats.reader import Chooser, Labels, Reader, chosen, number_in
from boostline.data.formats.tables import Categories
from boostline.data.matrices import compact_indicator, from_cells, from_relevant
from boostline.data.source import LineReader, Source, checked_encoding, is_path, source_name, stem
from boostline.data.unseen import Unseen

#: The bytes of dense rows of plain numbers: in these, NumPy and `_number` read the same things.
PLAIN_BYTES = b"0123456789+-.eE?, \t"
_NOT_ALONE = re.compile(rb"[^, \t]\?|\?[^, \t]")


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
    names_columns = True

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
        self._unseen = unseen
        self._lines = LineReader(file, source_name(source))
        self._encoding = checked_encoding(encoding)
        attributes = read_header(self._lines, self._encoding)
        columns = [attribute.name for attribute in attributes]
        names = _label_names(source, chosen(labels, columns))
        dropped = chosen(drop, columns) or ()
        known = chosen(categories, columns) or {}
        self._places = places = lay_out(attributes, names, dropped, known, self._lines.name)
        self.features = [name for place in places for name in place.features]
        self.labels = [place.attribute.name for place in places if place.label is not None]
        # What a sparse row leaves out is the first value of its domain (Weka's rule), by the attribute's index.
        self._absent = {
            index: place.attribute.values[0]
            for index, place in enumerate(places)
            if place.column is not None
            and place.attribute.values is not None
            and (place.codes is not None or place.attribute.values[0] != "0")
        }
        odd = (p.attribute for p in places if p.label is not None and p.attribute.values)
        self._on_where_absent = next((a for a in odd if a.values and a.values[0] == "1"), None)

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
        if not all(p.attribute.is_plain and p.codes is None for p in self._places):
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
        if table.shape != (len(texts), len(self._places)) or too_large(table).any():
            return None
        for index, place in enumerate(self._places):
            column = table[:, index]
            if place.label is not None or place.attribute.values is not None:
                domain = list(place.bits.values()) or [0.0, 1.0]
                fits = (column == domain[0]) | (column == domain[-1])
                if not (fits if place.label is not None else fits | np.isnan(column)).all():
                    return None
        X = table[:, [place.column is not None for place in self._places]]
        Y = table[:, [place.label is not None for place in self._places]] == 1.0
        return Block(X, compact_indicator(Y))

    def _token_by_token(self, batch: list[tuple[int, bytes]], sparse: bool) -> Block:
        cells: list[dict[int, float]] = []
        relevant: list[list[int]] = []
        unknown: list[list[int]] = []
        for number, text in batch:
            cells.append({})
            relevant.append([])
            unknown.append([])
            try:
                row = text.decode(self._encoding)
                self._read_row(row, cells[-1], relevant[-1], unknown[-1])
            except UnicodeDecodeError as error:
                raise self._lines.error(f"is not {self._encoding} ({error})", number) from error
            except ValueError as error:
                if isinstance(error, DataError):
                    raise
                raise self._lines.error(str(error), number) from error
        return Block(
            from_cells(cells, len(self.features), sparse),
            from_relevant(relevant, len(self.labels), unknown),
        )

    def _read_row(
        self, row: str, cells: dict[int, float], on: list[int], unknown: list[int]
    ) -> None:
        """Read a row of either kind into its feature cells, relevant and unknown labels."""
        places = self._places
        if not row.startswith("{"):
            values = split_dense(row)
            if len(values) != len(places):
                raise ValueError(
                    f"the row has {len(values)} value{'' if len(values) == 1 else 's'}, but the header "
                    f"names {len(places)} attributes"
                )
            for place, value in zip(places, values, strict=True):
                self._put(place, value, cells, on, unknown)
            return
        if (label := self._on_where_absent) is not None:
            raise self._lines.error(
                f"the label {label.name!r} is declared as {{1,0}}, so it would be relevant in every "
                "sparse row that leaves it out; declare it as {0,1}",
                label.line,
            )
        seen: set[int] = set()
        for index, value in split_sparse(row):
            if index >= len(places):
                raise ValueError(
                    f"the sparse row has the index {index}, but the header names "
                    f"{len(places)} attributes (the first is 0)"
                )
            if index in seen:
                raise ValueError(f"the sparse row has the index {index} twice")
            seen.add(index)
            self._put(places[index], value, cells, on, unknown)
        for index in self._absent.keys() - seen:
            self._put(places[index], self._absent[index], cells, on, unknown)

    def _put(
        self,
        place: Place,
        text: str | None,
        cells: dict[int, float],
        on: list[int],
        unknown: list[int],
    ) -> None:
        """Encode one value into the row's feature cells, or its relevant or unknown labels."""
        attribute = place.attribute
        if place.label is not None:
            if text is None:
                unknown.append(place.label)
                return
            number = _number(place, text)
            if number not in (0.0, 1.0):
                raise ValueError(
                    f"the label {attribute.name!r} has {text!r}, but must have 0 or 1, or ? for unknown"
                )
            if number == 1.0:
                on.append(place.label)
        elif place.column is not None:
            if place.codes is None:
                cells[place.column] = math.nan if text is None else _number(place, text)
            elif text in place.codes:
                cells[place.column + place.codes[text]] = 1.0
            else:
                if text is not None:
                    self._count_unseen(attribute, text)
                cells.update((place.column + code, math.nan) for code in place.codes.values())

    def _count_unseen(self, attribute: Attribute, text: str) -> None:
        if attribute.values is not None and text not in attribute.values:
            raise ValueError(_unknown_value(attribute, text))
        if self._unseen is None:
            raise ValueError(
                f"the attribute {attribute.name!r} has {text!r}, which is not one of its categories"
            )
        self._unseen.add(f"{attribute.name}={text}")


def _number(place: Place, text: str) -> float:
    if (bit := place.bits.get(text)) is not None:
        return bit
    attribute = place.attribute
    try:
        number = number_in(text)
    except ValueError:
        if attribute.values is not None:
            raise ValueError(_unknown_value(attribute, text)) from None
        raise ValueError(
            f"the attribute {attribute.name!r} is numeric, but has the value {text!r}"
        ) from None
    # A domain {0,1} takes 1.0 as well, as files written by way of floats have it.
    if attribute.values is not None and number not in place.bits.values():
        raise ValueError(_unknown_value(attribute, text))
    if abs(number) > LARGEST_VALUE:
        raise ValueError(
            f"the attribute {attribute.name!r} has {large_text(number)}, but must have {ALLOWED_NUMBERS}"
        )
    return number


def _unknown_value(attribute: Attribute, text: str) -> str:
    return (
        f"the attribute {attribute.name!r} has the value {text!r}, but its domain is "
        f"{str(attribute).removeprefix('nominal ')}"
    )


def _label_names(source: Source, labels: Any) -> list[str]:
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
        f"does not say which attributes are labels: {advice('pass labels=', 'give --labels')} a list of names or "
        f"the path of the MULAN xml{looked}",
        path=source_name(source),
    )
