"""What the boosters share that follow one of N experts, which Hedge weighs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from boostline import _core
from boostline.array_types import FloatArray
from boostline.models.booster import Booster


class HedgedBooster(Booster):
    """Base class of `AdaOLMR` and `TopkAdaptive`."""

    _experts: ClassVar[tuple[str, ...]]
    _expert: str

    def _choose_expert(self, expert: str) -> None:
        if expert not in self._experts:
            raise ValueError(f"expert is {expert!r}, but must be one of {', '.join(self._experts)}")
        self._expert = expert

    @property
    def expert(self) -> str:
        """Whose scores are returned."""
        return self._expert

    @property
    def expert_log_weights(self) -> FloatArray:
        """Logarithms of the Hedge weights v^i; 0 for the best expert."""
        log_weights = self._own("expert_log_weights")
        return np.asarray(log_weights - log_weights.max())

    @property
    def expert_weights(self) -> FloatArray:
        p = np.exp(self.expert_log_weights)
        return np.asarray(p / p.sum())

    @property
    def followed(self) -> int:
        """The expert i_t whose scores are returned for the next example, from 1 to N; N with ``expert="weighted"``."""
        return self.n_learners if self._native is None else self._native.followed()

    def _native_expert(self) -> _core.Expert:
        found: _core.Expert = getattr(_core.Expert, self._expert)
        return found
