"""How the parts of each kind of learner are merged: one file for each rule, and the list of who follows which.

A rule is made for a member of the model that all workers have. A worker calls `add` with every block of its rows and
`sums` at the end; the sums of all workers are added, and `finish` writes what follows into the arrays of the model's
state. A learner without a rule learns from the tail alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from boostline.array_types import Arrays
from boostline.learners import (
    HoeffdingTree,
    Kernel,
    Linear,
    Member,
    Neighbours,
    OutputNeighbours,
    Recency,
    Ridge,
)
from boostline.learners.linear import Centroids, SparseLinear
from boostline.scale.rules.averages import AveragedLinear
from boostline.scale.rules.counts import CountedLabels, CountedNeighbours
from boostline.scale.rules.dealt import DealtChain, DealtLearner
from boostline.scale.rules.least_squares import MergedKernel, MergedRidge
from boostline.scale.rules.output_memory import output_rule
from boostline.scale.rules.rule import Rule
from boostline.scale.rules.sparse import AveragedSparseLinear, SummedCentroids

__all__ = ["RULES", "DealtChain", "Rule", "rule_for"]

#: By kind of learner, and the condition under which the rule holds.
RULES: dict[str, tuple[Callable[[Member, Arrays], Rule], Callable[[Any], bool]]] = {
    Ridge.kind: (MergedRidge, lambda d: d.forgetting == 1.0),
    Kernel.kind: (MergedKernel, lambda d: True),
    Linear.kind: (AveragedLinear, lambda d: True),
    SparseLinear.kind: (AveragedSparseLinear, lambda d: True),
    Centroids.kind: (SummedCentroids, lambda d: True),
    Neighbours.kind: (CountedNeighbours, lambda d: True),
    OutputNeighbours.kind: (output_rule, lambda d: True),
    HoeffdingTree.kind: (DealtLearner, lambda d: True),
    Recency.kind: (CountedLabels, lambda d: d.decay == 1.0),
}


def rule_for(member: Member, arrays: Arrays) -> Rule | None:
    """The rule of a member; None if it learns from the tail alone."""
    make, holds = RULES.get(member.description.kind, (None, None))
    if make is None or holds is None or not holds(member.description):
        return None
    return make(member, arrays)
