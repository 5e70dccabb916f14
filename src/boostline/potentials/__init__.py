"""Potentials phi^n(s) of OnlineBMR (Equation 1 of the paper).

`values` computes them, upon the random walk of `walk`; `step_tables` are what the compiled core looks costs up in.
"""

from boostline.potentials.values import (
    Estimate,
    StepTable,
    baseline,
    clipped_edge,
    costs,
    estimate,
    exponential_rate,
    largest_weight,
    pair_potential,
    potential,
    start_potential,
    step_table,
    walk_law,
)

__all__ = [
    "Estimate",
    "StepTable",
    "baseline",
    "clipped_edge",
    "costs",
    "estimate",
    "exponential_rate",
    "largest_weight",
    "pair_potential",
    "potential",
    "start_potential",
    "step_table",
    "walk_law",
]
