"""What a booster says of single labels: how probable each is, and which ones to name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from boostline import _core
from boostline.array_types import BoolArray, FloatArray
from boostline.contract.numbers import Optimize, read_optimize
from boostline.contract.rows import read_rows


class Probabilities:
    """The part of `Booster` that turns scores into probabilities and label sets; `Booster` supplies `_ready`."""

    _n_labels: int
    _n_features: int | None
    _features: list[Any] | None
    _native: _core.Model | None

    def _ready(self, n_features: int) -> _core.Model:
        raise NotImplementedError

    def probabilities(self, x: Any) -> FloatArray:
        """Return the probability that each label is relevant: (k,) for one example, (n, k) for a block.

        They are learned from scores that were given before their example was learned, and follow the stream. They lie
        strictly between 0 and 1 and need not sum to 1: a row may have several relevant labels, or none.

        Examples
        --------
        >>> import numpy as np, boostline as bl
        >>> X = np.random.default_rng(0).normal(size=(2000, 3))
        >>> model = bl.LabelRanker(n_labels=3, seed=1)
        >>> _ = model.learn(X, X == X.max(axis=1, keepdims=True))
        >>> model.probabilities([0.0, 2.0, -2.0]).round(1)
        array([0., 1., 0.])
        """
        return self.scores_and_probabilities(x)[1]

    def scores_and_probabilities(self, x: Any) -> tuple[FloatArray, FloatArray]:
        """Return `score` and `probabilities` of the same moment, for little more than the time of one."""
        rows = read_rows(x, self._features)
        found = self._ready(rows.n_features).scores_and_probabilities(rows.native, rows.n_features)
        return (found[0, 0], found[0, 1]) if rows.is_single else (found[:, 0], found[:, 1])

    def thresholds(self, optimize: Optimize = "micro-f1") -> FloatArray:
        """Return for each label the probability above which `predict` names it, (k,); see there."""
        share = read_optimize(optimize)
        if isinstance(share, float):
            return np.full(self._n_labels, share)
        return self._ready(self._n_features or 1).thresholds(share == "macro-f1")

    def predict(self, x: Any, optimize: Optimize = "micro-f1") -> BoolArray:
        """Return which labels are relevant, chosen for ``optimize``: (k,) for one example, (n, k) for a block.

        Parameters
        ----------
        x
            One example or a block, as in `learn`.
        optimize
            ``"micro-f1"``: all labels count alike, frequent ones most. ``"macro-f1"``: the mean of the labels' own F1;
            rare labels are named more readily. Or a number in (0, 1): the probability above which a label is named.
            If a wrong label costs w and a missed one m, the number is w / (w + m); 0.5 makes the fewest errors.

        Examples
        --------
        >>> import numpy as np, boostline as bl
        >>> X = np.random.default_rng(0).normal(size=(500, 4))
        >>> model = bl.LabelRanker(n_labels=4, seed=1)
        >>> _ = model.learn(X, X > 0.5)
        >>> model.predict([2.0, -1.0, -1.0, 2.0])
        array([ True, False, False,  True])
        """
        return self.probabilities(x) > self.thresholds(optimize)

    @contextmanager
    def frozen_calibration(self, stay: bool = True) -> Iterator[None]:
        """For `with`: rows that were learned before are learned again. Their scores say nothing about new rows."""
        if self._native is None or not stay:
            yield
            return
        self._native.learn_probabilities(False)
        try:
            yield
        finally:
            self._native.learn_probabilities(True)
