"""SciPy's sparse matrices, recognised without importing SciPy and checked before anything walks along them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostline import _core


class CSR(NamedTuple):
    """Row i has ``values[start[i]:start[i + 1]]`` in the columns ``column[start[i]:start[i + 1]]``, ascending."""

    start: NDArray[np.int64]
    column: NDArray[np.int64]
    values: NDArray[Any]


def is_sparse(x: object) -> bool:
    """Tell a scipy sparse matrix or array without importing scipy."""
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


def read_csr(x: Any, name: str) -> CSR:
    """The arrays of a sparse matrix (n, d) of any format: in range, each row's columns ascending and distinct."""
    if getattr(x, "format", "csr") != "csr":
        _check_other_format(x, name)
    csr = x.tocsr()
    n, n_columns = csr.shape
    arrays = _arrays(csr)
    if len(arrays.start) != n + 1:
        raise ValueError(
            f"{name}.indptr has length {len(arrays.start)}, but must have {n + 1} for {n} rows"
        )
    if len(arrays.column) != len(arrays.values):
        raise ValueError(
            f"{name}.indices has length {len(arrays.column)}, but must be as long as "
            f"{name}.data, {len(arrays.values)}"
        )
    # SciPy itself believes what it is given: only after this check can its own methods be called.
    if not _core.check_csr(name, arrays.start, arrays.column, n_columns):
        csr = csr.copy()
        csr.has_sorted_indices = csr.has_canonical_format = False  # flags may be out of date
        csr.sum_duplicates()  # sorts as well
        arrays = _arrays(csr)
    return arrays


def _arrays(csr: Any) -> CSR:
    return CSR(
        np.ascontiguousarray(csr.indptr, dtype=np.int64),
        np.ascontiguousarray(csr.indices, dtype=np.int64),
        csr.data,
    )


def _check_other_format(x: Any, name: str) -> None:
    """Formats that `tocsr` converts without looking."""
    try:
        if hasattr(x, "check_format"):  # csc, bsr
            x.check_format(full_check=True)
        for axis, places in enumerate(getattr(x, "coords", ())):  # coo
            if len(places) and not 0 <= places.min() <= places.max() < x.shape[axis]:
                raise ValueError(f"coordinates of axis {axis} are out of range")
    except ValueError as error:
        raise ValueError(
            f"{name} is a damaged sparse matrix ({error}), but its indices must lie within its shape {x.shape}"
        ) from error
