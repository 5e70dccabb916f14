"""Numbers that users pass: settings and importance weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostline.array_types import FloatArray


def unmasked(x: Any) -> Any:
    """Replace NumPy's masked numbers by NaN; `np.asarray` would drop the mask."""
    if isinstance(x, np.ma.MaskedArray) and x.dtype.kind in "fiub":
        return np.ma.filled(x.astype(np.float64), np.nan)
    return x


def read_weights(weight: Any, n: int, name: str = "weight") -> FloatArray:
    """Check importance weights: numbers in [0, 1], one for all rows or one for each."""
    if type(weight) is float and 0.0 <= weight <= 1.0:  # the common case
        return np.full(n, weight) if n != 1 else np.array([weight])
    try:
        array = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} is {weight!r}, but must be a number in [0, 1]") from error
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}, but must be one number or ({n},)")
    if not ((array >= 0) & (array <= 1)).all():  # False for NaN
        bad = array[~((array >= 0) & (array <= 1))][0]
        raise ValueError(f"{name} has the value {bad}, but must lie in [0, 1]")
    return np.ascontiguousarray(array)


def whole_number(value: Any, name: str, least: int, most: int | None = None) -> int:
    """Check an integer argument."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} is {value!r}, but must be a whole number")
    if value < least or (most is not None and value > most):
        span = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{name} is {value}, but must be {span}")
    return int(value)


def real_number(value: Any, name: str, low: float, high: float, *, open_low: bool = False) -> float:
    """Check a real argument against [low, high], or (low, high] with ``open_low``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} is {value!r}, but must be a number")
    number = float(value)
    if not low <= number <= high or (open_low and number == low):
        raise ValueError(
            f"{name} is {value}, but must be in {'(' if open_low else '['}{low:g}, {high:g}]"
        )
    return number


#: ``"micro-f1"``, ``"macro-f1"``, or the probability above which a label is named: see `Booster.predict`.
Optimize = str | float


def read_optimize(optimize: Optimize) -> Optimize:
    """Check what a set of labels is chosen for; a number comes back as a float in (0, 1)."""
    measures = ("micro-f1", "macro-f1")
    if isinstance(optimize, str):
        if optimize not in measures:
            raise ValueError(
                f"optimize is {optimize!r}, but must be one of {', '.join(measures)}, or a number in (0, 1)"
            )
        return optimize
    share = real_number(optimize, "optimize", 0, 1)
    if not 0 < share < 1:
        raise ValueError(f"optimize is {optimize!r}, but must be in (0, 1)")
    return share
