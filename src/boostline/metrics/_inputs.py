"""Turn what callers pass (label sets, indicators, sparse rows, masks) into plain arrays.

`relevant` follows the convention of the whole library: arrays, sparse rows and sequences of bools
are indicators of length k; sets, lists and tuples of integers or names are labels.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.floating[Any]]


def is_sparse(value: object) -> bool:
    """Say whether `value` is a SciPy sparse matrix or array, without importing SciPy."""
    return hasattr(value, "tocsr") and hasattr(value, "shape")


def is_rows(value: object) -> bool:
    """Say whether `value` (an x or a relevant) stands for several rows and not for one."""
    if isinstance(value, np.ndarray):
        return value.ndim >= 2
    if is_sparse(value):
        shape: tuple[int, ...] = value.shape  # type: ignore[attr-defined]
        return len(shape) == 2 and shape[0] != 1
    if isinstance(value, (list, tuple)):
        # Rows of indicators or of label sets; a flat list holds labels or bools.
        return bool(value) and all(
            isinstance(row, (AbstractSet, list, tuple, np.ndarray)) or is_sparse(row)
            for row in value
        )
    return False


def label_index(labels: Sequence[Any] | None) -> dict[Any, int] | None:
    """Return name -> position for the names of a model's labels; None if it has none."""
    return None if labels is None else {label: i for i, label in enumerate(labels)}


def as_scores(scores: Any, name: str = "scores") -> Floats:
    """Scores as a C-ordered float array with one or two axes; a NaN cannot be ranked."""
    array = np.asarray(scores)
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{name} has shape {array.shape}; one row needs (k,), a block needs (n, k)"
        )
    if array.shape[-1] == 0:
        raise ValueError(f"{name} has shape {array.shape}; there must be at least one label")
    if array.dtype not in (np.float32, np.float64):
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} has dtype {array.dtype}; numbers are needed") from error
    nan = np.isnan(array)
    if nan.any():
        place = tuple(int(i) for i in np.argwhere(nan)[0])
        where = f"label {place[0]}" if len(place) == 1 else f"row {place[0]}, label {place[1]}"
        raise ValueError(f"{name} is NaN at {where}; a NaN has no place in a ranking")
    return np.ascontiguousarray(array)


def as_indicators(
    relevant: Any, n_labels: int, index: Mapping[Any, int] | None = None, name: str = "relevant"
) -> Bools:
    """Return one example's relevant labels as a bool array of length `n_labels`.

    Parameters
    ----------
    relevant
        Indicators (array, sparse row, sequence of bools) or labels (set, list, tuple).
    n_labels
        Number of labels, k.
    index
        Name of a label -> its position, if labels may be given by name (see `label_index`).
    name
        The argument's name in error messages.

    Examples
    --------
    >>> as_indicators({0, 2}, 4).tolist()
    [True, False, True, False]
    >>> as_indicators(["b"], 2, label_index(["a", "b"])).tolist()
    [False, True]
    """
    if is_sparse(relevant):
        relevant = relevant.toarray()
        if relevant.ndim == 2 and relevant.shape[0] == 1:
            relevant = relevant[0]
    elif hasattr(relevant, "__array__"):  # pandas and polars series
        relevant = np.asarray(relevant)
    if isinstance(relevant, np.ndarray):
        return _indicator_array(relevant, (n_labels,), name)
    if isinstance(relevant, (str, bytes)) or not isinstance(relevant, Collection):
        raise TypeError(
            f"{name} is a {type(relevant).__name__}; pass an array of {n_labels} indicators "
            "or a set of labels"
        )
    if (
        isinstance(relevant, (list, tuple))
        and len(relevant)
        and all(isinstance(value, (bool, np.bool_)) for value in relevant)
    ):
        return _indicator_array(np.array(relevant), (n_labels,), name)
    return _from_labels(relevant, n_labels, index, name)


def as_indicator_rows(
    relevant: Any,
    n_rows: int,
    n_labels: int,
    index: Mapping[Any, int] | None = None,
    name: str = "Y",
) -> Bools:
    """Return the relevant labels of `n_rows` examples as a bool array (n_rows, n_labels)."""
    if is_sparse(relevant):
        relevant = relevant.toarray()
    elif hasattr(relevant, "__array__"):  # pandas and polars frames
        relevant = np.asarray(relevant)
    if isinstance(relevant, np.ndarray) and relevant.dtype != object:
        return _indicator_array(relevant, (n_rows, n_labels), name)
    if isinstance(relevant, (str, bytes, AbstractSet)) or not isinstance(relevant, Collection):
        raise TypeError(
            f"{name} is a {type(relevant).__name__}; pass an array of shape "
            f"({n_rows}, {n_labels}) or a sequence of {n_rows} label sets"
        )
    if len(relevant) != n_rows:
        raise ValueError(f"{name} has {len(relevant)} rows, but there are {n_rows} rows of scores")
    rows = np.zeros((n_rows, n_labels), dtype=np.bool_)
    for i, row in enumerate(relevant):
        rows[i] = as_indicators(row, n_labels, index, f"{name}[{i}]")
    return rows


def as_known(known: Any, shape: tuple[int, ...]) -> Bools | None:
    """Return the mask of known labels, or None if every label is known.

    A mask of length k stands for all rows of a block.
    """
    if known is None:
        return None
    if is_sparse(known):
        known = known.toarray()
    mask = np.asarray(known)
    if mask.shape not in (shape, shape[-1:]):
        raise ValueError(f"known has shape {mask.shape}; the scores have shape {shape}")
    mask = _indicator_array(mask, mask.shape, "known")
    return None if mask.all() else np.broadcast_to(mask, shape)


def _indicator_array(array: NDArray[Any], shape: tuple[int, ...], name: str) -> Bools:
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}; indicators need the shape {shape}")
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} has dtype {array.dtype}; indicators are bools or 0 and 1")
    wrong = (array != 0) & (array != 1)
    if wrong.any():
        raise ValueError(f"{name} has the value {array[wrong][0]}; indicators are 0 or 1")
    return array.astype(np.bool_)


def _from_labels(
    relevant: Collection[Any], n_labels: int, index: Mapping[Any, int] | None, name: str
) -> Bools:
    indicators = np.zeros(n_labels, dtype=np.bool_)
    for label in relevant:
        place = _place(label, n_labels, index, name)
        if indicators[place]:
            raise ValueError(
                f"{name} has label {label!r} twice; for indicators pass an array or bools"
            )
        indicators[place] = True
    return indicators


def _place(label: Any, n_labels: int, index: Mapping[Any, int] | None, name: str) -> int:
    is_number = isinstance(label, (int, np.integer)) and not isinstance(label, (bool, np.bool_))
    if index and (not is_number or isinstance(next(iter(index)), (int, np.integer))):
        # Names that are integers themselves leave no room for positions.
        try:
            return index[label]
        except (KeyError, TypeError):
            raise ValueError(
                f"{name} has label {label!r}, which is none of the {n_labels} label names"
            ) from None
    if not is_number:
        raise TypeError(
            f"{name} has label {label!r} of type {type(label).__name__}; "
            f"labels are the integers 0 to {n_labels - 1}"
        )
    if not 0 <= label < n_labels:
        raise ValueError(f"{name} has label {label}, but n_labels is {n_labels}")
    return int(label)
