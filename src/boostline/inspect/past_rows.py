"""Which rows of the past speak for a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostline.array_types import FloatArray
from boostline.models.evidence import Evidence


@dataclass(frozen=True)
class PastRow:
    """A row that was learned, and what it adds to a label's score.

    Attributes
    ----------
    row : int
        Its number among the rows that the member has learned, 1 for the first. Rows without a pair to rank are not
        learned, and after a restart counting begins anew. Of generations: among those that the serving one has learned.
    part : float
        Its share of all that past rows say for the label (positive) or against it (negative): of each member's sum
        over its rows, weighted by the members' weights. The sizes of all parts add up to 1 at most.
    vote : int
        Which vote the member has.
    """

    row: int
    part: float
    vote: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return {"row": self.row, "part": self.part, "vote": self.vote}


# A member names at most so many rows.
_MOST_ROWS = 5


def strongest_rows(past: Sequence[Evidence], weights: FloatArray) -> list[PastRow]:
    """The rows that say most, by each member, as shares of what all members say."""
    heard = [of for of in past if weights[of.vote] and np.any(of.parts)]
    total = sum(abs(float(weights[of.vote])) for of in heard)
    rows = []
    for of in heard:
        shares = of.parts * (abs(float(weights[of.vote])) / total / float(np.abs(of.parts).sum()))
        strongest = np.argsort(-np.abs(shares), kind="stable")[:_MOST_ROWS]
        rows += [
            PastRow(int(of.index[i]), float(shares[i]), of.vote) for i in strongest if shares[i]
        ]
    return sorted(rows, key=lambda row: -abs(row.part))
