"""Learners that count: the counts of all rows are added up exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostline.array_types import Arrays
from boostline.scale.rules.rule import Common, Rule
from boostline.scale.sums import Moments

__all__ = ["CountedLabels", "CountedNeighbours"]


class CountedLabels(Rule):
    """How often each label was relevant (`Recency` that forgets nothing).

    An unknown label counts as its share in the common model.
    """

    def finish(self, sums: dict[str, Any], common: Common, out: Arrays) -> None:
        counts, total = self.array("counts"), self.array("total")
        share = counts / total[0] if total[0] > 0.0 else np.zeros_like(counts)
        merged = total[0] + common["weight"]
        added = counts + common["relevant"] + share * common["unknown"]
        out[self.member.prefix + "counts"] = np.minimum(added, merged)
        out[self.member.prefix + "total"] = np.array([merged])


class CountedNeighbours(Rule):
    """Nearest neighbours: frequencies of labels and the scale are those of all rows, the memory is that of the tail.

    The memory holds the last rows in any case, so a tail as long as the memory loses nothing.
    """

    needs_moments = True

    def finish(self, sums: dict[str, Any], common: Common, out: Arrays) -> None:
        prefix = self.member.prefix
        added = self.array("n_added")[0] + common["weight"]
        known = self.array("known") + (common["weight"] - common["unknown"])
        out[prefix + "n_added"] = np.array([added])
        out[prefix + "known"] = np.minimum(known, added)
        relevant = self.array("relevant") + common["relevant"]
        out[prefix + "relevant"] = np.minimum(relevant, out[prefix + "known"])
        write_row_scale(self, common, out)


def write_row_scale(rule: Rule, common: Common, out: Arrays) -> None:
    """The moments of all rows, for a member that has a scale of its own (row_scale.hpp)."""
    prefix = rule.member.prefix
    if prefix + "scale_n_rows" not in rule.arrays:
        return
    moments = Moments.read(rule.arrays, prefix + "scale_")
    moments = moments + common["moments"].first(len(moments.mean))
    moments.write(out, prefix + "scale_")
    out[prefix + "is_dense"] = moments.is_dense()
