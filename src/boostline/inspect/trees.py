"""The trees in a model's state, as docs/file-format.md describes their arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray
from boostline.learners import Committee

TREE_KIND = "hoeffding_tree"


@dataclass(frozen=True)
class Tree:
    """One Hoeffding tree: nodes in the order of their creation, children after their parents."""

    features: NDArray[np.int64]  # the model's features that its covariates are
    covariate: NDArray[np.int32]  # -1: a leaf
    threshold: FloatArray
    left: NDArray[np.int32]
    nan_right: NDArray[np.uint8]
    weight: FloatArray
    first_label: NDArray[np.int64]  # leaf i has the labels first_label[i] to first_label[i + 1]
    label: NDArray[np.int32]
    mass: FloatArray

    @property
    def n_nodes(self) -> int:
        return len(self.covariate)

    @property
    def n_leaves(self) -> int:
        return int((self.covariate < 0).sum())

    @property
    def depth(self) -> int:
        depths = np.zeros(self.n_nodes, dtype=np.int64)
        for i in np.flatnonzero(self.covariate >= 0):
            depths[self.left[i]] = depths[self.left[i] + 1] = depths[i] + 1
        return int(depths.max())

    @property
    def split_features(self) -> NDArray[np.int64]:
        """The feature of every split, the root's first."""
        return self.features[self.covariate[self.covariate >= 0]]


def resolved_configs(model: Any) -> list[dict[str, Any]]:
    """Descriptions of the learners, as soon as their settings are drawn."""
    config = model.config()
    return list(config["resolved"] if config["resolved"] is not None else config["learners"])


def n_votes_of(config: dict[str, Any]) -> int:
    """How many votes a described learner has."""
    from boostline.learners import from_config

    return 1 if config["kind"] == "python" else from_config(config).n_votes


def kinds_of_votes(model: Any) -> list[str]:
    """Kind of the learner behind each vote; a Python learner's class."""
    counts = map(n_votes_of, resolved_configs(model))
    pairs = zip(kinds_of_learners(model), counts, strict=True)
    return [kind for kind, count in pairs for _ in range(count)]


def kinds_of_learners(model: Any) -> list[str]:
    """Kind of each learner, which may have several votes."""
    return [
        str(c["class"]).rpartition(".")[2] if c["kind"] == "python" else str(c["kind"])
        for c in resolved_configs(model)
    ]


def details_of_votes(model: Any) -> list[str]:
    """What tells votes of one kind apart: the member of a committee, the decay of a count; else nothing."""
    details: list[str] = []
    for config in resolved_configs(model):
        if config["kind"] == "committee":
            details += Committee.from_values({k: v for k, v in config.items() if k != "kind"}).names
        elif config["kind"] == "recency":
            details.append(f"decay {config['decay']:g}")
        else:
            details += [""] * n_votes_of(config)
    return details


def names_of_votes(model: Any) -> list[str]:
    """Kind and detail of each vote, for people."""
    pairs = zip(kinds_of_votes(model), details_of_votes(model), strict=True)
    return [vote_name(kind, detail) for kind, detail in pairs]


def vote_name(kind: str, detail: str) -> str:
    """Join them.

    Examples
    --------
    >>> vote_name("committee", "output_neighbours"), vote_name("hoeffding_tree", "")
    ('committee: output neighbours', 'Hoeffding tree')
    """
    return in_words(f"{kind}: {detail}" if detail else kind)


def in_words(kind: str) -> str:
    """The name of a kind, for people."""
    return kind.replace("_", " ").replace("hoeffding", "Hoeffding")


def trees_of(model: Any) -> dict[int, Tree]:
    """Trees by the index of their vote; none before the first example."""
    config = model.config()
    if all(one["kind"] != TREE_KIND for one in config["resolved"] or []):
        return {}  # without a copy of all arrays
    arrays = model.state()["arrays"]
    trees = {}
    vote = 0
    for i, one in enumerate(config["resolved"]):
        if one["kind"] == TREE_KIND:
            trees[vote] = _tree(one, {n: arrays[f"learners.{i}.{n}"] for n in _ARRAYS})
        vote += n_votes_of(one)
    return trees


_ARRAYS = (
    "node_covariate",
    "node_threshold",
    "node_left",
    "node_nan_right",
    "node_weight",
    "node_n_labels",
    "label",
    "label_mass",
)


def _tree(config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Tree:
    counts = arrays["node_n_labels"].astype(np.int64)
    return Tree(
        features=np.asarray(config["features"], dtype=np.int64),
        covariate=arrays["node_covariate"],
        threshold=arrays["node_threshold"],
        left=arrays["node_left"],
        nan_right=arrays["node_nan_right"],
        weight=arrays["node_weight"],
        first_label=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
        label=arrays["label"],
        mass=arrays["label_mass"],
    )
