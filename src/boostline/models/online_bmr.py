"""OnlineBMR, optimal when the edge is known (Section 3.1, Algorithm 2 of the paper)."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from boostline import _core, losses, potentials
from boostline.array_types import FloatArray
from boostline.contract.numbers import real_number
from boostline.learners import Description
from boostline.learners.trees import PAPER_TREES
from boostline.models.base import Booster
from boostline.models.diagnostics import Diagnostics

# The search of an edge (edge="auto"). The proof of the general bound holds for any edge gamma_t that is chosen before
# round t. After the round it is known what every other edge would have promised:
#
#     loss of round t  <=  F_t(gamma_t) - n_t,      F_t(gamma) = phi^N_t(0; gamma) + gamma D_t
#
# with the two parts n_t and D_t of the learners' edges, summed over the learners. For a convex pair loss F_t is convex
# in gamma, so following the regularised leader has small regret against the best edge in hindsight. Theorem, proof and
# what holds for other losses: docs/theory.md. The compiled core keeps the sums and moves the edge (edge_search.hpp).

#: Edges whose promises are added up; between them the sums are taken as linear. Rounded, as the last bits of NumPy's
#: powers depend on the CPU.
LEVELS: FloatArray = np.array([float(f"{level:.6g}") for level in np.geomspace(0.001, 1.0, 37)])
START = 0.02
#: Rows between two moves of the edge.
PERIOD = 25


class OnlineBMR(Booster):
    """OnlineBMR, the paper's Algorithm 2: optimal if every learner has the given edge.

    Every learner has one vote. Its costs come from potentials: the expected loss if the learners after it had exactly
    the given edge. They are looked up in tables, which are exact or have a known error.

    Parameters
    ----------
    n_labels, labels, learners, seed, n_threads
        As in `AdaOLMR`.
    edge
        How much better than random guessing the learners are: gamma in (0, 1]. At most 1 / |Y| is used for an example
        with |Y| relevant labels. ``"auto"`` learns it: the model then loses, up to a regret that it keeps track of, no
        more than the best edge would have promised (docs/theory.md). It needs a loss that is a sum over pairs.
    loss
        The loss of the potentials: ``"hinge"`` for any learners, ``"rank"`` for learners that vote for single labels,
        or an object from `boostline.losses`.

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
        learners: Any = None,
        edge: float | str = 0.01,
        loss: Any = "hinge",
        seed: int | None = 0,
        n_threads: int = 1,
    ) -> None:
        # As it starts; how it goes on is part of the compiled model.
        self._search = (
            _core.EdgeSearch(LEVELS, START, PERIOD)
            if isinstance(edge, str) and edge == "auto"
            else None
        )
        self._edge = (
            None if self._search is not None else real_number(edge, "edge", 0.0, 1.0, open_low=True)
        )
        self._loss = losses.get(loss)
        if self._search is not None and not isinstance(self._loss, losses.PairLoss):
            raise ValueError(
                f"edge is 'auto', but must be a number for the loss {self._loss.name!r}: it does not split into "
                "pairs, so what another edge would have promised is not known"
            )
        learners = PAPER_TREES if learners is None else learners
        super().__init__(n_labels, labels=labels, learners=learners, seed=seed, n_threads=n_threads)
        single = all(d.votes_single_label for d in self._learners)
        losses.check_use(self._loss, single_label_votes=single)

    @property
    def loss(self) -> losses.Loss:
        """The loss of the potentials."""
        return self._loss

    @property
    def edge(self) -> float:
        """The edge gamma; with ``edge="auto"`` its present value."""
        return self._edge if self._edge is not None else self._search_now().edge

    @property
    def diagnostics(self) -> OnlineBMRDiagnostics:
        return OnlineBMRDiagnostics(self)

    def _search_now(self) -> _core.EdgeSearch:
        assert self._search is not None
        return self._search if self._native is None else self._native.core.edge_search()

    def _make_core(
        self, built: list[_core.Learner], n_features: int, learners: Sequence[Description]
    ) -> _core.Model:
        core = _core.Model.online_bmr(self.n_labels, n_features, built, self._seed)
        if isinstance(self._loss, losses.PairwiseLoss) and core.n_votes() > losses.MOST_LEARNERS:
            raise ValueError(
                f"learners has {core.n_votes()} votes, but must have at most {losses.MOST_LEARNERS} with a "
                "user-written loss: its properties are known for the scores of so many"
            )
        # What costs are made of, when the compiled model needs it: tables where the loss has them, else the costs.
        if isinstance(self._loss, losses.PairLoss):
            core.set_table_source(functools.partial(_step_table, self._loss, self._edge))
            if self._search is not None:
                core.search_edge(self._search, functools.partial(_start_potentials, self._loss))
        else:
            # A weak reference: the compiled model must not keep alive what keeps it alive.
            model = weakref.ref(self)
            core.set_cost_function(lambda *example: _alive(model)._estimated_costs(*example))
        return core

    def _estimated_costs(
        self,
        expert_scores: FloatArray,
        relevant: NDArray[np.uint8],
        irrelevant: NDArray[np.uint8],
        clock: int,
    ) -> FloatArray:
        """Monte Carlo, for a loss that does not split into pairs; no two rows or learners share their draws."""
        assert self._edge is not None
        n = len(expert_scores)
        edge = potentials.clipped_edge(self._edge, int(relevant.sum()))
        found = [
            potentials.costs(
                self._loss,
                n - 1 - i,
                expert_scores[i],
                relevant.astype(bool),
                edge,
                irrelevant=irrelevant.astype(bool),
                seed=(self._seed, clock, i),
            )[0]
            for i in range(n)
        ]
        return np.ascontiguousarray(found)

    def _native_copy(self) -> None:
        """None: the compiled model calls this one for costs, and its copy must call the copy instead."""

    def _settings(self) -> dict[str, Any]:
        return {
            "edge": "auto" if self._search is not None else self._edge,
            "loss": self._loss.config(),
        }

    def _live_settings(self) -> dict[str, Any]:
        # A loss that a user wrote cannot be made from its description.
        return {**self._settings(), "loss": self._loss}


class OnlineBMRDiagnostics(Diagnostics):
    """Sums of an `OnlineBMR`."""

    _model: OnlineBMR

    @property
    def chooses_edge(self) -> bool:
        """Whether the edge is estimated (``edge="auto"``)."""
        return self._model._search is not None

    @property
    def promised_loss(self) -> float | None:
        """Sum over the rounds of phi^N(0), at the edge and the number of labels of each; None if it is not known.

        It is what the potentials promise if all learners have the edge: see `boostline.lab.theory.bounds.bmr_realised`.
        """
        return float(self._own("promised_loss")[0]) if self._has_tables else None

    @property
    def assumed_gain(self) -> float | None:
        """The sum over rounds and learners of the edge, cut to 1 / |Y|, times the weight of the round; or None."""
        return float(self._own("assumed_gain")[0]) if self._has_tables else None

    @property
    def _has_tables(self) -> bool:
        return isinstance(self._model.loss, losses.PairLoss)

    @property
    def edge_sums(self) -> _core.EdgeSearch | None:
        """With ``edge="auto"``: what each edge would have promised so far, for `theory.bounds.bmr_auto`; else None."""
        return None if self._model._search is None else self._model._search_now()


def _step_table(
    loss: losses.PairLoss,
    fixed_edge: float | None,
    n_learners: int,
    n_labels: int,
    n_relevant: int,
    searched_edge: float,
) -> tuple[float, int, FloatArray, bool, float, float]:
    """Origin, entries per unit, values, whether they are the closed form's, phi^N(0) and the edge, cut."""
    edge = potentials.clipped_edge(fixed_edge or searched_edge, n_relevant)
    walk = (loss, n_learners, n_labels, n_relevant, edge)
    table = potentials.step_table(*walk)
    start = potentials.start_potential(*walk)
    values = np.ascontiguousarray(table.values)
    return table.lo, round(1.0 / table.step), values, table.rho is not None, start, edge


def _alive(reference: weakref.ref[OnlineBMR]) -> OnlineBMR:
    model = reference()
    assert model is not None, "only the model itself calls its compiled part"
    return model


def _start_potentials(
    loss: losses.PairLoss, n_learners: int, n_labels: int, n_relevant: int
) -> tuple[FloatArray, float, float]:
    """phi^N(0) at the levels, cut to 1 / |Y|; that limit; the slope of phi^N(0) in the edge there."""
    walk = (loss, n_learners, n_labels, n_relevant)
    limit = 1.0 / n_relevant
    values = np.empty(len(LEVELS))
    for j, edge in enumerate(LEVELS):
        # Beyond the limit nothing changes any more.
        is_cut = j > 0 and LEVELS[j - 1] >= limit
        values[j] = values[j - 1] if is_cut else potentials.start_potential(*walk, float(edge))
    slope = potentials.start_slope(*walk, limit) if limit < LEVELS[-1] else 0.0
    return values, limit, slope
