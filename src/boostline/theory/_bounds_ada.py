"""Bounds of Ada.OLMR. The derivations are in docs/theory.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostline.theory._bound import Bound
from boostline.theory.history import History

__all__ = [
    "ada_olmr",
    "ada_olmr_sharp",
    "edge_gain",
    "hedge",
    "logistic_progress",
    "weight_regret_limit",
]


def weight_regret_limit(rounds: int, weight_limit: float = 2.0) -> float:
    """9 sqrt T: regret of a learner's weight alpha^i against the best fixed one in [-2, 2].

    Zinkevich: D^2 sqrt(T) / 2 + G^2 sqrt(T) with diameter D = 4 and slopes G <= 1.

    Examples
    --------
    >>> weight_regret_limit(10_000)
    900.0
    """
    return (2.0 * weight_limit**2 + 1.0) * math.sqrt(rounds)


def edge_gain(edge: float, weight_limit: float = 2.0) -> float:
    """1 - min over alpha in [-2, 2] of (1+g)/2 e^-alpha + (1-g)/2 e^alpha, g = |edge|.

    This is 1 - sqrt(1 - g^2) >= g^2 / 2, unless g > tanh 2 = .964 puts the minimum at alpha = 2.

    Examples
    --------
    >>> round(edge_gain(0.6), 12), round(edge_gain(1.0), 4)
    (0.2, 0.8647)
    """
    g = min(abs(float(edge)), 1.0)
    if g <= math.tanh(weight_limit):
        return 1.0 - math.sqrt(1.0 - g * g)
    return 1.0 - (1 + g) / 2 * math.exp(-weight_limit) - (1 - g) / 2 * math.exp(weight_limit)


def hedge(model: Any, delta: float = 0.05, suffered: float | None = None) -> Bound:
    """Regret of the drawn expert: loss <= (min M_i + ln n) / (1 - 1/e) + sqrt(T ln(1/delta) / 2).

    The paper rounds 1 / (1 - 1/e) = 1.58 up to 2. It holds for the drawn expert only, for any losses in [0, 1] and
    any n experts: the N prefixes of the paper's algorithm, or the 3 N of the mixture.

    Parameters
    ----------
    suffered
        With ``target="one_error"``: the cumulative one-error of the scores that were given, which the model does
        not keep.
    """
    history = _ada(model)
    _needs_draw(history)
    losses = history.expert_losses if history.hedge_losses is None else history.hedge_losses
    best = float(losses.min(initial=math.inf))
    n = history.n_experts
    mean = (best + math.log(n)) / (1.0 - math.exp(-1.0))
    spread = _draws(history, delta)
    return Bound(
        name="Ada.OLMR, Hedge" + (f" over {n} experts" if history.combine != "paper" else ""),
        statement=f"{_target(history)} <= (min_i M_i + ln n) / (1 - 1/e) + sqrt(T ln(1/delta) / 2)",
        total=mean + spread,
        suffered=_suffered(history, suffered),
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
    _needs_pairwise(history)
    gained = math.fsum(
        edge_gain(edge, history.weight_limit) * weight
        for edge, weight in zip(history.edges, history.weight_sums, strict=True)
    )
    start = math.log(2.0) * history.ranked_rounds
    regret = history.n_learners * weight_regret_limit(history.rounds, history.weight_limit)
    return Bound(
        name="Ada.OLMR, progress of the logistic loss",
        statement="sum_i (1 - sqrt(1 - gamma_i^2)) ||w^i||_1 <= T ln 2 + 9 N sqrt T",
        total=start + regret,
        suffered=gained,
        rounds=history.rounds,
        # ||w^i||_1 <= T and no gain is above that of an edge of 1.
        trivial=history.n_learners * history.ranked_rounds * edge_gain(1.0, history.weight_limit),
        terms={"start": start, "regret of the weights": regret},
    )


def ada_olmr(model: Any, delta: float = 0.05, suffered: float | None = None) -> Bound:
    """Corrected bound of Ada.OLMR, with gamma_i^2 (the printed one, with |gamma_i|, is false).

    With probability 1 - delta the rank loss is at most 2 B + 2 ln N + sqrt(T ln(1/delta) / 2),
    B = (4 ln 2 T + 36 N sqrt T) / sum_i gamma_i^2. It holds for the drawn expert. With
    ``target="one_error"`` it is a bound on one-error, with B times the largest number of irrelevant labels.

    Parameters
    ----------
    suffered
        As in `hedge`.
    """
    history = _ada(model)
    _needs_pairwise(history)
    if history.weight_limit < 2:
        raise ValueError(
            f"weight_limit is {history.weight_limit}, but gamma^2 / 2 needs at least 2; "
            "ada_olmr_sharp takes any limit"
        )
    squares = float((history.edges**2).sum())
    top = 4 * (math.log(2.0) * history.ranked_rounds + _regrets(history))
    best = top / squares if squares > 0 else math.inf
    statement = (
        f"2 B + 2 ln N + sqrt(T ln(1/delta) / 2), B = {_times(history)}"
        "(4 ln 2 T + 36 N sqrt T) / sum_i gamma_i^2"
    )
    return _ada_bound(history, best, 2.0, delta, suffered, "Ada.OLMR, corrected theorem", statement)


def ada_olmr_sharp(model: Any, delta: float = 0.05, suffered: float | None = None) -> Bound:
    """Corrected bound of Ada.OLMR before the roundings of its proof.

    1 - sqrt(1 - gamma_i^2) stands for gamma_i^2 / 2, and Hedge's 1 / (1 - 1/e) for 2.
    """
    history = _ada(model)
    _needs_pairwise(history)
    gains = math.fsum(edge_gain(edge, history.weight_limit) for edge in history.edges)
    top = math.log(2.0) * history.ranked_rounds + _regrets(history)
    best = 2 * top / gains if gains > 0 else math.inf
    factor = 1.0 / (1.0 - math.exp(-1.0))
    statement = (
        f"(B + ln N) / (1 - 1/e) + sqrt(T ln(1/delta) / 2), B = {_times(history)}"
        "2 (ln 2 T + 9 N sqrt T) / sum_i (1 - sqrt(1 - gamma_i^2))"
    )
    name = "Ada.OLMR, corrected, without rounding"
    return _ada_bound(history, best, factor, delta, suffered, name, statement)


def _ada_bound(
    history: History,
    best: float,
    factor: float,
    delta: float,
    suffered: float | None,
    name: str,
    statement: str,
) -> Bound:
    _needs_draw(history)
    best *= _per_rank_loss(history)
    draws = _draws(history, delta)
    return Bound(
        name=name,
        statement=f"{_target(history)} <= {statement}",
        total=factor * (best + math.log(history.n_learners)) + draws,
        suffered=_suffered(history, suffered),
        rounds=history.rounds,
        trivial=float(history.ranked_rounds),
        probability=1.0 - delta,
        terms={"B": best, "draws": draws},
    )


def _ada(model: Any) -> History:
    history = History.of(model)
    if history.edge is not None:
        raise ValueError("model is an OnlineBMR; this bound is Ada.OLMR's: use bmr_general")
    if history.restarts:
        raise ValueError(
            f"the booster started anew {history.restarts} times (drift='restart'); its bounds hold from one "
            "start to the next, and the sums of the parts are not kept"
        )
    return history


def _needs_draw(history: History) -> None:
    if history.expert != "draw":
        raise ValueError(
            f"the scores given are those of expert={history.expert!r}; the bound is on the loss of the "
            "expert that Hedge draws, and the rank loss is not convex: use expert='draw'"
        )


def _needs_pairwise(history: History) -> None:
    if history.combine != "paper":
        raise ValueError(
            f"combine={history.combine!r} does not descend on weights in a box as the proof needs; "
            "no bound on its best expert is known"
        )
    if history.surrogate != "pairwise":
        raise ValueError(
            f"surrogate={history.surrogate!r}: its edges say nothing on the pairwise logistic loss; "
            "no bound on its best expert is known"
        )


def _suffered(history: History, given: float | None) -> float:
    if history.target == "rank":
        if given is not None:
            raise ValueError("suffered is for target='one_error'; rank loss is kept by the model")
        return history.suffered_loss
    if given is None:
        raise ValueError(
            f"the bound is on {history.target}, which the model does not keep of its own scores; give its "
            "sum over the rounds as suffered="
        )
    return float(given)


def _target(history: History) -> str:
    return "rank loss" if history.target == "rank" else "one-error"


def _per_rank_loss(history: History) -> float:
    """How many times the rank loss the target may be.

    An irrelevant label on top is above all relevant ones: 1 / |Y^c| of the pairs.
    """
    if history.target == "rank":
        return 1.0
    return float(history.n_labels - np.flatnonzero(history.label_set_sizes).min(initial=1))


def _times(history: History) -> str:
    return "" if history.target == "rank" else "max |Y^c| "


def _draws(history: History, delta: float) -> float:
    return math.sqrt(history.ranked_rounds * math.log(1.0 / delta) / 2.0)


def _regrets(history: History) -> float:
    return history.n_learners * weight_regret_limit(history.rounds, history.weight_limit)
