"""`finish`: merged statistics and the last rows become a model."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import numpy as np

from boostline.learners.python import FromPython
from boostline.models import AdaOLMR, Booster, OnlineBMR
from boostline.scale.collecting import checked_state, rules_of
from boostline.scale.partials import Partial, merge
from boostline.scale.row_blocks import row_blocks

__all__ = ["finish"]

Model = TypeVar("Model", bound=Booster)


def finish(model: Model, partial: Partial, tail: Any = ()) -> Model:
    """Make the model that has learned all rows of the statistics, and then the tail.

    Parameters
    ----------
    model
        The model that the statistics were made with; it does not change.
    partial
        Merged statistics of all rows but the sample and the tail.
    tail
        The last rows, ``(X, Y)`` or blocks of them. They are learned one by one: members that forget and the weights
        of all members follow from them. 1,000 to 4,000 rows are enough.

    Returns
    -------
    model
        An ordinary model of the same kind, which can be saved and goes on learning. Its ``clock`` counts all rows.
    """
    arrays, base = checked_state(model)
    partial = merge([partial])
    if partial.base != base:
        raise ValueError("partial was made with another model, but must be made with this one")
    made = dict(arrays)
    common = {
        name: value for name, value in partial.sums.items() if not name.startswith("learners.")
    }
    common["weight"] = float(common["weight"][0])
    for prefix, rule in rules_of(model, arrays).items():
        sums = {n.removeprefix(prefix): v for n, v in partial.sums.items() if n.startswith(prefix)}
        rule.finish(sums, common, made)
    made["clock"] = arrays["clock"] + partial.n_rows
    # Only the workers of a chain rank their rows, and send the losses along.
    counted = "label_set_sizes" if isinstance(model, AdaOLMR | OnlineBMR) else "rows_merged"
    sizes = common["set_sizes"]
    made[counted] = arrays[counted] + (sizes.sum() if counted == "rows_merged" else sizes)
    made["rows_without_pairs"] = arrays["rows_without_pairs"] + common["without_pairs"]
    of_python = [d.learner for d in model.learners if isinstance(d, FromPython)]
    finished = type(model).from_config(model.config(), copy.deepcopy(of_python))
    finished.restore({name: np.ascontiguousarray(array) for name, array in made.items()})
    finished.n_threads = model.n_threads
    for block in row_blocks(finished, tail):
        finished.learn(block.rows, block.sets, weight=block.given_weights, return_scores=False)
    return finished
