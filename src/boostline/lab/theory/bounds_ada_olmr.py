"""Bounds of Ada.OLMR. The derivations are in docs/theory.md."""

from __future__ import annotations

import math
from typing import Any

from boostline.lab.theory.bound import Bound
from boostline.lab.theory.history import History

_WEIGHT_LIMIT = 2.0  # weights stay in [-2, 2] (Algorithm 3)
_HEDGE = 1.0 / (1.0 - math.exp(-1.0))  # what Hedge's rate of 1 costs


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


def bennett_gain(edge: float, spread: float) -> float:
    """v h(u), u = |edge| / v, h(u) = (1 + u) ln(1 + u) - u; beyond u = e^2 - 1 it is 2 |edge| - (e^2 - 3) v.

    It is how much the best weight in [-2, 2] lowers the logistic loss at least, per unit of ||w^i||_1, as in Bennett's
    inequality. v = spread is the mean over the pairs, with the weights p = sigmoid(s[r] - s[l]) of the edge, of
    (1 - p) (h[l] - h[r])^2. Votes that differ little between labels have a small v.

    Examples
    --------
    >>> round(bennett_gain(0.1, 1.0), 5)  # gamma^2 / 2 is .005
    0.00484
    >>> round(bennett_gain(0.1, 0.02), 5)  # |gamma| / 2 is .05
    0.11501
    """
    g, v = abs(float(edge)), float(spread)
    if g == 0.0:
        return 0.0
    most = math.exp(_WEIGHT_LIMIT) - 1.0
    if g >= most * v:
        return _WEIGHT_LIMIT * g - v * (most - _WEIGHT_LIMIT)
    u = g / v
    return v * ((1.0 + u) * math.log1p(u) - u)


def hedge(model: Any, delta: float = 0.05) -> Bound:
    """Regret of the drawn expert: loss <= (min M_i + ln N) / (1 - 1/e) + sqrt(T ln(1/delta) / 2).

    The paper rounds 1 / (1 - 1/e) = 1.58 up to 2. It holds for the drawn expert only.
    """
    history = _ada(model)
    best = float(history.expert_losses.min(initial=math.inf))
    statement = "(B + ln N) / (1 - 1/e) + sqrt(T ln(1/delta) / 2), B = min_i M_i"
    return _ada_bound(history, best, _HEDGE, delta, "Ada.OLMR, Hedge", statement)


def logistic_progress(model: Any) -> Bound:
    """Progress of the experts: sum_i gain_i ||w^i||_1 + ln 2 M_N <= T ln 2 + the regret of the weights.

    Each learner with an edge lowers the logistic loss, which starts at ln 2 per round and ends at ln 2 times the rank
    loss or above; the slack is the regret of the weights, 9 N sqrt T or, with ``steps="adagrad"``, 4 sqrt 2 sum_i
    sqrt Q_i. Both sides are known exactly. It holds whichever expert is followed.
    """
    history = _ada(model)
    gained = math.fsum(
        gain * weight for gain, weight in zip(_gains(history), history.weight_sums, strict=True)
    )
    gained += math.log(2.0) * float(history.expert_losses[-1])
    start = math.log(2.0) * history.ranked_rounds
    regret = _regrets(history)
    return Bound(
        name="Ada.OLMR, progress of the logistic loss",
        statement=f"sum_i G_i ||w^i||_1 + ln 2 M_N <= T ln 2 + {_regret_text(history)}",
        total=start + regret,
        suffered=gained,
        rounds=history.rounds,
        # ||w^i||_1 <= T and no gain is above that of an edge of 1.
        trivial=history.ranked_rounds * (history.n_learners * edge_gain(1.0) + math.log(2.0)),
        trivial_reason="never exceeded anyway",
        terms={"start": start, "regret of the weights": regret},
    )


def ada_olmr(model: Any, delta: float = 0.05) -> Bound:
    """Corrected bound of Ada.OLMR, with gamma_i^2 (the printed one, with |gamma_i|, is false).

    With probability 1 - delta the rank loss is at most 2 B + 2 ln N + sqrt(T ln(1/delta) / 2),
    B = (4 ln 2 T + 36 N sqrt T) / sum_i gamma_i^2. It holds for the drawn expert.
    """
    history = _ada(model)
    _needs_steps(history, "paper", "ada_olmr_adagrad")
    squares = float((history.edges**2).sum())
    top = 4 * (math.log(2.0) * history.ranked_rounds + _regrets(history))
    best = top / squares if squares > 0 else math.inf
    statement = (
        "2 B + 2 ln N + sqrt(T ln(1/delta) / 2), B = (4 ln 2 T + 36 N sqrt T) / sum_i gamma_i^2"
    )
    return _ada_bound(history, best, 2.0, delta, "Ada.OLMR, corrected theorem", statement)


def ada_olmr_sharp(model: Any, delta: float = 0.05) -> Bound:
    """Corrected bound of Ada.OLMR before the roundings of its proof.

    G(gamma_i), `edge_gain`, stands for gamma_i^2 / 2 and Hedge's 1 / (1 - 1/e) for 2; B is that of
    `ada_olmr_best_expert`.
    """
    history = _ada(model)
    _needs_steps(history, "paper", "ada_olmr_adagrad")
    statement = (
        "(B + ln N) / (1 - 1/e) + sqrt(T ln(1/delta) / 2), "
        "B = 2 (ln 2 T + 9 N sqrt T - G_1 ||w^1||_1) / (2 ln 2 + sum_{i>1} G_i), G_i = G(gamma_i)"
    )
    name = "Ada.OLMR, corrected, without rounding"
    return _ada_bound(history, _best_expert(history), _HEDGE, delta, name, statement)


def ada_olmr_adagrad(model: Any, delta: float = 0.05) -> Bound:
    """Bound of Ada.OLMR with ``steps="adagrad"``: the gains of Bennett's inequality, and a regret of 4 sqrt(2 Q_i).

    B is that of `ada_olmr_best_expert`. G_i is the larger of `edge_gain` and `bennett_gain`, and Q_i the sum of the
    squared slopes of weight i.
    """
    history = _ada(model)
    _needs_steps(history, "adagrad", "ada_olmr")
    statement = (
        "(B + ln N) / (1 - 1/e) + sqrt(T ln(1/delta) / 2), "
        "B = 2 (ln 2 T + 4 sqrt 2 sum_i sqrt Q_i - G_1 ||w^1||_1) / (2 ln 2 + sum_{i>1} G_i)"
    )
    name = "Ada.OLMR, AdaGrad steps"
    return _ada_bound(history, _best_expert(history), _HEDGE, delta, name, statement)


def ada_olmr_best_expert(model: Any) -> Bound:
    """Bound on the smallest M_i, 1 <= i <= N: 2 (T ln 2 + regret - G_1 ||w^1||_1) / (2 ln 2 + sum_{i>1} G_i).

    G_i are the gains of the learners, ||w^1||_1 = T / 2. It holds with certainty, whichever expert is followed.
    """
    history = _ada(model)
    half = history.ranked_rounds / 2
    return Bound(
        name="Ada.OLMR, best expert",
        statement=(
            f"min_i M_i <= 2 (T ln 2 + {_regret_text(history)} - G_1 ||w^1||_1) / (2 ln 2 + sum_(i>1) G_i)"
        ),
        total=_best_expert(history),
        suffered=float(history.expert_losses.min(initial=history.rounds)),
        rounds=history.rounds,
        trivial=half,
        terms={"gains": math.fsum(_gains(history)), "regret of the weights": _regrets(history)},
    )


def _best_expert(history: History) -> float:
    """B: no more than this is lost by the best of Hedge's experts, 1 .. N."""
    gains = _gains(history)
    top = math.log(2.0) * history.ranked_rounds + _regrets(history)
    top -= gains[0] * float(history.weight_sums[0])
    return 2 * top / (2 * math.log(2.0) + math.fsum(gains[1:]))


def _ada_bound(
    history: History,
    best: float,
    factor: float,
    delta: float,
    name: str,
    statement: str,
) -> Bound:
    if history.expert != "draw":
        raise ValueError(
            f"the scores given are those of expert={history.expert!r}; the bound is on the loss of the "
            "expert that Hedge draws, and the rank loss is not convex: use expert='draw'"
        )
    draws = math.sqrt(history.ranked_rounds * math.log(1.0 / delta) / 2.0)
    total = factor * (best + math.log(history.n_learners)) + draws
    terms = {"B": best, "draws": draws}
    return history.rank_loss_bound(name, statement, total, terms, 1.0 - delta)


def _ada(model: Any) -> History:
    history = History.of(model)
    if history.edge is not None:
        raise ValueError("model is an OnlineBMR; this bound is Ada.OLMR's: use bmr_general")
    if history.algorithm == "LabelRanker":
        raise ValueError("model is a LabelRanker; this bound is Ada.OLMR's: use label_ranker")
    return history


def _needs_steps(history: History, steps: str, other: str) -> None:
    if history.steps != steps:
        raise ValueError(
            f"steps is {history.steps!r}, but must be {steps!r}, for whose regret this bound is: use {other}"
        )


def _gains(history: History) -> list[float]:
    """What each learner lowers the logistic loss by, per unit of ||w^i||_1; of two lower bounds the larger one."""
    if history.vote_spreads is None:
        return [edge_gain(edge) for edge in history.edges]
    return [
        max(edge_gain(edge), bennett_gain(edge, spread))
        for edge, spread in zip(history.edges, history.vote_spreads, strict=True)
    ]


def _regrets(history: History) -> float:
    """Of all weights against the best fixed ones."""
    if history.slope_squares is None:
        return history.n_learners * weight_regret_limit(history.rounds)
    return 4.0 * math.sqrt(2.0) * math.fsum(math.sqrt(q) for q in history.slope_squares)


def _regret_text(history: History) -> str:
    return "9 N sqrt T" if history.slope_squares is None else "4 sqrt 2 sum_i sqrt Q_i"
