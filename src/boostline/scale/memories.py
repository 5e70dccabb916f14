"""Rows that workers remember, for learners that use them again: a sample of the rows of all workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import Arrays

__all__ = ["Column", "Memory", "count_rows", "joined", "taken"]


@dataclass(frozen=True)
class Column:
    """An array of a memory: values of one row after the other, as many as another array says, or a fixed number."""

    name: str
    length: str | int

    @property
    def names(self) -> list[str]:
        """Its arrays."""
        return [self.name] if isinstance(self.length, int) else [self.name, self.length]


@dataclass(frozen=True)
class Memory:
    """At most `capacity` rows; of two memories together those with the least priority numbers, which are random.

    Attributes
    ----------
    priority : array (n,)
    share : array (n,)
        Rows that the worker of each row has learned.
    arrays : dict
        The columns.
    """

    capacity: int
    columns: Sequence[Column]
    priority: NDArray[np.uint64]
    share: NDArray[np.float64]
    arrays: Arrays

    @classmethod
    def of_last(
        cls,
        arrays: Arrays,
        columns: Sequence[Column],
        capacity: int,
        most: int,
        n_learned: int,
        seed: bytes,
    ) -> Memory:
        """The last rows of a worker that has learned so many; those before were there from the start."""
        n = count_rows(arrays, columns)
        kept = min(n, n_learned, most)
        key = np.frombuffer(seed.ljust(16, b"\0")[:16], np.uint64)
        rng = np.random.Generator(np.random.Philox(key=key))
        priority = rng.integers(2**63, size=kept, dtype=np.uint64)
        rows = taken(arrays, columns, np.arange(n - kept, n))
        return cls(capacity, columns, priority, np.full(kept, float(n_learned)), rows)

    def __add__(self, other: Memory) -> Memory:
        both = Memory(
            self.capacity,
            self.columns,
            np.concatenate([self.priority, other.priority]),
            np.concatenate([self.share, other.share]),
            joined(self.arrays, other.arrays, self.columns),
        )
        return both._taken(np.argsort(both.priority, kind="stable")[: self.capacity])

    def _taken(self, rows: NDArray[np.int64]) -> Memory:
        arrays = taken(self.arrays, self.columns, rows)
        return Memory(self.capacity, self.columns, self.priority[rows], self.share[rows], arrays)

    @property
    def nbytes(self) -> int:
        """Of the rows."""
        return sum(array.nbytes for array in self.arrays.values()) + 16 * len(self.priority)


def count_rows(arrays: Arrays, columns: Sequence[Column]) -> int:
    """How many rows a memory has."""
    name, length = columns[0].name, columns[0].length
    return len(arrays[name]) // length if isinstance(length, int) else len(arrays[length])


def taken(arrays: Arrays, columns: Sequence[Column], rows: NDArray[np.int64]) -> Arrays:
    """Some rows of a memory, in this order.

    Examples
    --------
    >>> columns = [Column("word", "n_words"), Column("label", 1)]
    >>> three = {"word": [7, 8, 9], "n_words": [1, 0, 2], "label": [4, 5, 6]}
    >>> two = taken({n: np.array(a) for n, a in three.items()}, columns, np.array([2, 0]))
    >>> two["word"].tolist(), two["n_words"].tolist(), two["label"].tolist()
    ([8, 9, 7], [2, 1], [6, 4])
    """
    out: dict[str, NDArray[Any]] = {}
    for column in columns:
        values = arrays[column.name]
        if isinstance(column.length, int):
            out[column.name] = values.reshape(-1, column.length)[rows].ravel()
            continue
        lengths = arrays[column.length]
        before, chosen = np.cumsum(lengths) - lengths, lengths[rows]
        shift = np.repeat(before[rows] - (np.cumsum(chosen) - chosen), chosen)
        out[column.name] = values[np.arange(len(shift)) + shift]
        out[column.length] = chosen
    return out


def joined(first: Arrays, second: Arrays, columns: Sequence[Column]) -> Arrays:
    """The rows of two memories, with the types of the first."""
    names = {name for column in columns for name in column.names}
    return {
        name: np.concatenate([first[name], second[name].astype(first[name].dtype, copy=False)])
        for name in names
    }
