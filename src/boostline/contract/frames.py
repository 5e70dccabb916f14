"""Frames (pandas, polars) and their columns, matched by name and recognised without importing either."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.contract.advice import advice
from boostline.contract.numbers import whole_number
from boostline.contract.sparse import is_sparse, read_csr

#: Number of names that are shown in an error.
_MOST_SHOWN = 8

#: Types without column names, which are recognised quickly: they come for every row of a stream.
_NAMELESS = (np.ndarray, list, tuple, set, frozenset)


@dataclass(frozen=True)
class Named:
    """A matrix, dense or sparse, with the names of its columns: our own minimal frame."""

    matrix: Any
    names: Sequence[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.matrix.shape)


def is_frame(x: object) -> bool:
    """Tell a frame of pandas or polars, or a `Named` matrix."""
    return isinstance(x, Named) or (
        hasattr(x, "columns") and hasattr(x, "dtypes") and len(getattr(x, "shape", ())) == 2
    )


def is_frame_row(x: object) -> bool:
    """Tell a pandas series, which a row of a frame is: its index holds the names of the columns."""
    return hasattr(x, "iloc") and getattr(x, "ndim", 0) == 1


def is_matrix(x: object) -> bool:
    """Whether `x` has rows and columns: an array, a sparse matrix or a frame."""
    return (isinstance(x, np.ndarray) or is_sparse(x) or is_frame(x)) and len(x.shape) == 2  # type: ignore[attr-defined]


def take_rows(x: Any, rows: Any) -> Any:
    """Rows of a matrix, by a slice or an array of places."""
    if isinstance(x, Named):
        return Named(x.matrix[rows], x.names)
    return x.iloc[rows] if hasattr(x, "iloc") else x[rows]


def names_of(x: Any, name: str) -> list[Any] | None:
    """The names of a frame's columns; None for anything else."""
    if type(x) in _NAMELESS:
        return None
    if isinstance(x, Named):
        names = distinct(x.names, name, "column")
    elif is_frame(x):
        names = distinct(x.columns, name, "column")
    elif is_frame_row(x):
        names = distinct(x.index, name, "column")
    else:
        return None
    for one in names:
        if not isinstance(one, str | int):  # what a file can hold
            raise TypeError(
                f"{name} has the column {one!r}, but columns must be strings or whole numbers"
            )
    return names


def distinct(names: Any, name: str, what: str = "name") -> list[Any]:
    """Names as plain Python values; none of them twice."""
    if isinstance(names, str | bytes):
        raise TypeError(f"{name} is the string {names!r}, but must be a list of names")
    plain = [one.item() if isinstance(one, np.generic) else one for one in names]
    if len(set(plain)) < len(plain):
        twice = next(one for i, one in enumerate(plain) if one in plain[:i])
        raise ValueError(f"{name} has the {what} {twice!r} twice")
    return plain


def added_names(
    new: int | Sequence[Any], known: Sequence[Any] | None, name: str
) -> tuple[int, list[Any] | None]:
    """How many ``new`` labels or features there are, and the names of all if the ``known`` ones have names."""
    if isinstance(new, int | np.integer):
        if known is not None:
            raise TypeError(
                f"{name} is {new}, but must be the names of the new {name}, because this model's {name} have names"
            )
        return whole_number(new, name, 1), None
    if known is None:
        raise TypeError(
            f"{name} is {new!r}, but must be the number of new {name}, because this model's {name} have no names"
        )
    names = distinct([*known, *distinct(new, name)], name)
    return whole_number(len(names) - len(known), f"len({name})", 1), names


def are_positions(names: Sequence[Any]) -> bool:
    """Whether columns are numbered from 0, as those of a frame that was given no names. In any order."""
    are_numbers = len(names) > 0 and all(type(one) is int for one in names)
    return are_numbers and sorted(names) == list(range(len(names)))


def column_order(
    given: Sequence[Any], wanted: Sequence[Any] | None, name: str, what: str
) -> NDArray[np.intp] | None:
    """Where to find each of the model's columns among the given ones; None if they stand in order.

    Parameters
    ----------
    given
        The columns of a frame. Columns that are numbered from 0 are places, whatever the names of the model.
    wanted
        The names that the model knows; None if it knows none.
    name, what
        The argument and what its columns are ("features", "labels"), for errors.
    """
    if wanted is None or (are_positions(given) and not are_positions(wanted)):
        wanted = range(len(given))
        if not are_positions(given):
            return None
    if list(given) == list(wanted):
        return None
    place = {one: i for i, one in enumerate(given)}
    if len(place) != len(wanted) or any(one not in place for one in wanted):
        raise ValueError(_mismatch(given, wanted, name, what))
    return np.array([place[one] for one in wanted], dtype=np.intp)


def reordered(x: Any, order: NDArray[np.intp], name: str) -> Any:
    """The columns of a matrix in another order."""
    if not is_sparse(x):
        return np.asarray(x)[..., order]
    read_csr(x, name)  # SciPy must not follow indices that nobody has checked
    return x.tocsr()[:, order]


def _mismatch(given: Sequence[Any], wanted: Sequence[Any], name: str, what: str) -> str:
    is_given, is_wanted = set(given), set(wanted)
    missing = [one for one in wanted if one not in is_given]
    foreign = [one for one in given if one not in is_wanted]
    parts = []
    if missing:
        parts.append(f"lacks the {_columns(missing)}")
    if foreign:
        parts.append(f"has the {_columns(foreign, near=missing or wanted)}")
    return (
        f"{name} {' and '.join(parts)}, but its columns must be the model's {what}: "
        f"{shortened(wanted)}" + (advice("", "; --drop leaves others out") if foreign else "")
    )


def _columns(names: Sequence[Any], near: Sequence[Any] = ()) -> str:
    shown = [f"{one!r}{suggestion(one, near)}" for one in names[:_MOST_SHOWN]]
    more = f", ... ({len(names)} in all)" if len(names) > _MOST_SHOWN else ""
    return f"column{'s' if len(names) > 1 else ''} {', '.join(shown)}{more}"


def suggestion(one: Any, candidates: Sequence[Any]) -> str:
    """For an error, after a name: the candidate that may be meant; empty if there is none."""
    close = near_name(one, candidates)
    return "" if close is None else f" (is {close!r} meant?)"


def near_name(one: Any, candidates: Sequence[Any]) -> Any:
    """The candidate that is spelt most like `one`; None if none is."""
    if not isinstance(one, str):
        return None
    by_lower = {c.lower(): c for c in candidates if isinstance(c, str)}
    close = difflib.get_close_matches(one.lower(), by_lower, n=1)
    return by_lower[close[0]] if close else None


def meant_or_there(one: str, names: Sequence[str]) -> str:
    """What to say of a column that is not there: which one may be meant, or which there are."""
    near = near_name(one, names)
    return f"it has {shortened(names)}" if near is None else f"is {near!r} meant?"


def shortened(names: Sequence[Any]) -> str:
    """The first names, for an error."""
    text = ", ".join(repr(one) for one in names[:_MOST_SHOWN])
    return text + (f", ... ({len(names)} in all)" if len(names) > _MOST_SHOWN else "")


def as_array(x: Any, name: str) -> NDArray[Any]:
    """What a frame or a row of one holds, as an array of numbers or bools; NaN for what is missing."""
    array = np.asarray(x)
    if array.dtype.kind != "O":
        return array
    if array.ndim == 1:
        named = zip(x.index, array, strict=True)
        return np.array([_number(value, column, name) for column, value in named])
    # Columns of different kinds (floats beside bools), or columns that pandas keeps missing values in.
    columns = [np.asarray(x[column]) for column in x.columns]
    return np.column_stack(
        [
            [_number(value, column, name) for value in values]
            if values.dtype.kind not in "fiub"
            else values
            for column, values in zip(x.columns, columns, strict=True)
        ]
    ).astype(np.float64)


def is_missing(value: Any) -> bool:
    """Whether a single value stands for none: None, NaN, or what pandas has for it."""
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _number(value: Any, column: Any, name: str) -> float:
    if is_missing(value):
        return float("nan")
    try:
        if not isinstance(value, str | bytes):
            return float(value)
    except (TypeError, ValueError):
        pass
    shown = value.item() if isinstance(value, np.generic) else value
    raise TypeError(
        f"{name} has {shown!r} in the column {column!r}, but must have numbers; encode it or leave it out"
    )
