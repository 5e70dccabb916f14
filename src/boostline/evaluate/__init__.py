"""Evaluate rankers that learn from a stream.

`train_then_test` is the paper's protocol on a data set with a train and a test part, `prequential`
is test-then-learn on any stream, with labels that may arrive late, and `compare` is a table over
orders of the rows and seeds. `baselines` holds what every result is to be read beside.

A model is anything with `score(x)` and `learn(x, relevant)`, where `learn` returns the scores that
were given before learning; or a multi-label model or pipeline of River.
"""

from . import baselines
from ._compare import Comparison, compare
from ._curve import Curve
from ._model import Model
from ._prequential import Prequential, prequential
from ._run import Run, Seconds
from ._train_then_test import row_order, train_then_test

__all__ = [
    "Comparison",
    "Curve",
    "Model",
    "Prequential",
    "Run",
    "Seconds",
    "baselines",
    "compare",
    "prequential",
    "row_order",
    "train_then_test",
]
