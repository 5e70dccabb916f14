"""What a model has counted while it learned, for those who study it: the theory is stated in terms of these sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray

if TYPE_CHECKING:
    from boostline.models.base import Booster


@dataclass(frozen=True)
class Evidence:
    """One member's score of a label as a sum over features, or over rows of the past.

    Attributes
    ----------
    vote : int
        The member's vote.
    rest : float
        What no part accounts for: a bias, a frequency, or rows that have left the memory.
    index : array of int
        Columns of features; or numbers of rows, where 1 is the first that the member has learned.
    parts : array
        What each of them adds.
    """

    vote: int
    rest: float
    index: NDArray[np.int64]
    parts: FloatArray

    @property
    def score(self) -> float:
        """The sum; the member's vote grows with it."""
        return self.rest + float(self.parts.sum())


class Diagnostics:
    """Sums that all models keep, read-only; `Booster.diagnostics` makes it."""

    def __init__(self, model: Booster) -> None:
        self._model = model

    def _own(self, name: str) -> NDArray[Any]:
        return self._model._own(name)

    @property
    def effective_weights(self) -> FloatArray:
        """What each learner's vote counts in the scores at the present clock: ``effective_weights @ votes(x)``."""
        if self._model._native is None:
            return np.zeros(self._model.n_learners)
        return self._model._native.core.effective_weights()

    @property
    def expert_weights(self) -> FloatArray:
        """Probability that each expert (the first i learners) is followed."""
        weights = np.zeros(self._model.n_learners)
        weights[-1] = 1.0
        return weights

    @property
    def expert_losses(self) -> FloatArray:
        """Cumulative rank loss M_i of each expert."""
        return self._own("expert_loss")

    @property
    def weight_sums(self) -> FloatArray:
        """Denominators of the edges; ||w^i||_1 for Ada.OLMR."""
        return self._own("edge_denominator")

    @property
    def max_weights(self) -> FloatArray:
        """w^{i*}: the largest range of a raw cost vector given to each learner."""
        return self._own("largest_weight")

    @property
    def label_set_sizes(self) -> NDArray[np.int64]:
        """How often an example had 0, 1, ..., k relevant labels, among those on which the losses were measured.

        These are the examples with a pair to rank, but for `rows_merged`.
        """
        return self._own("label_set_sizes").astype(np.int64)

    @property
    def rows_without_pairs(self) -> int:
        """Examples without a pair to rank (no label or all labels relevant)."""
        return int(self._own("rows_without_pairs")[0])

    @property
    def rows_merged(self) -> int:
        """Examples that came as statistics of several workers (`boostline.scale`): no loss was measured on them."""
        return int(self._own("rows_merged")[0])
