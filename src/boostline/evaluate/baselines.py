"""Rankers that look at no feature: what a result must beat before it says anything of learning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics._inputs import as_indicator_rows, as_indicators, is_rows, is_sparse, label_index


class DecayedCounts:
    """Rank by how often each label was relevant of late, whatever the features.

    The count of a label is multiplied by `decay` at each example and grows by its weight when the
    label is relevant. With a small decay this is close to "the same labels as last time", which
    beats every learner on rows that are sorted by class (rank loss .0067 on the test rows of scene
    in file order) and is no better than chance once they are shuffled. With `decay=1` it is the
    plain label frequency.

    Parameters
    ----------
    n_labels
        Number of labels; may be left out if `labels` is given.
    decay
        Factor in (0, 1] by which the past counts less at each example.
    labels
        Names of the labels.

    Examples
    --------
    >>> model = DecayedCounts(n_labels=3)
    >>> before = model.learn([0.0], {2})
    >>> model.learn([0.0], {0}).tolist(), model.score([0.0]).tolist()
    ([0.0, 0.0, 1.0], [1.0, 0.0, 0.5])
    """

    def __init__(
        self,
        n_labels: int | None = None,
        decay: float = 0.5,
        labels: Sequence[Any] | None = None,
    ) -> None:
        if n_labels is None:
            if labels is None:
                raise TypeError("n_labels is missing; give it, or the names in labels")
            n_labels = len(labels)
        if n_labels < 1:
            raise ValueError(f"n_labels is {n_labels}; there must be at least one label")
        if labels is not None and len(labels) != n_labels:
            raise ValueError(f"labels has {len(labels)} names, but n_labels is {n_labels}")
        if not 0 < decay <= 1:
            raise ValueError(f"decay is {decay}; it must be above 0 and at most 1")
        self.n_labels = int(n_labels)
        self.labels = None if labels is None else list(labels)
        self.decay = float(decay)
        self.counts: NDArray[np.float64] = np.zeros(self.n_labels)
        self._index = label_index(self.labels)

    def score(self, x: Any) -> NDArray[np.float64]:
        """Return the counts, (k,), or once for each row of a matrix, (n, k)."""
        n = _n_rows(x)
        return self.counts.copy() if n is None else np.tile(self.counts, (n, 1))

    def learn(
        self, x: Any, relevant: Any, weight: float = 1.0, irrelevant: Any = None
    ) -> NDArray[np.float64]:
        """Count one example's relevant labels, or a block's; return the counts before.

        `irrelevant` names the labels known to be irrelevant when not all are known: the count of
        a label in neither set stays as it is.
        """
        n = _n_rows(x)
        if n is None or (n == 1 and not _is_block(relevant)):
            y = as_indicators(relevant, self.n_labels, self._index)
            z = (
                ~y
                if irrelevant is None
                else as_indicators(irrelevant, self.n_labels, self._index, "irrelevant")
            )
            return self._learn_row(y, z, weight)
        Y = as_indicator_rows(relevant, n, self.n_labels, self._index, "relevant")
        Z = (
            ~Y
            if irrelevant is None
            else as_indicator_rows(irrelevant, n, self.n_labels, self._index, "irrelevant")
        )
        before = np.empty((n, self.n_labels))
        for i in range(n):
            before[i] = self._learn_row(Y[i], Z[i], weight)
        return before

    def rank(self, x: Any, top: int | None = None) -> list[Any]:
        """Return the labels, best first; ties go by label index."""
        del x  # features play no part
        order = np.argsort(-self.counts, kind="stable")[:top].tolist()
        return order if self.labels is None else [self.labels[i] for i in order]

    def _learn_row(
        self, relevant: NDArray[np.bool_], irrelevant: NDArray[np.bool_], weight: float
    ) -> NDArray[np.float64]:
        before = self.counts
        known = relevant | irrelevant
        self.counts = np.where(known, self.decay * before + weight * relevant, before)
        return before

    def __repr__(self) -> str:
        return f"DecayedCounts(n_labels={self.n_labels}, decay={self.decay:g})"


def _n_rows(x: Any) -> int | None:
    """Return the number of rows of a matrix, None for a single example."""
    if (isinstance(x, np.ndarray) or is_sparse(x)) and len(x.shape) == 2:
        return int(x.shape[0])
    return None


def _is_block(relevant: Any) -> bool:
    return is_rows(relevant) or (is_sparse(relevant) and len(relevant.shape) == 2)
