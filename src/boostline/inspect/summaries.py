"""A model in a few figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boostline.display.tables import NONE, size
from boostline.inspect.learner_rows import in_words, kind_of, members_with_votes


def summary(model: Any) -> dict[str, Any]:
    """Return settings, number of examples, loss, memory and sizes, as values for JSON.

    Examples
    --------
    >>> import boostline as bl
    >>> summary(bl.AdaOLMR(n_labels=6, learners=bl.learners.paper_trees(10)))["learners"]
    10
    """
    if model.takes_texts:
        return {
            **summary(model.booster),
            "algorithm": type(model).__name__,
            "labels": model.n_labels,
            "memory_bytes": model.memory_usage(),
        }
    ranked = int(model.diagnostics.label_set_sizes.sum())
    config = model.config()
    kinds: dict[str, int] = {}
    for member in members_with_votes(model):
        kind = kind_of(member)
        kinds[kind] = kinds.get(kind, 0) + 1
    return {
        "algorithm": type(model).__name__,
        "settings": config["settings"],
        "seed": model.seed,
        "labels": model.n_labels,
        "features": model.n_features,
        "learners": model.n_learners,
        "kinds": kinds,
        "clock": model.clock,
        "restarts": model.n_restarts,
        "rows_without_pairs": model.diagnostics.rows_without_pairs,
        "mean_rank_loss": model.suffered_loss / ranked if ranked else None,
        "rows_measured": ranked,
        "rows_merged": model.diagnostics.rows_merged,
        "followed": getattr(model.diagnostics, "followed", model.n_learners),
        "memory_bytes": model.memory_usage(),
    }


def summary_in_words(model: Any) -> list[tuple[str, str]]:
    """The same for people: what it is, and how much, with units.

    Examples
    --------
    >>> import boostline as bl
    >>> dict(summary_in_words(bl.AdaOLMR(6, learners=bl.learners.paper_trees(10))))["learners"]
    '10 (paper trees × 10)'
    """
    found = summary(model)
    settings = [_in_words(name, value) for name, value in found["settings"].items()]
    kinds = [
        in_words(kind) + (f" × {n:,}" if n > 1 else "")  # noqa: RUF001
        for kind, n in found["kinds"].items()
    ]
    pairs = [
        ("algorithm", ", ".join([found["algorithm"], *settings, f"seed {found['seed']}"])),
        ("labels", f"{found['labels']:,}"),
        ("features", NONE if found["features"] is None else f"{found['features']:,}"),
        ("learners", f"{found['learners']:,} ({', '.join(kinds)})"),
        ("rows learned", f"{found['clock']:,}"),
        ("rows without a pair to rank", f"{found['rows_without_pairs']:,}"),
        ("mean rank loss", loss_in_words(found)),
        ("restarts after a change", f"{found['restarts']:,}"),
        ("memory", size(found["memory_bytes"])),
    ]
    if found["followed"] != found["learners"]:
        pairs.append(("learners followed", f"{found['followed']:,}"))
    return pairs


def loss_in_words(found: Mapping[str, Any]) -> str:
    """The mean rank loss of a summary, and the rows on which it was measured.

    Examples
    --------
    >>> loss_in_words({"mean_rank_loss": 0.04, "rows_measured": 4500, "rows_merged": 395500})
    '0.0400 (before learning 4,500 rows one by one; the others were merged without it)'
    """
    if found["mean_rank_loss"] is None:
        return NONE
    which = "each row"
    if found["rows_merged"]:
        which = f"{found['rows_measured']:,} rows one by one; the others were merged without it"
    return f"{found['mean_rank_loss']:.4f} (before learning {which})"


def _in_words(name: str, value: Any) -> str:
    """A setting: "edge 0.1", "max bytes not set", "hinge loss (margin 0.5)"."""
    if isinstance(value, Mapping):
        rest = ", ".join(f"{key} {one}" for key, one in value.items() if key != "name")
        return f"{value['name']} {name}" + (f" ({rest})" if rest else "")
    words = name.replace("_", " ")
    return f"{words} {'not set' if value is None else value}"
