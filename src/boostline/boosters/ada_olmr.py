"""Ada.OLMR, the adaptive algorithm (Section 3.2, Algorithm 3 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from boostline import _core
from boostline.boosters._booster import Booster
from boostline.contract.numbers import real_number

FloatArray = NDArray[np.float64]

_COMBINATIONS = ("paper", "mixture")
_SURROGATES = ("pairwise", "univariate")
_TARGETS = ("rank", "one_error")
_EXPERTS = ("draw", "weighted", "best", "last")


class AdaOLMR(Booster):
    """Adaptive online boosting for multi-label ranking: needs no edge, takes learners of any quality.

    Each learner's weight follows the gradient of the pairwise logistic loss; Hedge decides how many of the learners to
    listen to. With the paper's combination a learner that is always wrong gets a negative weight.

    Parameters
    ----------
    n_labels, labels
        The number of labels, or their names.
    learners
        Weak learners; see `boostline.learners`.
    combine
        How votes are combined: ``"paper"``, online gradient descent on weights in [-2, 2] (Algorithm 3), for many
        weak learners; ``"mixture"``, multiplicative weights on the simplex and costs at the logarithm of the mixed
        votes, for few strong learners (see docs/algorithms.md). By default the mixture for ``learners="auto"`` and
        the paper's for all others.
    expert
        Whose scores are given: ``"draw"``, one expert drawn by its Hedge weight (the paper's, and the only one with a
        bound); ``"weighted"``, the Hedge-weighted mean of all; ``"best"``, the one with the smallest loss so far;
        ``"last"``, all learners. The draw depends on the seed and the clock alone, so scoring is pure. By default
        ``"draw"`` with the paper's combination and ``"weighted"`` with the mixture.
    drift
        ``"restart"``: learners and weights start anew when the rank loss has risen for good; ``None``: never. By
        default the mixture restarts and the paper's algorithm does not.
    weight_limit
        With the paper's combination weights stay in [-weight_limit, weight_limit]; 2 in the paper.
    surrogate
        With the paper's combination, what the weights descend on: the ``"pairwise"`` logistic loss (the paper's) or
        the ``"univariate"`` one, which is consistent for the rank loss but has no bound here.
    target
        With the paper's combination, what Hedge judges experts by: ``"rank"`` loss (the paper's) or ``"one_error"``.
        Hedge's own bound holds for either; the bound on the best expert is weaker by |Y^c| for one-error.
    seed
        Seed of every random choice; None draws one.
    n_threads
        Threads that share the learners' work; changes no result.

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
        learners: Any = "auto",
        combine: str = "auto",
        expert: str = "auto",
        drift: str | None = "auto",
        weight_limit: float = 2.0,
        surrogate: str = "pairwise",
        target: str = "rank",
        seed: int | None = 0,
        n_threads: int = 1,
    ) -> None:
        if combine == "auto":
            combine = "mixture" if isinstance(learners, str) and learners == "auto" else "paper"
        if combine not in _COMBINATIONS:
            raise ValueError(
                f"combine is {combine!r}, but must be one of {', '.join(_COMBINATIONS)}"
            )
        if expert == "auto":
            expert = "draw" if combine == "paper" else "weighted"
        if expert not in _EXPERTS:
            raise ValueError(f"expert is {expert!r}, but must be one of {', '.join(_EXPERTS)}")
        if drift == "auto":
            drift = None if combine == "paper" else "restart"
        if drift not in (None, "restart"):
            raise ValueError(f"drift is {drift!r}, but must be 'restart' or None")
        if surrogate not in _SURROGATES:
            raise ValueError(
                f"surrogate is {surrogate!r}, but must be one of {', '.join(_SURROGATES)}"
            )
        if target not in _TARGETS:
            raise ValueError(f"target is {target!r}, but must be one of {', '.join(_TARGETS)}")
        if combine == "mixture" and (surrogate, target) != ("pairwise", "rank"):
            raise ValueError("surrogate and target are options of combine='paper'")
        self._surrogate = surrogate
        self._target = target
        self._combine = combine
        self._expert = expert
        self._drift = drift
        self._weight_limit = real_number(weight_limit, "weight_limit", 0.0, 1e3, open_low=True)
        super().__init__(n_labels, labels=labels, learners=learners, seed=seed, n_threads=n_threads)

    @property
    def combine(self) -> str:
        """How votes are combined."""
        return self._combine

    @property
    def drift(self) -> str | None:
        """What happens when the loss has risen for good."""
        return self._drift

    @property
    def expert(self) -> str:
        """Whose scores are given."""
        return self._expert

    @property
    def expert_log_weights(self) -> FloatArray:
        """Logarithms of the Hedge weights v^i; 0 for the best expert.

        With the mixture the experts are the prefixes of three chains, one chain after the other: (3 N,).
        """
        log_weights = self._own("expert_log_weights")
        return np.asarray(log_weights - log_weights.max())

    @property
    def expert_weights(self) -> FloatArray:
        p = np.exp(self.expert_log_weights)
        return np.asarray(p / p.sum())

    @property
    def followed(self) -> int:
        """The expert i_t that is followed at the present clock, counted from 1; N with ``expert="weighted"``."""
        return self.n_learners if self._native is None else self._native.followed()

    def _make_native(self, learners: list[_core.Learner], n_features: int) -> _core.Model:
        expert = getattr(_core.Expert, self._expert)
        if self._combine == "paper":
            native = _core.Model.ada_olmr(
                self._n_labels,
                n_features,
                learners,
                self._seed,
                expert,
                self._weight_limit,
                getattr(_core.Surrogate, self._surrogate),
                getattr(_core.Target, self._target),
            )
        else:
            native = _core.Model.ada_mixture(
                self._n_labels, n_features, learners, self._seed, expert, self._prior(learners)
            )
        native.watch_drift(self._drift == "restart")
        return native

    def _prior(self, learners: list[_core.Learner]) -> list[float]:
        """Where the weights of the mixture start, per vote; in proportion."""
        if self._resolved is None or len(self._resolved) != len(learners):  # stand-ins
            return [1.0] * sum(learner.n_votes() for learner in learners)
        return [
            description.prior
            for learner, description in zip(learners, self._resolved, strict=True)
            for _ in range(learner.n_votes())
        ]

    def _settings(self) -> dict[str, Any]:
        return {
            "combine": self._combine,
            "expert": self._expert,
            "drift": self._drift,
            "weight_limit": self._weight_limit,
            "surrogate": self._surrogate,
            "target": self._target,
        }
