"""The mean rows of labels: sums of rows, which are added up exactly, but for single precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostline.array_types import Arrays
from boostline.scale.rules.averages import Averaged
from boostline.scale.rules.rule import Common
from boostline.scale.rules.sparse_weights import SparseWeights

__all__ = ["SummedCentroids"]


class SummedCentroids(Averaged):
    """Each worker goes on from the common sums; what they add is added."""

    def before(self) -> SparseWeights:
        """The sums that all workers began with."""
        return SparseWeights.read(self.arrays, self.member.n_labels, self.member.prefix)

    def sums(self) -> dict[str, Any]:
        mine = SparseWeights.read(self.learned(), self.member.n_labels)
        changed = mine.minus(self.before())
        return {"seen": changed.seen, "change": changed.weights}

    def finish(self, sums: dict[str, Any], common: Common, out: Arrays) -> None:
        prefix, k, before = self.member.prefix, self.member.n_labels, self.before()
        total = SparseWeights(before.weights + sums["change"], before.seen + sums["seen"])
        total.write(out, prefix, k)
        labels = total.weights.keys % k
        values = total.weights.values[:, 0].astype(np.float32).astype(np.float64)
        out[prefix + "squares"] = np.bincount(labels, values**2, minlength=k)
