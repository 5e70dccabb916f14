"""Bounds of OnlineBMR. The derivations are in docs/theory.md."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostline.lab.theory.bound import Bound
from boostline.lab.theory.history import History
from boostline.losses import Hinge, PairLoss, Rank
from boostline.potentials import clipped_edge, pair_potential

#: Of the regret of edge="auto": 1/sqrt 2 + 1 + sqrt 2 / (sqrt 2 - 1) (docs/theory.md).
REGRET_FACTOR = 1 / math.sqrt(2) + 1 + math.sqrt(2) / (math.sqrt(2) - 1)


def _bmr(model: Any) -> tuple[History, PairLoss, float, float, float]:
    """The history, the loss, the edge, and the two sums of what was promised."""
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
    if history.promised is None or history.assumed is None:
        raise ValueError(
            "the history has no promised and assumed loss; they are added up round by round, since labels may be added"
        )
    return history, history.loss, history.edge, history.promised, history.assumed


def _fixed_edge(history: History) -> None:
    """Refuse what is stated for one edge."""
    if history.chooses_edge:
        raise ValueError(
            "the edge was learned (edge='auto'), but this bound is for one edge, fixed beforehand; bmr_auto and "
            "bmr_realised hold for an edge that moves"
        )


def _sizes(history: History) -> list[tuple[int, int]]:
    """(|Y|, how often) for the label sets that occurred."""
    return [(m, int(n)) for m, n in enumerate(history.label_set_sizes) if n]


def _excess_loss(history: History, edge: float) -> float:
    """An S that the learners kept over the whole run: (gamma - gamma_i) ||w^i|| / w^{i*}.

    It is the smallest one unless the edge was cut to 1 / |Y| in some round.
    """
    excess = (edge - history.edges) * history.weight_sums
    scaled = np.divide(
        excess, history.max_weights, out=np.zeros_like(excess), where=history.max_weights > 0
    )
    return max(0.0, float(scaled.max(initial=0.0)))


def bmr_general(model: Any, excess_loss: float | None = None, delta: float | None = None) -> Bound:
    """General loss bound of OnlineBMR: sum phi^N(0) + S sum w^{i*}, as a bound on rank loss.

    phi^N(0) is exact, with the clipped edge and the number of labels of each round, and w^{i*} is the observed one.
    The loss of the potentials dominates rank loss up to the factor ``loss.rank_factor`` (1 for rank and for hinge with
    margin 1).

    Parameters
    ----------
    excess_loss
        S of OnlineWLC. By default the smallest S that the learners kept in this very run, which
        makes the bound a statement after the fact, with probability 1.
    delta
        Of OnlineWLC, needed with S; the bound holds with probability 1 - N delta.
    """
    history, loss, edge, promised, _ = _bmr(model)
    _fixed_edge(history)
    known = excess_loss is not None
    s = _excess_loss(history, edge) if excess_loss is None else float(excess_loss)
    weights = float(history.max_weights.sum())
    return history.rank_loss_bound(
        "OnlineBMR, general theorem" + ("" if known else " (S from this run)"),
        "factor * (sum_t phi^N_t(0) + S sum_i w^i*)",
        _on_rank_loss(loss, promised + s * weights),
        {"potential": promised, "S": s, "sum of w^i*": weights, "factor": loss.rank_factor},
        _probability(history, excess_loss, delta),
    )


def bmr_realised(model: Any) -> Bound:
    """What the proof of the general theorem gives without S: a certificate of this run.

    sum L <= sum phi^N(0) + sum_i (gamma - gamma_i) ||w^i||_1, with the empirical edges gamma_i.
    With single-label votes it is an equality for the loss of the potentials. gamma is cut to 1 / |Y_t| in each round;
    with ``edge="auto"`` it is the edge gamma_t that was used in round t.
    """
    history, loss, _, promised, assumed = _bmr(model)
    excess = assumed - float((history.edges * history.weight_sums).sum())
    statement = (
        "sum_t phi^N_t(0; gamma_t) + sum_t sum_i (gamma_t - gamma_{i,t}) w^i_t"
        if history.chooses_edge
        else "sum_t phi^N_t(0) + sum_i (gamma - gamma_i) ||w^i||_1"
    )
    return history.rank_loss_bound(
        "OnlineBMR, realised edges" + (" (edge='auto')" if history.chooses_edge else ""),
        f"factor * ({statement})",
        _on_rank_loss(loss, promised + excess),
        {"potential": promised, "missing edges": excess, "factor": loss.rank_factor},
    )


def bmr_auto(
    model: Any,
    excess_loss: float | None = None,
    delta: float | None = None,
    edge: float | None = None,
) -> Bound:
    """What ``edge="auto"`` promises: what the best edge in hindsight promises, and the regret of not having known it.

    sum L <= sum_t phi^N_t(0; gamma) + S sum_i w^{i*} + R for every edge gamma of the grid that the learners have (in
    the sense of OnlineWLC), where R is how much more the edges that were used promised than gamma does. Every part is
    known after the run. Given no S, what the learners realised stands in its place, and the bound is that of
    `bmr_realised` in other terms, with certainty.

    Parameters
    ----------
    excess_loss, delta, edge
        S, delta and gamma of OnlineWLC, if they were known beforehand (the model does not know
        them). The largest edge of the grid up to gamma is taken.

    Examples
    --------
    >>> import boostline as bl
    >>> from boostline.lab.theory import adversary
    >>> stream = adversary.Adversary(n_labels=2, edge=0.15, n_learners=60).stream(rounds=3000, seed=0)
    >>> model = bl.OnlineBMR(2, learners=stream.learners(), edge="auto")
    >>> _ = model.learn(stream.X, stream.relevant)
    >>> bound = bmr_auto(model)
    >>> bound.holds, bound.per_round < 0.05
    (True, True)
    """
    history, loss, _, promised, assumed = _bmr(model)
    if history.search is None:
        raise ValueError("the edge was fixed, but this bound is for edge='auto': use bmr_general")
    search, gained = history.search, float((history.edges * history.weight_sums).sum())
    used = promised + assumed
    if excess_loss is None:
        best = int(search.promises.argmin())
        promise, excess = float(search.promises[best]) - gained, 0.0
        name = "OnlineBMR, best edge in hindsight"
        statement = (
            "min_gamma sum_t (phi^N_t(0; gamma) + sum_i (gamma - gamma_{i,t}) w^i_t) + regret"
        )
    else:
        if edge is None or not search.levels[0] <= edge <= 1.0:
            raise ValueError(
                f"edge is {edge}, but must be that of OnlineWLC if excess_loss is given, from "
                f"{search.levels[0]:g} to 1"
            )
        best = int(np.searchsorted(search.levels, edge, side="right")) - 1
        promise = float(search.potentials[best])
        excess = excess_loss * float(history.max_weights.sum())
        name = "OnlineBMR, learned edge"
        statement = "sum_t phi^N_t(0; gamma) + S sum_i w^i* + regret"
    regret = used - float(search.promises[best])
    return history.rank_loss_bound(
        name,
        f"factor * ({statement})",
        _on_rank_loss(loss, promise + excess + regret),
        {
            "edge": float(search.levels[best]),
            "its promise": promise,
            "excess": excess,
            "regret": regret,
            "regret at most": _regret_limit(history, loss),
            "factor": loss.rank_factor,
        },
        _probability(history, excess_loss, delta),
    )


def _regret_limit(history: History, loss: PairLoss) -> float:
    """What the theorem says of the regret against every edge up to 1 / max |Y|; it is proved for convex losses only."""
    if history.search is None or not loss.convex:
        return math.inf
    search = history.search
    return (
        REGRET_FACTOR
        * float(search.levels[-1] - search.levels[0])
        * math.sqrt(search.slope_squares)
    )


def hinge_factor(n_learners: int, edge: float) -> float:
    """What phi^N(0) of the hinge loss with margin 1 is at most, in units of e^{-gamma^2 N / 2}; the paper has N + 1.

    Examples
    --------
    >>> round(hinge_factor(100, 0.1), 2), round(hinge_factor(100, 0.01), 2), hinge_factor(1, 0.01)
    (10.51, 13.53, 2.0)
    """
    found = [n_learners + 1.0, 1.0 + math.sqrt(math.pi * n_learners / 2)]
    if edge > 0:
        found.append(1.0 / -math.expm1(-edge))
    return min(found)


def bmr_corollary(
    model: Any, excess_loss: float | None = None, delta: float | None = None
) -> Bound:
    """Corollary: the exponential bound for rank loss, both cases.

    Rank loss, whose learners vote for single labels: sum_t e^{-gamma_t^2 N / 2} + S sum_i w^{i*}, where the paper's
    O(sqrt N S) is replaced by its explicit source, an upper bound on each w^{i*} that holds for
    any votes. Hinge loss with margin 1, any learners: sum_t `hinge_factor` e^{-gamma_t^2 N / 2} + N S k / (k - 1); the
    paper has N + 1 and 2. gamma_t is clipped. Both terms are proved for these potentials and are false for others,
    which `bmr_general` serves. Where labels are unknown, larger weights may occur; then the observed ones count.
    """
    history, loss, edge, _, _ = _bmr(model)
    _fixed_edge(history)
    single = loss == Rank()
    if not single and loss != Hinge(margin=1.0):
        raise ValueError(
            f"loss is {loss!r}, but the corollary is proved for the rank loss and the hinge loss "
            "with margin 1; bmr_general takes the potentials of any loss of pairs"
        )
    s = _excess_loss(history, edge) if excess_loss is None else float(excess_loss)
    n = history.n_learners
    exponential = math.fsum(
        count
        * math.exp(-(clipped_edge(edge, size) ** 2) * n / 2)
        * (1.0 if single else hinge_factor(n, clipped_edge(edge, size)))
        for size, count in _sizes(history)
    )
    if single:
        sizes = [size for size, _ in _sizes(history)]
        promised = [
            [largest_weight(loss, n - i, i - 1, history.n_labels, size, edge) for size in sizes]
            for i in range(1, n + 1)
        ]
        observed = history.max_weights
        excess = s * math.fsum(
            max([*of, seen]) for of, seen in zip(promised, observed, strict=True)
        )
        statement = "sum_t exp(-gamma_t^2 N / 2) + S sum_i max w^i"
    else:
        k = history.n_labels
        excess = max(k / (k - 1), float(history.max_weights.max(initial=0.0))) * n * s
        factor = "min(N + 1, 1 / (1 - exp(-gamma_t)), 1 + sqrt(pi N / 2))"
        statement = f"sum_t {factor} exp(-gamma_t^2 N / 2) + k / (k - 1) N S"
    return history.rank_loss_bound(
        "OnlineBMR, corollary, " + ("single-label" if single else "general") + " learners",
        statement,
        exponential + excess,
        {"exponential": exponential, "excess": excess, "S": s},
        _probability(history, excess_loss, delta),
    )


def _on_rank_loss(loss: PairLoss, total: float) -> float:
    """A bound on the loss of the potentials as one on the rank loss."""
    factor = loss.rank_factor
    return math.inf if math.isinf(factor) else factor * total


def _probability(history: History, excess_loss: float | None, delta: float | None) -> float:
    """With which a bound holds: all learners keep S, if it was known beforehand, else it is of this very run."""
    if excess_loss is None:
        return 1.0
    if delta is None or not 0.0 < delta < 1.0:
        raise ValueError(
            f"delta is {delta}, but must be that of OnlineWLC if excess_loss is given, between 0 and 1"
        )
    return max(0.0, 1.0 - history.n_learners * delta)


def largest_weight(
    loss: PairLoss, n: int, n_past: int, n_labels: int, n_relevant: int, edge: float
) -> float:
    """Bound on w = max c - min c over all votes of n_past learners, with n learners to come.

    Moving one vote from l to r changes at most |Y| + |I| pairs by D_n each, so
    w <= (1/|Y| + 1/|I|) max D_n, the maximum over the d that n_past votes can reach.

    Examples
    --------
    >>> largest_weight(Hinge(), n=5, n_past=20, n_labels=4, n_relevant=1, edge=0.1)
    1.3333333333333333
    """
    # D_n of a convex loss is nondecreasing; another loss meets single-label votes, so integers.
    lowest = float(n_past) if loss.convex else -n_past - 1.0
    d = np.arange(lowest, n_past + 1.0)
    g = pair_potential(loss, n, np.append(d, d[-1] + 1.0), n_labels, n_relevant, edge)
    return (1.0 / n_relevant + 1.0 / (n_labels - n_relevant)) * float(np.diff(g).max())
