"""Label sets from users become the internal form here, with the same rules at every entry point.

Arrays, sparse rows, frames and sequences of bools are indicators of length k: 1 relevant, 0 irrelevant, NaN unknown.
Sets, lists and tuples hold labels, by name or by place; dicts say of labels whether they are relevant (True, False, or
None for unknown). Names that are whole numbers leave no room for places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import BoolArray
from boostline.contract import frames
from boostline.contract.label_sets import UNKNOWN, LabelLists, LabelSets
from boostline.contract.numbers import unmasked
from boostline.contract.sparse import is_sparse, read_csr


class LabelSpace:
    """The labels of a model, their names if they have any, and how label sets are given in them.

    Parameters
    ----------
    n_labels
        Number of labels, k.
    names
        Their names.

    Examples
    --------
    >>> space = LabelSpace(3, ["sun", "rain", "wind"])
    >>> space.read({"sun", "wind"}, 1, True).is_relevant
    array([[ True, False,  True]])
    """

    def __init__(self, n_labels: int, names: Sequence[Any] | None = None) -> None:
        self.n_labels = n_labels
        self.names = None if names is None else list(names)
        self._place = {} if names is None else {one: i for i, one in enumerate(names)}
        # Names that are whole numbers leave no room for places.
        self._places_count = not any(_is_whole(one) for one in self._place)

    def read(
        self, relevant: Any, n: int, is_single: bool, unknown: Any = None, name: str = "relevant"
    ) -> LabelSets:
        """Label sets of ``n`` rows.

        Parameters
        ----------
        relevant
            The relevant labels; sets that have been read already pass as they are.
        n, is_single
            How many rows there are, and whether it is one example and not a block of one.
        unknown
            Labels that may or may not be relevant, in the same forms. They add to those that are
            NaN in ``relevant``.
        name
            The argument's name in errors.
        """
        if isinstance(relevant, LabelSets):
            return self._already_read(relevant, n, name)
        if is_single and unknown is None and type(relevant) in (set, frozenset):
            places = self._simple_places(relevant)
            if places is not None:
                return LabelSets(1, self.n_labels, lists=(LabelLists.of([places]), None))
        sets = self._read(relevant, n, is_single, name)
        if unknown is None:
            return sets
        space = self if sets.names is None else LabelSpace(self.n_labels, sets.names)
        also = space._read(unknown, n, is_single, "unknown")
        if also.has_unknown:
            raise ValueError("unknown has NaN, but must be True or False for every label")
        return _with_unknown(sets, also, name)

    def index(self, label: Any, said: str) -> int:
        """The place of a label that is given by name or by place; `said` begins the error if there is none."""
        try:
            place = self._place.get(label)
        except TypeError:  # not hashable
            place = None
        # True is 1 to Python, but no label that is called 1.
        if place is not None and _is_bool((self.names or ())[place]) == _is_bool(label):
            return place
        whole = _is_whole(label)
        if whole and self._places_count:
            if 0 <= label < self.n_labels:
                return int(label)
            raise ValueError(f"{said}, but n_labels is {self.n_labels}")
        if self.names is None:
            raise ValueError(
                f"{said}, but labels must be whole numbers between 0 and {self.n_labels - 1}"
            )
        meant = frames.suggestion(label, self.names)
        raise ValueError(
            f"{said}{meant}, but labels must be those of the model: {frames.shortened(self.names)}"
        )

    def _simple_places(self, relevant: Any) -> list[int] | None:
        """The places of a set of names, or of whole numbers where there are no names; None for all else."""
        if self.names is None:
            n = self.n_labels
            simple = all(type(one) is int and 0 <= one < n for one in relevant)
            return sorted(relevant) if simple else None
        place = self._place
        simple = all(type(one) is str and one in place for one in relevant)
        return sorted(place[one] for one in relevant) if simple else None

    def _already_read(self, sets: LabelSets, n: int, name: str) -> LabelSets:
        if (sets.n, sets.n_labels) != (n, self.n_labels):
            raise ValueError(
                f"{name} has {sets.n} rows of {sets.n_labels} labels, but must have {n} of {self.n_labels}"
            )
        return sets

    def _read(self, relevant: Any, n: int, is_single: bool, name: str) -> LabelSets:
        relevant = _listed(relevant)
        columns = frames.names_of(relevant, name)
        if columns is not None:
            return self._read_frame(relevant, columns, n, is_single, name)
        if is_sparse(relevant):
            return self._read_sparse(relevant, n, name)
        if isinstance(relevant, np.ndarray) or hasattr(relevant, "__array__"):
            return self._read_indicators(np.asarray(unmasked(relevant)), n, is_single, name)
        if is_single or (n == 1 and _is_one_set(relevant)):
            return self._of_rows([relevant], [name])
        if not isinstance(relevant, Sequence) or isinstance(relevant, str | bytes):
            raise TypeError(
                f"{name} is a {type(relevant).__name__}, but for a block must be an indicator "
                f"({n}, {self.n_labels}) or a list with one label set per row"
            )
        if len(relevant) != n:
            raise ValueError(
                f"{name} has {len(relevant)} label sets, but must have one for each of the {n} rows"
            )
        return self._of_rows(relevant, [f"{name}[{i}]" for i in range(n)])

    def _read_frame(
        self, frame: Any, columns: list[Any], n: int, is_single: bool, name: str
    ) -> LabelSets:
        order = frames.column_order(columns, self.names, name, "labels")
        matrix = frame.matrix if isinstance(frame, frames.Named) else frames.as_array(frame, name)
        if order is not None:
            matrix = frames.reordered(matrix, order, name)
        if is_sparse(matrix):
            sets = self._read_sparse(matrix, n, name)
        else:
            sets = self._read_indicators(np.asarray(matrix), n, is_single, name)
        if self.names is None and not frames.are_positions(columns):
            sets.names = columns
        return sets

    def _read_indicators(
        self, array: NDArray[Any], n: int, is_single: bool, name: str
    ) -> LabelSets:
        if array.ndim == 1 and (is_single or n == 1):
            array = array[None, :]
        if array.shape != (n, self.n_labels):
            self._refuse_shape(array.shape[1:] if is_single else array.shape, n, is_single, name)
        if array.dtype.kind == "b":
            return LabelSets(n, self.n_labels, masks=(array, None))
        if array.dtype.kind == "O":  # values that may be None
            codes = [_truth(value, label, name) for row in array for label, value in enumerate(row)]
            return LabelSets.of_relevance(np.array(codes, dtype=np.int8).reshape(array.shape))
        if array.dtype.kind not in "iuf":
            raise TypeError(f"{name} has dtype {array.dtype}, but must have bools, or 0 and 1")
        mask = array == 1
        return LabelSets(n, self.n_labels, masks=(mask, unknown_values(array, mask, name)))

    def _read_sparse(self, matrix: Any, n: int, name: str) -> LabelSets:
        if len(matrix.shape) == 1:
            matrix = matrix.reshape(1, -1)
        if matrix.shape != (n, self.n_labels):
            self._refuse_shape(matrix.shape, n, False, name)
        csr = read_csr(matrix, name)
        if csr.values.dtype.kind not in "biuf":
            raise TypeError(f"{name} has dtype {csr.values.dtype}, but must have bools, or 0 and 1")
        mask = csr.values == 1
        odd = unknown_values(csr.values, mask, name)
        row = np.repeat(np.arange(n), np.diff(csr.start))
        lists = [
            None if one is None else LabelLists.from_pairs(row[one], csr.column[one], n)
            for one in (mask, odd)
        ]
        return LabelSets(n, self.n_labels, lists=(lists[0], lists[1]))  # type: ignore[arg-type]

    def _of_rows(self, rows: Sequence[Any], names: Sequence[str]) -> LabelSets:
        """One label set each, in forms that may differ from row to row."""
        lists: list[Sequence[int]] = []
        unknown: list[Sequence[int]] = []
        for one, name in zip(rows, names, strict=True):
            if hasattr(one, "__array__") or is_sparse(one) or _is_bools(one):
                array = np.array(one, dtype=bool) if _is_bools(one) else one
                sets = self._read(array, 1, True, name)
                lists.append(sets.relevant.values.tolist())
                unknown.append(sets.unknown.values.tolist())
            else:
                found = self._places(read_told(one, name), name)
                lists.append(sorted(place for place, code in found.items() if code == 1))
                unknown.append(sorted(place for place, code in found.items() if code == UNKNOWN))
        hidden = LabelLists.of(unknown) if any(unknown) else None
        return LabelSets(len(lists), self.n_labels, lists=(LabelLists.of(lists), hidden))

    def _places(self, told: list[tuple[Any, int]], name: str) -> dict[int, int]:
        """What is told of labels, by their places."""
        found: dict[int, int] = {}
        for label, code in told:
            place = self.index(label, f"{name} has label {_plain(label)!r}")
            if place in found:
                raise ValueError(_twice(label, name))
            found[place] = code
        return found

    def _refuse_shape(self, shape: Any, n: int, is_single: bool, name: str) -> None:
        wanted = f"({self.n_labels},)" if is_single else f"({n}, {self.n_labels})"
        raise ValueError(
            f"{name} is an array of shape {tuple(shape)}, but an indicator must have the shape {wanted} "
            "(pass labels as a list or a set)"
        )


def read_told(one: Any, name: str) -> list[tuple[Any, int]]:
    """What one label set says: the labels that it names, with 1 for relevant, 0 for irrelevant, UNKNOWN for unknown."""
    if isinstance(one, Mapping):
        return [(label, _truth(value, label, name)) for label, value in one.items()]
    if not isinstance(one, Set | Sequence) or isinstance(one, str | bytes):
        raise TypeError(
            f"{name} is a {type(one).__name__}, but must be a set or list of labels, a dict of labels with "
            "True, False or None, or an indicator array"
        )
    return [(label, 1) for label in one]


def distinct_labels(told: list[tuple[Any, int]], name: str) -> dict[Any, int]:
    """The same as a dict, for labels that have no places yet."""
    found: dict[Any, int] = {}
    for label, code in told:
        try:
            if label in found:
                raise ValueError(_twice(label, name))
        except TypeError:
            raise ValueError(
                f"{name} has label {label!r}, but labels must be hashable, such as numbers and strings"
            ) from None
        found[label] = code
    return found


def _truth(value: Any, label: Any, name: str) -> int:
    if value is True or value is False:
        return int(value)
    if frames.is_missing(value):
        return UNKNOWN
    if isinstance(value, int | float | np.number | np.bool_) and value in (0, 1):
        return int(value)
    raise ValueError(
        f"{name} has the value {value!r} for label {label!r}, but must have True, False, or None for unknown"
    )


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _twice(label: Any, name: str) -> str:
    return f"{name} has label {label!r} twice, but must have each once (an indicator must be an array, not a list)"


def _listed(relevant: Any) -> Any:
    """A column of label sets (an array or series of lists) as a list; all else as it is."""
    if not hasattr(relevant, "__array__") or getattr(relevant, "ndim", 1) != 1:
        return relevant
    if isinstance(relevant, np.ndarray) and relevant.dtype.kind != "O":
        return relevant
    to_list = getattr(relevant, "to_list", None) or getattr(relevant, "tolist", None)
    if np.asarray(relevant).dtype.kind == "O" and to_list is not None:
        sets = to_list()
        if sets and all(_is_collection(one) for one in sets):
            return sets
    return relevant


def _is_collection(one: Any) -> bool:
    if is_sparse(one) or frames.is_frame_row(one):
        return True
    return isinstance(one, Sequence | Set | Mapping | np.ndarray) and not isinstance(one, str)


def unknown_values(values: NDArray[Any], is_one: BoolArray, name: str) -> BoolArray | None:
    """Which values are NaN; None if none is. Refuses what is neither 0 nor 1 nor NaN."""
    odd = ~(is_one | (values == 0))
    if not odd.any():
        return None
    bad = odd & ~np.isnan(values) if values.dtype.kind == "f" else odd
    if bad.any():
        raise ValueError(
            f"{name} has the value {values[bad][0]}, but an indicator must have 0 and 1, or NaN for unknown"
        )
    return np.asarray(odd)


def _with_unknown(sets: LabelSets, also: LabelSets, name: str) -> LabelSets:
    """The same sets with more unknown labels."""
    k = sets.n_labels
    relevant, told, marked = (
        one.rows * k + one.values for one in (sets.relevant, also.relevant, sets.unknown)
    )
    common = np.intersect1d(relevant, told)
    if len(common):
        raise ValueError(
            f"unknown has label {common[0] % k} of row {common[0] // k}, but must not have labels that are in {name} "
            "too"
        )
    places = np.union1d(told, marked)
    unknown = LabelLists.from_pairs(places // k, places % k, sets.n) if len(places) else None
    return LabelSets(sets.n, k, lists=(sets.relevant, unknown), names=sets.names)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_whole(label: Any) -> bool:
    return isinstance(label, int | np.integer) and not _is_bool(label)


def _is_bools(one: Any) -> bool:
    return isinstance(one, Sequence) and len(one) > 0 and all(_is_bool(value) for value in one)


def _is_one_set(relevant: Any) -> bool:
    if isinstance(relevant, Set | Mapping):
        return True
    return isinstance(relevant, Sequence) and not any(_is_collection(one) for one in relevant)
