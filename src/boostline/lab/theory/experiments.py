"""The experiments of `boostline lab theory`, by name; each takes ``quick`` and returns an `Experiment`.

>>> found = ALL["printed-bound"](True)
>>> [check.holds for check in found.checks]
[True, True, True]
"""

from __future__ import annotations

from collections.abc import Callable

from boostline.lab.theory.comparisons import algorithms_compared, bounds_on_streams, printed_bound
from boostline.lab.theory.experiment import Experiment
from boostline.lab.theory.optimality import learners_needed, loss_against_learners, samples_needed

ALL: dict[str, Callable[[bool], Experiment]] = {
    "loss-against-learners": loss_against_learners,
    "learners-needed": learners_needed,
    "samples-needed": samples_needed,
    "algorithms-compared": algorithms_compared,
    "printed-bound": printed_bound,
    "bounds-on-streams": bounds_on_streams,
}
