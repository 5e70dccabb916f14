"""Learners that grow, such as trees, cannot be averaged: each is dealt to one of the workers, and kept from that one.

A worker with twice the rows is drawn twice as often. The draw follows from what the worker has learned, so that it is
the same whenever the rows are, and in whatever order parts are merged.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from boostline.array_types import Arrays
from boostline.scale.row_blocks import RowBlock
from boostline.scale.rules.averages import Averaged
from boostline.scale.rules.rule import Common, Rule
from boostline.scale.sums import Kept, Largest

__all__ = ["DealtChain", "DealtLearner"]

# Of a booster whose learners are dealt: what counts over rows and is added up, and what is averaged by rows.
_ADDED = (
    "suffered_loss",
    "edge_numerator",
    "edge_denominator",
    "expert_loss",
    "expert_log_weights",
    "promised_loss",
    "assumed_gain",
)
_AVERAGED = ("learner_weights",)


class DealtLearner(Averaged):
    """A tree of a `LabelRanker`: each worker's goes on from the common one."""

    def sums(self) -> dict[str, Any]:
        return {"kept": Kept.drawn(self.learned(), self.n_learned, self.member.prefix)}

    def finish(self, sums: dict[str, Any], common: Common, out: Arrays) -> None:
        out |= {self.member.prefix + name: array for name, array in sums["kept"].arrays.items()}


class DealtChain(Rule):
    """All learners of `AdaOLMR` or `OnlineBMR`, each of which learns what those before it got wrong.

    Each worker boosts all of them on its own rows, and each learner is kept from one of the workers.
    """

    def __init__(self, model: Any, arrays: Arrays) -> None:
        self.arrays = arrays
        self.start = model
        self.model: Any = None
        self.width = model.n_labels
        self.n_learned = 0

    def add(self, block: RowBlock) -> None:
        if self.model is None:
            self.model = copy.deepcopy(self.start)
        self.model.learn(block.rows, block.sets, weight=block.given_weights, return_scores=False)
        self.n_learned += int(block.is_learned.sum())

    def sums(self) -> dict[str, Any]:
        learned = self.arrays if self.model is None else self.model.state()["arrays"]
        sums: dict[str, Any] = {"n_learned": np.array([float(self.n_learned)])}
        for name in self._own(_ADDED):
            sums[name] = learned[name] - self.arrays[name]
        for name in self._own(_AVERAGED):
            sums[name] = self.n_learned * (learned[name] - self.arrays[name])
        sums["largest_weight"] = Largest(learned["largest_weight"])
        for i in range(len(self.start.learners)):
            prefix = f"learners.{i}."
            mine = {n.removeprefix(prefix): a for n, a in learned.items() if n.startswith(prefix)}
            sums[f"kept.{i}"] = Kept.drawn(mine, self.n_learned, prefix)
        return sums

    def finish(self, sums: dict[str, Any], common: Common, out: Arrays) -> None:
        n = max(1.0, float(sums["n_learned"][0]))
        for name in self._own(_ADDED):
            out[name] = self.arrays[name] + sums[name]
        for name in self._own(_AVERAGED):
            out[name] = self.arrays[name] + sums[name] / n
        out["largest_weight"] = sums["largest_weight"].values
        for i in range(len(self.start.learners)):
            kept = sums[f"kept.{i}"].arrays
            old = [name for name in out if name.startswith(f"learners.{i}.")]
            for name in old:
                del out[name]
            out |= {f"learners.{i}.{name}": array for name, array in kept.items()}

    def _own(self, names: tuple[str, ...]) -> list[str]:
        return [name for name in names if name in self.arrays]
