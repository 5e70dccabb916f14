"""Which learners matter: names, weights, edges, sizes; and which features their trees split on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray
from boostline.learners import HoeffdingTree, Recency
from boostline.learners.description import Member
from boostline.models import LabelRanker


@dataclass(frozen=True)
class LearnerRow:
    """One learner of a booster.

    Attributes
    ----------
    index : int
        Its position, from 0; `Booster.votes` has its votes in this row.
    kind : str
        What it is, ``hoeffding_tree`` for example. A committee has a vote for each member: ``tracker_2`` is its second
        tracker.
    name : str
        The same for people, with the decay of a ``recency``.
    weight : float
        alpha^i; of a LabelRanker the learner's share in the scores.
    edge : float or None
        Its empirical edge over random guessing on all that was learned. None in a LabelRanker: its costs follow from
        the mixture, not from a learner alone.
    listened : float
        Probability that the followed expert contains it.
    importance : float
        ``|weight| * listened`` as a share of all learners'.
    expert_loss : float
        Mean rank loss of the expert that consists of the learners up to this one; of a LabelRanker, of this one alone.
    nodes, depth : int or None
        Of trees.
    """

    index: int
    kind: str
    name: str
    weight: float
    edge: float | None
    listened: float
    importance: float
    expert_loss: float
    nodes: int | None = None
    depth: int | None = None

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
    trees = _trees_of(model)
    weights, followed = model.learner_weights, listened(model)
    edges = None if isinstance(model, LabelRanker) else model.edges()
    shares = _importances(model)
    examples = max(1, int(model.diagnostics.label_set_sizes.sum()))
    rows = []
    for i, member in enumerate(members_with_votes(model)):
        tree = trees.get(i)
        rows.append(
            LearnerRow(
                index=i,
                kind=kind_of(member),
                name=_name(member),
                weight=float(weights[i]),
                edge=None if edges is None else float(edges[i]),
                listened=float(followed[i]),
                importance=float(shares[i]),
                expert_loss=float(model.diagnostics.expert_losses[i]) / examples,
                nodes=None if tree is None else len(tree.covariate),
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
        return np.asarray(np.minimum(np.cumsum(model.diagnostics.expert_weights[::-1])[::-1], 1.0))
    count = model.diagnostics.followed if expert == "best" else model.n_learners
    return np.asarray(np.arange(model.n_learners) < count, dtype=np.float64)


def _importances(model: Any) -> FloatArray:
    """Share of each learner in ``sum |weight| * listened``; equal shares while all weights are 0."""
    raw = np.abs(model.learner_weights) * listened(model)
    total = raw.sum()
    return np.asarray(raw / total) if total > 0 else np.full(len(raw), 1.0 / len(raw))


def members_with_votes(model: Any) -> list[Member]:
    """The member behind each vote; before the first example one may stand for several."""
    return [one for one in model.members() for _ in range(one.description.n_votes)]


def names_of_votes(model: Any) -> list[str]:
    """What to call each vote: "kernel", "tracker 2", "Hoeffding tree", "recency, decay 0.9"."""
    return [_name(member) for member in members_with_votes(model)]


def _name(member: Member) -> str:
    decay = f", decay {d.decay:g}" if isinstance(d := member.description, Recency) else ""
    return in_words(kind_of(member)) + decay


def kind_of(member: Member) -> str:
    """Its name; of a learner written in Python its class."""
    return member.name.rpartition(".")[2]


def in_words(kind: str) -> str:
    """The name of a kind, for people.

    Examples
    --------
    >>> in_words("output_neighbours"), in_words("hoeffding_tree")
    ('output neighbours', 'Hoeffding tree')
    """
    return kind.replace("_", " ").replace("hoeffding", "Hoeffding")


# Trees, in the arrays of docs/file-format.md.


@dataclass(frozen=True)
class _Tree:
    features: NDArray[np.int64]  # the model's features that its covariates are
    covariate: NDArray[np.int32]  # one for each node, children after their parents; -1: a leaf
    left: NDArray[np.int32]  # the right child is the next one

    @property
    def depth(self) -> int:
        depths = np.zeros(len(self.covariate), dtype=np.int64)
        for i in np.flatnonzero(self.covariate >= 0):
            depths[self.left[i]] = depths[self.left[i] + 1] = depths[i] + 1
        return int(depths.max())


def _trees_of(model: Any) -> dict[int, _Tree]:
    """Trees by the index of their vote; none before the first example."""
    members = members_with_votes(model)
    if not any(isinstance(one.description, HoeffdingTree) for one in members):
        return {}  # without a copy of all arrays
    arrays = model.state()["arrays"]
    return {
        i: _Tree(
            np.asarray(one.description.features, dtype=np.int64),
            arrays[f"{one.prefix}node_covariate"],
            arrays[f"{one.prefix}node_left"],
        )
        for i, one in enumerate(members)
        if isinstance(one.description, HoeffdingTree)
    }


@dataclass(frozen=True)
class FeatureRow:
    """One feature.

    Attributes
    ----------
    feature : int
        Its column.
    name : str
    splits : int
        In how many nodes it decides.
    trees : int
        In how many trees it decides somewhere.
    importance : float
        Each tree's importance (see `learners`), divided equally among its splits.
    """

    feature: int
    name: str
    splits: int
    trees: int
    importance: float

    def to_dict(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return asdict(self)


def feature_splits(model: Any, names: Sequence[str] | None = None) -> list[FeatureRow]:
    """Return the features by importance; empty for a model without trees.

    Parameters
    ----------
    model
        A booster. Learners that are not trees are ignored.
    names
        Names of the features; default: the model's, or their numbers.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> from boostline.inspect import feature_splits
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> model = bl.AdaOLMR(n_labels=2, learners=bl.learners.paper_trees(10))
    >>> _ = model.learn(X, np.stack([X[:, 1] > 0, X[:, 1] <= 0], axis=1))
    >>> feature_splits(model, ["a", "b", "c"])[0].name
    'b'
    """
    trees = _trees_of(model)
    d = model.n_features or 0
    names = model.features if names is None else names
    if names is not None and len(names) != d:
        raise ValueError(f"names has {len(names)} names, but must have {d}, one per feature")
    if not trees:
        return []
    shares = _importances(model)
    splits, users = np.zeros((2, d), dtype=np.int64)
    importance = np.zeros(d)
    for i, tree in trees.items():
        counts = np.bincount(tree.features[tree.covariate[tree.covariate >= 0]], minlength=d)
        splits += counts
        users += counts > 0
        importance += shares[i] * counts / max(1, counts.sum())
    return [
        FeatureRow(
            feature=int(f),
            name=str(f) if names is None else str(names[f]),
            splits=int(splits[f]),
            trees=int(users[f]),
            importance=float(importance[f]),
        )
        for f in np.lexsort((np.arange(d), -splits, -importance))
    ]
