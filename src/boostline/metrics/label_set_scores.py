"""F1 of label sets, for matrices and for streams.

The conventions are scikit-learn's (``f1_score`` with ``zero_division=0``): a label, or a row, of which nothing is
relevant and nothing is named counts 0.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from boostline.contract.labels import LabelSpace

Ints = NDArray[np.int64]


class F1:
    """Micro-, macro- and example-F1 of a stream of label sets.

    Examples
    --------
    >>> f1 = F1(3).update([{0, 1}, {2}], [{0}, {1, 2}])
    >>> round(f1.micro, 3), round(f1.macro, 3), round(f1.example, 3)
    (0.667, 0.667, 0.667)
    """

    def __init__(self, n_labels: int) -> None:
        self._space = LabelSpace(n_labels)
        self.n = 0
        self._right: Ints = np.zeros(n_labels, np.int64)
        self._all: Ints = np.zeros(n_labels, np.int64)  # named plus relevant
        self._example = 0.0

    def update(self, relevant: Any, named: Any) -> Self:
        """Update with one example or a block; both in any form that `learn` takes."""
        is_single = np.ndim(named) < 2 and not isinstance(named, list)
        n = 1 if is_single else len(named)
        truth = self._space.read(relevant, n, is_single, None, "relevant").is_relevant
        found = self._space.read(named, n, is_single, None, "named").is_relevant
        both, sizes = truth & found, truth.sum(axis=1) + found.sum(axis=1)
        self._right += both.sum(axis=0)
        self._all += truth.sum(axis=0) + found.sum(axis=0)
        # From left to right: a block leaves the same bits as its rows one by one.
        values = np.concatenate(([self._example], 2 * both.sum(axis=1) / np.maximum(sizes, 1)))
        self._example = float(np.add.accumulate(values)[-1])
        self.n += n
        return self

    @property
    def micro(self) -> float:
        """F1 of all labels together."""
        return float(2 * self._right.sum() / max(1, self._all.sum()))

    @property
    def macro(self) -> float:
        """Mean of the labels' own F1."""
        return float(np.mean(2 * self._right / np.maximum(self._all, 1)))

    @property
    def example(self) -> float:
        """Mean of the rows' own F1; NaN before the first."""
        return self._example / self.n if self.n else float("nan")


class ThresholdF1:
    """F1 of the label sets that probabilities lead to, row by row.

    A label is named if its probability is above half of the F1 so far: of all labels for micro-F1, of the label itself
    for macro-F1 (Busa-Fekete, Szorenyi, Dembczynski and Hullermeier, "Online F-measure optimization", NIPS 2015).
    `boostline.LabelRanker.predict` follows the same rule.

    Examples
    --------
    >>> f1 = ThresholdF1()
    >>> for _ in range(10):
    ...     f1.update(np.array([[True, False]]), np.array([[True, True]]), np.array([[0.9, 0.2]]))
    >>> f1.micro, f1.macro
    (1.0, 0.5)
    """

    # Before there is evidence: a threshold of 1/3 counts as much as three labels, and the common threshold as much as
    # two of a label's own (as in src/core/models/ranker/calibration.hpp).
    _FIRST, _FIRST_WEIGHT, _SHARED_WEIGHT = 1.0 / 3.0, 3.0, 2.0

    def __init__(self) -> None:
        #: For micro-F1 and for macro-F1: labels named rightly, labels named, relevant labels, (2, 3, k).
        self.counts: NDArray[np.int64] = np.zeros((2, 3, 0), np.int64)
        self._right, self._all = 0, 0

    def update(self, relevant: Any, known: Any, p: Any) -> None:
        """Update with indicators of relevant and known labels, and with probabilities, (n, k) each."""
        k = p.shape[1]
        if k > self.counts.shape[2]:
            self.counts = np.pad(self.counts, ((0, 0), (0, 0), (0, k - self.counts.shape[2])))
        counts = self.counts
        for truth, may_count, likely in zip(relevant & known, known, p, strict=True):
            threshold = (self._right + self._FIRST * self._FIRST_WEIGHT) / (
                self._all + self._FIRST_WEIGHT
            )
            right, named, own = counts[1]
            of_label = (right + threshold * self._SHARED_WEIGHT) / (
                named + own + self._SHARED_WEIGHT
            )
            for i, least in enumerate((threshold, of_label)):
                chosen = (likely > least) & may_count
                counts[i] += np.array([chosen & truth, chosen, truth])
            self._right, self._all = int(counts[0, 0].sum()), int(counts[0, 1:].sum())

    @property
    def micro(self) -> float:
        """F1 of all labels together."""
        return 2 * self._right / max(1, self._all)

    @property
    def macro(self) -> float:
        """Mean of the labels' own F1."""
        right, named, relevant = self.counts[1]
        return float(np.mean(2 * right / np.maximum(named + relevant, 1)))
