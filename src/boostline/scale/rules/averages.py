"""Learners that take steps: each worker's learner goes on from the common model, and their changes are averaged.

A weight is averaged by how much each worker had to say about it, so that a feature that only one worker has seen keeps
what that worker learned. The memory for replay gets rows of all workers, so that the tail, with which they are
learned again, reconciles what the workers found.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from boostline.array_types import Arrays
from boostline.data.errors import need
from boostline.learners import Member
from boostline.models.label_ranker import LabelRanker
from boostline.scale.memories import Column, Memory
from boostline.scale.row_blocks import RowBlock
from boostline.scale.rules.counts import write_row_scale
from boostline.scale.rules.rule import Common, Rule
from boostline.scale.sums import FloatArray, Moments

__all__ = ["Averaged", "AveragedLinear", "ratio"]

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
    model.restore(own | state)
    return model


class Averaged(Rule):
    """A model of the member that learns the worker's rows."""

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
            return {
                n.removeprefix(prefix): a for n, a in self.arrays.items() if n.startswith(prefix)
            }
        arrays: Arrays = self.model.state()["arrays"]
        return {n.removeprefix(_ALONE): a for n, a in arrays.items() if n.startswith(_ALONE)}

    @property
    def columns(self) -> list[Column]:
        """The arrays of its memory."""
        raise NotImplementedError

    def memory(self, learned: Arrays) -> Memory:
        """The worker's last rows; their priorities follow from what it has learned."""
        seed = hashlib.blake2b(learned["bias"].tobytes(), digest_size=16).digest()
        return self.remembered(learned, self.columns, self.n_learned, seed)


class AveragedLinear(Averaged):
    """AdaGrad: weights are averaged by the squared gradients that each worker saw, which are added up."""

    needs_moments = True

    @property
    def columns(self) -> list[Column]:
        return [
            Column("row_index", "row_length"),
            Column("row_value", "row_length"),
            Column("row_targets", self.member.n_labels),
            Column("row_importance", 1),
        ]

    def sums(self) -> dict[str, Any]:
        learned = self.learned()
        sums: dict[str, Any] = {"memory": self.memory(learned)}
        seen = learned["bias_squares"] - self.array("bias_squares")
        sums["bias_squares"], sums["bias"] = seen, seen * (learned["bias"] - self.array("bias"))
        k = self.member.n_labels
        learned = {**learned, **{n: learned[n].astype(np.float64) for n in ("weights", "squares")}}
        squares = (learned["squares"] - self.array("squares")).reshape(-1, k)
        change = (learned["weights"] - self.array("weights")).reshape(-1, k)
        # Of many features a worker sees some.
        sparse = need("scipy.sparse", "boostline.scale")
        sums["steps"] = sparse.csr_array(np.hstack([squares, squares * change]))
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
        k, steps = self.member.n_labels, sums["steps"].toarray()
        every = {
            name: self.array(name).reshape(-1, k).astype(np.float64)
            for name in ("weights", "squares")
        }
        every["squares"] += steps[:, :k]
        every["weights"] += ratio(steps[:, k:], steps[:, :k])
        for name, values in every.items():
            out[prefix + name] = values.ravel().astype(np.float32)
        out[prefix + "bias_squares"] = self.array("bias_squares") + sums["bias_squares"]
        out[prefix + "bias"] = self.array("bias") + ratio(sums["bias"], sums["bias_squares"])
        self.write_memory(sums["memory"].arrays, self.columns, out)
        write_row_scale(self, {**common, **sums} if self.is_hashed else common, out)


def ratio(a: FloatArray, b: FloatArray) -> FloatArray:
    """a / b, and 0 where b is not positive."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0.0)
