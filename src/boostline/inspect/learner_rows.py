"""Which learners matter: weights, edges, sizes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from boostline.array_types import FloatArray
from boostline.inspect.trees import details_of_votes, kinds_of_votes, trees_of, vote_name
from boostline.models import LabelRanker


@dataclass(frozen=True)
class LearnerRow:
    """One learner of a booster.

    Attributes
    ----------
    index : int
        Its place, from 0; `Booster.votes` has its votes in this row.
    kind : str
        What it is, ``hoeffding_tree`` for example.
    detail : str
        The member of a ``committee``, which has a vote for each; the decay of a ``recency``; else nothing.
    weight : float
        alpha^i; of a LabelRanker the learner's share in the scores.
    edge : float or None
        Its empirical edge over random guessing on all that was learned. None in a LabelRanker: its costs follow from
        the mixture, and say nothing about a learner alone.
    listened : float
        Probability that the followed expert contains it.
    importance : float
        ``|weight| * listened`` as a share of all learners'.
    expert_loss : float
        Mean rank loss of the expert that consists of the learners up to this one; of a LabelRanker, of this one alone.
    nodes, leaves, depth : int or None
        Of trees.
    """

    index: int
    kind: str
    detail: str
    weight: float
    edge: float | None
    listened: float
    importance: float
    expert_loss: float
    nodes: int | None = None
    leaves: int | None = None
    depth: int | None = None

    @property
    def name(self) -> str:
        """Kind and detail, for people."""
        return vote_name(self.kind, self.detail)

    def to_dict(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return asdict(self)


def learners(model: Any) -> list[LearnerRow]:
    """Return one row per learner, in their order.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> from boostline.inspect import learners
    >>> model = bl.OnlineBMR(n_labels=3, learners=bl.learners.paper_trees(4), edge=0.1)
    >>> _ = model.learn(np.eye(3), np.eye(3, dtype=bool))
    >>> [row.importance for row in learners(model)]
    [0.25, 0.25, 0.25, 0.25]
    """
    trees = trees_of(model)
    weights, heard = model.learner_weights, listened(model)
    edges = None if isinstance(model, LabelRanker) else model.edges()
    shares = importances(model)
    examples = max(1, int(model.label_set_sizes.sum()))
    rows = []
    names = zip(kinds_of_votes(model), details_of_votes(model), strict=True)
    for i, (kind, detail) in enumerate(names):
        tree = trees.get(i)
        rows.append(
            LearnerRow(
                index=i,
                kind=kind,
                detail=detail,
                weight=float(weights[i]),
                edge=None if edges is None else float(edges[i]),
                listened=float(heard[i]),
                importance=float(shares[i]),
                expert_loss=float(model.expert_losses[i]) / examples,
                nodes=None if tree is None else tree.n_nodes,
                leaves=None if tree is None else tree.n_leaves,
                depth=None if tree is None else tree.depth,
            )
        )
    return rows


def listened(model: Any) -> FloatArray:
    """Probability that each learner is part of the expert that is followed.

    Expert j is the sum of the first j learners. With ``expert="weighted"`` this is the factor that the mean over the
    experts gives to each learner.

    Examples
    --------
    >>> import boostline as bl
    >>> listened(bl.AdaOLMR(n_labels=2, learners=bl.learners.paper_trees(4)))
    array([1.  , 0.75, 0.5 , 0.25])
    """
    expert = getattr(model, "expert", "last")
    if expert in ("draw", "weighted"):
        return np.asarray(np.minimum(np.cumsum(model.expert_weights[::-1])[::-1], 1.0))
    count = model.followed if expert == "best" else model.n_learners
    return np.asarray(np.arange(model.n_learners) < count, dtype=np.float64)


def importances(model: Any) -> FloatArray:
    """Share of each learner in ``sum |weight| * listened``; equal shares while all weights are 0."""
    raw = np.abs(model.learner_weights) * listened(model)
    total = raw.sum()
    return np.asarray(raw / total) if total > 0 else np.full(len(raw), 1.0 / len(raw))
