"""What adds to a member's own score of a label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray


@dataclass(frozen=True)
class Evidence:
    """One member's score of a label as a sum over features, or over rows of the past.

    Attributes
    ----------
    vote : int
        The member's vote.
    rest : float
        What no part accounts for: a bias, a frequency, or rows that have left the memory.
    index : array of int
        Columns of features; or numbers of rows, where 1 is the first that the member has learned.
    parts : array
        What each of them adds.
    """

    vote: int
    rest: float
    index: NDArray[np.int64]
    parts: FloatArray

    @property
    def score(self) -> float:
        """The sum; the member's vote grows with it."""
        return self.rest + float(self.parts.sum())
