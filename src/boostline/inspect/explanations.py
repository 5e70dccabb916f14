"""Why this label for this row: each learner's share of its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostline.contract.labels import LabelSpace
from boostline.contract.rows import read_rows
from boostline.inspect.trees import kinds_of_votes, names_of_votes, trees_of

FloatArray = NDArray[np.float64]


class Step(NamedTuple):
    """One decision on the way through a tree: ``value <= threshold`` goes left."""

    feature: int
    name: str
    value: float
    threshold: float
    goes: str  # "left" or "right"

    def __str__(self) -> str:
        if np.isnan(self.value):
            return f"{self.name} is missing, goes {self.goes}"
        sign = "<=" if self.goes == "left" else ">"
        return f"{self.name} = {self.value:.4g} {sign} {self.threshold:.4g}"


@dataclass(frozen=True)
class Explanation:
    """What `explain` found.

    Attributes
    ----------
    label : int
    name : Any
        The label's name, or its index.
    score : float
        The label's score; the sum of `shares`.
    rank : int
        Its place in the ranking, 1 is the best.
    shares : ndarray (N,)
        What each learner adds to the score: its factor times its vote for the label. Learners that are not listened
        to add 0.
    lifts : ndarray (N,)
        The same, less what the learner adds to the average label: what moves this label up or down among the others.
    kinds : list of str
        What each learner is.
    names : list of str
        The same with what tells learners of one kind apart, such as the member of a committee.
    """

    label: int
    name: Any
    score: float
    rank: int
    shares: FloatArray
    lifts: FloatArray
    kinds: list[str]
    names: list[str]

    def top(self, n: int = 5) -> list[int]:
        """Return the learners that move the label most, up or down."""
        order = np.argsort(-np.abs(self.lifts), kind="stable")
        return [int(i) for i in order[:n]]

    def to_dict(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return {
            "label": self.label,
            "name": self.name,
            "score": self.score,
            "rank": self.rank,
            "shares": self.shares.tolist(),
            "lifts": self.lifts.tolist(),
            "learners": self.names,
        }


def explain(model: Any, x: Any, label: Any) -> Explanation:
    """Divide the score of a label for one row among the learners.

    Parameters
    ----------
    model
        A booster.
    x
        One row of features.
    label
        The label, by name or by index.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> from boostline.inspect import explain
    >>> model = bl.AdaOLMR(n_labels=2, learners=bl.learners.paper_trees(5), expert="last")
    >>> _ = model.learn(np.eye(2), [{0}, {1}])
    >>> why = explain(model, [1.0, 0.0], 0)
    >>> bool(np.isclose(why.shares.sum(), model.score([1.0, 0.0])[0]))
    True
    """
    index = LabelSpace(model.n_labels, model.labels).index(label, f"label is {label!r}")
    scores = np.asarray(model.score(x))
    if scores.ndim != 1:
        raise ValueError(f"x has {len(scores)} rows, but must be one row (d,)")
    contributions = model.contributions(x)
    order = np.argsort(-scores, kind="stable")
    return Explanation(
        label=index,
        name=index if model.labels is None else model.labels[index],
        score=float(scores[index]),
        rank=int(np.flatnonzero(order == index)[0]) + 1,
        shares=contributions[:, index],
        lifts=contributions[:, index] - contributions.mean(axis=1),
        kinds=kinds_of_votes(model),
        names=names_of_votes(model),
    )


def tree_path(
    model: Any, learner: int, x: Any, names: Sequence[str] | None = None
) -> tuple[list[Step], dict[Any, float]]:
    """Return the decisions of one tree for a row, and the weights of the labels in its leaf.

    Parameters
    ----------
    model, x
        A booster and one row of features.
    learner
        Index of a learner that is a tree.
    names
        Names of the features; default: the model's, or their numbers.

    Returns
    -------
    steps, masses
        `masses` is by label name (or index), heaviest first; labels that never came here are left out.

    Examples
    --------
    >>> import boostline as bl
    >>> model = bl.AdaOLMR(n_labels=2, learners=bl.learners.paper_trees(1))
    >>> _ = model.learn([1.0, 0.0], {0})
    >>> steps, masses = tree_path(model, 0, [1.0, 0.0])
    >>> steps, list(masses)
    ([], [0])
    """
    trees = trees_of(model)
    if learner not in trees:
        kinds = kinds_of_votes(model)
        what = kinds[learner] if 0 <= learner < len(kinds) else "nothing"
        raise ValueError(f"learner {learner} is {what}, but must be a tree that has learned")
    tree = trees[learner]
    rows = read_rows(x, model.features)
    if (rows.n, rows.n_features) != (1, model.n_features):
        raise ValueError(
            f"x has {rows.n} rows of {rows.n_features} features, but must be one row of {model.n_features}"
        )
    row = rows.dense[0]
    names = model.features if names is None else names
    steps, node = [], 0
    while tree.covariate[node] >= 0:
        feature = int(tree.features[tree.covariate[node]])
        value, threshold = float(row[feature]), float(tree.threshold[node])
        right = bool(tree.nan_right[node]) if np.isnan(value) else value > threshold
        name = f"feature {feature}" if names is None else str(names[feature])
        steps.append(Step(feature, name, value, threshold, "right" if right else "left"))
        node = int(tree.left[node]) + right
    here = slice(tree.first_label[node], tree.first_label[node + 1])
    order = np.argsort(-tree.mass[here], kind="stable")
    labels = tree.label[here][order].tolist()
    shown = labels if model.labels is None else [model.labels[i] for i in labels]
    return steps, dict(zip(shown, tree.mass[here][order].tolist(), strict=True))
