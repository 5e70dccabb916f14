"""Metrics of a stream: update with one example or a block, read the mean at any moment.

`update` with a block gives exactly, to the last bit, what updates with its rows one by one give.
"""

from __future__ import annotations

import copy
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract.numbers import whole_number
from boostline.metrics.sorted_scores import Ranking, Ties, ranking, sorted_blocks

__all__ = [
    "AveragePrecision",
    "Coverage",
    "Metric",
    "NDCGAt",
    "OneError",
    "PrecisionAt",
    "RankLoss",
    "Rolling",
    "from_name",
]


class Metric(ABC):
    """Mean of a value per example, over all examples so far.

    Attributes
    ----------
    n : int
        Examples so far.
    n_without_pairs : int
        Examples without a pair: no relevant label, or no irrelevant one. They count in the mean.
    """

    #: How results and tables call the metric.
    name: str
    #: What its value counts, for the axis of a plot.
    unit: str
    #: Whether a larger value is the better one.
    bigger_is_better: bool

    n: int
    n_without_pairs: int
    _total: float

    def __init__(self) -> None:
        self.reset()

    @abstractmethod
    def rows_of(self, block: Ranking) -> FloatArray:
        """Value of each row of a sorted block."""

    def rows(
        self,
        relevant: Any,
        scores: Any,
        unknown: Any = None,
        names: tuple[str, str] = ("relevant", "scores"),
    ) -> FloatArray:
        """Value of each row, without changing the metric; errors call the arguments by these names."""
        blocks = sorted_blocks(relevant, scores, unknown, names)
        return np.concatenate([self.rows_of(block) for block in blocks])

    def update(self, relevant: Any, scores: Any, unknown: Any = None) -> Self:
        """Update with one example or a block.

        Parameters
        ----------
        relevant
            The relevant labels, in any form that `learn` takes: indicators (k,) or (n, k), a set of labels, or n sets.
        scores
            Scores (k,) or (n, k), higher is more relevant.
        unknown
            Labels that may or may not be relevant, in the same forms.
        """
        self.update_ranking(ranking(relevant, scores, unknown))
        return self

    def update_ranking(self, block: Ranking) -> FloatArray:
        """Update with a block that was sorted once for several metrics; return the value of each row."""
        values = self.rows_of(block)
        self._add(values, np.asarray(block.without_pairs))
        return values

    def _add(self, values: FloatArray, without_pairs: Any) -> None:
        self.n += values.size
        self.n_without_pairs += int(np.count_nonzero(without_pairs))
        # Strictly from left to right: a block leaves the same bits as its rows one by one.
        self._total = float(np.add.accumulate(np.concatenate(([self._total], values)))[-1])

    def get(self) -> float:
        """Return the mean over all examples so far; NaN before the first."""
        return self._total / self.n if self.n else math.nan

    def reset(self) -> Self:
        """Forget all examples."""
        self.n = 0
        self.n_without_pairs = 0
        self._total = 0.0
        return self

    def fresh(self) -> Self:
        """Return a new metric with the same settings."""
        return copy.deepcopy(self).reset()

    def __repr__(self) -> str:
        return f"{self.name}: {self.get():.4f} over {self.n} examples"


class RankLoss(Metric):
    """Share of the (relevant, irrelevant) pairs in the wrong order.

    A row without pairs (no relevant label, or no irrelevant one) has no loss and counts in the mean.

    Parameters
    ----------
    ties
        A tied pair counts "half" (the paper's convention) or as a "full" error (scikit-learn's
        `label_ranking_loss`).

    Examples
    --------
    >>> metric = RankLoss()
    >>> metric.update({0}, [2.0, 1.0, 0.0]).update({1}, [1.0, 1.0, 0.0])
    rank_loss: 0.1250 over 2 examples
    """

    unit = "share of pairs in the wrong order"
    bigger_is_better = False

    def __init__(self, ties: Ties = "half") -> None:
        if ties not in ("half", "full"):
            raise ValueError(f"ties is {ties!r}, but must be 'half' or 'full'")
        self.ties = ties
        self.name = "rank_loss" if ties == "half" else "rank_loss_full"
        super().__init__()

    def rows_of(self, block: Ranking) -> FloatArray:
        return block.rank_loss(self.ties)


class Coverage(Metric):
    """Depth of the ranking at which all relevant labels are found.

    Tied labels take the worst rank, and a row without relevant labels counts 0.

    Examples
    --------
    >>> Coverage().update([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).get()
    1.5
    """

    name = "coverage"
    unit = "labels to read until all relevant ones are found"
    bigger_is_better = False

    def rows_of(self, block: Ranking) -> FloatArray:
        return block.coverage()


class AveragePrecision(Metric):
    """Label ranking average precision (LRAP): mean precision at the relevant labels' ranks.

    Tied labels take the worst rank, and a row without pairs counts 1.

    Examples
    --------
    >>> AveragePrecision().update([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).get()
    0.75
    """

    name = "average_precision"
    unit = "mean precision at the relevant labels"
    bigger_is_better = True

    def rows_of(self, block: Ranking) -> FloatArray:
        return block.average_precision()


class OneError(Metric):
    """Share of examples whose first label is not relevant.

    If several labels share the best score, the example counts the share of them that is not relevant. An example
    without relevant labels counts 0: no ranking could do better.

    Examples
    --------
    >>> OneError().update([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).get()
    0.25
    """

    name = "one_error"
    unit = "share of examples with a wrong first label"
    bigger_is_better = False

    def rows_of(self, block: Ranking) -> FloatArray:
        return block.one_error()


class PrecisionAt(Metric):
    """Share of relevant labels among the k ranked first.

    Ties at the cut are averaged over the orders that break them. A row with fewer than k known labels is divided by
    their number; a row without relevant labels counts 0.

    Examples
    --------
    >>> PrecisionAt(1).update([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).get()
    0.75
    """

    unit = "share of relevant labels at the top"
    bigger_is_better = True

    def __init__(self, k: int) -> None:
        self.k = whole_number(k, "k", 1)
        self.name = f"precision@{k}"
        super().__init__()

    def rows_of(self, block: Ranking) -> FloatArray:
        return block.precision_at(self.k)


class NDCGAt(Metric):
    """Normalised discounted cumulative gain of the k ranked first (of all for None).

    The discount is log2(rank + 1), ties are averaged, and a row without relevant labels counts 0.

    Examples
    --------
    >>> NDCGAt(1).update([{0}, {1}], [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).get()
    0.75
    """

    unit = "discounted gain, 1 is the best possible"
    bigger_is_better = True

    def __init__(self, k: int | None = None) -> None:
        self.k = None if k is None else whole_number(k, "k", 1)
        self.name = "ndcg" if k is None else f"ndcg@{k}"
        super().__init__()

    def rows_of(self, block: Ranking) -> FloatArray:
        return block.ndcg_at(self.k)


class Rolling(Metric):
    """Another metric's mean over the last `window` examples.

    Parameters
    ----------
    metric
        The metric. It is copied, not updated.
    window
        Number of examples.

    Examples
    --------
    >>> metric = Rolling(OneError(), window=2)
    >>> for first in (0, 1, 2):
    ...     _ = metric.update({first}, [3.0, 2.0, 1.0])
    >>> metric.get(), metric.n
    (1.0, 2)
    """

    def __init__(self, metric: Metric, window: int) -> None:
        if not isinstance(metric, Metric):
            raise TypeError(f"metric is a {type(metric).__name__}, but must be a Metric")
        if isinstance(metric, Rolling):
            raise TypeError("metric is a Rolling, but must be the metric inside it")
        window = whole_number(window, "window", 1)
        self.metric = metric.fresh()
        self.window = window
        self.name = f"{metric.name} (last {window})"
        self.unit = metric.unit
        self.bigger_is_better = metric.bigger_is_better
        super().__init__()

    def rows_of(self, block: Ranking) -> FloatArray:
        return self.metric.rows_of(block)

    def _add(self, values: FloatArray, without_pairs: Any) -> None:
        # Ring buffers: the value of example i is at i modulo window.
        size = values.size
        values, without_pairs = values[-self.window :], without_pairs[-self.window :]
        places = (self._seen + size - values.size + np.arange(values.size)) % self.window
        self._values[places] = values
        self._without[places] = without_pairs
        self._seen += size
        self.n = min(self._seen, self.window)
        self.n_without_pairs = int(np.count_nonzero(self._without))

    def get(self) -> float:
        """Return the mean over the window; NaN before the first example."""
        # fsum is exact, so the place where the ring starts does not matter.
        return math.fsum(self._values[: self.n]) / self.n if self.n else math.nan

    def reset(self) -> Self:
        """Forget all examples."""
        super().reset()
        self._seen = 0
        self._values = np.zeros(self.window)
        self._without = np.zeros(self.window, dtype=np.bool_)
        return self


_BY_NAME: dict[str, Callable[[], Metric]] = {
    "rank_loss": RankLoss,
    "rank_loss_full": lambda: RankLoss(ties="full"),
    "coverage": Coverage,
    "average_precision": AveragePrecision,
    "one_error": OneError,
    "ndcg": NDCGAt,
}


def from_name(name: str) -> Metric:
    """Return the metric with this name.

    Examples
    --------
    >>> from_name("precision@3")
    precision@3: nan over 0 examples
    """
    if name in _BY_NAME:
        return _BY_NAME[name]()
    deep = re.fullmatch(r"(precision|ndcg)@([1-9][0-9]*)", name)
    if deep:
        depth = int(deep[2])
        return PrecisionAt(depth) if deep[1] == "precision" else NDCGAt(depth)
    choices = ", ".join([*_BY_NAME, "precision@K", "ndcg@K"])
    raise ValueError(f"metric is {name!r}, but must be one of {choices}")
