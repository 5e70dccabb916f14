"""What users pass to a model, checked and brought into the one form that the core takes.

Every check runs before the model is touched: bad input leaves it exactly as it was. Errors name the
argument, what came and what would do.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.contract.sparse import CSR, is_sparse, read_csr

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

# Rows as the core takes them: a C-contiguous float64 matrix, or (indptr, indices, values) of a CSR matrix.
NativeRows = FloatArray | tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]

#: The largest magnitude of a feature. Learners sum squares over all rows: these sums stay finite for any number of
#: rows, and so no stream can lead to a state that no file may hold (kLargest in src/core/archive.hpp).
LARGEST_VALUE = 1e100


@dataclass(frozen=True)
class Rows:
    """Checked features: one example (``is_single``) or a block."""

    native: NativeRows
    n: int
    n_features: int
    is_single: bool

    def part(self, start: int, stop: int) -> Rows:
        """Rows start .. stop - 1 of a block."""
        if isinstance(self.native, tuple):
            indptr, indices, values = self.native
            a, b = indptr[start], indptr[stop]
            native: NativeRows = (
                np.ascontiguousarray(indptr[start : stop + 1] - a),
                indices[a:b],
                values[a:b],
            )
        else:
            native = self.native[start:stop]
        return Rows(native, stop - start, self.n_features, False)


def rows(x: Any, n_features: int | None, name: str = "x") -> Rows:
    """Check features: shape, type, and that no value is infinite or beyond `LARGEST_VALUE` (NaN means missing)."""
    checked = _sparse_rows(x, name) if is_sparse(x) else _dense_rows(x, name)
    if n_features is not None and checked.n_features != n_features:
        raise ValueError(
            f"{name} has {checked.n_features} features, but the model has learned with {n_features}"
        )
    if checked.n_features == 0:
        raise ValueError(f"{name} has no features")
    return checked


def _dense_rows(x: Any, name: str) -> Rows:
    array = np.asarray(x)
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"{name} has dtype {array.dtype}, but numbers are needed (float32, float64 or integers)"
        )
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{name} has {array.ndim} dimensions, but one example (d,) or a block (n, d) is needed"
        )
    matrix = np.ascontiguousarray(np.atleast_2d(array), dtype=np.float64)
    _refuse_too_large(matrix, name)
    return Rows(matrix, matrix.shape[0], matrix.shape[1], array.ndim == 1)


def _sparse_rows(x: Any, name: str) -> Rows:
    is_single = len(x.shape) == 1
    if is_single:
        x = x.reshape(1, -1)
    csr = read_csr(x, name)
    if csr.values.dtype.kind not in "fiub":
        raise TypeError(f"{name} has dtype {csr.values.dtype}, but numbers are needed")
    values = np.ascontiguousarray(csr.values, dtype=np.float64)
    _refuse_too_large(values, name, csr)
    return Rows((csr.start, csr.column, values), x.shape[0], x.shape[1], is_single)


def too_large(values: FloatArray) -> NDArray[np.bool_]:
    """Which values no learner can take: the infinite ones, and those beyond `LARGEST_VALUE`."""
    return np.abs(values) > LARGEST_VALUE  # False for NaN


def _refuse_too_large(values: FloatArray, name: str, csr: CSR | None = None) -> None:
    # No copy in the common case; with NaN neither holds, and the values are looked at one by one.
    if not values.size or (values.max() <= LARGEST_VALUE and values.min() >= -LARGEST_VALUE):
        return
    if (bad := too_large(values)).any():
        place, value = np.argwhere(bad)[0], values[bad][0]
        if csr is not None:
            row = np.searchsorted(csr.start, place[0], side="right") - 1
            place = [row, csr.column[place[0]]]
        where = ", ".join(str(int(i)) for i in place)
        what = "an infinite value" if np.isinf(value) else f"the value {value:g}"
        raise ValueError(
            f"{name} has {what} at [{where}]; numbers from -{LARGEST_VALUE:g} to {LARGEST_VALUE:g} are needed, "
            "NaN for a missing one"
        )


@dataclass(frozen=True)
class LabelLists:
    """Label sets of several rows: row i has ``values[start[i]:start[i + 1]]``, ascending."""

    start: NDArray[np.int64]
    values: IntArray

    @classmethod
    def of(cls, sets: Sequence[IntArray]) -> LabelLists:
        sizes = np.fromiter((len(s) for s in sets), dtype=np.int64, count=len(sets))
        start = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        values = np.concatenate(sets) if len(sets) else np.zeros(0, np.int32)
        return cls(start, np.ascontiguousarray(values, dtype=np.int32))

    @classmethod
    def empty(cls, n: int) -> LabelLists:
        return cls(np.zeros(n + 1, np.int64), np.zeros(0, np.int32))

    def part(self, start: int, stop: int) -> LabelLists:
        """The sets of rows start .. stop - 1."""
        a, b = self.start[start], self.start[stop]
        return LabelLists(np.ascontiguousarray(self.start[start : stop + 1] - a), self.values[a:b])

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.diff(self.start)


class LabelReader:
    """Turns what users call labels into indices; knows the labels' names."""

    def __init__(self, n_labels: int, names: Mapping[Any, int] | None) -> None:
        self.n_labels = n_labels
        self.names = names

    def read(
        self, relevant: Any, n: int, is_single: bool, name: str = "relevant"
    ) -> tuple[LabelLists, LabelLists]:
        """Label sets of ``n`` rows, and the labels marked unknown (NaN in an indicator)."""
        if is_sparse(relevant):
            read_csr(relevant, name)  # checks it
            relevant = relevant.toarray()
        if hasattr(relevant, "__array__"):  # arrays, pandas and polars frames
            relevant = np.asarray(relevant)
        if isinstance(relevant, np.ndarray):
            return self._indicators(relevant, n, is_single, name)
        if is_single or (n == 1 and self._is_one_set(relevant)):
            return LabelLists.of([self._one(relevant, name)]), LabelLists.empty(1)
        if not isinstance(relevant, Sequence) or isinstance(relevant, str | bytes):
            raise TypeError(
                f"{name} is a {type(relevant).__name__}, but for a block an (n, {self.n_labels}) "
                "indicator matrix or a list with one label set per row is needed"
            )
        if len(relevant) != n:
            raise ValueError(f"{name} has {len(relevant)} label sets, but x has {n} rows")
        sets = [self._one(one, f"{name}[{i}]") for i, one in enumerate(relevant)]
        return LabelLists.of(sets), LabelLists.empty(n)

    def _is_one_set(self, relevant: Any) -> bool:
        if isinstance(relevant, Set):
            return True
        return isinstance(relevant, Sequence) and not any(
            isinstance(one, Sequence | Set | np.ndarray) and not isinstance(one, str)
            for one in relevant
        )

    def _indicators(
        self, array: NDArray[Any], n: int, is_single: bool, name: str
    ) -> tuple[LabelLists, LabelLists]:
        if array.ndim == 1 and (is_single or n == 1):
            array = array[None, :]
        shape = (n, self.n_labels)
        if array.shape != shape:
            wanted = f"({self.n_labels},)" if is_single else str(shape)
            raise ValueError(
                f"{name} is an array of shape {array.shape if not is_single else array.shape[1:]}, "
                f"but an indicator of shape {wanted} is needed (give labels as a list or a set)"
            )
        if array.dtype.kind not in "biuf":
            raise TypeError(
                f"{name} has dtype {array.dtype}, but an indicator has bools or 0 and 1"
            )
        unknown = LabelLists.empty(n)
        if array.dtype.kind == "b":
            mask = array
        else:
            mask = array == 1
            odd = ~(mask | (array == 0))
            if odd.any():
                missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros_like(mask)
                if (odd & ~missing).any():
                    value = array[odd & ~missing][0]
                    raise ValueError(
                        f"{name} has the value {value}, but an indicator has 0 and 1 only (NaN: unknown)"
                    )
                unknown = _nonzero(missing)
        return _nonzero(mask), unknown

    def _one(self, relevant: Any, name: str) -> IntArray:
        """One label set, as ascending indices."""
        if hasattr(relevant, "__array__"):
            sets, unknown = self._indicators(np.asarray(relevant), 1, True, name)
            if len(unknown.values):
                raise ValueError(f"{name} has NaN; give unknown labels with unknown=")
            return sets.values
        if not isinstance(relevant, Set | Sequence) or isinstance(relevant, str | bytes):
            raise TypeError(
                f"{name} is a {type(relevant).__name__}, but a set or list of labels, or an indicator "
                f"of length {self.n_labels}, is needed"
            )
        if (
            isinstance(relevant, Sequence)
            and relevant
            and all(isinstance(v, bool | np.bool_) for v in relevant)
        ):
            return self._indicators(np.array(relevant, dtype=bool), 1, True, name)[0].values
        found = sorted(self.index(label, name) for label in relevant)
        for a, b in itertools.pairwise(found):
            if a == b:
                raise ValueError(
                    f"{name} has label {self._name(a)!r} twice (an indicator must be an array, not a list)"
                )
        return np.array(found, dtype=np.int32)

    def index(self, label: Any, name: str = "relevant") -> int:
        """The index of a label given by name or by index."""
        if self.names is not None:
            try:
                if label in self.names:
                    return self.names[label]
            except TypeError:
                pass
        if isinstance(label, bool | np.bool_) or not isinstance(label, int | np.integer):
            known = "" if self.names is None else f"; known labels: {_shortened(list(self.names))}"
            raise ValueError(
                f"{name} has label {label!r}, but labels are integers below {self.n_labels}{known}"
                if self.names is None
                else f"{name} has label {label!r}, which is not one of the model's labels{known}"
            )
        if not 0 <= int(label) < self.n_labels:
            raise ValueError(f"{name} has label {int(label)}, but n_labels is {self.n_labels}")
        return int(label)

    def _name(self, index: int) -> Any:
        if self.names is None:
            return index
        return next(name for name, i in self.names.items() if i == index)


def _shortened(names: list[Any], most: int = 8) -> str:
    text = ", ".join(repr(n) for n in names[:most])
    return text + (f", ... ({len(names)} in all)" if len(names) > most else "")


def _nonzero(mask: NDArray[np.bool_]) -> LabelLists:
    row, column = np.nonzero(mask)
    start = np.zeros(mask.shape[0] + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=mask.shape[0]), out=start[1:])
    return LabelLists(start, column.astype(np.int32))


def merged(a: LabelLists, b: LabelLists) -> LabelLists:
    """The union of two label sets of each row."""
    if not len(a.values):
        return b
    return LabelLists.of(
        [
            np.union1d(a.values[a.start[i] : a.start[i + 1]], b.values[b.start[i] : b.start[i + 1]])
            for i in range(len(a.start) - 1)
        ]
    )


def refuse_overlap(relevant: LabelLists, unknown: LabelLists) -> None:
    """Refuse labels that are called both relevant and unknown."""
    for i in range(len(relevant.start) - 1):
        both = np.intersect1d(
            relevant.values[relevant.start[i] : relevant.start[i + 1]],
            unknown.values[unknown.start[i] : unknown.start[i + 1]],
        )
        if len(both):
            raise ValueError(f"label {both[0]} is both in relevant and in unknown (row {i})")


def weights(weight: Any, n: int) -> FloatArray:
    """Check importance weights: numbers in [0, 1], one for all rows or one for each."""
    try:
        array = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"weight is {weight!r}, but numbers in [0, 1] are needed") from error
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.shape != (n,):
        raise ValueError(f"weight has shape {array.shape}, but one number or ({n},) is needed")
    if not ((array >= 0) & (array <= 1)).all():  # False for NaN
        bad = array[~((array >= 0) & (array <= 1))][0]
        raise ValueError(f"weight has the value {bad}, but importance weights lie in [0, 1]")
    return np.ascontiguousarray(array)


def whole_number(value: Any, name: str, least: int, most: int | None = None) -> int:
    """Check an integer argument."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} is {value!r}, but a whole number is needed")
    if value < least or (most is not None and value > most):
        span = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{name} is {value}, but must be {span}")
    return int(value)


def real_number(value: Any, name: str, low: float, high: float, *, open_low: bool = False) -> float:
    """Check a real argument against [low, high], or (low, high] with ``open_low``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} is {value!r}, but a number is needed")
    number = float(value)
    if not low <= number <= high or (open_low and number == low):
        raise ValueError(
            f"{name} is {value}, but must be in {'(' if open_low else '['}{low:g}, {high:g}]"
        )
    return number
