"""Why this label for this row: what learners, features and rows of the past add to its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract.labels import LabelSpace
from boostline.contract.rows import Rows, read_rows
from boostline.contract.text_models import is_text_model
from boostline.inspect.parts import (
    FeaturePart,
    PastRow,
    evidence_of,
    feature_groups,
    removals,
    strongest_rows,
)
from boostline.inspect.trees import kinds_of_votes, names_of_votes, trees_of
from boostline.models.evidence import Evidence


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
    """The result of `explain`.

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
    features : list of FeaturePart
        What each feature of the row says for the label or against it, the most important first. It is the share of
        the feature in what the linear members say; without such members, in how much lower the score is without it.
    linear : list of Evidence
        For each member that is linear (`SparseLinear`, `Linear`, `Ridge`) its own score of the label, as an exact sum
        over features.
    rows : list of PastRow
        The past rows that speak most for or against the label, by members that remember rows (`Kernel`,
        `Neighbours`, `SparseLinear`).
    """

    label: int
    name: Any
    score: float
    rank: int
    shares: FloatArray
    lifts: FloatArray
    kinds: list[str]
    names: list[str]
    features: list[FeaturePart] = field(default_factory=list)
    linear: list[Evidence] = field(default_factory=list)
    rows: list[PastRow] = field(default_factory=list)

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
            "features": [part.to_dict() for part in self.features],
            "rows": [row.to_dict() for row in self.rows],
        }


def explain(
    model: Any,
    x: Any,
    label: Any,
    *,
    names: Sequence[str] | None = None,
    by_feature: bool = True,
) -> Explanation:
    """Explain the score of a label for one row, by learners, features, and past rows.

    Parameters
    ----------
    model
        A booster, or a `boostline.text.TextRanker`.
    x
        One row of features, or a text.
    label
        The label, by name or by index.
    names
        Names of the features; default: the model's, or their numbers.
    by_feature
        Whether to find the parts of features and past rows. A model without linear members scores the row once
        without each of its features.

    Returns
    -------
    Explanation
        Of a text a `TextExplanation`, which has its words.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> from boostline.inspect import explain
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> model = bl.LabelRanker(n_labels=4)
    >>> _ = model.learn(X, X > 0.5)
    >>> why = explain(model, [2.0, -1.0, -1.0, -1.0], 0, names=["a", "b", "c", "d"])
    >>> why.features[0].name
    'a'
    >>> bool(np.isclose(why.shares.sum(), model.score([2.0, -1.0, -1.0, -1.0])[0]))
    True
    """
    if is_text_model(model):
        from boostline.inspect.texts import explain_text

        return explain_text(model, x, label, by_feature=by_feature)
    index = LabelSpace(model.n_labels, model.labels).index(label, f"label is {label!r}")
    row = read_rows(x, model.features)
    if row.n != 1:
        raise ValueError(f"x has {row.n} rows, but must be one row (d,)")
    groups = feature_groups(row, model.features if names is None else names) if by_feature else []
    found, shares = explain_row(model, row, index, [group.columns for group in groups])
    parts = [
        FeaturePart(int(group.columns[0]), group.name, group.value, float(share))
        for group, share in zip(groups, shares, strict=True)
    ]
    return Explanation(
        **found,
        name=index if model.labels is None else model.labels[index],
        features=sorted(parts, key=lambda part: -abs(part.part)),
    )


def explain_row(
    model: Any, row: Rows, label: int, groups: Sequence[Any], n_labels: int | None = None
) -> tuple[dict[str, Any], FloatArray]:
    """Fields of an `Explanation` among the first ``n_labels``, and the parts of groups of features."""
    linear: list[Evidence] = []
    past: list[Evidence] = []
    parts = np.zeros(0)
    if groups:
        linear, past = model.evidence(row, label)
        evidence = evidence_of(linear, model.learner_weights, row.n_features)
        if evidence is None:
            parts = removals(model, row, label, groups)
        else:
            parts = np.array([evidence[group].sum() for group in groups])
    scores = np.asarray(model.score(row)).reshape(-1)[:n_labels]
    own = model.contributions(row).reshape(-1, model.n_labels)[:, :n_labels]
    order = np.argsort(-scores, kind="stable")
    return {
        "label": label,
        "score": float(scores[label]),
        "rank": int(np.flatnonzero(order == label)[0]) + 1,
        "shares": own[:, label],
        "lifts": own[:, label] - own.mean(axis=1),
        "kinds": kinds_of_votes(model),
        "names": names_of_votes(model),
        "linear": linear,
        "rows": strongest_rows(past, model.learner_weights),
    }, parts


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
