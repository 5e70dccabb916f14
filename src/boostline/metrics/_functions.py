"""Metrics of whole matrices: the mean over the rows, or (`..._rows`) one value per row.

`Y` holds the relevant labels: an (n, k) array or sparse matrix of indicators, or a sequence of n
label sets. `S` holds the scores, (n, k), higher is more relevant. `known` is an optional mask,
(n, k) or (k,): a label that is not known takes part in no pair and has no place in the ranking.
A single row may be passed with one axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ._inputs import (
    Bools,
    Floats,
    as_indicator_rows,
    as_indicators,
    as_known,
    as_scores,
    is_sparse,
)
from ._ranking import Ranking, Ties, Values

# Rows are handled in pieces of about this many scores, so that the temporaries stay in the cache.
_PIECE = 1 << 17


def ranking(relevant: Any, scores: Any, known: Any = None) -> Ranking:
    """Check one example or one block and sort it, for use by several metrics.

    Examples
    --------
    >>> block = ranking([{0}, {1, 2}], [[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    >>> block.rank_loss("half").tolist(), block.one_error().tolist()
    ([0.0, 1.0], [0.0, 1.0])
    """
    array = as_scores(scores)
    if array.ndim == 1:
        indicators = as_indicators(relevant, array.shape[0])[np.newaxis]
        mask = as_known(known, array.shape)
        return Ranking(indicators, array[np.newaxis], None if mask is None else mask[np.newaxis])
    indicators = as_indicator_rows(relevant, array.shape[0], array.shape[1], name="relevant")
    return Ranking(indicators, array, as_known(known, array.shape))


def rank_loss(Y: Any, S: Any, ties: Ties = "half", known: Any = None) -> float:
    """Mean share of the (relevant, irrelevant) pairs that are in the wrong order.

    A row without pairs (no relevant label, or no irrelevant one) has no loss and counts in the
    mean; `n_without_pairs` says how many there are.

    Parameters
    ----------
    Y, S, known
        Relevant labels, scores and the mask of known labels, see the module's docstring.
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
    return _mean(rank_loss_rows(Y, S, ties, known))


def rank_loss_rows(Y: Any, S: Any, ties: Ties = "half", known: Any = None) -> Values:
    """Rank loss of each row, see `rank_loss`.

    Examples
    --------
    >>> rank_loss_rows([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).tolist()
    [0.0, 0.25]
    """
    check_ties(ties)
    return _rows(Y, S, known, lambda block: block.rank_loss(ties))


def coverage(Y: Any, S: Any, known: Any = None) -> float:
    """Mean depth of the ranking at which all relevant labels are found.

    Equals scikit-learn's `coverage_error`: tied labels take the worst rank, and a row without
    relevant labels counts 0.

    Examples
    --------
    >>> coverage([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    1.5
    """
    return _mean(coverage_rows(Y, S, known))


def coverage_rows(Y: Any, S: Any, known: Any = None) -> Values:
    """Coverage of each row, see `coverage`.

    Examples
    --------
    >>> coverage_rows([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).tolist()
    [1.0, 2.0]
    """
    return _rows(Y, S, known, Ranking.coverage)


def average_precision(Y: Any, S: Any, known: Any = None) -> float:
    """Label ranking average precision (LRAP): mean precision at the ranks of the relevant labels.

    Equals scikit-learn's `label_ranking_average_precision_score`: tied labels take the worst
    rank, and a row without pairs counts 1.

    Examples
    --------
    >>> average_precision([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    0.75
    """
    return _mean(average_precision_rows(Y, S, known))


def average_precision_rows(Y: Any, S: Any, known: Any = None) -> Values:
    """Label ranking average precision of each row, see `average_precision`.

    Examples
    --------
    >>> average_precision_rows([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).tolist()
    [1.0, 0.5]
    """
    return _rows(Y, S, known, Ranking.average_precision)


def one_error(Y: Any, S: Any, known: Any = None) -> float:
    """Mean of "the label ranked first is not relevant".

    If several labels share the best score, the row counts the share of them that is not
    relevant. A row without relevant labels counts 0: no ranking could do better.

    Examples
    --------
    >>> one_error([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    0.25
    """
    return _mean(one_error_rows(Y, S, known))


def one_error_rows(Y: Any, S: Any, known: Any = None) -> Values:
    """One-error of each row, see `one_error`.

    Examples
    --------
    >>> one_error_rows([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).tolist()
    [0.0, 0.5]
    """
    return _rows(Y, S, known, Ranking.one_error)


def precision_at(Y: Any, S: Any, k: int, known: Any = None) -> float:
    """Mean share of relevant labels among the k ranked first.

    Ties at the cut are averaged over the orders that break them. A row with fewer than k known
    labels is divided by their number; a row without relevant labels counts 0.

    Examples
    --------
    >>> precision_at([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]], k=1)
    0.75
    """
    return _mean(precision_at_rows(Y, S, k, known))


def precision_at_rows(Y: Any, S: Any, k: int, known: Any = None) -> Values:
    """Precision at k of each row, see `precision_at`.

    Examples
    --------
    >>> precision_at_rows([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]], k=1).tolist()
    [1.0, 0.5]
    """
    depth = check_depth(k)
    return _rows(Y, S, known, lambda block: block.precision_at(depth))


def ndcg_at(Y: Any, S: Any, k: int | None = None, known: Any = None) -> float:
    """Mean normalised discounted cumulative gain of the k ranked first (all of them for None).

    Equals scikit-learn's `ndcg_score` on indicators: the discount is log2(rank + 1), ties are
    averaged, and a row without relevant labels counts 0.

    Examples
    --------
    >>> ndcg_at([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]], k=1)
    0.75
    """
    return _mean(ndcg_at_rows(Y, S, k, known))


def ndcg_at_rows(Y: Any, S: Any, k: int | None = None, known: Any = None) -> Values:
    """NDCG at k of each row, see `ndcg_at`.

    Examples
    --------
    >>> ndcg_at_rows([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]], k=1).tolist()
    [1.0, 0.5]
    """
    depth = None if k is None else check_depth(k)
    return _rows(Y, S, known, lambda block: block.ndcg_at(depth))


def n_without_pairs(Y: Any, known: Any = None) -> int:
    """Count the rows that have nothing to rank: no relevant label, or no irrelevant one.

    `Y` is an (n, k) array or sparse matrix of indicators.

    Examples
    --------
    >>> import numpy as np
    >>> n_without_pairs(np.array([[0, 0], [0, 1], [1, 1]]))
    2
    """
    array = Y.toarray() if is_sparse(Y) else np.asarray(Y)
    if array.ndim != 2:
        raise ValueError(f"Y has shape {array.shape}; indicators of shape (n, k) are needed")
    indicators = as_indicator_rows(array, *array.shape)
    mask = as_known(known, array.shape)
    if mask is None:
        with_pairs = indicators.any(axis=1) & ~indicators.all(axis=1)
    else:
        with_pairs = (indicators & mask).any(axis=1) & (~indicators & mask).any(axis=1)
    return int(np.count_nonzero(~with_pairs))


def check_ties(ties: str) -> None:
    """Refuse anything but the two ways of counting a tie."""
    if ties not in ("half", "full"):
        raise ValueError(f"ties is {ties!r}; it must be 'half' or 'full'")


def check_depth(k: int) -> int:
    """Refuse a depth that is no positive integer."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise TypeError(f"k is {k!r}; the number of labels at the top is an integer")
    if k < 1:
        raise ValueError(f"k is {k}; at least the label ranked first must be looked at")
    return int(k)


def _rows(Y: Any, S: Any, known: Any, value: Callable[[Ranking], Values]) -> Values:
    scores = as_scores(S, "S")
    if scores.ndim == 1:
        return value(ranking(Y, scores, known))
    mask = as_known(known, scores.shape)
    values = np.empty(scores.shape[0], dtype=np.float64)
    for start, stop, relevant in _pieces(Y, scores):
        part = None if mask is None else mask[start:stop]
        values[start:stop] = value(Ranking(relevant, scores[start:stop], part))
    return values


def _pieces(Y: Any, scores: Floats) -> Iterator[tuple[int, int, Bools]]:
    n, k = scores.shape
    if is_sparse(Y):
        # Checked as a whole first: a piece only knows its own rows. CSR rows can be cut.
        if Y.shape != (n, k):
            raise ValueError(f"Y has shape {Y.shape}; indicators need the shape {(n, k)}")
        Y = Y.tocsr()
    else:
        Y = as_indicator_rows(Y, n, k)
    step = max(1, _PIECE // k)
    for start in range(0, n, step):
        stop = min(n, start + step)
        yield start, stop, as_indicator_rows(Y[start:stop], stop - start, k)


def _mean(values: Values) -> float:
    if values.size == 0:
        raise ValueError("S has no rows; a mean needs at least one")
    return float(np.mean(values))
