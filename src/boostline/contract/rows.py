"""Rows of features, in the one form that the core takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline import _core
from boostline.array_types import BoolArray, FloatArray
from boostline.contract import frames
from boostline.contract.numbers import unmasked
from boostline.contract.sparse import is_sparse, read_csr

# A C-contiguous float64 matrix, or (start, columns, values) of a CSR matrix.
NativeRows = FloatArray | tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]

#: The largest magnitude of a feature. Learners sum squares over all rows: these sums stay finite for any number of
#: rows, and so no stream can lead to a state that no file may hold (kLargest in src/core/base/archive.hpp).
LARGEST_VALUE = 1e100
#: What a feature must be, as errors say it.
ALLOWED_NUMBERS = f"numbers from -{LARGEST_VALUE:g} to {LARGEST_VALUE:g}, or NaN for missing ones"


class Rows(_core.Rows):
    """Checked features as the core takes them: one example (``is_single``) or a block.

    Columns stand in the order that the model wants.

    Parameters
    ----------
    given
        A C-contiguous float64 matrix, a vector (one example), or (start, columns, values) of a CSR matrix.
    n_features
        Number of columns of a CSR matrix.
    is_single
        Whether a block of one row is one example.
    """

    #: The names that came with a frame.
    names: Sequence[Any] | None = None

    @property
    def native(self) -> NativeRows:
        """A matrix (n, d), or (start, columns, values)."""
        given: Any = self.given
        return given[None] if isinstance(given, np.ndarray) and given.ndim == 1 else given

    @property
    def is_sparse(self) -> bool:
        return isinstance(self.given, tuple)

    @property
    def dense(self) -> FloatArray:
        """As a matrix (n, d)."""
        native = self.native
        if not isinstance(native, tuple):
            return native
        start, columns, values = native
        matrix = np.zeros((self.n, self.n_features))
        matrix[np.repeat(np.arange(self.n), np.diff(start)), columns] = values
        return matrix

    @classmethod
    def concat(cls, parts: Sequence[Rows]) -> Rows:
        """Rows one below the other, as a block; all are dense, or all are sparse."""
        natives: list[Any] = [part.native for part in parts]
        if not isinstance(natives[0], tuple):
            return cls(np.concatenate(natives))
        starts, columns, values = zip(*natives, strict=True)
        lengths = np.concatenate([np.diff(start) for start in starts])
        start = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        native = (start, np.concatenate(columns), np.concatenate(values))
        return cls(native, parts[0].n_features)

    def single(self) -> Rows:
        """A block of one row as one example."""
        return Rows(self.native, self.n_features, True)

    def take(self, part: slice) -> Rows:
        """Some rows, one after the other."""
        begin, stop, _ = part.indices(self.n)
        if (begin, stop) == (0, self.n):
            return self
        native = self.native
        if isinstance(native, tuple):
            start, columns, values = native
            a, b = start[begin], start[stop]
            native = np.ascontiguousarray(start[begin : stop + 1] - a), columns[a:b], values[a:b]
        else:
            native = native[begin:stop]
        return _named(Rows(native, self.n_features), self.names)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.given, self.n_features, self.is_single, self.names)


def _named(rows: Rows, names: Sequence[Any] | None) -> Rows:
    if names is not None:
        rows.names = names
    return rows


def _again(given: Any, n_features: int, is_single: bool, names: Sequence[Any] | None) -> Rows:
    return _named(Rows(given, n_features, is_single), names)


def read_rows(x: Any, features: Sequence[Any] | None = None, name: str = "x") -> Rows:
    """Check features: shape, type, and that no value is infinite or beyond `LARGEST_VALUE` (NaN: missing).

    Parameters
    ----------
    x
        One example (d,) or a block (n, d): array, frame, row of a frame or sparse matrix. Rows that have been read
        already pass as they are.
    features
        The names of the model's features: a frame's columns are brought into this order.
    name
        The argument's name in errors.
    """
    if isinstance(x, Rows):
        return x
    if type(x) is np.ndarray and x.dtype == np.float64 and x.size and x.ndim in (1, 2):
        return _checked(Rows(x), name)  # the common case
    if isinstance(x, Mapping):
        raise TypeError(
            f"{name} is a dict, but must be an array, a frame or a sparse matrix "
            "(boostline.river takes dicts)"
        )
    names = frames.names_of(x, name)
    if isinstance(x, frames.Named):
        x = x.matrix
    elif names is not None:
        x = frames.as_array(x, name)
    order = None if names is None else frames.column_order(names, features, name, "features")
    if order is not None:
        x = frames.reordered(x, order, name)
    if names is not None and frames.are_positions(names):
        names = None
    checked = _sparse_rows(x, name, names) if is_sparse(x) else _dense_rows(x, name, names)
    if checked.n_features == 0:
        raise ValueError(f"{name} has no features, but must have at least one")
    return checked


def _dense_rows(x: Any, name: str, names: Sequence[Any] | None) -> Rows:
    try:
        array = np.asarray(unmasked(x))
    except ValueError:
        lengths = sorted({len(row) if hasattr(row, "__len__") else 1 for row in x})
        raise ValueError(
            f"{name} has rows of different lengths ({', '.join(map(str, lengths[:5]))}), but must have "
            "as many values in each"
        ) from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} has dtype {array.dtype}, but must have numbers")
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{name} has {array.ndim} dimensions, but must be one example (d,) or a block (n, d)"
        )
    return _named(_checked(Rows(np.ascontiguousarray(array, dtype=np.float64)), name), names)


def _sparse_rows(x: Any, name: str, names: Sequence[Any] | None) -> Rows:
    is_single = len(x.shape) == 1
    if is_single:
        x = x.reshape(1, -1)
    csr = read_csr(x, name)
    if csr.values.dtype.kind not in "fiub":
        raise TypeError(f"{name} has dtype {csr.values.dtype}, but must have numbers")
    values = np.ascontiguousarray(csr.values, dtype=np.float64)
    rows = Rows((csr.start, csr.column, values), x.shape[1], is_single)
    return _named(_checked(rows, name), names)


def sparse_row(columns: NDArray[Any], values: FloatArray, n_features: int, name: str = "x") -> Rows:
    """One row of which only some columns are stored; these ascend."""
    native = (np.array([0, len(columns)]), np.ascontiguousarray(columns, dtype=np.int64), values)
    return _checked(Rows(native, n_features, True), name)


def too_large(values: FloatArray) -> BoolArray:
    """Which values no learner can take: the infinite ones, and those beyond `LARGEST_VALUE`."""
    return np.abs(values) > LARGEST_VALUE  # False for NaN


def large_text(value: float) -> str:
    """How errors name a value that is too large."""
    return "an infinite value" if np.isinf(value) else f"the value {float(value)!r}"


def _checked(rows: Rows, name: str) -> Rows:
    """Refuse values that are too large."""
    place = rows.first_beyond(LARGEST_VALUE)
    if place < 0:
        return rows
    if isinstance(native := rows.native, tuple):
        start, columns, values = native
        row, column = int(np.searchsorted(start, place, side="right")) - 1, int(columns[place])
    else:
        values = native.reshape(-1)
        row, column = divmod(place, rows.n_features)
    raise ValueError(
        f"{name} has {large_text(values[place])} at [{row}, {column}], but must have {ALLOWED_NUMBERS}"
    )
