"""What CSV and Parquet share: tables of named columns."""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray
from boostline.contract.advice import advice
from boostline.contract.frames import meant_or_there
from boostline.contract.rows import ALLOWED_NUMBERS, large_text, too_large
from boostline.data.dataset import Block
from boostline.data.errors import DataError, first_repeated
from boostline.data.formats.reader import Chooser, Reader, chosen
from boostline.data.matrices import compact_indicator
from boostline.data.unseen import Unseen

Drop: TypeAlias = "Sequence[str] | Chooser[Sequence[str] | None] | None"
Categories: TypeAlias = (
    "Mapping[str, Sequence[str]] | Chooser[Mapping[str, Sequence[str]] | None] | None"
)

#: How a text column may write the two values of a label.
LABEL_TEXT = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
_MISSING, _UNSEEN = -1, -2


class TableReader(Reader):
    """What becomes of each column: a feature, the 0/1 columns of a category, a label, nothing."""

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
    ) -> None:
        self.name = name
        self._unseen = unseen
        twice = first_repeated(columns)
        if twice is not None:
            raise DataError(f"has the column {twice!r} twice", path=name, line=1)
        drop, categories = chosen(drop, columns) or (), chosen(categories, columns) or {}
        self.categories = {column: [str(v) for v in given] for column, given in categories.items()}
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
        self.features: list[str] = []
        for column in self.inputs:
            values = self.categories.get(column)
            self.features += [column] if values is None else [f"{column}={v}" for v in values]

    @abstractmethod
    def _numbers(self, values: Any, column: str, numbers: Sequence[int]) -> FloatArray:
        """A column as numbers; what is missing is NaN."""

    def _block(self, cells: Mapping[str, Any], numbers: Sequence[int]) -> Block:
        """Encode columns whose rows stand in the lines `numbers` of the file."""
        X = np.empty((len(numbers), len(self.features)))
        position = 0
        for column in self.inputs:
            known = self.categories.get(column)
            if known is None:
                X[:, position] = self._numbers(cells[column], column, numbers)
                position += 1
            else:
                encoded = self._one_hot(cells[column], column, known, numbers)
                X[:, position : position + len(known)] = encoded
                position += len(known)
        if (bad := np.argwhere(too_large(X))).size:
            row, feature = bad[0]
            raise DataError(
                f"the column {self.features[feature]!r} has {large_text(X[row, feature])}, but must have "
                f"{ALLOWED_NUMBERS}",
                path=self.name,
                line=numbers[int(row)],
            )
        Y = np.empty((len(numbers), len(self.labels)), np.int64)
        for i, column in enumerate(self.labels):
            Y[:, i] = self._codes(cells[column], _bit_of, column, numbers)
        return Block(X, compact_indicator(np.where(Y < 0, np.nan, Y) if (Y < 0).any() else Y == 1))

    def _one_hot(
        self, values: Sequence[Any], column: str, known: list[str], numbers: Sequence[int]
    ) -> FloatArray:
        place = {value: i for i, value in enumerate(known)}

        def code_of(value: Any, column: str) -> int:
            if (code := place.get(str(value))) is None and self._unseen is None:
                raise ValueError(
                    f"the column {column!r} has {str(value)!r}, which is not one of its categories"
                )
            return _UNSEEN if code is None else code

        codes = self._codes(values, code_of, column, numbers)[:, None]
        return np.where(codes < 0, np.nan, codes == np.arange(len(known)))

    def _codes(
        self,
        values: Sequence[Any],
        code_of: Callable[[Any, str], int],
        column: str,
        numbers: Sequence[int],
    ) -> NDArray[np.int64]:
        """The code of each value; negative for one that is missing or unseen."""
        codes: dict[Any, int] = {None: _MISSING}
        for value in dict.fromkeys(values):
            if value in codes:
                continue
            try:
                codes[value] = code_of(value, column)
            except ValueError as error:
                if value not in self.missing:
                    line = numbers[values.index(value)]
                    raise DataError(str(error), path=self.name, line=line) from None
                codes[value] = _MISSING
        for value, code in codes.items():
            if code == _UNSEEN and value in self.missing:
                codes[value] = _MISSING
            elif code == _UNSEEN and self._unseen is not None:
                self._unseen.add(f"{column}={value}", values.count(value))
        return np.array([codes[value] for value in values], np.int64)


def _bit_of(value: Any, column: str) -> int:
    bit = LABEL_TEXT.get(str(value).strip().lower())
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
