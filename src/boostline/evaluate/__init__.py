"""Evaluate rankers that learn from a stream.

`train_then_test` is the paper's protocol on a data set with a train and a test part, `prequential`
ranks and then learns each example of a stream, with labels that may arrive late, and `compare` runs
several models, orders and seeds. `baselines` has models that ignore the features.

A model is anything with `score(x)` and `learn(x, relevant)`, where `learn` returns the scores that
were given before learning; or a multi-label model or pipeline of River.
"""

from boostline.evaluate import baselines
from boostline.evaluate.comparison import Comparison, compare
from boostline.evaluate.curves import Curve
from boostline.evaluate.holdout import row_order, train_then_test
from boostline.evaluate.judged_models import STANDARD
from boostline.evaluate.peers import SklearnPeer
from boostline.evaluate.reports import label_report, records_csv
from boostline.evaluate.runs import Run, Seconds
from boostline.evaluate.test_then_learn import Prequential, prequential

__all__ = [
    "STANDARD",
    "Comparison",
    "Curve",
    "Prequential",
    "Run",
    "Seconds",
    "SklearnPeer",
    "baselines",
    "compare",
    "label_report",
    "prequential",
    "records_csv",
    "row_order",
    "train_then_test",
]
