"""Models of scikit-learn, ready to be compared in an evaluation. River's multi-label models need no wrapper.

`SklearnPeer` learns online through ``partial_fit``. `BatchPeer` is for estimators that only have ``fit``: it is fitted
once to the train rows and stays as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract.sparse import is_sparse


class _Peer:
    """What the peers of scikit-learn share."""

    estimator: Any
    scaler: Any = None

    @property
    def scores_are_probabilities(self) -> bool:
        """Whether the estimator gives probabilities."""
        return hasattr(self.estimator, "predict_proba")

    def score(self, x: Any) -> FloatArray:
        """Scores (k,) of one example or (n, k) of a matrix; all equal before the first example."""
        found = self._scores(_rows(x))
        return found[0] if np.ndim(x) == 1 else found

    def _scores(self, X: Any) -> FloatArray:
        if self.scaler is not None:
            X = self.scaler.transform(X)
        if not self.scores_are_probabilities:
            return np.asarray(self.estimator.decision_function(X))
        found = self.estimator.predict_proba(X)
        # Forests have one (n, 2) array per label, (n, 1) where a label never changes.
        if isinstance(found, list):
            return np.column_stack(
                [
                    one[:, list(classes).index(1)] if 1 in classes else np.zeros(len(one))
                    for one, classes in zip(found, self.estimator.classes_, strict=True)
                ]
            )
        return np.asarray(found)


class SklearnPeer(_Peer):
    """A multi-label estimator with ``partial_fit`` (such as ``MLPClassifier``) as a ranker for `boostline.evaluate`.

    Parameters
    ----------
    estimator
        Takes indicators (n, k). Scores are those of ``predict_proba``, which an evaluation then judges as
        probabilities as well, else of ``decision_function``.
    n_labels
        Number of labels, k.
    scaler
        A transformer with ``partial_fit``, such as ``StandardScaler``, which sees each row before the estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neural_network import MLPClassifier
    >>> from boostline import evaluate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> peer = evaluate.SklearnPeer(MLPClassifier(random_state=0), 4)
    >>> result = evaluate.prequential({"MLP": peer}, zip(X, X > 0.5))
    >>> result.runs["MLP"].rank_loss < 0.5
    True
    """

    def __init__(self, estimator: Any, n_labels: int, *, scaler: Any = None) -> None:
        if not hasattr(estimator, "partial_fit"):
            raise TypeError(
                f"estimator is a {type(estimator).__name__} without partial_fit, but must learn online; use "
                "BatchPeer for one that is fitted once"
            )
        self.estimator = estimator
        self.n_labels = n_labels
        self.scaler = scaler
        self._is_fitted = False

    def _scores(self, X: Any) -> FloatArray:
        if self._is_fitted:
            return super()._scores(X)
        return np.full((X.shape[0], self.n_labels), 0.5 if self.scores_are_probabilities else 0.0)

    def learn(self, x: Any, relevant: Any) -> FloatArray:
        """Learn one example or a mini-batch; return the scores given before."""
        scores = self.score(x)
        X, Y = _rows(x), np.atleast_2d(np.asarray(relevant)).astype(int)
        if self.scaler is not None:
            X = self.scaler.partial_fit(X).transform(X)
        self.estimator.partial_fit(X, Y, classes=np.arange(self.n_labels))
        self._is_fitted = True
        return scores


class BatchPeer(_Peer):
    """An estimator that only has ``fit``, fitted once to train rows, as a ranker that stays as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> from boostline import evaluate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> peer = evaluate.BatchPeer(ExtraTreesClassifier(50, random_state=0)).fit(X[:200], X[:200] > 0.5)
    >>> evaluate.prequential({"trees": peer}, zip(X[200:], X[200:] > 0.5)).runs["trees"].rank_loss < 0.2
    True
    """

    #: A block is scored exactly as its rows.
    blocks_are_rows = True

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, Y: Any) -> BatchPeer:
        """Fit to train rows and indicators (n, k)."""
        self.estimator.fit(X, np.asarray(Y).astype(int))
        return self

    def learn(self, x: Any, relevant: Any) -> FloatArray:
        """Return the scores; learns nothing."""
        return self.score(x)


def _rows(x: Any) -> Any:
    return x if is_sparse(x) else np.atleast_2d(np.asarray(x, dtype=np.float64))
