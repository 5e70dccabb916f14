"""Learners whose weights by feature and label are mostly zero (sparse_weights.hpp)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import Arrays
from boostline.scale.memories import Column
from boostline.scale.rules.averages import Averaged, ratio
from boostline.scale.rules.rule import Common
from boostline.scale.sums import FloatArray, long_row

__all__ = ["AveragedSparseLinear", "SummedCentroids"]


class SparseWeights(Averaged):
    """Changes of weights, and how many more rows had each feature, as long sparse rows."""

    def weights(self, arrays: Arrays, prefix: str = "") -> tuple[Any, Any]:
        """Weights, of which that of a feature and label is at feature * n_labels + label, and counts of features."""
        k, d = self.member.n_labels, self.member.n_features
        features = arrays[prefix + "features"].astype(np.int64)
        keys = np.repeat(features, arrays[prefix + "n_weights"]) * k
        keys += arrays[prefix + "weight_labels"]
        n_seen = arrays[prefix + "n_seen"]
        return long_row(keys, arrays[prefix + "weights"], d * k), long_row(features, n_seen, d)

    def changes(self, learned: Arrays) -> tuple[Any, Any]:
        """What has changed since all workers began."""
        before = self.weights(self.arrays, self.member.prefix)
        change, seen = (a - b for a, b in zip(self.weights(learned), before, strict=True))
        np.maximum(seen.data, 0.0, out=seen.data)
        seen.eliminate_zeros()
        return change, seen

    def write_weights(self, change: Any, more_seen: Any, out: Arrays) -> Any:
        """The weights that all workers began with, changed: into the arrays of a state."""
        prefix, k = self.member.prefix, self.member.n_labels
        weights, seen = self.weights(self.arrays, prefix)
        weights, seen = weights + change, seen + more_seen
        values = weights.data.astype(np.float32)
        keys, values = weights.indices[values != 0.0].astype(np.int64), values[values != 0.0]
        features = seen.indices.astype(np.int64)
        ends = np.searchsorted(keys, features * k + k)
        begins = np.searchsorted(keys, features * k)
        out[prefix + "least_size"] = np.zeros(1, np.int64)
        out[prefix + "features"] = features.astype(np.int32)
        out[prefix + "n_seen"] = seen.data.astype(np.int64)
        out[prefix + "n_weights"] = (ends - begins).astype(np.int32)
        out[prefix + "weight_labels"] = (keys % k).astype(np.int32)
        out[prefix + "weights"] = values
        return weights


def _at(row: Any, keys: NDArray[Any]) -> FloatArray:
    """Entries of a long vector."""
    if not len(row.indices):
        return np.zeros(len(keys))
    place = np.minimum(np.searchsorted(row.indices, keys), len(row.indices) - 1)
    return np.where(row.indices[place] == keys, row.data[place], 0.0)


class AveragedSparseLinear(SparseWeights):
    """Support vector machines: each feature's weights are averaged by the rows in which each worker saw it."""

    @property
    def columns(self) -> list[Column]:
        lists = [("row_index", "row_index"), ("row_value", "row_index")]
        lists += [(name, name) for name in ("row_relevant", "row_unknown", "row_dual_label")]
        lists += [("row_dual", "row_dual_label")]
        return [*(Column(name, f"{of}_length") for name, of in lists), Column("row_importance", 1)]

    def sums(self) -> dict[str, Any]:
        learned = self.learned()
        change, seen = self.changes(learned)
        change.data *= _at(seen, change.indices // self.member.n_labels)
        bias = learned["bias"].astype(np.float64) - self.array("bias")
        return {
            "seen": seen,
            "change": change,
            "bias": self.n_learned * bias,
            "n_learned": np.array([self.n_learned]),
            "memory": self.memory(learned),
        }

    def finish(self, sums: dict[str, Any], common: Common, out: Arrays) -> None:
        prefix, step = self.member.prefix, sums["change"].copy()
        step.data = ratio(step.data, _at(sums["seen"], step.indices // self.member.n_labels))
        self.write_weights(step, sums["seen"], out)
        n = int(sums["n_learned"][0])
        bias = self.array("bias") + (sums["bias"] / n if n else 0.0)
        out[prefix + "bias"] = bias.astype(np.float32)
        out[prefix + "clock"] = self.array("clock") + n
        # A row has the same share in the weights as its worker, and so have its dual variables.
        rows, share = sums["memory"].arrays, sums["memory"].share / max(n, 1)
        dual = rows["row_dual"] * np.repeat(share, rows["row_dual_label_length"])
        self.write_memory({**rows, "row_dual": dual}, self.columns, out)
        total = self.array("total") + common["weight"]
        out[prefix + "total"] = total
        out[prefix + "counts"] = np.minimum(self.array("counts") + common["relevant"], total[0])


class SummedCentroids(SparseWeights):
    """The mean rows of labels: sums of rows, which are added up exactly, but for single precision."""

    def sums(self) -> dict[str, Any]:
        change, seen = self.changes(self.learned())
        return {"seen": seen, "change": change}

    def finish(self, sums: dict[str, Any], common: Common, out: Arrays) -> None:
        total = self.write_weights(sums["change"], sums["seen"], out)
        values = total.data.astype(np.float32).astype(np.float64)
        k = self.member.n_labels
        squares = np.bincount(total.indices % k, values**2, minlength=k)
        out[self.member.prefix + "squares"] = squares
