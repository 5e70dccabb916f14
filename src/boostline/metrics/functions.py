"""Metrics of whole matrices: the mean over the rows, or (`..._rows`) one value per row.

`Y` holds the relevant labels in any form that `learn` takes: an (n, k) array, frame or sparse matrix of indicators
(NaN: unknown), or a sequence of n label sets. `S` holds the scores, (n, k), higher is more relevant. `unknown` holds
labels of which it is not known whether they are relevant, in the same forms: they take part in no pair and have no
place in the ranking. A single row may be passed with one axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract.label_sets import LabelSets
from boostline.contract.labels import LabelSpace
from boostline.contract.numbers import whole_number
from boostline.metrics.scores import Floats, read_scores
from boostline.metrics.sorted_scores import Ranking, Ties

# Rows are handled in pieces of about this many scores, so that the temporaries stay in the cache.
_PIECE = 1 << 17


def ranking(relevant: Any, scores: Any, unknown: Any = None) -> Ranking:
    """Check one example or one block and sort it, for use by several metrics.

    Examples
    --------
    >>> block = ranking([{0}, {1, 2}], [[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    >>> block.rank_loss("half").tolist(), block.one_error().tolist()
    ([0.0, 1.0], [0.0, 1.0])
    """
    array = read_scores(scores)
    sets = _read_labels(relevant, array, unknown, "relevant")
    return Ranking(sets.is_relevant, np.atleast_2d(array), sets.is_unknown)


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
    return _mean(rank_loss_rows(Y, S, ties, unknown))


def rank_loss_rows(Y: Any, S: Any, ties: Ties = "half", unknown: Any = None) -> FloatArray:
    """Rank loss of each row, see `rank_loss`.

    Examples
    --------
    >>> rank_loss_rows([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).tolist()
    [0.0, 0.25]
    """
    check_ties(ties)
    return _rows(Y, S, unknown, lambda block: block.rank_loss(ties))


def coverage(Y: Any, S: Any, unknown: Any = None) -> float:
    """Mean depth of the ranking at which all relevant labels are found.

    Equals scikit-learn's `coverage_error`: tied labels take the worst rank, and a row without
    relevant labels counts 0.

    Examples
    --------
    >>> coverage([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    1.5
    """
    return _mean(coverage_rows(Y, S, unknown))


def coverage_rows(Y: Any, S: Any, unknown: Any = None) -> FloatArray:
    """Coverage of each row, see `coverage`.

    Examples
    --------
    >>> coverage_rows([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).tolist()
    [1.0, 2.0]
    """
    return _rows(Y, S, unknown, Ranking.coverage)


def average_precision(Y: Any, S: Any, unknown: Any = None) -> float:
    """Label ranking average precision (LRAP): mean precision at the ranks of the relevant labels.

    Equals scikit-learn's `label_ranking_average_precision_score`: tied labels take the worst
    rank, and a row without pairs counts 1.

    Examples
    --------
    >>> average_precision([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    0.75
    """
    return _mean(average_precision_rows(Y, S, unknown))


def average_precision_rows(Y: Any, S: Any, unknown: Any = None) -> FloatArray:
    """Label ranking average precision of each row, see `average_precision`.

    Examples
    --------
    >>> average_precision_rows([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).tolist()
    [1.0, 0.5]
    """
    return _rows(Y, S, unknown, Ranking.average_precision)


def one_error(Y: Any, S: Any, unknown: Any = None) -> float:
    """Mean of "the label ranked first is not relevant".

    If several labels share the best score, the row counts the share of them that is not
    relevant. A row without relevant labels counts 0: no ranking could do better.

    Examples
    --------
    >>> one_error([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    0.25
    """
    return _mean(one_error_rows(Y, S, unknown))


def one_error_rows(Y: Any, S: Any, unknown: Any = None) -> FloatArray:
    """One-error of each row, see `one_error`.

    Examples
    --------
    >>> one_error_rows([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).tolist()
    [0.0, 0.5]
    """
    return _rows(Y, S, unknown, Ranking.one_error)


def precision_at(Y: Any, S: Any, k: int, unknown: Any = None) -> float:
    """Mean share of relevant labels among the k ranked first.

    Ties at the cut are averaged over the orders that break them. A row with fewer than k known
    labels is divided by their number; a row without relevant labels counts 0.

    Examples
    --------
    >>> precision_at([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]], k=1)
    0.75
    """
    return _mean(precision_at_rows(Y, S, k, unknown))


def precision_at_rows(Y: Any, S: Any, k: int, unknown: Any = None) -> FloatArray:
    """Precision at k of each row, see `precision_at`.

    Examples
    --------
    >>> precision_at_rows([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]], k=1).tolist()
    [1.0, 0.5]
    """
    depth = check_depth(k)
    return _rows(Y, S, unknown, lambda block: block.precision_at(depth))


def ndcg_at(Y: Any, S: Any, k: int | None = None, unknown: Any = None) -> float:
    """Mean normalised discounted cumulative gain of the k ranked first (all of them for None).

    Equals scikit-learn's `ndcg_score` on indicators: the discount is log2(rank + 1), ties are
    averaged, and a row without relevant labels counts 0.

    Examples
    --------
    >>> ndcg_at([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]], k=1)
    0.75
    """
    return _mean(ndcg_at_rows(Y, S, k, unknown))


def ndcg_at_rows(Y: Any, S: Any, k: int | None = None, unknown: Any = None) -> FloatArray:
    """NDCG at k of each row, see `ndcg_at`.

    Examples
    --------
    >>> ndcg_at_rows([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]], k=1).tolist()
    [1.0, 0.5]
    """
    depth = None if k is None else check_depth(k)
    return _rows(Y, S, unknown, lambda block: block.ndcg_at(depth))


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


def check_ties(ties: str) -> None:
    """Refuse anything but the two ways of counting a tie."""
    if ties not in ("half", "full"):
        raise ValueError(f"ties is {ties!r}, but must be 'half' or 'full'")


def check_depth(k: int) -> int:
    """Refuse a depth that is no positive integer."""
    return whole_number(k, "k", 1)


def _rows(Y: Any, S: Any, unknown: Any, value: Callable[[Ranking], FloatArray]) -> FloatArray:
    scores = read_scores(S, "S")
    sets = _read_labels(Y, scores, unknown, "Y")
    scores = np.atleast_2d(scores)
    values = np.empty(len(scores), dtype=np.float64)
    step = max(1, _PIECE // sets.n_labels)
    for start in range(0, len(scores), step):
        part = slice(start, start + step)
        piece = sets.take(part)
        values[part] = value(Ranking(piece.is_relevant, scores[part], piece.is_unknown))
    return values


def _read_labels(relevant: Any, scores: Floats, unknown: Any, name: str) -> LabelSets:
    is_single = scores.ndim == 1
    n = 1 if is_single else len(scores)
    return LabelSpace(scores.shape[-1]).read(relevant, n, is_single, unknown, name)


def _mean(values: FloatArray) -> float:
    if values.size == 0:
        raise ValueError("S has no rows, but must have at least one for a mean")
    return float(np.mean(values))
