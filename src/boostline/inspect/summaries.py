"""A model in a few figures."""

from __future__ import annotations

from typing import Any

from boostline.inspect.learner_rows import rows_of
from boostline.inspect.trees import kinds_of_learners, trees_of


def summary(model: Any) -> dict[str, Any]:
    """Return settings, number of examples, loss, memory and sizes, as values for JSON.

    Examples
    --------
    >>> import boostline as bl
    >>> summary(bl.AdaOLMR(n_labels=6, learners=bl.learners.paper_trees(10)))["learners"]
    10
    """
    trees = trees_of(model)
    rows = rows_of(model, trees)
    ranked = int(model.label_set_sizes.sum())
    config = model.config()
    edges = [row.edge for row in rows]
    kinds: dict[str, int] = {}
    for kind in kinds_of_learners(model):
        kinds[kind] = kinds.get(kind, 0) + 1
    result: dict[str, Any] = {
        "algorithm": type(model).__name__,
        "settings": config["settings"],
        "seed": model.seed,
        "labels": model.n_labels,
        "features": model.n_features,
        "learners": model.n_learners,
        "kinds": kinds,
        "clock": model.clock,
        "restarts": model.n_restarts,
        "rows_without_pairs": model.rows_without_pairs,
        "mean_rank_loss": model.suffered_loss / ranked if ranked else None,
        "followed": getattr(model, "followed", model.n_learners),
        "mean_edge": sum(edges) / len(edges),
        "best_edge": max(edges),
        "memory_bytes": model.memory_usage(),
    }
    if trees:
        nodes = [tree.n_nodes for tree in trees.values()]
        result["trees"] = {
            "nodes": sum(nodes),
            "largest": max(nodes),
            "without_split": sum(n == 1 for n in nodes),
            "deepest": max(tree.depth for tree in trees.values()),
        }
    return result
