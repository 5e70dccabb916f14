"""Scores as callers pass them, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


def read_scores(scores: Any, name: str = "scores") -> Floats:
    """Scores as a C-ordered float array with one or two axes; a NaN cannot be ranked."""
    array = np.asarray(scores)
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{name} has shape {array.shape}, but must be one row (k,) or a block (n, k)"
        )
    if array.shape[-1] == 0:
        raise ValueError(f"{name} has shape {array.shape}, but must have at least one label")
    if array.dtype not in (np.float32, np.float64):
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} has dtype {array.dtype}, but must have numbers") from error
    nan = np.isnan(array)
    if nan.any():
        place = tuple(int(i) for i in np.argwhere(nan)[0])
        where = f"label {place[0]}" if len(place) == 1 else f"row {place[0]}, label {place[1]}"
        raise ValueError(
            f"{name} is NaN at {where}, but must be a number: a NaN has no place in a ranking"
        )
    return np.ascontiguousarray(array)
