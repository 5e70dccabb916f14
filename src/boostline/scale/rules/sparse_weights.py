"""Weights by feature and label of which few are not zero, as states hold them (sparse_weights.hpp)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from boostline.array_types import Arrays
from boostline.scale.sums import KeyedSum

__all__ = ["SparseWeights"]

_ARRAYS = ("features", "n_seen", "n_weights", "weight_labels", "weights")


@dataclass(frozen=True)
class SparseWeights:
    """Weights keyed by feature * n_labels + label, and how many rows had each feature."""

    weights: KeyedSum
    seen: KeyedSum

    @classmethod
    def read(cls, arrays: Arrays, n_labels: int, prefix: str = "") -> Self:
        features, n_seen, n_weights, labels, weights = (arrays[prefix + name] for name in _ARRAYS)
        features = features.astype(np.int64)
        keys = np.repeat(features, n_weights) * n_labels + labels
        return cls(
            KeyedSum(keys, weights.astype(np.float64)[:, None]),
            KeyedSum(features, n_seen.astype(np.float64)[:, None]),
        )

    def minus(self, other: SparseWeights) -> SparseWeights:
        """What has changed since."""
        change = self.weights.minus(other.weights)
        return SparseWeights(change.nonzero(), self.seen.minus(other.seen).positive())

    def write(self, out: Arrays, prefix: str, n_labels: int) -> None:
        """Into the arrays of a state."""
        values = self.weights.values[:, 0].astype(np.float32)
        keys, values = self.weights.keys[values != 0.0], values[values != 0.0]
        counts = self.seen.positive()
        features = counts.keys
        ends = np.searchsorted(keys, features * n_labels + n_labels)
        begins = np.searchsorted(keys, features * n_labels)
        out[prefix + "least_size"] = np.zeros(1, np.int64)
        out[prefix + "features"] = features.astype(np.int32)
        out[prefix + "n_seen"] = counts.values[:, 0].astype(np.int64)
        out[prefix + "n_weights"] = (ends - begins).astype(np.int32)
        out[prefix + "weight_labels"] = (keys % n_labels).astype(np.int32)
        out[prefix + "weights"] = values
