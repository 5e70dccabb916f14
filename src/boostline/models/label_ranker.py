"""The recommended booster: few strong learners of every kind, mixed by multiplicative weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from boostline import _core
from boostline.array_types import FloatArray
from boostline.contract.numbers import whole_number
from boostline.learners import Description, auto_mix
from boostline.models.booster import Booster
from boostline.models.max_bytes import divided, most_entries, recapped


class LabelRanker(Booster):
    """Rank labels while data streams in: the model to start with, strong on any data without tuning.

    It mixes strong learners of different kinds and learns online how much to trust each. When its loss has risen and
    stays high, it starts again. docs/algorithms.md explains how it works.

    Parameters
    ----------
    n_labels
        Number of labels.
    labels
        Their names, instead of ``n_labels``.
    learners
        ``"auto"``, or learners of your own; see `boostline.learners`. Like all weak learners they get costs: the
        gradient of this booster's loss.
    drift
        ``"restart"``: learners and weights start again when the rank loss has risen and stays high; ``None``: never.
    max_bytes
        The most memory that the model may take, as `memory_usage` counts it, in bytes. Its learners are made small
        enough, and forget what is least useful; see docs/how-to/production.md. None: no limit.
    seed
        Random seed; None draws one.
    n_threads
        Number of threads; does not change the result.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 4))
    >>> model = bl.LabelRanker(n_labels=4, seed=1)
    >>> _ = model.learn(X, X > 0.5)
    >>> model.rank([2.0, -1.0, -1.0, -1.0], top=1)
    array([0])
    """

    algorithm: ClassVar[str] = "label_ranker"

    def __init__(
        self,
        n_labels: int | None = None,
        *,
        labels: Sequence[Any] | None = None,
        learners: Any = "auto",
        drift: str | None = "restart",
        max_bytes: int | None = None,
        seed: int | None = 0,
        n_threads: int = 1,
    ) -> None:
        if drift not in (None, "restart"):
            raise ValueError(f"drift is {drift!r}, but must be 'restart' or None")
        self._drift = drift
        if max_bytes is not None:
            max_bytes = whole_number(max_bytes, "max_bytes", 1, 2**62)
        self._max_bytes = max_bytes
        if isinstance(learners, str):
            if learners != "auto":
                raise ValueError(f"learners is {learners!r}, but must be 'auto' or learners")
            learners = auto_mix()
        super().__init__(n_labels, labels=labels, learners=learners, seed=seed, n_threads=n_threads)

    @property
    def drift(self) -> str | None:
        """What happens when the loss has risen and stays high."""
        return self._drift

    @property
    def max_bytes(self) -> int | None:
        """The most memory that the model may take, in bytes; None: no limit."""
        return self._max_bytes

    @property
    def expert_weights(self) -> FloatArray:
        """The learners' weights: here each learner is an expert of its own."""
        return self.learner_weights

    @property
    def rate_weights(self) -> dict[float, float]:
        """The weight of each learning rate; a large weight on a large rate means that the stream is changing."""
        rates, masses = _core.learning_rates(), self._own("chain_masses")
        return dict(zip(rates.tolist(), masses.tolist(), strict=True))

    @property
    def surrogate(self) -> tuple[float, float, float]:
        """Sums over the rows: the loss that the weights follow, the rank loss that it bounds, the weight of the rows.

        `boostline.lab.theory.bounds.label_ranker` puts them side by side.
        """
        loss, rank_loss, weight = self._own("surrogate").tolist()
        return loss, rank_loss, weight

    @property
    def most_regret(self) -> float:
        """No fixed mixture of the votes could have had a `surrogate` loss lower by more than this."""
        return max(0.0, float(self._own("regret_gains").max()))

    def _make_native(self, learners: list[_core.Learner], n_features: int) -> _core.Model:
        native = _core.Model.label_ranker(
            self._n_labels, n_features, learners, self._seed, np.array(self._prior(learners))
        )
        native.watch_drift(self._drift == "restart")
        if self._max_bytes is not None:
            if self._resolved is not None:  # of a file, they may be too large for what it says
                recapped(self._resolved, self._n_labels, n_features, self._max_bytes)
            native.set_most_entries(most_entries(self._max_bytes))
        return native

    def _sized(self, resolved: list[Description], n_features: int) -> list[Description]:
        if self._max_bytes is None:
            return resolved
        return divided(resolved, self._n_labels, n_features, self._max_bytes)

    def _grow(
        self,
        native: _core.Model,
        grow: Callable[[_core.Model], None],
        *,
        n_labels: int | None = None,
        n_features: int | None = None,
    ) -> None:
        if self._max_bytes is None or self._resolved is None:
            super()._grow(native, grow, n_labels=n_labels, n_features=n_features)
            return
        size = (n_labels or native.n_labels(), n_features or native.n_features())
        recapped_learners = recapped(self._resolved, *size, self._max_bytes)

        def grow_within(native: _core.Model) -> None:
            grow(native)
            for i, learner in enumerate(recapped_learners):
                native.set_max_bytes(i, learner.caps)

        super()._grow(native, grow_within, n_labels=n_labels, n_features=n_features)
        self._resolved = recapped_learners

    def _prior(self, learners: list[_core.Learner]) -> list[float]:
        """Where the weights start, one per vote, in proportion."""
        if self._resolved is None or len(self._resolved) != len(learners):  # stand-ins
            return [1.0] * sum(learner.n_votes() for learner in learners)
        return [prior for description in self._resolved for prior in description.priors]

    def _settings(self) -> dict[str, Any]:
        return {"drift": self._drift, "max_bytes": self._max_bytes}
