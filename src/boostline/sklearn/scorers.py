"""Ranking scorers for scikit-learn's model selection.

>>> from sklearn.datasets import make_multilabel_classification
>>> from sklearn.model_selection import cross_val_score
>>> from boostline.sklearn import LabelRankerClassifier, ranking_scorer
>>> X, Y = make_multilabel_classification(300, n_classes=4, random_state=0)
>>> model = LabelRankerClassifier(random_state=0)
>>> bool((cross_val_score(model, X, Y, scoring=ranking_scorer("precision@1"), cv=3) > 0.5).all())
True
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostline.metrics import Metric, from_name, log_loss


class RankingScorer:
    """A scorer ``(estimator, X, Y) -> float``, larger is better, as ``scoring=`` of scikit-learn takes it."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric

    def __call__(self, estimator: Any, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """Rank the labels of X by the estimator's scores and compare with Y."""
        values = self.metric.fresh().rows(Y, _scores(estimator, X))
        mean = float(np.average(values, weights=sample_weight))
        return mean if self.metric.bigger_is_better else -mean

    def __repr__(self) -> str:
        return f"ranking_scorer({self.metric.name!r})"


class _LogLossScorer:
    def __call__(self, estimator: Any, X: Any, Y: Any) -> float:
        return -log_loss(Y, estimator.predict_proba(X))

    def __repr__(self) -> str:
        return "ranking_scorer('log_loss')"


def ranking_scorer(metric: str | Metric) -> Any:
    """Make a scorer of a metric of `boostline.metrics`, for ``scoring=`` of ``cross_val_score`` or ``GridSearchCV``.

    Scores are those of ``booster_.score`` for boostline's classifiers, else of ``decision_function``, else of
    ``predict_proba``. Losses are negated, as scikit-learn wants it.

    Parameters
    ----------
    metric
        A name (``"rank_loss"``, ``"precision@5"``, ``"ndcg@5"``, ``"average_precision"``, ``"log_loss"``, ...) or a
        metric.

    Examples
    --------
    >>> ranking_scorer("ndcg@5")
    ranking_scorer('ndcg@5')
    """
    if metric == "log_loss":
        return _LogLossScorer()
    return RankingScorer(from_name(metric) if isinstance(metric, str) else metric.fresh())


def _scores(estimator: Any, X: Any) -> Any:
    final = estimator[-1] if hasattr(estimator, "steps") else estimator
    if hasattr(final, "booster_"):
        return final.booster_.score(estimator[:-1].transform(X) if final is not estimator else X)
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    found = estimator.predict_proba(X)
    # A list with one (n, 2) array per label, as of forests, or (n, k).
    return np.column_stack([part[:, -1] for part in found]) if isinstance(found, list) else found
