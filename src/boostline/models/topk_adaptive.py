"""TopkAdaptive: Ada.OLMR that shows some labels and hears only of those."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

from boostline import _core
from boostline.models.experts import HedgedBooster
from boostline.models.topk_booster import TopkBooster, TopkOptions


class TopkAdaptive(TopkBooster, HedgedBooster):
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
    _experts = ("draw", "best", "last")

    def __init__(
        self,
        n_labels: int | None = None,
        *,
        expert: str = "draw",
        **options: Unpack[TopkOptions],
    ) -> None:
        self._choose_expert(expert)
        super().__init__(n_labels, **options)

    def _make_native(self, learners: list[_core.Learner], n_features: int) -> _core.Model:
        expert = self._native_expert()
        return _core.Model.topk_adaptive(
            self._n_labels, n_features, learners, self._seed, *self._feedback(), expert
        )

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "expert": self._expert}
