"""What `predict_one` returns: a dict of bools, which knows the scores as well."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from boostline.array_types import FloatArray


class ScoredLabels(dict[Any, bool]):
    """Labels and whether they are relevant; equal to a plain dict.

    River's ``progressive_val_score`` hands metrics what ``predict_one`` returned. A ranking cannot be told from bools,
    so the scores travel with them.

    Examples
    --------
    >>> import numpy as np
    >>> found = ScoredLabels([("sun", True), ("rain", False)], np.array([0.7, 0.3]))
    >>> found == {"sun": True, "rain": False}, found.scores
    (True, {'sun': 0.7, 'rain': 0.3})
    """

    def __init__(self, named: Iterable[tuple[Any, bool]], scores: FloatArray) -> None:
        super().__init__(named)
        self._scores = scores

    @property
    def scores(self) -> dict[Any, float]:
        """Scores of the labels: higher is more relevant."""
        return dict(zip(self, self._scores.tolist(), strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self.items()), self._scores)
