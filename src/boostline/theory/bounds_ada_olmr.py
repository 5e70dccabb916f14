"""Bounds of Ada.OLMR. The derivations are in docs/theory.md."""

from __future__ import annotations

import math
from typing import Any

from boostline.theory.bound import Bound
from boostline.theory.history import History

__all__ = [
    "ada_olmr",
    "ada_olmr_sharp",
    "edge_gain",
    "hedge",
    "logistic_progress",
    "weight_regret_limit",
]


_WEIGHT_LIMIT = 2.0  # weights stay in [-2, 2] (Algorithm 3)


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
    if g <= math.tanh(_WEIGHT_LIMIT):
        return 1.0 - math.sqrt(1.0 - g * g)
    return 1.0 - (1 + g) / 2 * math.exp(-_WEIGHT_LIMIT) - (1 - g) / 2 * math.exp(_WEIGHT_LIMIT)


def hedge(model: Any, delta: float = 0.05) -> Bound:
    """Regret of the drawn expert: loss <= (min M_i + ln N) / (1 - 1/e) + sqrt(T ln(1/delta) / 2).

    The paper rounds 1 / (1 - 1/e) = 1.58 up to 2. It holds for the drawn expert only.
    """
    history = _ada(model)
    _needs_draw(history)
    best = float(history.expert_losses.min(initial=math.inf))
    n = history.n_learners
    mean = (best + math.log(n)) / (1.0 - math.exp(-1.0))
    spread = _draws(history, delta)
    return Bound(
        name="Ada.OLMR, Hedge",
        statement="rank loss <= (min_i M_i + ln N) / (1 - 1/e) + sqrt(T ln(1/delta) / 2)",
        total=mean + spread,
        suffered=history.suffered_loss,
        rounds=history.rounds,
        trivial=float(history.ranked_rounds),
        probability=1.0 - delta,
        terms={"best expert": best, "experts": float(n), "expectation": mean, "draws": spread},
    )


def logistic_progress(model: Any) -> Bound:
    """Progress of the experts: sum_i gain(gamma_i) ||w^i||_1 <= T ln 2 + 9 N sqrt T.

    Each learner with an edge lowers the logistic loss, which starts at ln 2 per round and cannot
    go below 0; the slack is the regret of the weights. Both sides are known exactly. It holds whichever expert is
    followed.
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
        # ||w^i||_1 <= T and no gain is above that of an edge of 1.
        trivial=history.n_learners * history.ranked_rounds * edge_gain(1.0),
        terms={"start": start, "regret of the weights": regret},
    )


def ada_olmr(model: Any, delta: float = 0.05) -> Bound:
    """Corrected bound of Ada.OLMR, with gamma_i^2 (the printed one, with |gamma_i|, is false).

    With probability 1 - delta the rank loss is at most 2 B + 2 ln N + sqrt(T ln(1/delta) / 2),
    B = (4 ln 2 T + 36 N sqrt T) / sum_i gamma_i^2. It holds for the drawn expert.
    """
    history = _ada(model)
    squares = float((history.edges**2).sum())
    top = 4 * (math.log(2.0) * history.ranked_rounds + _regrets(history))
    best = top / squares if squares > 0 else math.inf
    statement = (
        "2 B + 2 ln N + sqrt(T ln(1/delta) / 2), B = (4 ln 2 T + 36 N sqrt T) / sum_i gamma_i^2"
    )
    return _ada_bound(history, best, 2.0, delta, "Ada.OLMR, corrected theorem", statement)


def ada_olmr_sharp(model: Any, delta: float = 0.05) -> Bound:
    """Corrected bound of Ada.OLMR before the roundings of its proof.

    1 - sqrt(1 - gamma_i^2) stands for gamma_i^2 / 2, and Hedge's 1 / (1 - 1/e) for 2.
    """
    history = _ada(model)
    gains = math.fsum(edge_gain(edge) for edge in history.edges)
    top = math.log(2.0) * history.ranked_rounds + _regrets(history)
    best = 2 * top / gains if gains > 0 else math.inf
    factor = 1.0 / (1.0 - math.exp(-1.0))
    statement = (
        "(B + ln N) / (1 - 1/e) + sqrt(T ln(1/delta) / 2), "
        "B = 2 (ln 2 T + 9 N sqrt T) / sum_i (1 - sqrt(1 - gamma_i^2))"
    )
    name = "Ada.OLMR, corrected, without rounding"
    return _ada_bound(history, best, factor, delta, name, statement)


def _ada_bound(
    history: History,
    best: float,
    factor: float,
    delta: float,
    name: str,
    statement: str,
) -> Bound:
    _needs_draw(history)
    draws = _draws(history, delta)
    return Bound(
        name=name,
        statement=f"rank loss <= {statement}",
        total=factor * (best + math.log(history.n_learners)) + draws,
        suffered=history.suffered_loss,
        rounds=history.rounds,
        trivial=float(history.ranked_rounds),
        probability=1.0 - delta,
        terms={"B": best, "draws": draws},
    )


def _ada(model: Any) -> History:
    history = History.of(model)
    if history.edge is not None:
        raise ValueError("model is an OnlineBMR; this bound is Ada.OLMR's: use bmr_general")
    if history.algorithm == "LabelRanker":
        raise ValueError("model is a LabelRanker; this bound is Ada.OLMR's: use label_ranker")
    return history


def _needs_draw(history: History) -> None:
    if history.expert != "draw":
        raise ValueError(
            f"the scores given are those of expert={history.expert!r}; the bound is on the loss of the "
            "expert that Hedge draws, and the rank loss is not convex: use expert='draw'"
        )


def _draws(history: History, delta: float) -> float:
    return math.sqrt(history.ranked_rounds * math.log(1.0 / delta) / 2.0)


def _regrets(history: History) -> float:
    return history.n_learners * weight_regret_limit(history.rounds)
