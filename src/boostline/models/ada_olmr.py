"""Ada.OLMR, the adaptive algorithm (Section 3.2, Algorithm 3 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from boostline import _core
from boostline.array_types import FloatArray
from boostline.learners import Description
from boostline.learners.trees import PAPER_TREES
from boostline.models.base import Booster
from boostline.models.diagnostics import Diagnostics

_EXPERTS = ("draw", "weighted", "best", "last")
_STEPS = ("paper", "adagrad")


class AdaOLMR(Booster):
    """Ada.OLMR, the paper's Algorithm 3: adaptive online boosting with learners of any quality.

    Each learner's weight follows the gradient of the pairwise logistic loss, and Hedge decides how many of the learners
    to use. A learner that is always wrong gets a negative weight. `LabelRanker` ranks better on most data; use this
    model for the paper's algorithm and its bounds.

    Parameters
    ----------
    n_labels
        Number of labels.
    labels
        Their names, instead of ``n_labels``.
    learners
        Weak learners; see `boostline.learners`. By default the paper's 100 trees.
    expert
        Whose scores are returned. Expert j is the sum of the first j learners. ``"draw"``: an expert drawn by its
        Hedge weight (the paper's, and the only one with a bound); ``"weighted"``: the Hedge-weighted mean of all;
        ``"best"``: the one with the smallest loss so far; ``"last"``: all learners. The draw depends only on the seed
        and the number of examples, so scoring twice gives the same scores.
    steps
        How far a learner's weight moves in a round: ``"paper"``, slope / sqrt(t), or ``"adagrad"``, which divides by
        the root of the sum of squared slopes. The second has a bound that says something on data like m-reduced, and
        ranks better on some sets and worse on others (docs/theory.md).
    seed
        Random seed; None draws one.
    n_threads
        Number of threads; does not change the result.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 4))
    >>> model = bl.AdaOLMR(n_labels=4, learners=bl.learners.paper_trees(20), seed=1)
    >>> _ = model.learn(X, X > 0.5)
    >>> model.rank([2.0, -1.0, -1.0, -1.0], top=1)
    array([0])
    """

    algorithm: ClassVar[str] = "ada_olmr"

    def __init__(
        self,
        n_labels: int | None = None,
        *,
        labels: Sequence[Any] | None = None,
        learners: Any = None,
        expert: str = "draw",
        steps: str = "paper",
        seed: int | None = 0,
        n_threads: int = 1,
    ) -> None:
        if expert not in _EXPERTS:
            raise ValueError(f"expert is {expert!r}, but must be one of {', '.join(_EXPERTS)}")
        self._expert = expert
        if steps not in _STEPS:
            raise ValueError(f"steps is {steps!r}, but must be one of {', '.join(_STEPS)}")
        self._steps = steps
        learners = PAPER_TREES if learners is None else learners
        super().__init__(n_labels, labels=labels, learners=learners, seed=seed, n_threads=n_threads)

    @property
    def expert(self) -> str:
        """Whose scores are returned."""
        return self._expert

    @property
    def steps(self) -> str:
        """How far weights move in a round."""
        return self._steps

    @property
    def diagnostics(self) -> AdaOLMRDiagnostics:
        return AdaOLMRDiagnostics(self)

    def _make_core(
        self, built: list[_core.Learner], n_features: int, learners: Sequence[Description]
    ) -> _core.Model:
        expert, steps = getattr(_core.Expert, self._expert), getattr(_core.Steps, self._steps)
        return _core.Model.ada_olmr(self.n_labels, n_features, built, self._seed, expert, steps)

    def _settings(self) -> dict[str, Any]:
        return {"expert": self._expert, "steps": self._steps}


class AdaOLMRDiagnostics(Diagnostics):
    """Sums of an `AdaOLMR`."""

    _model: AdaOLMR

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
        native = self._model._native
        return self._model.n_learners if native is None else native.core.followed()

    @property
    def slope_squares(self) -> FloatArray | None:
        """With ``steps="adagrad"``: for each learner the sum of the squared slopes of its weight; else None."""
        return self._own("slope_squares") if self._model.steps == "adagrad" else None

    @property
    def vote_spreads(self) -> FloatArray | None:
        """With ``steps="adagrad"``: v_i of docs/theory.md, how much votes differ between labels; else None."""
        if self._model.steps != "adagrad":
            return None
        weights = self.weight_sums
        return np.asarray(
            np.divide(self._own("vote_spreads"), weights, np.zeros_like(weights), where=weights > 0)
        )
