"""One block of rows, sorted once by score, from which every metric reads its value.

```
 sorted position      0    1    2    3    4    5        best score first, unknown labels last
 score               .9   .7   .7   .7   .2    ?
 relevant             1    0    1    0    1    .
 first                0    1    1    1    4    .        the run of equal scores a position is in
 last                 0    3    3    3    4    .
```

Sorting costs O(k log k) per row, everything else O(k). Ties are handled through the runs
`first..last`, so that no metric depends on the order of the labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import BoolArray, FloatArray
from boostline.contract.labels import LabelSpace

Ties = Literal["half", "full"]
Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]

# Rows are sorted in pieces of about this many scores, so that the temporaries stay in the cache.
_PIECE = 1 << 17


class Ranking:
    """The labels of n rows in order of their scores.

    Parameters
    ----------
    relevant
        Indicators, (n, k).
    scores
        Scores without NaN, (n, k); higher is more relevant.
    unknown
        Mask of the unknown labels, (n, k), or None if all labels are known.
    """

    def __init__(
        self, relevant: BoolArray, scores: Floats, unknown: BoolArray | None = None
    ) -> None:
        n, k = scores.shape
        if unknown is None:
            order = np.argsort(-scores, axis=1, kind="stable")
        else:
            relevant = relevant & ~unknown
            order = np.lexsort((-scores, unknown), axis=1)
        self.order: Ints = order
        ordered = _take(scores, order)
        starts = np.ones((n, k), dtype=np.bool_)
        starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        self.relevant: BoolArray = _take(relevant, order)
        self.n_relevant: Ints = np.count_nonzero(relevant, axis=1)
        if unknown is None:
            self.irrelevant: BoolArray = ~self.relevant
            self.n_known: Ints = np.full(n, k, dtype=np.intp)
        else:
            known = ~_take(unknown, order)
            starts[:, 1:] |= known[:, 1:] != known[:, :-1]
            self.irrelevant = known & ~self.relevant
            self.n_known = np.count_nonzero(known, axis=1)
        self.n_irrelevant: Ints = self.n_known - self.n_relevant
        self.first, self.last = _runs(starts)

    @property
    def without_pairs(self) -> BoolArray:
        """Rows that have no pair of a relevant and an irrelevant label, (n,)."""
        return np.asarray((self.n_relevant == 0) | (self.n_irrelevant == 0))

    def rank_loss(self, ties: Ties) -> FloatArray:
        """Share of the pairs in the wrong order, (n,); 0 for a row without pairs."""
        until = _padded_cumsum(self.irrelevant)
        above = _take(until, self.first)
        not_below = _take(until, self.last + 1)
        # Twice the number of errors is an integer, so the sum is exact.
        doubled = above + not_below if ties == "half" else 2 * not_below
        errors = np.where(self.relevant, doubled, 0).sum(axis=1)
        pairs = 2.0 * self.n_relevant * self.n_irrelevant
        return _divide(errors, pairs, empty=0.0)

    def coverage(self) -> FloatArray:
        """How far down the ranking the last relevant label is, (n,); 0 without relevant labels."""
        deepest: Ints = np.where(self.relevant, self.last + 1, 0).max(axis=1, initial=0)
        return deepest.astype(np.float64)

    def average_precision(self) -> FloatArray:
        """Mean precision at the relevant labels' ranks, (n,); 1 for a row without pairs."""
        until = _padded_cumsum(self.relevant)
        precision = _take(until, self.last + 1) / (self.last + 1.0)
        total = np.where(self.relevant, precision, 0.0).sum(axis=1)
        values = _divide(total, self.n_relevant, empty=1.0)
        values[self.n_irrelevant == 0] = 1.0
        return values

    def precision_at(self, depth: int) -> FloatArray:
        """Share of relevant labels among the first `depth`, (n,); 0 without relevant labels."""
        gain = self._gain((np.arange(self.relevant.shape[1]) < depth).astype(np.float64))
        return _divide(gain, np.minimum(self.n_known, depth), empty=0.0)

    def one_error(self) -> FloatArray:
        """Probability that the label ranked first is wrong, (n,); 0 without relevant labels."""
        values = 1.0 - self.precision_at(1)
        values[self.n_relevant == 0] = 0.0
        return values

    def ndcg_at(self, depth: int | None) -> FloatArray:
        """Discounted gain of the first `depth` over the best possible, (n,)."""
        k = self.relevant.shape[1]
        discount = 1.0 / np.log2(np.arange(k) + 2.0)
        discount[k if depth is None else depth :] = 0.0
        best = np.concatenate(([0.0], np.cumsum(discount)))[self.n_relevant]
        return _divide(self._gain(discount), best, empty=0.0)

    def weighted_gain_at(self, depth: int, weights: FloatArray) -> FloatArray:
        """Sum of the weights (k,) of the relevant labels among the first `depth`, averaged over tied labels, (n,)."""
        top = (np.arange(self.relevant.shape[1]) < depth).astype(np.float64)
        return self._gain(top, weights[self.order])

    def best_weighted_gain_at(self, depth: int, weights: FloatArray) -> FloatArray:
        """The most that any ranking could have, (n,)."""
        of_relevant = np.where(self.relevant, weights[self.order], 0.0)
        return np.asarray(-np.sort(-of_relevant, axis=1)[:, :depth].sum(axis=1))

    def _gain(self, discount: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """Sum of the positions' discounts over the relevant labels, averaged over tied labels."""
        until = np.concatenate(([0.0], np.cumsum(discount)))
        run = until[self.last + 1] - until[self.first]
        mean = run / (self.last - self.first + 1)
        mean = mean if weights is None else mean * weights
        gain: FloatArray = np.where(self.relevant, mean, 0.0).sum(axis=1)
        return gain


def _take(rows: NDArray[Any], places: Ints) -> NDArray[Any]:
    """Read each row at its own places, with less overhead for a single row."""
    if len(rows) == 1:
        taken: NDArray[Any] = rows[0][places[0]]
        return taken[np.newaxis]
    return np.take_along_axis(rows, places, axis=1)


def _runs(starts: BoolArray) -> tuple[Ints, Ints]:
    """Return the first and the last position of the run of equal scores that each place is in."""
    n, k = starts.shape
    place = np.broadcast_to(np.arange(k), (n, k))
    if starts.all():
        return place, place
    first: Ints = np.maximum.accumulate(np.where(starts, place, 0), axis=1)
    ends = np.ones_like(starts)
    ends[:, :-1] = starts[:, 1:]
    backwards = np.where(ends, place, k - 1)[:, ::-1]
    last: Ints = np.minimum.accumulate(backwards, axis=1)[:, ::-1]
    return first, last


def _padded_cumsum(flags: BoolArray) -> Ints:
    """Return how many flags are set before each place, with one place more at the end."""
    n, k = flags.shape
    until = np.zeros((n, k + 1), dtype=np.intp)
    np.cumsum(flags, axis=1, out=until[:, 1:])
    return until


def _divide(above: NDArray[Any], below: NDArray[Any], empty: float) -> FloatArray:
    """Divide, with the value `empty` where there is nothing to divide by."""
    values = np.full(above.shape, empty, dtype=np.float64)
    np.divide(above, below, out=values, where=below > 0)
    return values


def ranking(relevant: Any, scores: Any, unknown: Any = None) -> Ranking:
    """Check one example or one block and sort it, for use by several metrics.

    Examples
    --------
    >>> block = ranking([{0}, {1, 2}], [[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    >>> block.rank_loss("half").tolist(), block.one_error().tolist()
    ([0.0, 1.0], [0.0, 1.0])
    """
    [block] = sorted_blocks(relevant, scores, unknown, piece=None)
    return block


def sorted_blocks(
    relevant: Any,
    scores: Any,
    unknown: Any,
    names: tuple[str, str] = ("relevant", "scores"),
    piece: int | None = _PIECE,
) -> Iterator[Ranking]:
    """Check rows and sort them, piece by piece; at least one block, which may be empty."""
    array = read_scores(scores, names[1])
    is_single, rows = array.ndim == 1, np.atleast_2d(array)
    n, k = rows.shape
    sets = LabelSpace(k).read(relevant, n, is_single, unknown, names[0])
    step = max(1, n if piece is None else piece // k)
    for start in range(0, max(n, 1), step):
        part = slice(start, start + step)
        some = sets.take(part)
        yield Ranking(some.is_relevant, rows[part], some.is_unknown)


def read_scores(scores: Any, name: str = "scores") -> Floats:
    """Scores as a C-ordered float array with one or two axes; a NaN cannot be ranked."""
    array = np.asarray(scores)
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{name} has shape {array.shape}, but must be one row (k,) or a block (n, k)"
        )
    if array.shape[-1] == 0:
        raise ValueError(f"{name} has shape {array.shape}, but must have at least one label")
    if array.dtype not in (np.float32, np.float64):
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} has dtype {array.dtype}, but must have numbers") from error
    nan = np.isnan(array)
    if nan.any():
        place = tuple(int(i) for i in np.argwhere(nan)[0])
        where = f"label {place[0]}" if len(place) == 1 else f"row {place[0]}, label {place[1]}"
        raise ValueError(
            f"{name} is NaN at {where}, but must be a number: a NaN has no place in a ranking"
        )
    return np.ascontiguousarray(array)
