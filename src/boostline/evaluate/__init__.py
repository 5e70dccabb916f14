"""Evaluate rankers that learn from a stream.

`train_then_test` is the paper's protocol on a data set with a train and a test part, `prequential`
is test-then-learn on any stream, with labels that may arrive late, and `compare` is a table over
orders of the rows and seeds. `baselines` holds what every result is to be read beside.

A model is anything with `score(x)` and `learn(x, relevant)`, where `learn` returns the scores that
were given before learning; or a multi-label model or pipeline of River.
"""

from boostline.evaluate import baselines
from boostline.evaluate.comparison import Comparison, compare
from boostline.evaluate.curves import Curve
from boostline.evaluate.holdout import row_order, train_then_test
from boostline.evaluate.judged_models import Ranker
from boostline.evaluate.runs import Run, Seconds
from boostline.evaluate.test_then_learn import Prequential, prequential

__all__ = [
    "Comparison",
    "Curve",
    "Prequential",
    "Ranker",
    "Run",
    "Seconds",
    "baselines",
    "compare",
    "prequential",
    "row_order",
    "train_then_test",
]
