"""TopkAdaptive: Ada.OLMR that shows some labels and hears only of those."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from boostline import _core
from boostline.boosters.topk_booster import TopkBooster

FloatArray = NDArray[np.float64]

_EXPERTS = ("draw", "best", "last")


class TopkAdaptive(TopkBooster):
    """TopkAdaptive: Ada.OLMR from top-k feedback.

    The model shows ``n_shown`` labels and hears only which of those are relevant. Each learner's weight follows the
    gradient of the estimated logistic loss, and Hedge decides how many learners to use. Steps are small enough for the
    largest estimate that there can be, so it takes many examples.

    Parameters
    ----------
    n_labels, labels, learners, seed, n_threads
        As in `AdaOLMR`.
    n_shown, n_swapped, exploration
        As in `TopkBMR`.
    expert
        ``"draw"``, ``"best"`` or ``"last"``, as in `AdaOLMR`.

    References
    ----------
    D. T. Zhang, Y. H. Jung and A. Tewari, "Online boosting for multilabel ranking with top-k feedback", 2019.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> model = bl.TopkAdaptive(5, n_shown=3, learners=bl.learners.paper_trees(20), seed=1)
    >>> for x in X:
    ...     shown = model.show(x)
    ...     clicked = {label for label in shown.labels if x[label] > 0.5}
    ...     _ = model.learn(x, clicked, shown=shown)
    >>> model.rank([2.0, -1.0, -1.0, -1.0, -1.0], top=1)
    array([0])
    """

    algorithm: ClassVar[str] = "topk_adaptive"

    def __init__(
        self,
        n_labels: int | None = None,
        *,
        labels: Sequence[Any] | None = None,
        n_shown: int = 3,
        n_swapped: int | None = None,
        exploration: float = 0.02,
        learners: Any = None,
        expert: str = "draw",
        seed: int | None = 0,
        n_threads: int = 1,
    ) -> None:
        if expert not in _EXPERTS:
            raise ValueError(f"expert is {expert!r}, but must be one of {', '.join(_EXPERTS)}")
        self._expert = expert
        super().__init__(
            n_labels,
            labels=labels,
            n_shown=n_shown,
            n_swapped=n_swapped,
            exploration=exploration,
            learners=learners,
            seed=seed,
            n_threads=n_threads,
        )

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
        """The expert i_t whose scores are returned for the next example, from 1 to N."""
        return self.n_learners if self._native is None else self._native.followed()

    def _make_native(self, learners: list[_core.Learner], n_features: int) -> _core.Model:
        expert = getattr(_core.Expert, self._expert)
        return _core.Model.topk_adaptive(
            self._n_labels, n_features, learners, self._seed, *self._feedback(), expert
        )

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "expert": self._expert}
