"""What the bounds need to know about a run, taken from a model or a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline import losses
from boostline.array_types import FloatArray
from boostline.lab.theory.bound import Bound
from boostline.models import LabelRanker

#: What every booster counts.
_COUNTED = (
    *("edges", "weight_sums", "max_weights"),
    *("expert_losses", "suffered_loss", "label_set_sizes"),
)


@dataclass(frozen=True)
class EdgeSums:
    """Sums over a run of OnlineBMR with ``edge="auto"``, in the terms of docs/theory.md.

    Attributes
    ----------
    levels, potentials, promises : array
        Edges gamma, and for each the sums of phi^N_t(0; gamma) and of F_t(gamma).
    slope_squares : float
        Sum over the looks of the squared slope, at the edge in use, of what was added up since the last look.
    """

    levels: FloatArray
    potentials: FloatArray
    promises: FloatArray
    slope_squares: float


@dataclass(frozen=True)
class History:
    """Sums over a run of a booster with N learners.

    Attributes
    ----------
    algorithm : {"AdaOLMR", "OnlineBMR", "LabelRanker"}
    rounds : int
        T, the examples learned, those without a pair included.
    label_set_sizes : array (n_labels + 1,)
        ``label_set_sizes[m]``: how many learned examples with a pair to rank had |Y| = m.
    edges, weight_sums : array (N,)
        Empirical edges gamma_i and their denominators ||w^i||_1.
    max_weights : array (N,)
        w^{i*}, the largest max - min of the raw costs of learner i.
    expert_losses : array (N,)
        M_i, cumulative rank loss of expert i.
    suffered_loss : float
        Cumulative rank loss of the predictions that were followed.
    edge, loss
        Of OnlineBMR; None for Ada.OLMR. With ``edge="auto"`` the edge at the end.
    promised, assumed : float or None
        Of OnlineBMR, added up round by round: phi^N_t(0; gamma_t) and gamma_t D_t, gamma_t the edge of round t cut to
        1 / |Y_t|. None if the loss does not split into pairs.
    search : EdgeSums or None
        Of OnlineBMR with ``edge="auto"``.
    expert, steps : str
        Of Ada.OLMR, as in `boostline.AdaOLMR`.
    slope_squares, vote_spreads : array (N,) or None
        Of Ada.OLMR with ``steps="adagrad"``: Q_i and v_i of docs/theory.md.
    surrogate : tuple or None
        Of LabelRanker: the loss its weights follow, the rank loss with the same weights of rows, and their sum.
    regret : float or None
        Of LabelRanker: the most that a fixed mixture of the votes could have gained on the first of these.
    """

    algorithm: str
    n_learners: int
    n_labels: int
    rounds: int
    label_set_sizes: NDArray[np.int64]
    edges: FloatArray
    weight_sums: FloatArray
    max_weights: FloatArray
    expert_losses: FloatArray
    suffered_loss: float
    edge: float | None = None
    loss: losses.Loss | None = None
    promised: float | None = None
    assumed: float | None = None
    search: EdgeSums | None = None
    expert: str = "draw"
    steps: str = "paper"
    slope_squares: FloatArray | None = None
    vote_spreads: FloatArray | None = None
    surrogate: tuple[float, float, float] | None = None
    regret: float | None = None

    @classmethod
    def of(cls, model: Any) -> History:
        """History of a model of `boostline` or `boostline.lab.reference`, or the history itself."""
        if isinstance(model, History):
            return model
        counted = getattr(model, "diagnostics", model)
        missing = [n for n in _COUNTED if not (hasattr(model, n) or hasattr(counted, n))]
        if missing:
            raise TypeError(
                f"model is a {type(model).__name__}, but has no {', '.join(missing)}; "
                "pass a booster or a theory.History"
            )
        edge = getattr(model, "edge", None)
        loss = getattr(model, "loss", None)
        if isinstance(loss, str) and loss == "hinge":
            loss = {"name": "hinge", "margin": getattr(model, "margin", 1.0)}
        edges = np.asarray(model.edges() if callable(model.edges) else model.edges, np.float64)
        sizes = counted.label_set_sizes
        sizes = np.asarray(sizes() if callable(sizes) else sizes, dtype=np.int64)
        return cls(
            algorithm=_algorithm(model, edge),
            n_learners=len(edges),
            n_labels=int(model.n_labels),
            # The oracle's clock t is the round at hand; a model's counts the rounds that were.
            rounds=int(model.clock if hasattr(model, "clock") else model.t - 1),
            label_set_sizes=sizes,
            edges=edges,
            weight_sums=np.asarray(counted.weight_sums, dtype=np.float64),
            max_weights=np.asarray(counted.max_weights, dtype=np.float64),
            expert_losses=np.asarray(counted.expert_losses, dtype=np.float64),
            suffered_loss=float(model.suffered_loss),
            edge=None if edge is None else float(edge),
            loss=None if edge is None else losses.get("hinge" if loss is None else loss),
            promised=getattr(counted, "promised_loss", None),
            assumed=getattr(counted, "assumed_gain", None),
            expert=getattr(model, "expert", "draw"),
            steps=getattr(model, "steps", "paper"),
            slope_squares=getattr(counted, "slope_squares", None),
            vote_spreads=getattr(counted, "vote_spreads", None),
            search=_search_sums(counted),
            **_mixture_sums(model),
        )

    @property
    def chooses_edge(self) -> bool:
        """Whether the edge followed the learners, so that there is no one edge of the run."""
        return self.search is not None

    @property
    def ranked_rounds(self) -> int:
        """Rounds with a pair to rank; the others lose nothing and promise nothing."""
        return int(self.label_set_sizes.sum())

    def rank_loss_bound(
        self,
        name: str,
        statement: str,
        total: float,
        terms: Mapping[str, float],
        probability: float = 1.0,
    ) -> Bound:
        """A bound on the rank loss that was suffered; guessing loses half of the ranked rounds."""
        return Bound(
            name=name,
            statement=f"rank loss <= {statement}",
            total=total,
            suffered=self.suffered_loss,
            rounds=self.rounds,
            trivial=self.ranked_rounds / 2,
            probability=probability,
            terms=terms,
        )


def _algorithm(model: Any, edge: Any) -> str:
    if isinstance(model, LabelRanker):
        return "LabelRanker"
    return "AdaOLMR" if edge is None else "OnlineBMR"


def _mixture_sums(model: Any) -> dict[str, Any]:
    """What a LabelRanker has added up."""
    if not isinstance(model, LabelRanker):
        return {}
    return {"surrogate": model.diagnostics.surrogate, "regret": model.diagnostics.most_regret}


def _search_sums(counted: Any) -> EdgeSums | None:
    """What a model with ``edge="auto"`` has added up."""
    if not getattr(counted, "chooses_edge", False):
        return None
    found = counted.edge_sums
    return EdgeSums(
        levels=np.asarray(found.levels(), np.float64),
        potentials=np.asarray(found.potentials(), np.float64),
        promises=np.asarray(found.promises(), np.float64),
        slope_squares=float(found.slope_squares),
    )
