"""Dicts of features as rows: each name gets a place when it is first seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract.rows import LARGEST_VALUE, sparse_row, too_large

#: Places kept for names to come, so that the model grows seldom: one for each 8 that are known, at least 8.
_RESERVE = 8
#: No more names than that get a place unless the user says so: memory has to be bounded. A missing value takes room in
#: every row that learners keep, a zero does not.
_MOST_FEATURES, _MOST_MISSING = 2**16, 2**12
#: Rows are passed on as sparse when so small a share of the places is filled.
_SPARSE_SHARE = 0.1


class FeaturePlaces:
    """Remembers the place of each feature name and turns dicts into rows of a fixed length.

    Parameters
    ----------
    capacity
        Number of places. None: as many as are needed, up to 65,536, or 4,096 if the fill value is not 0. Names that
        come when all places are taken are left out, with one warning.
    fill_value
        The value of a feature that an example does not have. None: missing.
    """

    def __init__(self, capacity: int | None, fill_value: float | None) -> None:
        self.capacity = capacity
        self._may_grow = capacity is None
        self._most = _MOST_FEATURES if fill_value == 0 else _MOST_MISSING
        self._fill = float("nan") if fill_value is None else float(fill_value)
        self._place: dict[Any, int] = {}
        self._warned = False

    @property
    def names(self) -> list[Any]:
        """Known names, in the order of their places."""
        return list(self._place)

    def admitted(self, x: Mapping[Any, Any], grow: Callable[[int], bool]) -> Any:
        """The row of an example whose new names get places; bad values change nothing.

        ``grow`` gets the number of places that rows will have, and says whether that can be.
        """
        if not x.keys() <= self._place.keys():
            new = [name for name in x if name not in self._place]
            _refuse_too_large(x)
            self._admit(new, grow)
        return self.row(x)

    def _admit(self, new: list[Any], grow: Callable[[int], bool]) -> None:
        # In an order that does not depend on how the dict was made.
        new.sort(key=lambda name: (type(name).__name__, str(name)))
        needed, room_now = len(self._place) + len(new), self.capacity or 0
        if self._may_grow and needed > room_now and room_now < self._most:
            wanted = min(needed + max(_RESERVE, needed // _RESERVE), self._most)
            self._may_grow = grow(wanted)
            if self._may_grow:
                self.capacity = wanted
        room = (self.capacity or 0) - len(self._place)
        for name in new[:room]:
            self._place[name] = len(self._place)
        if len(new) > room and not self._warned:
            self._warned = True
            warnings.warn(
                f"feature {new[room]!r} is ignored, because the model has {self.capacity} features already; "
                "n_features sets a higher limit",
                stacklevel=4,
            )

    def row(self, x: Mapping[Any, Any]) -> Any:
        """The row of an example: a dense array (capacity,), or a sparse row if few of many places are filled."""
        values, n = _numbers(x), self.capacity or 0
        places = np.fromiter(map(self._place.get, x, repeat(-1)), np.intp, len(x))
        if (has_place := places >= 0).sum() < len(places):
            places, values = places[has_place], values[has_place]
        if self._fill == 0.0 and len(places) < _SPARSE_SHARE * n:
            order = places.argsort()
            return sparse_row(places[order], values[order], n)
        row = np.full(n, self._fill)
        row[places] = values
        return row

    def rows(self, names: Sequence[Any], values: FloatArray) -> FloatArray | None:
        """The rows of examples that all have these names; None if `row` would make them sparse."""
        n = self.capacity or 0
        if self._fill == 0.0 and len(names) < _SPARSE_SHARE * n:
            return None
        rows = np.full((len(values), n), self._fill)
        for column, name in enumerate(names):
            if name in self._place:
                rows[:, self._place[name]] = values[:, column]
        return rows


def _numbers(x: Mapping[Any, Any]) -> FloatArray:
    values = list(x.values())
    numbers = np.array(values)
    if numbers.dtype.kind == "f":
        return numbers
    if numbers.dtype.kind == "O":  # None means missing
        values = [float("nan") if value is None else value for value in values]
        numbers = np.array(values)
    if numbers.dtype.kind not in "fiub" or numbers.ndim != 1:
        raise _not_a_number(x)
    return numbers.astype(np.float64)


def _refuse_too_large(x: Mapping[Any, Any]) -> None:
    bad = too_large(_numbers(x))
    if bad.any():
        name = list(x)[int(bad.argmax())]
        raise ValueError(
            f"feature {name!r} is {x[name]!r}, but must be from -{LARGEST_VALUE:g} to {LARGEST_VALUE:g}, "
            "or NaN or None if it is missing"
        )


def _not_a_number(x: Mapping[Any, Any]) -> TypeError:
    name, value = next(
        (n, v) for n, v in x.items() if v is not None and np.asarray(v).dtype.kind not in "fiub"
    )
    return TypeError(
        f"feature {name!r} is {value!r}, but must be a number; encode it, for instance with "
        "river.preprocessing.OneHotEncoder"
    )
