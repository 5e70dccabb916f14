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
`Tracker`, `Recency`, `SparseRanker`
`Committee`                           several of these, and `OutputNeighbours`, which reads
                                      the others' scores
`auto_mix`                            the learners of `boostline.LabelRanker`, its ``"auto"``
====================================  ================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from boostline.learners import linear, scorers, sparse_ranker
from boostline.learners.committee import Committee, auto_mix
from boostline.learners.description import Description, Member, from_config
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
from boostline.learners.sparse_ranker import *  # noqa: F403
from boostline.learners.trees import HoeffdingTree, PaperTrees, paper_trees

__all__ = [
    "Binary",
    "Committee",
    "Description",
    "HoeffdingTree",
    "LabelSet",
    "Member",
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
__all__ += linear.__all__ + scorers.__all__ + sparse_ranker.__all__


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


def draw(
    learners: Sequence[Description], seed: int, n_labels: int, n_features: int
) -> list[Description]:
    """The learners of a model for so many labels and features, with all settings drawn."""
    # The stream keeps these draws apart from the booster's, which use (seed, 0).
    rng = np.random.Generator(np.random.Philox(key=np.array([seed, 1], dtype=np.uint64)))
    drawn = [d for one in learners for d in one.resolve(n_features, rng, n_labels)]
    if not drawn:
        kinds = ", ".join(d.kind for d in learners)
        raise ValueError(
            f"learners is {kinds}, none of which can be used with {n_labels} labels and {n_features} features"
        )
    return drawn


def members(learners: Sequence[Description], n_labels: int, n_features: int) -> list[Member]:
    """The learners of a model one by one, those of a committee included; see `boostline.models.Booster.members`."""
    return [
        member
        for i, one in enumerate(learners)
        for member in one.as_members(f"learners.{i}.", n_labels, n_features)
    ]


def from_configs(configs: Sequence[Any], python_learners: Sequence[Any] = ()) -> list[Description]:
    """Make descriptions again; learners written in Python are taken from ``python_learners`` in order."""
    given = iter(python_learners)
    return [
        _next_python(given, c) if c.get("kind") == FromPython.kind else from_config(c)
        for c in configs
    ]


def _next_python(given: Any, config: dict[str, Any]) -> FromPython:
    try:
        return FromPython(next(given))
    except StopIteration:
        raise ValueError(
            f"the model has a learner written in Python ({config.get('class')}); pass these objects in the same "
            "order as learners="
        ) from None
