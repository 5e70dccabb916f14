"""OnlineBMR, optimal when the edge is known (Section 3.1, Algorithm 2 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from boostline import _core, _inputs, losses, potentials
from boostline.boosters._booster import Booster

FloatArray = NDArray[np.float64]


class OnlineBMR(Booster):
    """Online boost-by-majority for multi-label ranking: optimal if every learner has the given edge.

    Every learner has one vote. Its costs come from potentials, the expected loss if the learners still to come had
    exactly the given edge. They are exact, from tables.

    Parameters
    ----------
    n_labels, labels, learners, seed, n_threads
        As in `AdaOLMR`.
    edge
        The learners' edge gamma over random guessing, in (0, 1]. An example with |Y| relevant labels uses at
        most 1 / |Y|.
    loss
        What potentials are built upon: ``"hinge"`` for any votes, ``"rank"`` for learners that vote for single
        labels, or an object of `boostline.losses`.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 4))
    >>> model = bl.OnlineBMR(n_labels=4, learners=bl.learners.paper_trees(20), edge=0.1, seed=1)
    >>> _ = model.learn(X, X > 0.5)
    >>> model.rank([2.0, -1.0, -1.0, -1.0], top=1)
    array([0])
    """

    algorithm: ClassVar[str] = "online_bmr"

    def __init__(
        self,
        n_labels: int | None = None,
        *,
        labels: Sequence[Any] | None = None,
        learners: Any = "auto",
        edge: float = 0.01,
        loss: Any = "hinge",
        seed: int | None = 0,
        n_threads: int = 1,
    ) -> None:
        self._edge = _inputs.real_number(edge, "edge", 0.0, 1.0, open_low=True)
        self._loss = losses.get(loss)
        super().__init__(n_labels, labels=labels, learners=learners, seed=seed, n_threads=n_threads)
        single = all(d.votes_single_label for d in self._learners)
        losses.check_use(self._loss, single_label_votes=single)

    @property
    def edge(self) -> float:
        """The edge gamma that potentials assume."""
        return self._edge

    @property
    def loss(self) -> losses.Loss:
        """The loss that potentials are built upon."""
        return self._loss

    @property
    def expert_weights(self) -> FloatArray:
        weights = np.zeros(self.n_learners)
        weights[-1] = 1.0
        return weights

    def _make_native(self, learners: list[_core.Learner], n_features: int) -> _core.Model:
        return _core.Model.online_bmr(self._n_labels, n_features, learners, self._seed)

    def _prepare(self, native: _core.Model, relevant: _inputs.LabelLists) -> None:
        for size in np.unique(relevant.sizes):
            n_relevant = int(size)
            if 0 < n_relevant < self._n_labels and not native.has_table(n_relevant):
                self._add_table(native, n_relevant)

    def _add_table(self, native: _core.Model, n_relevant: int) -> None:
        table = potentials.step_table(
            self._loss,  # type: ignore[arg-type]
            native.n_votes(),
            self._n_labels,
            n_relevant,
            potentials.clipped_edge(self._edge, n_relevant),
        )
        native.set_table(n_relevant, table.lo, 1.0 / table.step, np.ascontiguousarray(table.values))

    def _after_growth(self, native: _core.Model) -> None:
        native.forget_tables()  # the law of the random walk depends on k

    def _settings(self) -> dict[str, Any]:
        return {"edge": self._edge, "loss": self._loss.config()}
