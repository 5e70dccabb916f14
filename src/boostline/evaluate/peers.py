"""Models of scikit-learn, ready to be compared in an evaluation. River's multi-label models need no wrapper."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract.sparse import is_sparse


class SklearnPeer:
    """A multi-label estimator as a ranker for `boostline.evaluate`.

    It learns online if it has ``partial_fit``, as ``MLPClassifier`` has; any other must be fitted and stays as it is.

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
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> from sklearn.neural_network import MLPClassifier
    >>> from boostline import evaluate
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> online = evaluate.SklearnPeer(MLPClassifier(random_state=0), 4)
    >>> trees = ExtraTreesClassifier(50, random_state=0).fit(X[:200], X[:200] > 0.5)
    >>> peers = {"online": online, "batch": evaluate.SklearnPeer(trees, 4)}
    >>> result = evaluate.prequential(peers, zip(X[200:], X[200:] > 0.5))
    >>> result["online"].rank_loss < 0.6, result["batch"].rank_loss < 0.2
    (True, True)
    """

    def __init__(self, estimator: Any, n_labels: int, *, scaler: Any = None) -> None:
        self.estimator = estimator
        self.n_labels = n_labels
        self.scaler = scaler
        self._learns = hasattr(estimator, "partial_fit")
        self._is_fitted = not self._learns
        if not self._learns and not hasattr(estimator, "classes_"):
            raise TypeError(
                f"estimator is a {type(estimator).__name__} without partial_fit, so it must be fitted"
            )
        #: A block is scored exactly as its rows, but learned as a mini-batch.
        self.blocks_are_rows = not self._learns

    @property
    def scores_are_probabilities(self) -> bool:
        """Whether the estimator gives probabilities."""
        return hasattr(self.estimator, "predict_proba")

    def score(self, x: Any) -> FloatArray:
        """Scores (k,) of one example or (n, k) of a matrix; all equal before the first example."""
        scores = self._scores(_rows(x))
        return scores[0] if np.ndim(x) == 1 else scores

    def learn(self, x: Any, relevant: Any) -> FloatArray:
        """Learn one example or a mini-batch; return the scores given before."""
        scores = self.score(x)
        if self._learns:
            X, Y = _rows(x), np.atleast_2d(np.asarray(relevant)).astype(int)
            if self.scaler is not None:
                X = self.scaler.partial_fit(X).transform(X)
            self.estimator.partial_fit(X, Y, classes=np.arange(self.n_labels))
            self._is_fitted = True
        return scores

    def _scores(self, X: Any) -> FloatArray:
        if not self._is_fitted:
            value = 0.5 if self.scores_are_probabilities else 0.0
            return np.full((X.shape[0], self.n_labels), value)
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


def _rows(x: Any) -> Any:
    return x if is_sparse(x) else np.atleast_2d(np.asarray(x, dtype=np.float64))
