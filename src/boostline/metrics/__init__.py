"""Ranking metrics for streams and for matrices.

Streaming metrics (`RankLoss`, `Coverage`, `AveragePrecision`, `OneError`, `PrecisionAt`, `NDCGAt`)
are updated with one example or a block at a time and return the mean so far; `Rolling` returns the
mean over the last `window` examples; `PrecisionAt(1).rows(Y, S)` and the like return a value per row.
The functions (`rank_loss`, ...) take whole matrices. Where scikit-learn has the metric, the values
are the same. Labels that are `unknown` are left out.
"""

from boostline.metrics import streaming
from boostline.metrics.functions import (
    average_precision,
    coverage,
    ndcg_at,
    one_error,
    precision_at,
    rank_loss,
)
from boostline.metrics.label_set_scores import F1
from boostline.metrics.probability_scores import (
    ProbabilityTally,
    calibration_error,
    expected_calibration_error,
    log_loss,
)
from boostline.metrics.propensities import PropensityScoredPrecisionAt, propensities
from boostline.metrics.sorted_scores import Ranking, ranking
from boostline.metrics.streaming import *  # noqa: F403 - a new metric is named in its own file

__all__ = [
    "F1",
    "ProbabilityTally",
    "PropensityScoredPrecisionAt",
    "Ranking",
    "average_precision",
    "calibration_error",
    "coverage",
    "expected_calibration_error",
    "log_loss",
    "ndcg_at",
    "one_error",
    "precision_at",
    "propensities",
    "rank_loss",
    "ranking",
]
__all__ += streaming.__all__
