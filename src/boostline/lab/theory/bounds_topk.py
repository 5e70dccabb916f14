"""Bounds of TopkBMR and TopkAdaptive. The derivations are in docs/top-k.md.

Losses are in units of m - 1 pairs, as the models count them. What a model hears are estimates: ``suffered`` is the
estimated loss in statements about the estimates, which hold with certainty. A bound on the loss of all pairs has one
more term, for how far the estimates may be off.
"""

from __future__ import annotations

import math
from typing import Any

from boostline.lab.theory.bound import Bound
from boostline.lab.theory.bounds_ada_olmr import edge_gain
from boostline.lab.topk import TopkAdaptive, TopkBMR


def topk_deviation(model: TopkBMR | TopkAdaptive, delta: float = 0.05) -> float:
    """How far the sum of the losses may lie above the sum of its estimates, with probability 1 - delta.

    Estimates are not negative, and the square of one is on average at most (m^2/4)^2 / p, where p is the smallest
    probability of a pair. So the sum over T rounds falls short of its mean by at most m^2/4 sqrt(2 T ln(1/delta) / p).

    Examples
    --------
    >>> from boostline.lab.topk import TopkFeedback
    >>> model = TopkAdaptive(6, [], TopkFeedback(6, n_shown=6))  # nothing is estimated
    >>> topk_deviation(model)
    0.0
    """
    m = model.n_labels
    if model.feedback.n_shown == m:
        return 0.0
    smallest = min(model.feedback.probabilities)
    most = (m // 2) * (m - m // 2) / (m - 1)  # of one round, all pairs
    return most * math.sqrt(2.0 * _rounds(model) * math.log(1.0 / delta) / smallest)


def topk_bmr(model: Any, delta: float = 0.05) -> Bound:
    """What TopkBMR's run certifies about the rank loss of its scores on all pairs.

    sum L <= factor * (sum_t C_t g_N(0) + sum_i (gamma - gamma_i) ||w^i||_1) + deviation, with probability 1 - delta;
    without the deviation it holds for the estimated loss, with certainty. C_t is the estimated number of pairs.
    """
    if not isinstance(model, TopkBMR):
        raise ValueError(f"model is a {type(model).__name__}; this bound is TopkBMR's")
    missing = float(((model.edge - model.edges()) * model.weight_sums).sum())
    certified = model.loss.rank_factor * (model.promised_loss + missing)
    deviation = topk_deviation(model, delta)
    return Bound(
        name="TopkBMR, realised edges",
        statement="rank loss <= factor * (sum_t C_t g_N(0) + sum_i (gamma - gamma_i) ||w^i||_1) + deviation",
        total=certified + deviation,
        suffered=model.suffered_loss,
        rounds=_rounds(model),
        trivial=_trivial(model),
        probability=1.0 - delta,
        trivial_reason="half of the pairs, as estimated",
        terms={
            "potential": model.promised_loss,
            "missing edges": missing,
            "factor": model.loss.rank_factor,
            "of the estimates": certified,
            "deviation": deviation,
        },
    )


def topk_progress(model: Any) -> Bound:
    """Progress of the estimated logistic loss: sum_i G(gamma_i) ||w^i||_1 <= ln 2 sum C + 4 sqrt2 N G sqrt T.

    It holds with certainty; G is the largest estimate that one round can give.
    """
    model = _adaptive(model)
    gained = _gained(model)
    start = math.log(2.0) * model.heard_weight
    return Bound(
        name="TopkAdaptive, progress of the logistic loss",
        statement="sum_i G(gamma_i) ||w^i||_1 <= ln 2 sum_t C_t + 4 sqrt2 N G sqrt T",
        total=start + _regrets(model),
        suffered=gained,
        rounds=_rounds(model),
        trivial=len(model.learners) * model.heard_weight * edge_gain(1.0),
        trivial_reason="never exceeded anyway",
        terms={"start": start, "regret of the weights": _regrets(model)},
    )


def topk_hedge(model: Any, delta: float = 0.05) -> Bound:
    """Regret of the drawn expert on the estimates: (min M_i + G ln N) / (1 - 1/e) + deviations, on all pairs."""
    model = _adaptive(model)
    return _on_all_pairs(
        model,
        float(model.expert_losses.min(initial=math.inf)),
        delta,
        "TopkAdaptive, Hedge",
        "rank loss <= (min_i M_i + G ln N) / (1 - 1/e) + deviations",
    )


def topk_adaptive(model: Any, delta: float = 0.05) -> Bound:
    """The loss of TopkAdaptive's drawn expert on all pairs, from the learners' edges.

    (B + G ln N) / (1 - 1/e) + deviations, B = 2 (ln 2 sum C + 4 sqrt2 N G sqrt T) / sum_i G(gamma_i), G = `edge_gain`;
    where B is more than half of sum C, sum C stands for it.
    """
    model = _adaptive(model)
    gains = math.fsum(edge_gain(edge) for edge in model.edges())
    top = math.log(2.0) * model.heard_weight + _regrets(model)
    best = 2.0 * top / gains if gains > 0 else math.inf
    # From half of all weight on, the expert that B is about may be that of no learner, which Hedge cannot follow.
    if best >= 0.5 * model.heard_weight:
        best = model.heard_weight
    return _on_all_pairs(
        model,
        best,
        delta,
        "TopkAdaptive, from the edges",
        "rank loss <= (B + G ln N) / (1 - 1/e) + deviations, "
        "B = 2 (ln 2 sum_t C_t + 4 sqrt2 N G sqrt T) / sum_i G(gamma_i)",
    )


def _adaptive(model: Any) -> TopkAdaptive:
    if not isinstance(model, TopkAdaptive):
        raise ValueError(f"model is a {type(model).__name__}; this bound is TopkAdaptive's")
    return model


def _gained(model: TopkAdaptive) -> float:
    pairs = zip(model.edges(), model.weight_sums, strict=True)
    return math.fsum(edge_gain(edge) * weight for edge, weight in pairs)


def _regrets(model: TopkAdaptive) -> float:
    """Of all weights: diameter 4, slopes up to G, steps 2 sqrt2 / (G sqrt t)."""
    return 4.0 * math.sqrt(2.0) * len(model.learners) * model.most_loss * math.sqrt(_rounds(model))


def _on_all_pairs(
    model: TopkAdaptive, best: float, delta: float, name: str, statement: str
) -> Bound:
    if model.expert != "draw":
        raise ValueError(
            f"the scores given are those of expert={model.expert!r}; the bound is on the loss of the expert that "
            "Hedge draws, and the rank loss is not convex: use expert='draw'"
        )
    most = model.most_loss
    mean = (best + most * math.log(len(model.learners))) / (1.0 - math.exp(-1.0))
    # Half of delta for the estimates, half for the draws of the expert.
    m, estimates = model.n_labels, topk_deviation(model, delta / 2)
    pairs = (m // 2) * (m - m // 2) / (m - 1)
    draws = pairs * math.sqrt(_rounds(model) * math.log(2.0 / delta) / 2.0)
    return Bound(
        name=name,
        statement=statement,
        total=mean + estimates + draws,
        suffered=model.suffered_loss,
        rounds=_rounds(model),
        trivial=_trivial(model),
        probability=1.0 - delta,
        trivial_reason="half of the pairs, as estimated",
        terms={"best expert": best, "estimates": estimates, "draws": draws},
    )


def _trivial(model: TopkBMR | TopkAdaptive) -> float:
    """Guessing: half of the pairs, whose number is estimated, and no more than there can be."""
    m = model.n_labels
    most = (m // 2) * (m - m // 2) / (m - 1) * _rounds(model)
    return 0.5 * min(most, model.heard_weight)


def _rounds(model: TopkBMR | TopkAdaptive) -> int:
    return model.t - 1
