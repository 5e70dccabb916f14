"""What a booster has counted while it learned: weights, edges, losses. The theory is stated in terms of these."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline import _core
from boostline.array_types import FloatArray


class Record:
    """Read-only views of a booster's own arrays; `Booster` supplies `_own`."""

    _native: _core.Model | None

    def _own(self, name: str) -> NDArray[Any]:
        raise NotImplementedError

    @property
    def n_learners(self) -> int:
        """Number of votes that are combined, N."""
        return len(self.learner_weights)

    @property
    def clock(self) -> int:
        """Examples learned so far."""
        return 0 if self._native is None else self._native.clock()

    @property
    def learner_weights(self) -> FloatArray:
        """Weights alpha^i of the learners."""
        return self._own("learner_weights")

    @property
    def effective_weights(self) -> FloatArray:
        """What each learner's vote counts in the scores at the present clock: ``effective_weights @ votes(x)``."""
        if self._native is None:
            return np.zeros(self.n_learners)
        return self._native.effective_weights()

    @property
    def n_restarts(self) -> int:
        """Number of restarts because the stream had changed."""
        return int(self._own("restarts")[0])

    @property
    def expert_weights(self) -> FloatArray:
        """Probability that each expert (the first i learners) is followed."""
        raise NotImplementedError

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

    @property
    def suffered_loss(self) -> float:
        """Cumulative rank loss of the scores given before learning."""
        return float(self._own("suffered_loss")[0])

    def edges(self) -> FloatArray:
        """Empirical edges gamma_i of the learners over all that was learned; 0 before the first example.

        The edge over random guessing for which the learner's cost is that of the baseline u_gamma. For Ada.OLMR it is
        the paper's gamma_i.
        """
        numerator, denominator = self._own("edge_numerator"), self._own("edge_denominator")
        edges = np.zeros_like(numerator)
        np.divide(numerator, denominator, out=edges, where=denominator != 0)
        return edges
