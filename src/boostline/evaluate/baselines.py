"""Baselines that ignore the features: a model that has learned something must beat them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract.frames import is_matrix
from boostline.contract.labels import LabelSpace
from boostline.contract.numbers import read_weights, real_number, whole_number


class DecayedCounts:
    """Rank labels by how often they were relevant recently, without the features.

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

    #: A block is learned exactly as the loop of its rows (see `boostline.evaluate.prequential`).
    blocks_are_rows = True

    def __init__(
        self,
        n_labels: int | None = None,
        decay: float = 0.5,
        labels: Sequence[Any] | None = None,
    ) -> None:
        if n_labels is None:
            if labels is None:
                raise TypeError("give n_labels or labels")
            n_labels = len(labels)
        if labels is not None and len(labels) != n_labels:
            raise ValueError(f"n_labels is {n_labels}, but labels has {len(labels)} names")
        self.n_labels = whole_number(n_labels, "n_labels", 1)
        self.labels = None if labels is None else list(labels)
        self.decay = real_number(decay, "decay", 0.0, 1.0, open_low=True)
        self.counts: FloatArray = np.zeros(self.n_labels)
        self._space = LabelSpace(self.n_labels, self.labels)

    def score(self, x: Any) -> FloatArray:
        """Return the counts, (k,), or once for each row of a matrix, (n, k)."""
        return np.tile(self.counts, (x.shape[0], 1)) if is_matrix(x) else self.counts.copy()

    def learn(self, x: Any, relevant: Any, weight: Any = 1.0, unknown: Any = None) -> FloatArray:
        """Count one example's relevant labels, or a block's; return the counts before.

        The count of a label of which it is `unknown` whether it is relevant stays as it is.
        """
        is_block = is_matrix(x)
        n = int(x.shape[0]) if is_block else 1
        sets = self._space.read(relevant, n, not is_block, unknown)
        before = np.empty((n, self.n_labels))
        for i, w in enumerate(read_weights(weight, n)):
            before[i] = self.counts
            counts = self.decay * self.counts + w * sets.is_relevant[i]
            if sets.is_unknown is not None:
                counts = np.where(sets.is_unknown[i], self.counts, counts)
            self.counts = counts
        return before if is_block else before[0]

    def rank(self, x: Any, top: int | None = None) -> list[Any]:
        """Return the labels, best first; ties go by label index."""
        del x  # features play no part
        order = np.argsort(-self.counts, kind="stable")[:top].tolist()
        return order if self.labels is None else [self.labels[i] for i in order]

    def __repr__(self) -> str:
        return f"DecayedCounts(n_labels={self.n_labels}, decay={self.decay:g})"
