"""Matrices of features and labels from rows, as the readers build them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.contract.sparse import is_sparse
from boostline.data.dataset import MAX_DENSE_LABELS, Indicator, Matrix
from boostline.data.errors import need

#: Numbers in a dense matrix that stands for a sparse one where SciPy is not installed.
MAX_DENSE_CELLS = 2**24


def csr(
    values: Any, columns: Any, row_ends: Any, shape: tuple[int, int], dtype: Any = np.float64
) -> Any:
    """CSR matrix from its three arrays; explicit zeros are dropped, columns sorted. Without SciPy a small dense one."""
    if find_spec("scipy") is None and shape[0] * shape[1] <= MAX_DENSE_CELLS:
        dense = np.zeros(shape, dtype)
        dense[np.repeat(np.arange(shape[0]), np.diff(row_ends)), columns] = values
        return dense
    sparse = need("scipy.sparse", "a sparse data set")
    matrix = sparse.csr_matrix(
        (
            np.asarray(values, dtype=dtype),
            np.asarray(columns, dtype=np.int32),
            np.asarray(row_ends, dtype=np.int64),
        ),
        shape=shape,
    )
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def from_cells(rows: Sequence[dict[int, float]], width: int, sparse: bool) -> Matrix:
    """Rows given as {column: value}; what is absent is 0."""
    if not sparse:
        dense = np.zeros((len(rows), width))
        for row, cells in zip(dense, rows, strict=True):
            if cells:
                row[list(cells)] = list(cells.values())
        return dense
    ends = np.cumsum([0, *map(len, rows)])
    columns = [column for cells in rows for column in cells]
    values = [value for cells in rows for value in cells.values()]
    return csr(values, columns, ends, (len(rows), width))  # type: ignore[no-any-return]


class Filled:
    """A matrix that is filled column by column, from the left; what is not put is 0."""

    def __init__(self, n_rows: int, n_columns: int, sparse: bool) -> None:
        self._shape, self._next = (n_rows, n_columns), 0
        self._dense = None if sparse else np.zeros(self._shape)
        self._entries: list[tuple[Any, Any, Any]] = []  # rows, columns, values

    def put(self, rows: Any, values: NDArray[np.float64]) -> None:
        """Fill some rows (or a slice) of the next columns with values (n, m)."""
        first, self._next = self._next, self._next + values.shape[1]
        if self._dense is not None:
            self._dense[rows, first : self._next] = values
            return
        row = np.arange(self._shape[0])[rows]
        column = np.tile(np.arange(first, self._next), len(row))
        self._entries.append((np.repeat(row, values.shape[1]), column, values.ravel()))

    def matrix(self) -> Matrix:
        """What it has become."""
        if self._dense is not None:
            return self._dense
        none = np.zeros(0, np.int64)
        rows, columns, values = (
            np.concatenate(parts) if parts else none
            for parts in (list(zip(*self._entries, strict=True)) or [(), (), ()])
        )
        order = np.argsort(rows, kind="stable")
        ends = np.searchsorted(rows[order], np.arange(self._shape[0] + 1))
        return csr(values[order], columns[order], ends, self._shape)  # type: ignore[no-any-return]


def indicator(matrix: Matrix) -> Indicator:
    """Labels as bools, unless some are unknown (NaN)."""
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    return matrix if np.isnan(values).any() else matrix.astype(np.bool_)


def from_relevant(
    rows: Sequence[Sequence[int]], n_labels: int, unknown: Sequence[Sequence[int]] = ()
) -> Indicator:
    """Indicators from the label indices of each row; CSR when there are very many labels.

    Where labels are unknown the indicators are floats, with NaN for these.
    """
    if any(unknown):
        cells = [
            dict.fromkeys(on, 1.0) | dict.fromkeys(not_known, math.nan)
            for on, not_known in zip(rows, unknown, strict=True)
        ]
        return from_cells(cells, n_labels, n_labels > MAX_DENSE_LABELS)
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.array([label for labels in rows for label in labels], dtype=np.int64)
    if n_labels > MAX_DENSE_LABELS:
        ones = np.ones(len(columns), dtype=np.bool_)
        return csr(ones, columns, ends, (len(rows), n_labels), np.bool_)  # type: ignore[no-any-return]
    dense = np.zeros((len(rows), n_labels), dtype=np.bool_)
    dense[np.repeat(np.arange(len(rows)), np.diff(ends)), columns] = True
    return dense


def stack(parts: Sequence[Any], width: int, dtype: Any = np.float64) -> Any:
    """Put blocks below each other: dense if none is sparse, else CSR."""
    if not parts:
        return np.empty((0, width), dtype=dtype)
    if any(is_sparse(part) for part in parts):
        return need("scipy.sparse", "a sparse data set").vstack(parts, format="csr", dtype=dtype)
    return np.concatenate(parts)
