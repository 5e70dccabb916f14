"""Rows of features, in the one form that the core takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import BoolArray, FloatArray
from boostline.contract import frames
from boostline.contract.numbers import unmasked
from boostline.contract.sparse import CSR, is_sparse, read_csr

# As the core takes them: a C-contiguous float64 matrix, or (start, columns, values) of a CSR matrix.
NativeRows = FloatArray | tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]

#: The largest magnitude of a feature. Learners sum squares over all rows: these sums stay finite for any number of
#: rows, and so no stream can lead to a state that no file may hold (kLargest in src/core/base/archive.hpp).
LARGEST_VALUE = 1e100
#: What a feature must be, as errors say it.
ALLOWED_NUMBERS = f"numbers from -{LARGEST_VALUE:g} to {LARGEST_VALUE:g}, or NaN for missing ones"


@dataclass(frozen=True)
class Rows:
    """Checked features: one example (``is_single``) or a block.

    ``names`` are those that came with a frame; columns stand in the order that the model wants.
    """

    native: NativeRows
    n: int
    n_features: int
    is_single: bool
    names: Sequence[Any] | None = None

    @property
    def dense(self) -> FloatArray:
        """As a matrix (n, d)."""
        if not isinstance(self.native, tuple):
            return self.native
        start, columns, values = self.native
        matrix = np.zeros((self.n, self.n_features))
        matrix[np.repeat(np.arange(self.n), np.diff(start)), columns] = values
        return matrix

    @classmethod
    def concat(cls, parts: Sequence[Rows]) -> Rows:
        """Rows one below the other, as a block; all are dense, or all are sparse."""
        natives: list[Any] = [part.native for part in parts]
        native: NativeRows
        if isinstance(natives[0], tuple):
            starts, columns, values = zip(*natives, strict=True)
            lengths = np.concatenate([np.diff(start) for start in starts])
            start = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
            native = (start, np.concatenate(columns), np.concatenate(values))
        else:
            native = np.concatenate(natives)
        return cls(native, sum(part.n for part in parts), parts[0].n_features, is_single=False)

    def single(self) -> Rows:
        """A block of one row as one example."""
        return replace(self, is_single=True)

    def take(self, part: slice) -> Rows:
        """Some rows, one after the other."""
        start, stop, _ = part.indices(self.n)
        if (start, stop) == (0, self.n):
            return self
        if isinstance(self.native, tuple):
            first, columns, values = self.native
            a, b = first[start], first[stop]
            native: NativeRows = (
                np.ascontiguousarray(first[start : stop + 1] - a),
                columns[a:b],
                values[a:b],
            )
        else:
            native = self.native[start:stop]
        return Rows(native, stop - start, self.n_features, False, self.names)


#: So few values are checked in the time of one call.
_FEW = 1024


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
    if type(x) is np.ndarray and x.dtype.kind == "f" and x.size:  # the common case
        return _dense_rows(x, name, None)
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
    matrix = array if array.ndim == 2 else array[None, :]
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    _refuse_too_large(matrix, name)
    return Rows(matrix, matrix.shape[0], matrix.shape[1], array.ndim == 1, names)


def _sparse_rows(x: Any, name: str, names: Sequence[Any] | None) -> Rows:
    is_single = len(x.shape) == 1
    if is_single:
        x = x.reshape(1, -1)
    csr = read_csr(x, name)
    if csr.values.dtype.kind not in "fiub":
        raise TypeError(f"{name} has dtype {csr.values.dtype}, but must have numbers")
    values = np.ascontiguousarray(csr.values, dtype=np.float64)
    _refuse_too_large(values, name, csr)
    return Rows((csr.start, csr.column, values), x.shape[0], x.shape[1], is_single, names)


def sparse_row(columns: NDArray[Any], values: FloatArray, n_features: int, name: str = "x") -> Rows:
    """One row of which only some columns are stored; these ascend."""
    start = np.array([0, len(columns)])
    native = (start, np.ascontiguousarray(columns, dtype=np.int64), values)
    _refuse_too_large(values, name, CSR(*native))
    return Rows(native, 1, n_features, is_single=True)


def too_large(values: FloatArray) -> BoolArray:
    """Which values no learner can take: the infinite ones, and those beyond `LARGEST_VALUE`."""
    return np.abs(values) > LARGEST_VALUE  # False for NaN


def large_text(value: float) -> str:
    """How errors name a value that is too large."""
    return "an infinite value" if np.isinf(value) else f"the value {float(value)!r}"


def _refuse_too_large(values: FloatArray, name: str, csr: CSR | None = None) -> None:
    # No copy in the common case; with NaN nothing holds, and the values are looked at one by one.
    if values.size <= _FEW:
        flat = values.reshape(-1)
        # Faster than the two extremes. If the sum of squares is small, so is every square.
        with np.errstate(over="ignore"):
            squares = flat.dot(flat)
        if squares <= LARGEST_VALUE * LARGEST_VALUE:
            return
    if not values.size or (values.max() <= LARGEST_VALUE and values.min() >= -LARGEST_VALUE):
        return
    if (bad := too_large(values)).any():
        place, value = np.argwhere(bad)[0], values[bad][0]
        if csr is not None:
            row = np.searchsorted(csr.start, place[0], side="right") - 1
            place = [row, csr.column[place[0]]]
        where = ", ".join(str(int(i)) for i in place)
        raise ValueError(
            f"{name} has {large_text(value)} at [{where}], but must have {ALLOWED_NUMBERS}"
        )
