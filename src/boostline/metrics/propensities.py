"""Propensity-scored precision: what is found of rare labels counts more.

H. Jain, Y. Prabhu and M. Varma, "Extreme multi-label loss functions for recommendation, tagging, ranking and other
missing label applications" (KDD 2016). A relevant label is observed only with its propensity, which is small for rare
labels; dividing by it makes up for those that were missed.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract.labels import LabelSpace
from boostline.contract.numbers import whole_number
from boostline.metrics.sorted_scores import Ranking
from boostline.metrics.streaming import Metric


def propensities(Y: Any, *, a: float = 0.55, b: float = 1.5) -> FloatArray:
    """How likely a relevant label is to be observed, by how often it is, (k,).

    p = 1 / (1 + c (n_label + b)^-a) with c = (ln n - 1) (b + 1)^a, for n rows.

    Parameters
    ----------
    Y
        Indicators (n, k) of the **train** rows: array, frame or sparse matrix.
    a, b
        Constants of the paper; 0.55 and 1.5 are the default of the Extreme Classification Repository.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.arange(1000)[:, None] < [10, 100, 900]
    >>> propensities(Y).round(2).tolist()
    [0.28, 0.56, 0.81]
    """
    shape = getattr(Y, "shape", None) or np.shape(Y)
    if len(shape) != 2 or not shape[0]:
        raise ValueError(f"Y has shape {tuple(shape)}, but must be indicators (n, k) of some rows")
    n, k = int(shape[0]), int(shape[1])
    sets = LabelSpace(k).read(Y, n, False, None, "Y")
    counts = np.bincount(sets.relevant.values, minlength=k)
    c = (np.log(n) - 1) * (b + 1) ** a
    return np.asarray(1 / (1 + c * (counts + b) ** -a))


class PropensityScoredPrecisionAt(Metric):
    """Propensity-scored precision of the k ranked first, over the largest that any ranking could have.

    This is PSP@k of the Extreme Classification Repository, from 0 to 1: sums over all rows are divided, not means of
    rows. Ties are averaged over the orders that break them.

    Parameters
    ----------
    k
        Depth of the ranking.
    propensities
        One per label, in (0, 1], see `propensities`.

    Examples
    --------
    >>> metric = PropensityScoredPrecisionAt(1, [0.9, 0.3, 0.9])
    >>> metric.update({0}, [2.0, 1.0, 0.0]).update({1}, [2.0, 1.0, 0.0]).get()
    0.25
    """

    unit = "relevant labels found, rare ones count more"
    bigger_is_better = True

    _best: float

    def __init__(self, k: int, propensities: Any) -> None:
        self.k = whole_number(k, "k", 1)
        given = np.asarray(propensities, dtype=np.float64)
        if given.ndim != 1 or not ((given > 0) & (given <= 1)).all():
            raise ValueError(
                "propensities must have one number in (0, 1] per label, but has "
                f"shape {given.shape}" + (f" and the value {given.min():g}" if given.size else "")
            )
        self.weights = 1 / given
        self.name = f"psp@{k}"
        super().__init__()

    def rows_of(self, block: Ranking) -> FloatArray:
        """What each row of a sorted block found, unnormalised."""
        return block.weighted_gain_at(self.k, self._checked(block))

    def update_ranking(self, block: Ranking) -> FloatArray:
        """Update with a block that was sorted once for several metrics; return the value of each row."""
        best = block.best_weighted_gain_at(self.k, self._checked(block))
        self._best = float(np.add.accumulate(np.concatenate(([self._best], best)))[-1])
        return super().update_ranking(block)

    def get(self) -> float:
        """What was found over the most that could have been; NaN before the first relevant label."""
        return self._total / self._best if self._best else float("nan")

    def reset(self) -> Self:
        """Forget all examples."""
        super().reset()
        self._best = 0.0
        return self

    def _checked(self, block: Ranking) -> FloatArray:
        k = block.relevant.shape[1]
        if len(self.weights) != k:
            raise ValueError(f"propensities has {len(self.weights)} numbers, but must have {k}")
        return np.asarray(self.weights)
