"""What ARFF, CSV and Parquet share: tables of named columns."""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray
from boostline.contract.advice import advice
from boostline.contract.frames import meant_or_there
from boostline.contract.rows import ALLOWED_NUMBERS, large_text, too_large
from boostline.data.dataset import MAX_DENSE_LABELS, Block
from boostline.data.errors import DataError, first_repeated
from boostline.data.formats.reader import Chooser, Reader, chosen
from boostline.data.matrices import Filled, indicator
from boostline.data.unseen import Unseen

Drop: TypeAlias = "Sequence[str] | Chooser[Sequence[str] | None] | None"
Categories: TypeAlias = (
    "Mapping[str, Sequence[str]] | Chooser[Mapping[str, Sequence[str]] | None] | None"
)

#: How a text column may write the two values of a label.
_LABEL_TEXT = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
_MISSING, _UNSEEN = -1, -2


class Cells(NamedTuple):
    """Values of a column, with the lines of the file in which they stand, and their rows in the block."""

    values: Any
    lines: Sequence[int]
    rows: Any = slice(None)


class TableReader(Reader):
    """What becomes of each column: a feature, the 0/1 columns of a category, a label, nothing.

    `_lay_out` decides it, for every format with named columns.
    """

    #: Texts that stand for a missing value, unless a category has that name.
    missing: ClassVar[frozenset[str]] = frozenset()
    names_columns = True

    def _lay_out(
        self,
        name: str,
        columns: Sequence[str],
        labels: Any,
        drop: Drop,
        categories: Categories,
        unseen: Unseen | None,
        declared: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        """Decide it; `declared` are the categories that the file itself names."""
        self.name = name
        self._unseen = unseen
        twice = first_repeated(columns)
        if twice is not None:
            raise DataError(f"has the column {twice!r} twice", path=name, line=1)
        drop, categories = chosen(drop, columns) or (), chosen(categories, columns) or {}
        wanted = _label_columns(chosen(labels, columns), name)
        known, dropped = set(columns), set(drop)
        for named, names in (
            ("is named as a label", wanted),
            (advice("drop names", "--drop names"), drop),
            (advice("categories names", "--categories names"), categories),
        ):
            for column in names:
                if column not in known:
                    instead = meant_or_there(column, columns)
                    raise DataError(
                        f"has no column {column!r}, which {named}; {instead}", path=name
                    )
        clash = next((c for c in wanted if c in dropped or c in categories), None)
        if clash is not None:
            raise ValueError(f"the label {clash!r} is also named in drop or categories")
        is_label = set(wanted)
        self.labels = [column for column in columns if column in is_label]
        self.inputs = [c for c in columns if c not in is_label and c not in dropped]
        given = {**{c: v for c, v in declared.items() if c in self.inputs}, **categories}
        self.categories = {column: [str(v) for v in values] for column, values in given.items()}
        self.features: list[str] = []
        for column in self.inputs:
            values = self.categories.get(column)
            self.features += [column] if values is None else [f"{column}={v}" for v in values]

    @abstractmethod
    def _numbers(self, cells: Cells, column: str) -> FloatArray:
        """A column as numbers; what is missing is NaN."""

    def _block(self, table: Mapping[str, Cells], n_rows: int, sparse: bool = False) -> Block:
        """Encode the columns of some rows; where a column has no value it is 0."""
        X = Filled(n_rows, len(self.features), sparse)
        for column in self.inputs:
            cells = table[column]
            known = self.categories.get(column)
            if known is not None:
                X.put(cells.rows, self._one_hot(cells, column, known))
                continue
            values = self._numbers(cells, column)
            if (bad := np.flatnonzero(too_large(values))).size:
                raise DataError(
                    f"the column {column!r} has {large_text(values[bad[0]])}, but must have {ALLOWED_NUMBERS}",
                    path=self.name,
                    line=cells.lines[int(bad[0])],
                )
            X.put(cells.rows, values[:, None])
        Y = Filled(n_rows, len(self.labels), len(self.labels) > MAX_DENSE_LABELS)
        for column in self.labels:
            Y.put(table[column].rows, self._bits(table[column], column)[:, None])
        return Block(X.matrix(), indicator(Y.matrix()))

    def _bits(self, cells: Cells, column: str) -> FloatArray:
        """A label: 1, 0, or NaN for unknown."""
        codes = self._codes(cells, bit_of, column)
        return np.where(codes < 0, np.nan, codes)

    def _one_hot(self, cells: Cells, column: str, known: list[str]) -> FloatArray:
        place = {value: i for i, value in enumerate(known)}

        def code_of(value: Any, column: str) -> int:
            if (code := place.get(str(value))) is None and self._unseen is None:
                raise ValueError(
                    f"the column {column!r} has {str(value)!r}, which is not one of its categories"
                )
            return _UNSEEN if code is None else code

        codes = self._codes(cells, code_of, column)[:, None]
        return np.where(codes < 0, np.nan, codes == np.arange(len(known)))

    def _codes(
        self, cells: Cells, code_of: Callable[[Any, str], int], column: str
    ) -> NDArray[np.int64]:
        """The code of each value; negative for one that is missing or unseen."""
        codes: dict[Any, int] = {None: _MISSING}
        for value in dict.fromkeys(cells.values):
            if value in codes:
                continue
            try:
                codes[value] = code_of(value, column)
            except ValueError as error:
                if value not in self.missing:
                    line = cells.lines[cells.values.index(value)]
                    raise DataError(str(error), path=self.name, line=line) from None
                codes[value] = _MISSING
        for value, code in codes.items():
            if code == _UNSEEN and value in self.missing:
                codes[value] = _MISSING
            elif code == _UNSEEN and self._unseen is not None:
                self._unseen.add(f"{column}={value}", cells.values.count(value))
        return np.array([codes[value] for value in cells.values], np.int64)


def bit_of(value: Any, column: str) -> int:
    """A label that is written as text."""
    bit = _LABEL_TEXT.get(str(value).strip().lower())
    if bit is None:
        raise ValueError(
            f"the label {column!r} has {value!r}, but must have 0 or 1, or be empty for unknown"
        )
    return int(bit)


def encode_or_drop(column: str) -> str:
    """Say what can be done with a column of text."""
    return advice(
        f"pass categories={{{column!r}: [...]}} with its values, or drop=[{column!r}]",
        f"give --categories {shlex.quote(column + '=value,value,...')} with its values, "
        f"or --drop {shlex.quote(column)}",
    )


def _label_columns(labels: Any, name: str) -> list[str]:
    if labels is None:
        raise DataError(
            "does not say which columns are labels: "
            + advice("pass labels=[...]", "give --labels with their names"),
            path=name,
        )
    if isinstance(labels, (int, str, bytes)) or not isinstance(labels, Sequence):
        raise TypeError(f"labels is {labels!r}, but must be a list of column names")
    wanted = [str(label) for label in labels]
    twice = first_repeated(wanted)
    if twice is not None:
        raise ValueError(f"labels names {twice!r} twice")
    if not wanted and labels != ():  # an empty tuple: rows that are to be ranked
        raise ValueError("labels is empty, but must have at least one label")
    return wanted
