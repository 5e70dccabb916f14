"""Ranking metrics for streams and for matrices.

Streaming metrics (`RankLoss`, `Coverage`, `AveragePrecision`, `OneError`, `PrecisionAt`, `NDCGAt`)
are updated with one example or a block at a time and return the mean so far; `Rolling` returns the
mean over the last `window` examples. The functions (`rank_loss`, ...) take whole matrices, and
`rank_loss_rows`, ... return a value per row. Where scikit-learn has the metric, the values are the
same. Labels that are `unknown` are left out.
"""

from boostline.metrics import streaming
from boostline.metrics.functions import (
    average_precision,
    average_precision_rows,
    coverage,
    coverage_rows,
    n_without_pairs,
    ndcg_at,
    ndcg_at_rows,
    one_error,
    one_error_rows,
    precision_at,
    precision_at_rows,
    rank_loss,
    rank_loss_rows,
    ranking,
)
from boostline.metrics.probabilities import (
    calibration_error,
    expected_calibration_error,
    log_loss,
    log_loss_rows,
)
from boostline.metrics.sorted_scores import Ranking
from boostline.metrics.streaming import *  # noqa: F403 - a new metric is named in its own file

__all__ = [
    "Ranking",
    "average_precision",
    "average_precision_rows",
    "calibration_error",
    "coverage",
    "coverage_rows",
    "expected_calibration_error",
    "log_loss",
    "log_loss_rows",
    "n_without_pairs",
    "ndcg_at",
    "ndcg_at_rows",
    "one_error",
    "one_error_rows",
    "precision_at",
    "precision_at_rows",
    "rank_loss",
    "rank_loss_rows",
    "ranking",
]
__all__ += streaming.__all__
