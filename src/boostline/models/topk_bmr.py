"""TopkBMR: OnlineBMR that shows some labels and hears only of those."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

import numpy as np

from boostline import _core, losses, potentials
from boostline.contract.numbers import real_number
from boostline.models.online_bmr import PotentialBooster
from boostline.models.topk_booster import TopkBooster, TopkOptions


class TopkBMR(TopkBooster, PotentialBooster):
    """TopkBMR: OnlineBMR from top-k feedback.

    The model shows ``n_shown`` labels and hears only which of those are relevant. Now and then it shows others than the
    best, so that it can estimate the costs that all labels would give. Such an estimate is right on average, but it
    varies a lot: use `Explorer` with a `LabelRanker` where ranking well matters more than the proof.

    Parameters
    ----------
    n_labels, labels, learners, seed, n_threads
        As in `AdaOLMR`.
    n_shown
        Number of labels that are shown, k'. With all labels it is OnlineBMR for an unknown number of relevant labels.
    n_swapped
        Number of shown labels that make room for others when the model explores, d: from 2 to n_shown - 1 (1 or 0 if
        there are no 2 others). By default the number with which the rarest pair is heard most often: 2 of 3.
    exploration
        Probability that it explores, rho.
    edge
        How much better than random guessing the learners are: gamma in (0, 1].
    loss
        The loss of the potentials, which must be convex: ``"hinge"`` or an object from `boostline.losses`.

    References
    ----------
    D. T. Zhang, Y. H. Jung and A. Tewari, "Online boosting for multilabel ranking with top-k feedback", 2019.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> model = bl.TopkBMR(5, n_shown=3, learners=bl.learners.paper_trees(20), edge=0.1, seed=1)
    >>> for x in X:
    ...     shown = model.show(x)
    ...     clicked = {label for label in shown.labels if x[label] > 0.5}
    ...     _ = model.learn(x, clicked, shown=shown)
    >>> model.rank([2.0, -1.0, -1.0, -1.0, -1.0], top=1)
    array([0])
    """

    algorithm: ClassVar[str] = "topk_bmr"

    def __init__(
        self,
        n_labels: int | None = None,
        *,
        edge: float = 0.01,
        loss: Any = "hinge",
        **options: Unpack[TopkOptions],
    ) -> None:
        self._edge = real_number(edge, "edge", 0.0, 1.0, open_low=True)
        self._loss = losses.get(loss)
        if not (isinstance(self._loss, losses.PairLoss) and self._loss.convex):
            raise ValueError(
                f"loss is {self._loss.name!r}, but must be a convex loss of pairs: only then the potentials of one "
                "relevant label are the largest"
            )
        losses.check_use(self._loss, single_label_votes=False)
        super().__init__(n_labels, **options)

    @property
    def edge(self) -> float:
        """The edge gamma."""
        return self._edge

    @property
    def promised_loss(self) -> float:
        """Estimate of what the potentials promise for the examples so far, if all learners have the edge."""
        return float(self._own("promised_loss")[0])

    def _make_native(self, learners: list[_core.Learner], n_features: int) -> _core.Model:
        native = _core.Model.topk_bmr(
            self._n_labels, n_features, learners, self._seed, *self._feedback()
        )
        self._set_table(native)
        return native

    def _after_growth(self, native: _core.Model) -> None:
        self._set_table(native)  # the law of the random walk depends on the number of labels

    def _set_table(self, native: _core.Model) -> None:
        assert isinstance(self._loss, losses.PairLoss)
        walk = (self._loss, native.n_votes(), native.n_labels(), 1, self._edge)
        table = potentials.step_table(*walk)
        values = np.ascontiguousarray(table.values)
        start = potentials.start_potential(*walk)
        native.set_topk_table(
            table.lo, round(1.0 / table.step), values, table.rho is not None, start
        )

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "edge": self._edge, "loss": self._loss.config()}
