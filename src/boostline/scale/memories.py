"""Rows that workers remember, for learners that learn them again: a sample of the rows of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Column", "Memory"]


@dataclass(frozen=True)
class Column:
    """An array of a memory: values of each row, as many as another array says, or a fixed number."""

    name: str
    length: str | int


@dataclass(frozen=True)
class Memory:
    """At most `capacity` rows; of two memories together those with the least priority numbers, which are random.

    Attributes
    ----------
    priority : array (n,)
    share : array (n,)
        Rows that the worker of each row has learned.
    rows : list of tuples of arrays
        One array per column.
    """

    capacity: int
    priority: NDArray[np.uint64]
    share: NDArray[np.float64]
    rows: list[tuple[NDArray[Any], ...]]

    @classmethod
    def read(
        cls,
        arrays: dict[str, NDArray[Any]],
        columns: Sequence[Column],
        capacity: int,
        n_learned: int,
        seed: bytes,
    ) -> Memory:
        """The last rows that a worker has learned, from its learner's arrays."""
        rows = unpack(arrays, columns)
        rows = rows[max(0, len(rows) - n_learned) :]  # those before were there from the start
        key = np.frombuffer(seed.ljust(16, b"\0")[:16], np.uint64)
        rng = np.random.Generator(np.random.Philox(key=key))
        priority = rng.integers(2**63, size=len(rows), dtype=np.uint64)
        return cls(capacity, priority, np.full(len(rows), float(n_learned)), rows)

    def __add__(self, other: Memory) -> Memory:
        priority = np.concatenate([self.priority, other.priority])
        share = np.concatenate([self.share, other.share])
        rows = [*self.rows, *other.rows]
        kept = np.argsort(priority, kind="stable")[: self.capacity]
        return Memory(self.capacity, priority[kept], share[kept], [rows[i] for i in kept])

    @property
    def nbytes(self) -> int:
        """Of the rows."""
        return sum(a.nbytes for row in self.rows for a in row) + 16 * len(self.rows)


def unpack(arrays: dict[str, NDArray[Any]], columns: Sequence[Column]) -> list[tuple[Any, ...]]:
    """Rows of a memory, oldest first."""
    parts = []
    for column in columns:
        values = arrays[column.name]
        if isinstance(column.length, int):
            parts.append(list(values.reshape(-1, column.length)))
        else:
            parts.append(np.split(values, np.cumsum(arrays[column.length])[:-1]))
    return list(zip(*parts, strict=True)) if all(len(part) for part in parts) else []


def pack(
    rows: list[tuple[Any, ...]],
    columns: Sequence[Column],
    arrays: dict[str, NDArray[Any]],
    prefix: str,
) -> None:
    """Write rows into the arrays of a state."""
    for place, column in enumerate(columns):
        before = arrays[prefix + column.name]
        values = [row[place] for row in rows]
        joined = np.concatenate(values) if values else before[:0]
        arrays[prefix + column.name] = np.ascontiguousarray(joined, dtype=before.dtype)
        if isinstance(column.length, str):
            lengths = np.array([len(v) for v in values], dtype=np.int32)
            arrays[prefix + column.length] = lengths
