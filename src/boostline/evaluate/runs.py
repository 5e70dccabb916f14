"""What an evaluation found out about one model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray
from boostline.evaluate.curves import Curve
from boostline.evaluate.reports import Report

#: Metrics of models that give probabilities, and their units: F1 of the label sets that they lead to, the log loss,
#: and the calibration error of the five highest labels of each row.
OF_PROBABILITIES = {
    "micro_f1": "F1 of all labels together",
    "macro_f1": "mean F1 of the labels",
    "log_loss": "mean of -ln p over rows and labels",
    "ece": "probability less share, five highest labels",
}


@dataclass(frozen=True)
class Seconds:
    """Time spent in the model, learning and scoring; without the metrics.

    Attributes
    ----------
    cpu
        Processor time of this process, summed over its threads.
    wall
        Wall-clock time.
    """

    cpu: float
    wall: float

    def __str__(self) -> str:
        return f"{self.cpu:.3g} s of CPU ({self.wall:.3g} s wall)"


@dataclass(frozen=True)
class Run(Report):
    """The result of one model on one pass.

    Attributes
    ----------
    model
        Name of the model.
    metrics
        Name of a metric -> its mean over the scored examples; NaN if there were none. Models that give probabilities
        also have ``"micro_f1"``, ``"macro_f1"``, ``"log_loss"`` and ``"ece"``, the calibration error of the five
        highest labels of each row (see `boostline.metrics.calibration_error`).
    units
        Name of a metric -> what its value counts.
    curves
        Name of a metric -> its `Curve` along the scored examples; not of metrics of probabilities.
    seconds
        CPU and wall time of the model's own calls.
    n
        Scored examples (the test rows, in `train_then_test`).
    n_learned
        Learned examples.
    n_without_pairs
        Scored examples with nothing to rank; they count in the means.
    stopped
        Whether Ctrl-C ended the pass before its end.
    settings
        How the evaluation was called: order, seed, freeze, delay and the like.
    values
        Name of a metric -> its value for each scored example; not of F1 and ``"ece"``.
    labels
        Names of the labels; None for numbers.
    label_counts
        For each label how often it was named rightly, named, and relevant, (3, k); None without probabilities.
    """

    model: str
    metrics: dict[str, float]
    units: dict[str, str] = field(repr=False)
    curves: dict[str, Curve] = field(repr=False)
    seconds: Seconds
    n: int
    n_learned: int
    n_without_pairs: int
    stopped: bool
    settings: dict[str, Any]
    values: dict[str, FloatArray] = field(default_factory=dict, repr=False)
    labels: list[Any] | None = field(default=None, repr=False)
    label_counts: NDArray[np.int64] | None = field(default=None, repr=False)

    @property
    def rank_loss(self) -> float:
        """Mean rank loss over the scored examples, ties one half."""
        return self.metrics["rank_loss"]

    @property
    def curve(self) -> Curve:
        """The rank loss along the scored examples."""
        return self.curves["rank_loss"]

    @property
    def order(self) -> str | None:
        """Order of the rows, if the protocol has one."""
        return self.settings.get("order")

    @property
    def seed(self) -> int | None:
        """Seed of the shuffling, if there was one."""
        return self.settings.get("seed")

    def to_dict(self, curves: bool = True) -> dict[str, Any]:
        """Return the result as values for JSON; NaN becomes None."""
        result = {
            "model": self.model,
            "metrics": {
                name: None if math.isnan(value) else value for name, value in self.metrics.items()
            },
            "seconds": {"cpu": self.seconds.cpu, "wall": self.seconds.wall},
            "n": self.n,
            "n_learned": self.n_learned,
            "n_without_pairs": self.n_without_pairs,
            "stopped": self.stopped,
            "settings": dict(self.settings),
        }
        if curves:
            result["curves"] = {name: curve.to_dict() for name, curve in self.curves.items()}
        return result

    def by_label(self) -> list[dict[str, Any]]:
        """Return precision, recall and F1 of each label, None where there is nothing to divide by.

        It is empty for models without probabilities.
        """
        if self.label_counts is None:
            return []
        return [
            {
                "label": i if self.labels is None else self.labels[i],
                "relevant": relevant,
                "named": named,
                "precision": right / named if named else None,
                "recall": right / relevant if relevant else None,
                "f1": 2 * right / (named + relevant) if named + relevant else None,
            }
            for i, (right, named, relevant) in enumerate(self.label_counts.T.tolist())
        ]

    def _lines(self) -> Iterator[tuple[dict[str, str], list[Run]]]:
        yield {"model": self.model}, [self]
