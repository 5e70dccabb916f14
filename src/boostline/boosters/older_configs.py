"""Settings of models that an earlier version saved, as those of this version."""

from __future__ import annotations

from typing import Any

# Settings that Ada.OLMR had in format 1, and the only values that are still the paper's algorithm.
_PAPER = {
    "combine": "paper",
    "drift": None,
    "weight_limit": 2.0,
    "surrogate": "pairwise",
    "target": "rank",
}


def of_this_version(config: dict[str, Any]) -> dict[str, Any]:
    """Turn a configuration of format 1 into one of today; others pass as they are.

    In format 1 `LabelRanker` was an Ada.OLMR with ``combine="mixture"``.
    """
    settings = config.get("settings")
    if config.get("algorithm") != "ada_olmr" or not isinstance(settings, dict):
        return config
    if "combine" not in settings:
        return config
    if settings["combine"] == "mixture":
        if settings.get("expert") != "weighted":
            raise ValueError(
                f"its setting expert is {settings.get('expert')!r} with combine='mixture', which boostline no "
                "longer has"
            )
        return {**config, "algorithm": "label_ranker", "settings": {"drift": settings.get("drift")}}
    for name, value in _PAPER.items():
        if settings.get(name) != value:
            raise ValueError(
                f"its setting {name} is {settings.get(name)!r}, which boostline no longer has"
            )
    return {**config, "settings": {"expert": settings["expert"]}}


def refuse_replaced(config: dict[str, Any], version: int) -> None:
    """Refuse a model whose algorithm has changed since: no state of the old one means anything to the new one."""
    if version <= 2 and of_this_version(config).get("algorithm") == "label_ranker":
        raise ValueError(
            f"it is a LabelRanker of format {version}, whose rule of combination has been replaced since; version 0.1 "
            "of boostline reads it, this one has to learn anew"
        )
