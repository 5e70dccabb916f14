"""What CSV and Parquet share: tables of named columns that pyarrow reads."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray
from boostline.contract.advice import advice
from boostline.contract.frames import meant_or_there
from boostline.contract.rows import ALLOWED_NUMBERS, large_text, too_large
from boostline.data.dataset import Block
from boostline.data.errors import DataError, first_repeated, need
from boostline.data.formats.reader import Chooser, Reader, chosen
from boostline.data.matrices import compact_indicator
from boostline.data.unseen import Unseen

Drop: TypeAlias = "Sequence[str] | Chooser[Sequence[str] | None] | None"
Categories: TypeAlias = (
    "Mapping[str, Sequence[str]] | Chooser[Mapping[str, Sequence[str]] | None] | None"
)

#: How a text column may write the two values of a label.
LABEL_TEXT = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


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

    def _block(self, batch: Any, numbers: Sequence[int]) -> Block:
        """Encode a pyarrow table whose rows stand in the lines `numbers` of the file."""
        X = np.empty((batch.num_rows, len(self.features)))
        position = 0
        for column in self.inputs:
            values = batch.column(column)
            known = self.categories.get(column)
            if known is None:
                X[:, position] = self._numbers(values, column)
                position += 1
            else:
                X[:, position : position + len(known)] = self._one_hot(
                    values, column, known, numbers
                )
                position += len(known)
        if (bad := np.argwhere(too_large(X))).size:
            row, feature = bad[0]
            raise DataError(
                f"the column {self.features[feature]!r} has {large_text(X[row, feature])}, but must have "
                f"{ALLOWED_NUMBERS}",
                path=self.name,
                line=numbers[int(row)],
            )
        bits = [self._bits(batch.column(column), column, numbers) for column in self.labels]
        Y = np.column_stack(bits) if bits else np.empty((batch.num_rows, 0), dtype=np.bool_)
        return Block(X, compact_indicator(Y))

    def _numbers(self, values: Any, column: str) -> FloatArray:
        pa = need("pyarrow", "reading tables")
        kind = values.type
        plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)
        if not plain and not pa.types.is_boolean(kind) and not pa.types.is_decimal(kind):
            raise DataError(
                f"the column {column!r} is of type {kind}; {encode_or_drop(column)}",
                path=self.name,
            )
        return values.cast(pa.float64()).to_numpy()  # type: ignore[no-any-return]

    def _one_hot(
        self, values: Any, column: str, known: list[str], numbers: Sequence[int]
    ) -> FloatArray:
        place = {value: column for column, value in enumerate(known)}
        codes, found = _encode(values)
        for absent, text in enumerate(found):
            if text in self.missing and text not in place:
                codes[codes == absent] = -1
        columns = np.array([place.get(str(value), -1) for value in found], dtype=np.int64)
        for code in np.flatnonzero(columns < 0):
            times = int((codes == code).sum())  # a dictionary may list values that no row has
            if times and self._unseen is not None:
                self._unseen.add(f"{column}={found[code]}", times)
                codes[codes == code] = -1
            elif times:
                raise DataError(
                    f"the column {column!r} has {str(found[code])!r}, which is not one of its "
                    "categories",
                    path=self.name,
                    line=numbers[int(np.argmax(codes == code))],
                )
        encoded = np.zeros((len(codes), len(known)))
        present = np.flatnonzero(codes >= 0)
        encoded[present, columns[codes[present]]] = 1.0
        encoded[codes < 0] = np.nan
        return encoded

    def _bits(self, values: Any, column: str, numbers: Sequence[int]) -> NDArray[Any]:
        """Bools; floats if something is missing, which is NaN: unknown."""
        codes, found = _encode(values)
        bits = [LABEL_TEXT.get(str(value).strip().lower()) for value in found]
        for code in [code for code, bit in enumerate(bits) if bit is None]:
            if found[code] in self.missing:
                codes[codes == code] = -1
            elif (codes == code).any():
                raise DataError(
                    f"the label {column!r} has {found[code]!r}, but must have 0 or 1, or be empty for unknown",
                    path=self.name,
                    line=numbers[int(np.argmax(codes == code))],
                )
        if (codes >= 0).all():
            return np.array(bits, dtype=np.bool_)[codes]
        return np.array([*(math.nan if bit is None else bit for bit in bits), math.nan])[codes]


def encode_or_drop(column: str) -> str:
    """Say what can be done with a column of text."""
    return advice(
        f"pass categories={{{column!r}: [...]}} with its values, or drop=[{column!r}]",
        f"give --categories {shlex.quote(column + '=value,value,...')} with its values, "
        f"or --drop {shlex.quote(column)}",
    )


def _encode(values: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """Codes (-1: missing) and the values they stand for."""
    column = values.combine_chunks().dictionary_encode()
    codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes, column.dictionary.to_pylist()


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
