"""Online boosting for multi-label ranking: learn one example at a time, rank at every moment.

>>> import boostline as bl
>>> model = bl.LabelRanker(labels=["sport", "politics", "music"])
>>> _ = model.learn([1.0, 0.0, 0.3], {"sport"})
>>> len(model.rank([1.0, 0.0, 0.2]))
3
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from boostline import learners, losses, models
from boostline.models import *  # noqa: F403 - a new booster is named in its own package
from boostline.saving import load
from boostline.saving.model_files import TEXT_MODELS

if TYPE_CHECKING:
    from boostline import data, evaluate, lab, metrics
    from boostline.text import TextRanker

__version__ = "0.1.0"

__all__ = [
    "TextRanker",
    "data",
    "evaluate",
    "lab",
    "learners",
    "load",
    "losses",
    "metrics",
]
__all__ += models.__all__

_LAZY = {
    "data",
    "evaluate",
    "inspect",
    "lab",
    "metrics",
    "mlflow",
    "potentials",
    "river",
    "scale",
    "sklearn",
    "text",
}


def __getattr__(name: str) -> Any:
    # Parts that most programs do not need are imported when they are first used.
    if name in _LAZY:
        return importlib.import_module(f"boostline.{name}")
    if name == "TextRanker":
        return importlib.import_module("boostline.text").TextRanker
    raise AttributeError(f"module 'boostline' has no attribute {name!r}")


# `load` makes a `TextRanker` of a booster and what the file says of texts.
TEXT_MODELS.append(lambda *parts: __getattr__("TextRanker").from_parts(*parts))


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY, "TextRanker"])
