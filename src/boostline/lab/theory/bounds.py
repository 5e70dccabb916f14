"""Right-hand sides of the theorems, with everything that is known plugged in.

Every function takes a model (or a `History`) and returns a `Bound`: the number the theorem
promises not to exceed, the loss suffered beside it, the probability, and whether the bound says
anything at all. It refuses a model that the theorem is not about, with the reason. `report` collects all that
apply, and the reasons for those that do not. The derivations are in docs/theory.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from boostline.lab.theory.bound import Bound, Report
from boostline.lab.theory.bounds_ada_olmr import (
    ada_olmr,
    ada_olmr_adagrad,
    ada_olmr_best_expert,
    ada_olmr_sharp,
    bennett_gain,
    edge_gain,
    hedge,
    logistic_progress,
    weight_regret_limit,
)
from boostline.lab.theory.bounds_label_ranker import label_ranker
from boostline.lab.theory.bounds_online_bmr import (
    bmr_auto,
    bmr_corollary,
    bmr_general,
    bmr_realised,
    hinge_factor,
)
from boostline.lab.theory.bounds_topk import (
    topk_adaptive,
    topk_bmr,
    topk_deviation,
    topk_hedge,
    topk_progress,
)
from boostline.lab.theory.history import History
from boostline.lab.topk import TopkAdaptive, TopkBMR

__all__ = [
    "Bound",
    "Report",
    "ada_olmr",
    "ada_olmr_adagrad",
    "ada_olmr_best_expert",
    "ada_olmr_sharp",
    "bennett_gain",
    "bmr_auto",
    "bmr_corollary",
    "bmr_general",
    "bmr_realised",
    "edge_gain",
    "hedge",
    "hinge_factor",
    "label_ranker",
    "logistic_progress",
    "report",
    "topk_adaptive",
    "topk_bmr",
    "topk_deviation",
    "topk_hedge",
    "topk_progress",
    "weight_regret_limit",
]


def report(
    model: Any,
    delta: float = 0.05,
    excess_loss: float | None = None,
    edge: float | None = None,
) -> Report:
    """All bounds that apply to a model, the theorem first; `Report.refused` says why others do not.

    Parameters
    ----------
    delta
        For Ada.OLMR the probability that the bound may fail; for OnlineBMR the delta of OnlineWLC,
        used only if ``excess_loss`` is given.
    excess_loss
        S of OnlineWLC, if it was known beforehand.
    edge
        gamma of OnlineWLC beside that S, for a model with ``edge="auto"``.

    Examples
    --------
    >>> import boostline as bl
    >>> model = bl.AdaOLMR(3, learners=bl.learners.paper_trees(5), expert="weighted")
    >>> [bound.name for bound in report(model)]
    ['Ada.OLMR, best expert', 'Ada.OLMR, progress of the logistic loss']
    >>> sorted(report(model).refused)
    ['Ada.OLMR, Hedge', 'Ada.OLMR, corrected theorem', 'Ada.OLMR, corrected, without rounding']
    """
    tries: dict[str, Callable[[], Bound]]
    if isinstance(model, TopkBMR):
        return _kept({"TopkBMR, realised edges": lambda: topk_bmr(model, delta)})
    if isinstance(model, TopkAdaptive):
        return _kept(
            {
                "TopkAdaptive, from the edges": lambda: topk_adaptive(model, delta),
                "TopkAdaptive, Hedge": lambda: topk_hedge(model, delta),
                "TopkAdaptive, progress of the logistic loss": lambda: topk_progress(model),
            }
        )
    history = History.of(model)
    if history.algorithm == "LabelRanker":
        tries = {"LabelRanker, mixture": lambda: label_ranker(history)}
    elif history.edge is None:
        theorems: dict[str, Callable[[], Bound]] = {
            "Ada.OLMR, corrected theorem": lambda: ada_olmr(history, delta),
            "Ada.OLMR, corrected, without rounding": lambda: ada_olmr_sharp(history, delta),
        }
        if history.steps == "adagrad":
            theorems = {"Ada.OLMR, AdaGrad steps": lambda: ada_olmr_adagrad(history, delta)}
        tries = {
            **theorems,
            "Ada.OLMR, best expert": lambda: ada_olmr_best_expert(history),
            "Ada.OLMR, Hedge": lambda: hedge(history, delta),
            "Ada.OLMR, progress of the logistic loss": lambda: logistic_progress(history),
        }
    elif history.chooses_edge:
        tries = {
            "OnlineBMR, learned edge": lambda: bmr_auto(history, excess_loss, delta, edge),
            "OnlineBMR, realised edges": lambda: bmr_realised(history),
            "OnlineBMR, general theorem": lambda: bmr_general(history, excess_loss, delta),
            "OnlineBMR, corollary": lambda: bmr_corollary(history, excess_loss, delta),
        }
    else:
        tries = {
            "OnlineBMR, general theorem": lambda: bmr_general(history, excess_loss, delta),
            "OnlineBMR, realised edges": lambda: bmr_realised(history),
            "OnlineBMR, corollary": lambda: bmr_corollary(history, excess_loss, delta),
        }
    return _kept(tries)


def _kept(tries: Mapping[str, Callable[[], Bound]]) -> Report:
    found = Report()
    for name, bound in tries.items():
        try:
            found.append(bound())
        except ValueError as refusal:
            found.refused[name] = str(refusal)
    return found
