"""Metrics of whole matrices: the mean over the rows.

`Y` holds the relevant labels in any form that `learn` takes: an (n, k) array, frame or sparse matrix of indicators
(NaN: unknown), or a sequence of n label sets. `S` holds the scores, (n, k), higher is more relevant. `unknown` holds
labels of which it is not known whether they are relevant, in the same forms: they take part in no pair and have no
position in the ranking. A single row may be passed with one axis. Each metric is defined by its class.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostline.metrics.sorted_scores import Ties
from boostline.metrics.streaming import (
    AveragePrecision,
    Coverage,
    Metric,
    NDCGAt,
    OneError,
    PrecisionAt,
    RankLoss,
)


def rank_loss(Y: Any, S: Any, ties: Ties = "half", unknown: Any = None) -> float:
    """Mean `RankLoss` of the rows.

    Examples
    --------
    >>> rank_loss([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    0.125
    >>> rank_loss([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]], ties="full")
    0.25
    """
    return _mean(RankLoss(ties), Y, S, unknown)


def coverage(Y: Any, S: Any, unknown: Any = None) -> float:
    """Mean `Coverage` of the rows, as scikit-learn's `coverage_error`."""
    return _mean(Coverage(), Y, S, unknown)


def average_precision(Y: Any, S: Any, unknown: Any = None) -> float:
    """Mean `AveragePrecision` of the rows, as scikit-learn's `label_ranking_average_precision_score`."""
    return _mean(AveragePrecision(), Y, S, unknown)


def one_error(Y: Any, S: Any, unknown: Any = None) -> float:
    """Mean `OneError` of the rows."""
    return _mean(OneError(), Y, S, unknown)


def precision_at(Y: Any, S: Any, k: int, unknown: Any = None) -> float:
    """Mean `PrecisionAt` k of the rows."""
    return _mean(PrecisionAt(k), Y, S, unknown)


def ndcg_at(Y: Any, S: Any, k: int | None = None, unknown: Any = None) -> float:
    """Mean `NDCGAt` k of the rows, as scikit-learn's `ndcg_score` of indicators."""
    return _mean(NDCGAt(k), Y, S, unknown)


def _mean(metric: Metric, Y: Any, S: Any, unknown: Any) -> float:
    values = metric.rows(Y, S, unknown, names=("Y", "S"))
    if values.size == 0:
        raise ValueError("S has no rows, but must have at least one for a mean")
    return float(np.mean(values))
