"""What a rule of merging has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from boostline.scale.members import Arrays, Member
from boostline.scale.row_blocks import RowBlock

__all__ = ["Common", "Rule"]

#: Sums that several rules share, by name: see `boostline.scale.collecting`.
Common = dict[str, Any]


class Rule(ABC):
    """Merges the parts of one member.

    Attributes
    ----------
    width : int
        Numbers per row in the matrices that it makes: blocks are cut so that these stay small.
    needs_moments : bool
        Whether `finish` asks for ``common["moments"]``.
    """

    width: int = 1
    needs_moments: ClassVar[bool] = False

    def __init__(self, member: Member, arrays: Arrays) -> None:
        self.member = member
        self.arrays = arrays

    def array(self, name: str) -> Any:
        """An array of the member in the model that all workers have."""
        return self.arrays[self.member.prefix + name]

    def add(self, block: RowBlock) -> None:  # noqa: B027 (some need nothing but what is common)
        """Take in some rows."""

    def sums(self) -> dict[str, Any]:
        """What the worker sends."""
        return {}

    @abstractmethod
    def finish(self, sums: dict[str, Any], common: Common, out: Arrays) -> None:
        """Write the member's new arrays into `out`, where the old ones are."""
