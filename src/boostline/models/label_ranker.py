"""The recommended booster: few strong learners of every kind, mixed by multiplicative weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from boostline import _core
from boostline.array_types import FloatArray
from boostline.contract.numbers import whole_number
from boostline.learners import Description, auto_mix
from boostline.models.base import Booster
from boostline.models.diagnostics import Diagnostics
from boostline.models.max_bytes import divided, recapped


@dataclass(frozen=True)
class Trial:
    """A fresh model on probation beside the old one, see `LabelRanker.trial`.

    Attributes
    ----------
    rows
        How many rows with a pair to rank the newcomer has learned.
    evidence
        By how much it has predicted the relevant labels better than the old model of late, in nats.
    knowledge
        By how much it has predicted them better than label frequencies.
    newcomer_serves
        Whether it gives the scores at present.
    """

    rows: int
    evidence: float
    knowledge: float
    newcomer_serves: bool


class LabelRanker(Booster):
    """Rank labels while data streams in: the model to start with, strong on any data without tuning.

    It mixes strong learners of different kinds and learns online how much to trust each. When its loss has risen and
    stays high, it tries a fresh model beside the old one. docs/algorithms.md explains how it works.

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
        ``"restart"``: when the rank loss has risen and stays high, a fresh model learns beside the old one and takes
        its place if it turns out to be better (`trial`); ``None``: never. Not with learners written in Python.
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
    def n_restarts(self) -> int:
        """How often a fresh model has taken the place of an old one because the stream had changed."""
        return int(self._own("restarts")[0])

    @property
    def trial(self) -> Trial | None:
        """The trial that runs after a drift alarm, or None.

        Examples
        --------
        >>> LabelRanker(n_labels=2).trial is None
        True
        """
        values = self._own("trial").tolist()
        return Trial(int(values[0]), values[1], values[2], bool(values[3])) if values else None

    @property
    def max_bytes(self) -> int | None:
        """The most memory that the model may take, in bytes; None: no limit."""
        return self._max_bytes

    @property
    def diagnostics(self) -> LabelRankerDiagnostics:
        return LabelRankerDiagnostics(self)

    def _make_core(
        self, built: list[_core.Learner], n_features: int, learners: Sequence[Description]
    ) -> _core.Model:
        k, n_votes = self.n_labels, sum(one.n_votes() for one in built)
        prior = [prior for one in learners for prior in one.priors] or [1.0] * n_votes
        core = _core.Model.label_ranker(k, n_features, built, self._seed, np.array(prior))
        core.watch_drift(self._drift == "restart")
        if self._max_bytes is not None and learners:  # those of a file may be too large for it
            recapped(learners, k, n_features, self._max_bytes, self._drift is not None)
        return core

    def _sized(
        self, learners: list[Description], n_labels: int, n_features: int, has_grown: bool = False
    ) -> list[Description]:
        if self._max_bytes is None:
            return learners
        divide = recapped if has_grown else divided
        return divide(learners, n_labels, n_features, self._max_bytes, self._drift is not None)

    def _settings(self) -> dict[str, Any]:
        return {"drift": self._drift, "max_bytes": self._max_bytes}


class LabelRankerDiagnostics(Diagnostics):
    """Sums of a `LabelRanker`."""

    @property
    def expert_weights(self) -> FloatArray:
        """The learners' weights: here each learner is an expert of its own."""
        return self._model.learner_weights

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
