"""Potentials phi^n(s) of OnlineBMR (Equation 1 of the paper).

`values` computes them, upon the random walk of `walk`; `step_tables` are what the compiled core looks costs up in.
"""

from boostline.potentials.step_tables import StepTable, step_table
from boostline.potentials.values import (
    costs,
    pair_potential,
    potential,
    start_potential,
    start_slope,
)
from boostline.potentials.walk import baseline, clipped_edge, exponential_rate, walk_law

__all__ = [
    "StepTable",
    "baseline",
    "clipped_edge",
    "costs",
    "exponential_rate",
    "pair_potential",
    "potential",
    "start_potential",
    "start_slope",
    "step_table",
    "walk_law",
]
