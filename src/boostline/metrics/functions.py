"""Metrics of whole matrices: the mean over the rows.

`Y` holds the relevant labels in any form that `learn` takes: an (n, k) array, frame or sparse matrix of indicators
(NaN: unknown), or a sequence of n label sets. `S` holds the scores, (n, k), higher is more relevant. `unknown` holds
labels of which it is not known whether they are relevant, in the same forms: they take part in no pair and have no
place in the ranking. A single row may be passed with one axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract.labels import LabelSpace
from boostline.metrics.sorted_scores import Ties, sorted_blocks
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
    """Mean share of the (relevant, irrelevant) pairs that are in the wrong order.

    A row without pairs (no relevant label, or no irrelevant one) has no loss and counts in the
    mean; `n_without_pairs` says how many there are.

    Parameters
    ----------
    Y, S, unknown
        Relevant labels, scores and unknown labels, see the module's docstring.
    ties
        A tied pair counts one half (the paper's convention) or as a full error (scikit-learn's
        `label_ranking_loss`).

    Examples
    --------
    >>> rank_loss([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    0.125
    >>> rank_loss([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]], ties="full")
    0.25
    """
    return _mean(RankLoss(ties), Y, S, unknown)


def rank_loss_rows(Y: Any, S: Any, ties: Ties = "half", unknown: Any = None) -> FloatArray:
    """Rank loss of each row, see `rank_loss`.

    Examples
    --------
    >>> rank_loss_rows([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).tolist()
    [0.0, 0.25]
    """
    return _rows(RankLoss(ties), Y, S, unknown)


def coverage(Y: Any, S: Any, unknown: Any = None) -> float:
    """Mean depth of the ranking at which all relevant labels are found.

    Equals scikit-learn's `coverage_error`: tied labels take the worst rank, and a row without
    relevant labels counts 0.

    Examples
    --------
    >>> coverage([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    1.5
    """
    return _mean(Coverage(), Y, S, unknown)


def average_precision(Y: Any, S: Any, unknown: Any = None) -> float:
    """Label ranking average precision (LRAP): mean precision at the ranks of the relevant labels.

    Equals scikit-learn's `label_ranking_average_precision_score`: tied labels take the worst
    rank, and a row without pairs counts 1.

    Examples
    --------
    >>> average_precision([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    0.75
    """
    return _mean(AveragePrecision(), Y, S, unknown)


def one_error(Y: Any, S: Any, unknown: Any = None) -> float:
    """Mean of "the label ranked first is not relevant".

    If several labels share the best score, the row counts the share of them that is not
    relevant. A row without relevant labels counts 0: no ranking could do better.

    Examples
    --------
    >>> one_error([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    0.25
    """
    return _mean(OneError(), Y, S, unknown)


def precision_at(Y: Any, S: Any, k: int, unknown: Any = None) -> float:
    """Mean share of relevant labels among the k ranked first.

    Ties at the cut are averaged over the orders that break them. A row with fewer than k known
    labels is divided by their number; a row without relevant labels counts 0.

    Examples
    --------
    >>> precision_at([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]], k=1)
    0.75
    """
    return _mean(PrecisionAt(k), Y, S, unknown)


def ndcg_at(Y: Any, S: Any, k: int | None = None, unknown: Any = None) -> float:
    """Mean normalised discounted cumulative gain of the k ranked first (all of them for None).

    Equals scikit-learn's `ndcg_score` on indicators: the discount is log2(rank + 1), ties are
    averaged, and a row without relevant labels counts 0.

    Examples
    --------
    >>> ndcg_at([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]], k=1)
    0.75
    """
    return _mean(NDCGAt(k), Y, S, unknown)


def n_without_pairs(Y: Any, unknown: Any = None) -> int:
    """Count the rows without a pair: no relevant label, or no irrelevant one.

    `Y` is an (n, k) array or sparse matrix of indicators.

    Examples
    --------
    >>> import numpy as np
    >>> n_without_pairs(np.array([[0, 0], [0, 1], [1, 1]]))
    2
    """
    shape = getattr(Y, "shape", None) or np.shape(Y)
    if len(shape) != 2:
        raise ValueError(f"Y has shape {shape}, but must be an indicator (n, k)")
    sets = LabelSpace(int(shape[1])).read(Y, int(shape[0]), False, unknown, "Y")
    n_relevant, n_unknown = sets.relevant.sizes, sets.unknown.sizes
    return int(np.count_nonzero((n_relevant == 0) | (n_relevant + n_unknown == sets.n_labels)))


def _rows(metric: Metric, Y: Any, S: Any, unknown: Any) -> FloatArray:
    blocks = sorted_blocks(Y, S, unknown, ("Y", "S"))
    return np.concatenate([metric.rows_of(block) for block in blocks])


def _mean(metric: Metric, Y: Any, S: Any, unknown: Any) -> float:
    values = _rows(metric, Y, S, unknown)
    if values.size == 0:
        raise ValueError("S has no rows, but must have at least one for a mean")
    return float(np.mean(values))
