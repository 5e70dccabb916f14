"""Ranking metrics, of streams and of matrices.

Streaming metrics (`RankLoss`, `Coverage`, `AveragePrecision`, `OneError`, `PrecisionAt`, `NDCGAt`)
take one example or a block at a time and give the mean over all of them; `Rolling` gives it over
the last `window`. The functions (`rank_loss`, ...) take whole matrices, and `rank_loss_rows`, ...
give a value per row. Where scikit-learn has the metric the values are its own. All cost
O(k log k) per example with k labels, need nothing but NumPy, and leave out labels that are
`unknown`.
"""

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
from boostline.metrics.sorted_scores import Ranking
from boostline.metrics.streaming import (
    AveragePrecision,
    Coverage,
    Metric,
    NDCGAt,
    OneError,
    PrecisionAt,
    RankLoss,
    Rolling,
    from_name,
)

__all__ = [
    "AveragePrecision",
    "Coverage",
    "Metric",
    "NDCGAt",
    "OneError",
    "PrecisionAt",
    "RankLoss",
    "Ranking",
    "Rolling",
    "average_precision",
    "average_precision_rows",
    "coverage",
    "coverage_rows",
    "from_name",
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
