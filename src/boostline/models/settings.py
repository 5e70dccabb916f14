"""Models from settings in words, as the shell and the service get them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from boostline.contract.advice import advice
from boostline.learners import auto_mix, paper_trees
from boostline.models.ada_olmr import AdaOLMR
from boostline.models.label_ranker import LabelRanker
from boostline.models.online_bmr import OnlineBMR


class Algorithm(StrEnum):
    """The recommended model, and the paper's algorithms."""

    label_ranker = "label_ranker"
    ada_olmr = "ada_olmr"
    online_bmr = "online_bmr"

    @property
    def class_name(self) -> str:
        """The model's class, by which reports call it."""
        return {"label_ranker": "LabelRanker", "ada_olmr": "AdaOLMR", "online_bmr": "OnlineBMR"}[
            self
        ]


class Steps(StrEnum):
    """How far Ada.OLMR's weights move in a round."""

    paper = "paper"
    adagrad = "adagrad"


class Expert(StrEnum):
    """Whose scores Ada.OLMR gives."""

    draw = "draw"
    weighted = "weighted"
    best = "best"
    last = "last"


class Drift(StrEnum):
    """What a label ranker does when its loss rises and stays high."""

    restart = "restart"
    none = "none"


def parse_learners(text: str) -> Any:
    """Turn ``auto`` or ``paper:N`` into a ``learners`` argument."""
    name, colon, count = text.partition(":")
    if name == "auto" and not colon:
        return auto_mix()
    if name == "paper" and ((count.isdecimal() and int(count)) or not colon):
        return paper_trees(int(count or 100))
    raise ValueError(
        f"{_named('learners')} is {text!r}, but must be auto, or paper:N with N at least 1"
    )


def _edge(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{_named('edge')} is {text!r}, but must be a number or auto") from None


def _named(option: str) -> str:
    return advice(option, "--" + option.replace("_", "-"))


@dataclass(frozen=True)
class ModelOptions:
    """What was said about a model; None: nothing, so its own default holds."""

    learners: str | None = None
    expert: Expert | None = None
    drift: Drift | None = None
    edge: str | None = None
    loss: str | None = None
    steps: Steps | None = None
    max_bytes: int | None = None

    def of(self, algorithm: Algorithm) -> ModelOptions:
        """Those that have a meaning for an algorithm."""
        return replace(self, **dict.fromkeys(_foreign(algorithm)))

    def fits(self, algorithm: Algorithm) -> bool:
        """Whether any option that was given has a meaning for the algorithm alone, or none was given at all."""
        given = {a for a, names in OWN.items() if any(getattr(self, n) is not None for n in names)}
        return not given or algorithm in given


#: Options that have a meaning for one algorithm alone.
OWN = {
    Algorithm.label_ranker: ("drift", "max_bytes"),
    Algorithm.ada_olmr: ("expert", "steps"),
    Algorithm.online_bmr: ("edge", "loss"),
}


def _foreign(algorithm: Algorithm) -> list[str]:
    return [name for a, names in OWN.items() if a is not algorithm for name in names]


def make_model(
    algorithm: Algorithm,
    labels: list[str],
    options: ModelOptions,
    *,
    seed: int | None = None,
    threads: int = 1,
) -> Any:
    """Make a new booster."""
    makers = {
        Algorithm.label_ranker: LabelRanker,
        Algorithm.ada_olmr: AdaOLMR,
        Algorithm.online_bmr: OnlineBMR,
    }
    given = model_arguments(algorithm, options, seed)
    return makers[algorithm](labels=labels, n_threads=threads, **given)


def model_arguments(
    algorithm: Algorithm, options: ModelOptions, seed: int | None
) -> dict[str, Any]:
    """The arguments of a model that were given, each as its constructor takes it."""
    for name in _foreign(algorithm):
        if getattr(options, name) is not None:
            raise ValueError(f"{_named(name)} is not an option of {algorithm.value}")
    given = {
        name: value.value if isinstance(value, StrEnum) else value
        for name, value in {**vars(options), "seed": seed}.items()
        if value is not None
    }
    if "learners" in given:
        given["learners"] = parse_learners(given["learners"])
    if "edge" in given:
        given["edge"] = _edge(given["edge"])
    if given.get("drift") == Drift.none:
        given["drift"] = None
    return given
