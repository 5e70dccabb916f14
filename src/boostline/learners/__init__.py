"""Weak learners, which a booster combines.

The argument ``learners`` of a booster takes one of these, or a list of them:

====================================  ================================================================
`paper_trees`                         the paper's 100 random Hoeffding trees
`HoeffdingTree`                       one such tree, with your settings
any Python object                     with ``predict(x)`` and ``learn(x, relevant, costs, weight)``
`SingleLabel`, `LabelSet`,            wrap a Python learner whose ``predict`` gives a label, a set of
`Binary`, `Scores`                    labels, a yes or no, or a score per label
`Linear`, `SparseLinear`, `Ridge`,    score every label; strong, so a few are enough
`Kernel`, `Neighbours`, `Centroids`,
`Tracker`, `Recency`
`Committee`                           several of these, and `OutputNeighbours` and `Stack`, which read
                                      the others' scores
`auto_mix`                            the learners of `boostline.LabelRanker`, its ``"auto"``
====================================  ================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from boostline.learners import linear, scorers
from boostline.learners.committee import Committee, auto_mix
from boostline.learners.description import Description, from_config
from boostline.learners.encodings import (
    Binary,
    LabelSet,
    Scores,
    SingleLabel,
    encode_binary,
    encode_label,
    encode_scores,
    encode_set,
)
from boostline.learners.linear import *  # noqa: F403
from boostline.learners.python import FromPython, PythonLearner
from boostline.learners.scorers import *  # noqa: F403 - a new scorer is named in its own file
from boostline.learners.trees import HoeffdingTree, PaperTrees, paper_trees

__all__ = [
    "Binary",
    "Committee",
    "Description",
    "HoeffdingTree",
    "LabelSet",
    "PaperTrees",
    "PythonLearner",
    "Scores",
    "SingleLabel",
    "auto_mix",
    "encode_binary",
    "encode_label",
    "encode_scores",
    "encode_set",
    "from_config",
    "paper_trees",
]
__all__ += linear.__all__ + scorers.__all__


def describe(learners: Any) -> list[Description]:
    """Bring a ``learners`` argument into one form: a list of descriptions."""
    if isinstance(learners, str):
        raise ValueError(
            f"learners is {learners!r}, but must be learners, such as paper_trees(100) or a list"
        )
    if isinstance(learners, Description):
        return [learners]
    if isinstance(learners, Iterable) and not isinstance(learners, PythonLearner):
        found = [d if isinstance(d, Description) else FromPython(d) for d in learners]
        if not found:
            raise ValueError("learners is empty, but must have at least one learner")
        return found
    return [FromPython(learners)]
