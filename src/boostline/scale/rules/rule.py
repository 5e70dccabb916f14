"""What a rule of merging has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from boostline.array_types import Arrays
from boostline.learners import Member
from boostline.scale.memories import Column, Memory, count_rows, joined, taken
from boostline.scale.row_blocks import RowBlock

__all__ = ["Common", "Rule"]

#: Sums that several rules share, by name: see `boostline.scale.partial`.
Common = dict[str, Any]


class Rule(ABC):
    """Merges the parts of one member.

    Attributes
    ----------
    width : int
        Numbers per row in the matrices that it makes: blocks are cut so that these stay small.
    needs_moments : bool
        Whether `finish` asks for ``common["moments"]``.
    n_parts : int
        Number of parts that will be merged: of a memory, each remembers its share.
    """

    width: int = 1
    needs_moments: ClassVar[bool] = False
    n_parts: int = 1

    def __init__(self, member: Member, arrays: Arrays) -> None:
        self.member = member
        self.arrays = arrays

    def array(self, name: str) -> Any:
        """An array of the member in the model that all workers have."""
        return self.arrays[self.member.prefix + name]

    def remembered(
        self, arrays: Arrays, columns: Sequence[Column], n_learned: int, seed: bytes
    ) -> Memory:
        """The worker's share of a memory."""
        most = self.share_of_memory
        return Memory.of_last(arrays, columns, self._capacity, most, n_learned, seed)

    @property
    def share_of_memory(self) -> int:
        """Rows that the worker remembers."""
        return -(-self._capacity // self.n_parts)

    def write_memory(self, rows: Arrays, columns: Sequence[Column], out: Arrays) -> None:
        """The rows that all had before, as far as there is room, and then those of the workers."""
        mine = {name: self.array(name) for column in columns for name in column.names}
        n, room = count_rows(mine, columns), self._capacity - count_rows(rows, columns)
        before = taken(mine, columns, np.arange(max(0, n - room), n))
        both = joined(before, rows, columns)
        out |= {self.member.prefix + name: array for name, array in both.items()}

    @property
    def _capacity(self) -> int:
        return int(self.member.description.memory)  # type: ignore[attr-defined]

    def add(self, block: RowBlock) -> None:  # noqa: B027 (some need nothing but what is common)
        """Take in some rows."""

    def sums(self) -> dict[str, Any]:
        """What the worker sends."""
        return {}

    @abstractmethod
    def finish(self, sums: dict[str, Any], common: Common, out: Arrays) -> None:
        """Write the member's new arrays into `out`, where the old ones are."""
