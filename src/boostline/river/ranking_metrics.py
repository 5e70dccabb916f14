"""Ranking metrics that work inside River's ``progressive_val_score``.

River hands a metric what ``predict_one`` returned. That of boostline's classifiers carries the scores; of other models
the values of the dict are taken: probabilities or scores where there are some, else bools, whose ties count one half.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from river import base, metrics

from boostline.metrics import Metric, from_name


class RankingMetric(metrics.base.Metric):
    """A metric of `boostline.metrics` as a River metric.

    Parameters
    ----------
    name
        ``"rank_loss"``, ``"precision@5"``, ``"ndcg@5"``, ``"average_precision"``, ``"one_error"``, ``"coverage"``.

    Examples
    --------
    >>> from river import datasets, evaluate
    >>> from boostline.river import LabelRankerClassifier, RankingMetric
    >>> stream = datasets.Yeast().take(300)
    >>> found = evaluate.progressive_val_score(stream, LabelRankerClassifier(), RankingMetric("rank_loss"))
    >>> found.get() < 0.25
    True
    """

    _fmt = ".4f"

    def __init__(self, name: str = "rank_loss") -> None:
        self.name = name
        self._metric: Metric = from_name(name)
        self._total, self._n = 0.0, 0

    def update(self, y_true: Any, y_pred: Any) -> None:
        """Update with the labels of an example (a dict of bools, or a set) and what was predicted."""
        if (value := self._value(y_true, y_pred)) is not None:
            self._total += value
            self._n += 1

    def revert(self, y_true: Any, y_pred: Any) -> None:
        """Take an update back."""
        if (value := self._value(y_true, y_pred)) is not None:
            self._total -= value
            self._n -= 1

    def get(self) -> float:
        """Return the mean so far; NaN before the first example."""
        return self._total / self._n if self._n else math.nan

    @property
    def bigger_is_better(self) -> bool:
        """Whether a larger value is the better one."""
        return self._metric.bigger_is_better

    @property
    def requires_labels(self) -> bool:
        """River's word for: judge what ``predict_one`` returns."""
        return True

    def works_with(self, model: Any) -> bool:
        """Whether the model ranks labels."""
        last = model._last_step if hasattr(model, "_last_step") else model
        return isinstance(last, base.MultiLabelClassifier)

    def _value(self, y_true: Any, y_pred: Any) -> float | None:
        given = getattr(y_pred, "scores", y_pred)
        truth = y_true if isinstance(y_true, dict) else dict.fromkeys(y_true, True)
        # Labels that the model does not know yet come last.
        labels = list(dict.fromkeys([*given, *truth]))
        if not labels:
            return None
        scores = np.array(
            [_number(given[label]) if label in given else -np.inf for label in labels]
        )
        relevant = np.array([bool(truth.get(label)) for label in labels])
        return float(self._metric.rows(relevant, scores)[0])


def _number(value: Any) -> float:
    return float(value.get(True, 0.0)) if isinstance(value, dict) else float(value)
