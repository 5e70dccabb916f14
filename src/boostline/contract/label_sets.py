"""Label sets that have been read: lists of labels for the core, indicators for metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostline import _core
from boostline.array_types import BoolArray

IntArray = NDArray[np.int32]

#: In `LabelSets.relevance`: it is not known whether the label is relevant.
UNKNOWN = -1


class LabelLists(NamedTuple):
    """Label sets of several rows: row i has ``values[start[i]:start[i + 1]]``, ascending."""

    start: NDArray[np.int64]
    values: IntArray

    @classmethod
    def of(cls, sets: Sequence[Sequence[int]]) -> LabelLists:
        if len(sets) == 1:
            return cls(np.array([0, len(sets[0])]), np.array(sets[0], dtype=np.int32))
        start = np.zeros(len(sets) + 1, np.int64)
        np.cumsum(np.array([len(one) for one in sets], np.int64), out=start[1:])
        return cls(start, np.array([label for one in sets for label in one], dtype=np.int32))

    @classmethod
    def nonzero(cls, mask: BoolArray) -> LabelLists:
        if len(mask) == 1:
            found = mask[0].nonzero()[0]
            return cls(np.array([0, len(found)]), found.astype(np.int32))
        row, column = np.nonzero(mask)
        return cls.from_pairs(row, column, len(mask))

    @classmethod
    def from_pairs(cls, row: NDArray[Any], label: NDArray[Any], n: int) -> LabelLists:
        """Of (row, label) pairs that ascend."""
        start = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=n), out=start[1:])
        return cls(start, label.astype(np.int32))

    @classmethod
    def concat(cls, parts: Sequence[LabelLists]) -> LabelLists:
        start = np.zeros(sum(len(one.start) - 1 for one in parts) + 1, np.int64)
        np.cumsum(np.concatenate([one.sizes for one in parts]), out=start[1:])
        return cls(start, np.concatenate([one.values for one in parts]))

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.diff(self.start)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of each value."""
        return np.repeat(np.arange(len(self.start) - 1), self.sizes)

    def mask(self, n_labels: int) -> BoolArray:
        mask = np.zeros((len(self.start) - 1, n_labels), dtype=np.bool_)
        mask[self.rows, self.values] = True
        return mask

    def take(self, rows: Any) -> LabelLists:
        """The sets of some rows: a slice or an array of places."""
        if isinstance(rows, slice):
            first, last, _ = rows.indices(len(self.start) - 1)
            start = self.start[first : max(first, last) + 1]
            return LabelLists(
                np.ascontiguousarray(start - start[0]), self.values[start[0] : start[-1]]
            )
        return LabelLists.of(
            [self.values[self.start[i] : self.start[i + 1]].tolist() for i in rows]
        )


_NO_LABELS = np.zeros(0, np.int32)
_NOTHING = LabelLists(np.zeros(2, np.int64), _NO_LABELS)  # in the only row


class LabelSets:
    """What is known of the labels of n rows, relevant ones first, then unknown ones, as lists or as masks.

    The form that was not given is made when it is asked for.

    Attributes
    ----------
    n, n_labels : int
    relevant, unknown : LabelLists
        Lists of labels, which the core takes.
    is_relevant : array (n, k) of bool
    is_unknown : array (n, k) of bool, or None
        None if every label is known.
    names : list or None
        The columns of the frame that the labels came in, if the labels had no names before.
    """

    def __init__(
        self,
        n: int,
        n_labels: int,
        lists: tuple[LabelLists, LabelLists | None] | None = None,
        masks: tuple[BoolArray, BoolArray | None] | None = None,
        names: list[Any] | None = None,
    ) -> None:
        self.n = n
        self.n_labels = n_labels
        self.names = names
        self._lists = lists
        self._masks = masks

    @classmethod
    def of_relevance(cls, codes: NDArray[np.int8]) -> LabelSets:
        """Of (n, k) codes: 1 for relevant, 0 for irrelevant and UNKNOWN for unknown labels."""
        n, n_labels = codes.shape
        unknown = codes == UNKNOWN
        return cls(n, n_labels, masks=(codes == 1, unknown if unknown.any() else None))

    @property
    def has_unknown(self) -> bool:
        return (self._lists or self._masks)[1] is not None  # type: ignore[index]

    @property
    def relevant(self) -> LabelLists:
        return self._as_lists()[0]

    @property
    def unknown(self) -> LabelLists:
        if (lists := self._as_lists()[1]) is not None:
            return lists
        return _NOTHING if self.n == 1 else LabelLists(np.zeros(self.n + 1, np.int64), _NO_LABELS)

    @property
    def is_relevant(self) -> BoolArray:
        return self._as_masks()[0]

    @property
    def is_unknown(self) -> BoolArray | None:
        return self._as_masks()[1]

    @property
    def native(self) -> _core.LabelSets:
        """As the core takes them."""
        return _core.LabelSets(self.n_labels, *self.relevant, *self.unknown)

    def _as_lists(self) -> tuple[LabelLists, LabelLists | None]:
        if self._lists is None:
            relevant, unknown = self._as_masks()
            self._lists = (
                LabelLists.nonzero(relevant),
                None if unknown is None else LabelLists.nonzero(unknown),
            )
        return self._lists

    def _as_masks(self) -> tuple[BoolArray, BoolArray | None]:
        if self._masks is None:
            relevant, unknown = self._as_lists()
            self._masks = (
                relevant.mask(self.n_labels),
                None if unknown is None else unknown.mask(self.n_labels),
            )
        return self._masks

    @property
    def relevance(self) -> NDArray[np.int8]:
        """(n, k): 1 for relevant, 0 for irrelevant and UNKNOWN for unknown labels."""
        codes = self.is_relevant.astype(np.int8)
        if self.is_unknown is not None:
            codes[self.is_unknown] = UNKNOWN
        return codes

    def take(self, rows: Any) -> LabelSets:
        """What is known of some rows: a slice or an array of places."""
        if isinstance(rows, slice) and rows.indices(self.n) == (0, self.n, 1):
            return self
        lists = masks = None
        if self._lists:
            lists = tuple(one and one.take(rows) for one in self._lists)
            n = len(lists[0].start) - 1  # type: ignore[union-attr]
        else:
            masks = tuple(one if one is None else one[rows] for one in self._masks)  # type: ignore[union-attr]
            n = len(masks[0])  # type: ignore[arg-type]
        return LabelSets(n, self.n_labels, lists, masks, self.names)  # type: ignore[arg-type]

    def owned(self) -> LabelSets:
        """The same, with arrays that nobody else can write into."""
        if self._masks:
            masks = tuple(one if one is None else one.copy() for one in self._masks)
            return LabelSets(self.n, self.n_labels, masks=masks, names=self.names)  # type: ignore[arg-type]
        return self

    @classmethod
    def concat(cls, parts: Sequence[LabelSets]) -> LabelSets:
        """Several, one after the other. Where labels were added on the way, they are all that there are in the end."""
        k, names = max(one.n_labels for one in parts), parts[0].names
        n = sum(one.n for one in parts)
        unknown = any(one.has_unknown for one in parts)
        lists = LabelLists.concat([one.relevant for one in parts])
        hidden = LabelLists.concat([one.unknown for one in parts]) if unknown else None
        return cls(n, k, lists=(lists, hidden), names=names)
