"""Right-hand sides of the theorems, with everything that is known plugged in.

Every function takes a model (or a `History`) and returns a `Bound`: the number the theorem
promises not to exceed, the loss suffered beside it, the probability, and whether the bound says
anything at all. `report` collects all that apply. The derivations are in docs/theory.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.losses import PairLoss
from boostline.potentials import clipped_edge, largest_weight, start_potential
from boostline.theory.history import History

__all__ = [
    "Bound",
    "ada_olmr",
    "ada_olmr_sharp",
    "bmr_corollary",
    "bmr_general",
    "bmr_realised",
    "edge_gain",
    "hedge",
    "logistic_progress",
    "report",
    "weight_regret_limit",
]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Bound:
    """One inequality, ``suffered <= total`` with probability >= ``probability``.

    Attributes
    ----------
    name, statement : str
        Which theorem, and the formula that was evaluated.
    total : float
        Right-hand side, summed over the rounds.
    suffered : float
        Left-hand side that was observed.
    trivial : float
        What the left-hand side cannot exceed in any case; a bound beyond it is vacuous.
    terms : dict
        Parts of the right-hand side.
    """

    name: str
    statement: str
    total: float
    suffered: float
    rounds: int
    trivial: float
    probability: float = 1.0
    terms: Mapping[str, float] = field(default_factory=dict)

    @property
    def vacuous(self) -> bool:
        """True if the bound promises no more than what is true of any prediction."""
        return not self.total < self.trivial

    @property
    def holds(self) -> bool:
        """True if the observed loss kept the bound (up to rounding)."""
        return self.suffered <= self.total + 1e-9 * max(1.0, abs(self.total))

    @property
    def per_round(self) -> float:
        """Right-hand side divided by T."""
        return self.total / self.rounds if self.rounds else math.nan

    def __str__(self) -> str:
        rounds = max(self.rounds, 1)
        text = (
            f"{self.name}: suffered {self.suffered / rounds:.4g} per round, "
            f"promised <= {self.total / rounds:.4g}"
        )
        if self.probability < 1:
            text += f" with probability {self.probability:.4g}"
        if self.vacuous:
            text += (
                f"; vacuous, since {self.trivial / rounds:.4g} per round is never exceeded anyway"
            )
        return text

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "name": self.name,
            "statement": self.statement,
            "total": self.total if math.isfinite(self.total) else None,
            "suffered": self.suffered,
            "rounds": self.rounds,
            "probability": self.probability,
            "vacuous": self.vacuous,
            "holds": self.holds,
            "terms": {k: v if math.isfinite(v) else None for k, v in self.terms.items()},
        }


def _bmr(model: Any) -> tuple[History, PairLoss, float]:
    history = History.of(model)
    if history.edge is None or history.loss is None:
        raise ValueError(
            "model is an Ada.OLMR, which has no edge; this bound is OnlineBMR's: use ada_olmr"
        )
    if not isinstance(history.loss, PairLoss):
        raise ValueError(
            f"loss {history.loss.name!r} does not split into pairs; "
            "its phi^N(0) is known only up to a Monte Carlo error, so no bound is printed"
        )
    return history, history.loss, history.edge


def _sizes(history: History) -> list[tuple[int, int]]:
    """(|Y|, how often) for the label sets that occurred."""
    return [(m, int(n)) for m, n in enumerate(history.label_set_sizes) if n]


def _promised(history: History, loss: PairLoss, edge: float) -> float:
    """Sum over t of phi^N_t(0): it depends on t through |Y_t| only."""
    return math.fsum(
        count * start_potential(loss, history.n_learners, history.n_labels, size, edge)
        for size, count in _sizes(history)
    )


def _excess_loss(history: History, edge: float) -> float:
    """Smallest S that the learners kept over the whole run: (gamma - gamma_i) ||w^i|| / w^{i*}."""
    excess = (edge - history.edges) * history.weight_sums
    scaled = np.divide(
        excess, history.max_weights, out=np.zeros_like(excess), where=history.max_weights > 0
    )
    return max(0.0, float(scaled.max(initial=0.0)))


def bmr_general(model: Any, excess_loss: float | None = None, delta: float | None = None) -> Bound:
    """General loss bound of OnlineBMR: sum phi^N(0) + S sum w^{i*}, as a bound on rank loss.

    phi^N(0) is computed exactly for every |Y| that occurred, with the clipped edge, and w^{i*}
    is the observed one. The loss of the potentials dominates rank loss up to the factor
    ``loss.rank_factor`` (1 for rank and for hinge with margin 1).

    Parameters
    ----------
    excess_loss
        S of OnlineWLC. By default the smallest S that the learners kept in this very run, which
        makes the bound a statement after the fact, with probability 1.
    delta
        Of OnlineWLC, if S was known beforehand; the bound holds with probability 1 - N delta.
    """
    history, loss, edge = _bmr(model)
    known = excess_loss is not None
    s = _excess_loss(history, edge) if excess_loss is None else float(excess_loss)
    promised = _promised(history, loss, edge)
    weights = float(history.max_weights.sum())
    factor = loss.rank_factor
    total = math.inf if math.isinf(factor) else factor * (promised + s * weights)
    probability = 1.0 if not known else max(0.0, 1.0 - history.n_learners * (delta or 0.0))
    return Bound(
        name="OnlineBMR, general theorem" + ("" if known else " (S from this run)"),
        statement="rank loss <= factor * (sum_t phi^N_t(0) + S sum_i w^i*)",
        total=total,
        suffered=history.suffered_loss,
        rounds=history.rounds,
        trivial=float(history.ranked_rounds),
        probability=probability,
        terms={"potential": promised, "S": s, "sum of w^i*": weights, "factor": factor},
    )


def bmr_realised(model: Any) -> Bound:
    """What the proof of the general theorem gives without S: a certificate of this run.

    sum L <= sum phi^N(0) + sum_i (gamma - gamma_i) ||w^i||_1, with the empirical edges gamma_i.
    With single-label votes and no clipped edge it is an equality for the loss of the potentials.
    """
    history, loss, edge = _bmr(model)
    promised = _promised(history, loss, edge)
    excess = float(((edge - history.edges) * history.weight_sums).sum())
    factor = loss.rank_factor
    total = math.inf if math.isinf(factor) else factor * (promised + excess)
    return Bound(
        name="OnlineBMR, realised edges",
        statement="rank loss <= factor * (sum_t phi^N_t(0) + sum_i (gamma - gamma_i) ||w^i||_1)",
        total=total,
        suffered=history.suffered_loss,
        rounds=history.rounds,
        trivial=float(history.ranked_rounds),
        terms={"potential": promised, "missing edges": excess, "factor": factor},
    )


def bmr_corollary(
    model: Any,
    excess_loss: float | None = None,
    delta: float | None = None,
    single_label: bool | None = None,
) -> Bound:
    """Corollary: the exponential bound for rank loss, both cases.

    Single-label learners: sum_t e^{-gamma_t^2 N / 2} + S sum_i w^{i*}, where the paper's
    O(sqrt N S) is replaced by its explicit source, an upper bound on each w^{i*} that holds for
    any votes. General learners: (N + 1) sum_t e^{-gamma_t^2 N / 2} + 2 N S. gamma_t is clipped.

    Parameters
    ----------
    single_label
        Which case; by default the one that fits the model's loss (rank: single-label).
    """
    history, loss, edge = _bmr(model)
    single = loss.name == "rank" if single_label is None else single_label
    if not single and loss.rank_factor > 1:
        raise ValueError(
            f"loss {loss!r} does not dominate the rank loss, so the corollary does not apply; "
            "hinge with margin >= 1 does"
        )
    known = excess_loss is not None
    s = _excess_loss(history, edge) if excess_loss is None else float(excess_loss)
    n = history.n_learners
    exponential = math.fsum(
        count * math.exp(-(clipped_edge(edge, size) ** 2) * n / 2)
        for size, count in _sizes(history)
    )
    if single:
        weights = math.fsum(
            max(
                (
                    largest_weight(loss, n - i, i - 1, history.n_labels, size, edge)
                    for size, _ in _sizes(history)
                ),
                default=0.0,
            )
            for i in range(1, n + 1)
        )
        first, second = exponential, s * weights
        statement = "rank loss <= sum_t exp(-gamma_t^2 N / 2) + S sum_i max w^i"
    else:
        first, second = (n + 1) * exponential, 2.0 * n * s
        statement = "rank loss <= (N + 1) sum_t exp(-gamma_t^2 N / 2) + 2 N S"
    return Bound(
        name="OnlineBMR, corollary, " + ("single-label" if single else "general") + " learners",
        statement=statement,
        total=first + second,
        suffered=history.suffered_loss,
        rounds=history.rounds,
        trivial=float(history.ranked_rounds),
        probability=1.0 if not known else max(0.0, 1.0 - n * (delta or 0.0)),
        terms={"exponential": first, "excess": second, "S": s},
    )


def weight_regret_limit(rounds: int) -> float:
    """9 sqrt T: regret of a learner's weight alpha^i against the best fixed one in [-2, 2].

    Zinkevich: D^2 sqrt(T) / 2 + G^2 sqrt(T) with diameter D = 4 and slopes G <= 1.

    Examples
    --------
    >>> weight_regret_limit(10_000)
    900.0
    """
    return 9.0 * math.sqrt(rounds)


def edge_gain(edge: float) -> float:
    """1 - min over alpha in [-2, 2] of (1+g)/2 e^-alpha + (1-g)/2 e^alpha, g = |edge|.

    This is 1 - sqrt(1 - g^2) >= g^2 / 2, unless g > tanh 2 = .964 puts the minimum at alpha = 2.

    Examples
    --------
    >>> round(edge_gain(0.6), 12), round(edge_gain(1.0), 4)
    (0.2, 0.8647)
    """
    g = min(abs(float(edge)), 1.0)
    if g <= math.tanh(2.0):
        return 1.0 - math.sqrt(1.0 - g * g)
    return 1.0 - (1 + g) / 2 * math.exp(-2.0) - (1 - g) / 2 * math.exp(2.0)


def _ada(model: Any) -> History:
    history = History.of(model)
    if history.edge is not None:
        raise ValueError("model is an OnlineBMR; this bound is Ada.OLMR's: use bmr_general")
    return history


def hedge(model: Any, delta: float = 0.05) -> Bound:
    """Regret of the drawn expert: loss <= (min M_i + ln N) / (1 - 1/e) + sqrt(T ln(1/delta) / 2).

    The paper rounds 1 / (1 - 1/e) = 1.58 up to 2. It holds for the drawn expert only.
    """
    history = _ada(model)
    best = float(history.expert_losses.min(initial=math.inf))
    mean = (best + math.log(history.n_learners)) / (1.0 - math.exp(-1.0))
    spread = math.sqrt(history.ranked_rounds * math.log(1.0 / delta) / 2.0)
    return Bound(
        name="Ada.OLMR, Hedge",
        statement="rank loss <= (min_i M_i + ln N) / (1 - 1/e) + sqrt(T ln(1/delta) / 2)",
        total=mean + spread,
        suffered=history.suffered_loss,
        rounds=history.rounds,
        trivial=float(history.ranked_rounds),
        probability=1.0 - delta,
        terms={"best expert": best, "expectation": mean, "draws": spread},
    )


def logistic_progress(model: Any) -> Bound:
    """Progress of the experts: sum_i gain(gamma_i) ||w^i||_1 <= T ln 2 + 9 N sqrt T.

    Each learner with an edge lowers the logistic loss, which starts at ln 2 per round and cannot
    go below 0; the slack is the regret of the weights. Both sides are known exactly.
    """
    history = _ada(model)
    gained = math.fsum(
        edge_gain(edge) * weight
        for edge, weight in zip(history.edges, history.weight_sums, strict=True)
    )
    start = math.log(2.0) * history.ranked_rounds
    regret = history.n_learners * weight_regret_limit(history.rounds)
    return Bound(
        name="Ada.OLMR, progress of the logistic loss",
        statement="sum_i (1 - sqrt(1 - gamma_i^2)) ||w^i||_1 <= T ln 2 + 9 N sqrt T",
        total=start + regret,
        suffered=gained,
        rounds=history.rounds,
        # ||w^i||_1 <= T and the gain is below 1 - e^-2.
        trivial=history.n_learners * history.ranked_rounds * edge_gain(1.0),
        terms={"start": start, "regret of the weights": regret},
    )


def _ada_bound(history: History, best: float, factor: float, delta: float, name: str) -> Bound:
    n = history.n_learners
    draws = math.sqrt(history.ranked_rounds * math.log(1.0 / delta) / 2.0)
    return Bound(
        name=name,
        statement="rank loss <= 2 B + 2 ln N + sqrt(T ln(1/delta) / 2), "
        "B = (4 ln 2 T + 36 N sqrt T) / sum_i gamma_i^2"
        if factor == 2.0
        else "the same with B = 2 (ln 2 T + 9 N sqrt T) / sum_i (1 - sqrt(1 - gamma_i^2)) "
        "and 1 / (1 - 1/e) for 2",
        total=factor * (best + math.log(n)) + draws,
        suffered=history.suffered_loss,
        rounds=history.rounds,
        trivial=float(history.ranked_rounds),
        probability=1.0 - delta,
        terms={"B": best, "draws": draws},
    )


def ada_olmr(model: Any, delta: float = 0.05) -> Bound:
    """Corrected bound of Ada.OLMR, with gamma_i^2 (the printed one, with |gamma_i|, is false).

    With probability 1 - delta the rank loss is at most 2 B + 2 ln N + sqrt(T ln(1/delta) / 2),
    B = (4 ln 2 T + 36 N sqrt T) / sum_i gamma_i^2. It holds for the drawn expert.
    """
    history = _ada(model)
    squares = float((history.edges**2).sum())
    top = 4 * math.log(2.0) * history.ranked_rounds
    top += 4 * history.n_learners * weight_regret_limit(history.rounds)
    best = top / squares if squares > 0 else math.inf
    return _ada_bound(history, best, 2.0, delta, "Ada.OLMR, corrected theorem")


def ada_olmr_sharp(model: Any, delta: float = 0.05) -> Bound:
    """Corrected bound of Ada.OLMR before the roundings of its proof.

    1 - sqrt(1 - gamma_i^2) stands for gamma_i^2 / 2, and Hedge's 1 / (1 - 1/e) for 2.
    """
    history = _ada(model)
    gains = math.fsum(edge_gain(edge) for edge in history.edges)
    top = math.log(2.0) * history.ranked_rounds
    top += history.n_learners * weight_regret_limit(history.rounds)
    best = 2 * top / gains if gains > 0 else math.inf
    factor = 1.0 / (1.0 - math.exp(-1.0))
    return _ada_bound(history, best, factor, delta, "Ada.OLMR, corrected, without rounding")


def report(model: Any, delta: float = 0.05, excess_loss: float | None = None) -> list[Bound]:
    """All bounds that apply to a model, the theorem first.

    Parameters
    ----------
    delta
        For Ada.OLMR the probability that the bound may fail; for OnlineBMR the delta of OnlineWLC,
        used only if ``excess_loss`` is given.
    excess_loss
        S of OnlineWLC, if it was known beforehand.
    """
    history = History.of(model)
    if history.edge is None:
        return [
            ada_olmr(history, delta),
            ada_olmr_sharp(history, delta),
            hedge(history, delta),
            logistic_progress(history),
        ]
    found = [bmr_general(history, excess_loss, delta)]
    if isinstance(history.loss, PairLoss):
        found.append(bmr_realised(history))
        if history.loss.rank_factor <= 1:
            found.append(bmr_corollary(history, excess_loss, delta))
    return found
