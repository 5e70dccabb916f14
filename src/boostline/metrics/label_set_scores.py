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


def micro_f1(Y: Any, named: Any) -> float:
    """F1 of all labels together; `Y` and `named` are indicators (n, k).

    Examples
    --------
    >>> round(micro_f1([[1, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 1, 1]]), 3)
    0.667
    """
    return _of(Y, named).micro


def macro_f1(Y: Any, named: Any) -> float:
    """Mean of the labels' own F1; `Y` and `named` are indicators (n, k).

    Examples
    --------
    >>> round(macro_f1([[1, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 1, 1]]), 3)
    0.667
    """
    return _of(Y, named).macro


def example_f1(Y: Any, named: Any) -> float:
    """Mean of the rows' own F1; `Y` and `named` are indicators (n, k).

    Examples
    --------
    >>> round(example_f1([[1, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 1, 1]]), 3)
    0.667
    """
    return _of(Y, named).example


def _of(Y: Any, named: Any) -> F1:
    found = np.asarray(named)
    if found.ndim != 2:
        raise ValueError(f"named has shape {found.shape}, but must be indicators (n, k)")
    truth = Y if hasattr(Y, "shape") else np.asarray(Y)
    return F1(found.shape[1]).update(truth, found)
