"""Which features the trees split on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from boostline.inspect.learner_rows import importances
from boostline.inspect.trees import trees_of


@dataclass(frozen=True)
class FeatureRow:
    """One feature.

    Attributes
    ----------
    feature : int
        Its column.
    name : str
    splits, roots : int
        In how many nodes, and in how many roots, it decides.
    trees : int
        In how many trees it decides somewhere.
    available : int
        How many trees may look at it.
    importance : float
        Each tree's importance (see `learners`), divided equally among its splits.
    """

    feature: int
    name: str
    splits: int
    roots: int
    trees: int
    available: int
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
    trees = trees_of(model)
    d = model.n_features or 0
    names = model.features if names is None else names
    if names is not None and len(names) != d:
        raise ValueError(f"names has {len(names)} names, but must have {d}, one per feature")
    if not trees:
        return []
    shares = importances(model)
    splits, roots, users, available = (np.zeros(d, dtype=np.int64) for _ in range(4))
    importance = np.zeros(d)
    for i, tree in trees.items():
        available[tree.features] += 1
        chosen = tree.split_features
        if not len(chosen):
            continue
        counts = np.bincount(chosen, minlength=d)
        splits += counts
        users += counts > 0
        roots[chosen[0]] += 1
        importance += shares[i] * counts / len(chosen)
    order = np.lexsort((np.arange(d), -splits, -importance))
    return [
        FeatureRow(
            feature=int(f),
            name=str(f) if names is None else str(names[f]),
            splits=int(splits[f]),
            roots=int(roots[f]),
            trees=int(users[f]),
            available=int(available[f]),
            importance=float(importance[f]),
        )
        for f in order
    ]
