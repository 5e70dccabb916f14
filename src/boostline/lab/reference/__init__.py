"""The algorithms in plain NumPy, in the paper's order and notation: the page to read first.

This package is the specification, and the oracle that the compiled core is tested against. It is
written from the paper alone (Jung and Tewari, "Online Boosting Algorithms for Multi-label
Ranking", AISTATS 2018) and from the conventions the paper leaves open; it takes no shortcut that
the core takes, and it has no feature the core lacks.

Read in this order:

=========================  ============================================================
Every decision that rounding could turn (a near tie) is reported in `closest_decision`, so that a
test that compares two implementations can tell a near tie from a mistake.

>>> import numpy as np
>>> trees = [HoeffdingTree(2, 5, 0.1, 0.5, 1.0, features=[0]) for _ in range(3)]
>>> model = AdaOLMR(2, trees, seed=0)
>>> for t in range(200):
...     x = np.array([t % 7 - 3.0])
...     _ = model.learn(x, {1} if x[0] > 0 else {0})
>>> bool(model.score(np.array([2.0]))[1] > model.score(np.array([2.0]))[0])
True
"""

from boostline.lab.reference.boosters import AdaOLMR, Booster, Learner, OnlineBMR, Round
from boostline.lab.reference.drift import DriftAlarm, Trial
from boostline.lab.reference.edge_search import EdgeSearch
from boostline.lab.reference.label_ranker import LabelRanker, LogPool, Portfolio
from boostline.lab.reference.losses import hinge_loss, logistic_gradient, logistic_loss, rank_loss
from boostline.lab.reference.potentials import (
    baseline,
    pair_potential,
    potential,
    potential_costs,
    walk_law,
)
from boostline.lab.reference.sparse_linear import SparseLinear
from boostline.lab.reference.sparse_ranker import SparseRanker
from boostline.lab.reference.tree import HoeffdingTree, Leaf, Split

__all__ = [
    "AdaOLMR",
    "Booster",
    "DriftAlarm",
    "EdgeSearch",
    "HoeffdingTree",
    "LabelRanker",
    "Leaf",
    "Learner",
    "LogPool",
    "OnlineBMR",
    "Portfolio",
    "Round",
    "SparseLinear",
    "SparseRanker",
    "Split",
    "Trial",
    "baseline",
    "hinge_loss",
    "logistic_gradient",
    "logistic_loss",
    "pair_potential",
    "potential",
    "potential_costs",
    "rank_loss",
    "walk_law",
]
