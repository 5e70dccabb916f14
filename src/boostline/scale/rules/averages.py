"""Learners that take steps: each worker's learner goes on from the common model, and their changes are averaged.

A weight is averaged by how much each worker had to say about it, so that a feature that only one worker has seen keeps
what that worker learned. The memory for replay is filled by the tail.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.boosters.label_ranker import LabelRanker
from boostline.saving.states import InMemory, restore
from boostline.scale.members import Arrays, Member
from boostline.scale.row_blocks import RowBlock
from boostline.scale.rules.counts import write_row_scale
from boostline.scale.rules.rule import Common, Rule
from boostline.scale.sums import FloatArray, KeyedSum, Moments

__all__ = ["AveragedLinear", "AveragedSparseLinear"]

_ALONE = "learners.0."


def alone(member: Member, arrays: Arrays) -> LabelRanker:
    """A model of this member alone, which goes on from where it is."""
    config = member.description.config()
    model = LabelRanker.from_config(
        {
            "algorithm": LabelRanker.algorithm,
            "n_labels": member.n_labels,
            "labels": None,
            "n_features": member.n_features,
            "features": None,
            "seed": 0,
            "settings": {"drift": None},
            "learners": [config],
            "resolved": [config],
        }
    )
    own = {n: a for n, a in model.state()["arrays"].items() if not n.startswith(_ALONE)}
    state = {
        _ALONE + n.removeprefix(member.prefix): a
        for n, a in arrays.items()
        if n.startswith(member.prefix)
    }
    restore(model, InMemory(own | state))
    return model


class Averaged(Rule):
    """What both linear learners share: a model that learns the worker's rows."""

    def __init__(self, member: Member, arrays: Arrays) -> None:
        super().__init__(member, arrays)
        self.width = member.n_labels
        self.model: LabelRanker | None = None
        self.n_learned = 0

    def add(self, block: RowBlock) -> None:
        if self.model is None:
            self.model = alone(self.member, self.arrays)
        self.model.learn(block.rows, block.sets, weight=block.given_weights, return_scores=False)
        self.n_learned += int(block.is_learned.sum())

    def learned(self) -> Arrays:
        """The member's arrays after the worker's rows."""
        if self.model is None:
            prefix = self.member.prefix
            return {n.removeprefix(prefix): a for n, a in self.arrays.items() if n.startswith(prefix)}
        arrays: Arrays = self.model.state()["arrays"]
        return {n.removeprefix(_ALONE): a for n, a in arrays.items() if n.startswith(_ALONE)}


class AveragedLinear(Averaged):
    """AdaGrad: weights are averaged by the squared gradients that each worker saw, which are added up."""

    needs_moments = True

    def sums(self) -> dict[str, Any]:
        learned, sums = self.learned(), {}
        for name, squares in (("weights", "squares"), ("bias", "bias_squares")):
            seen = learned[squares] - self.array(squares)
            sums[squares] = seen
            sums[name] = seen * (learned[name] - self.array(name))
        if self.is_hashed:
            mine = Moments.read(learned, "scale_")
            sums["moments"] = mine.without(Moments.read(self.arrays, self.member.prefix + "scale_"))
        return sums

    @property
    def is_hashed(self) -> bool:
        """Whether its features are buckets, whose moments only it knows."""
        return bool(self.member.description.n_hashed)  # type: ignore[attr-defined]

    def finish(self, sums: dict[str, Any], common: Common, out: Arrays) -> None:
        prefix = self.member.prefix
        for name, squares in (("weights", "squares"), ("bias", "bias_squares")):
            seen = sums[squares]
            step = np.divide(sums[name], seen, out=np.zeros(len(seen)), where=seen > 0.0)
            out[prefix + name] = self.array(name) + step
            out[prefix + squares] = self.array(squares) + seen
        write_row_scale(self, {**common, **sums} if self.is_hashed else common, out)


class AveragedSparseLinear(Averaged):
    """Support vector machines: each feature's weights are averaged by the rows in which each worker saw it."""

    def sums(self) -> dict[str, Any]:
        learned = self.learned()
        before = {name: self.array(name) for name in _FEATURE_ARRAYS}
        seen = _by_feature(learned) + _negative(_by_feature(before))
        change = self._weights(learned) + _negative(self._weights(before))
        share = seen.at(change.keys // self.member.n_labels)
        kept = change.values[:, 0] != 0.0
        bias = learned["bias"].astype(np.float64) - self.array("bias")
        return {
            "seen": KeyedSum(seen.keys, np.maximum(seen.values, 0.0)),
            "change": KeyedSum(change.keys[kept], (change.values * np.maximum(share, 0.0))[kept]),
            "bias": self.n_learned * bias,
            "n_learned": np.array([self.n_learned]),
        }

    def _weights(self, arrays: Arrays) -> KeyedSum:
        feature = np.repeat(arrays["features"].astype(np.int64), arrays["n_weights"])
        keys = feature * self.member.n_labels + arrays["weight_labels"]
        return KeyedSum(keys, arrays["weights"].astype(np.float64)[:, None])

    def finish(self, sums: dict[str, Any], common: Common, out: Arrays) -> None:
        prefix, k = self.member.prefix, self.member.n_labels
        before = {name: self.array(name) for name in _FEATURE_ARRAYS}
        change, seen = sums["change"], sums["seen"]
        rows = seen.at(change.keys // k)
        step = np.divide(change.values, rows, out=np.zeros_like(rows), where=rows > 0.0)
        weights = self._weights(before) + KeyedSum(change.keys, step)
        values = weights.values[:, 0].astype(np.float32)
        keys, values = weights.keys[values != 0.0], values[values != 0.0]
        counts = _by_feature(before) + seen
        kept = counts.values[:, 0] > 0.0
        features = counts.keys[kept]
        out[prefix + "features"] = features.astype(np.int32)
        out[prefix + "n_seen"] = counts.values[kept, 0].astype(np.int64)
        ends = np.searchsorted(keys, features * k + k)
        out[prefix + "n_weights"] = (ends - np.searchsorted(keys, features * k)).astype(np.int32)
        out[prefix + "weight_labels"] = (keys % k).astype(np.int32)
        out[prefix + "weights"] = values
        n = int(sums["n_learned"][0])
        bias = self.array("bias") + (sums["bias"] / n if n else 0.0)
        out[prefix + "bias"] = bias.astype(np.float32)
        out[prefix + "clock"] = self.array("clock") + n
        total = self.array("total") + common["weight"]
        out[prefix + "total"] = total
        out[prefix + "counts"] = np.minimum(self.array("counts") + common["relevant"], total[0])


_FEATURE_ARRAYS = ("features", "n_seen", "n_weights", "weight_labels", "weights")


def _by_feature(arrays: dict[str, NDArray[Any]]) -> KeyedSum:
    values: FloatArray = arrays["n_seen"].astype(np.float64)[:, None]
    return KeyedSum(arrays["features"].astype(np.int64), values)


def _negative(one: KeyedSum) -> KeyedSum:
    return KeyedSum(one.keys, -one.values)
