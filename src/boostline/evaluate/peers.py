"""Models of scikit-learn and River, ready to be compared in an evaluation, or to be weak learners.

River's multi-label models need no wrapper to be compared; `RiverWeakLearner` makes its classifiers weak learners.
`SklearnPeer` learns online through ``partial_fit``. `BatchPeer` is for estimators that only have ``fit``: it is fitted
once to the train rows and stays as it is.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np

from boostline.array_types import BoolArray, FloatArray
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


class _WeakLearner:
    """What the weak learners share: they learn the label with the lowest cost, and can start again."""

    def __init__(self, model: Any, n_labels: int) -> None:
        self._new = copy.deepcopy(model)
        self.model = model
        self.n_labels = n_labels

    def predict(self, x: Any) -> FloatArray:
        """Votes: a distribution over the labels."""
        votes = self._votes(x)
        total = votes.sum()
        if not (0 < total < np.inf):
            return np.full(self.n_labels, 1 / self.n_labels)
        return np.asarray(votes / total)

    def learn(self, x: Any, relevant: BoolArray, costs: FloatArray, weight: float) -> None:
        """Learn from one example."""
        if weight > 0:
            self._learn(x, int(np.argmin(costs)), weight)

    def reset(self) -> None:
        """Forget everything."""
        self.model = copy.deepcopy(self._new)

    def _votes(self, x: Any) -> FloatArray:
        raise NotImplementedError

    def _learn(self, x: Any, label: int, weight: float) -> None:
        raise NotImplementedError


class SklearnWeakLearner(_WeakLearner):
    """A single-label classifier with ``partial_fit`` (such as ``SGDClassifier``) as a weak learner of a booster.

    It learns the label with the lowest cost, weighted by how much that matters, and votes by its probabilities.

    Parameters
    ----------
    estimator
        Has ``partial_fit(X, y, classes, sample_weight)`` and ``predict_proba``, or ``predict``.
    n_labels
        Number of labels, k.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> from sklearn.linear_model import SGDClassifier
    >>> from boostline.evaluate import SklearnWeakLearner
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> weak = SklearnWeakLearner(SGDClassifier(loss="log_loss", random_state=0), 3)
    >>> model = bl.AdaOLMR(3, learners=[weak], seed=0)
    >>> scores = model.learn(X, X == X.max(axis=1, keepdims=True))
    >>> bl.metrics.rank_loss(X[200:] == X[200:].max(axis=1, keepdims=True), scores[200:]) < 0.2
    True
    """

    def __init__(self, estimator: Any, n_labels: int) -> None:
        if not hasattr(estimator, "partial_fit"):
            raise TypeError(
                f"estimator is a {type(estimator).__name__} without partial_fit, but must learn online"
            )
        super().__init__(estimator, n_labels)

    def _votes(self, x: Any) -> FloatArray:
        votes = np.zeros(self.n_labels)
        if not hasattr(self.model, "classes_"):  # not fitted
            return votes
        if hasattr(self.model, "predict_proba"):
            return np.asarray(np.nan_to_num(self.model.predict_proba(_rows(x))[0], nan=0.0))
        votes[int(self.model.predict(_rows(x))[0])] = 1.0
        return votes

    def _learn(self, x: Any, label: int, weight: float) -> None:
        classes = np.arange(self.n_labels)
        self.model.partial_fit(
            _rows(x), np.array([label]), classes=classes, sample_weight=np.array([weight])
        )


class RiverWeakLearner(_WeakLearner):
    """A single-label classifier or pipeline of River as a weak learner of a booster.

    It learns the label with the lowest cost and votes by its probabilities. Features are named by their column, 0, 1,
    and so on.

    Parameters
    ----------
    model
        Has ``predict_proba_one`` and ``learn_one``.
    n_labels
        Number of labels, k.
    weighted
        Whether ``learn_one`` is told by ``w`` how much the label matters, as River's trees and forests take it. None:
        if it has that parameter.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> from river import naive_bayes
    >>> from boostline.evaluate import RiverWeakLearner
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> Y = X == X.max(axis=1, keepdims=True)
    >>> model = bl.AdaOLMR(3, learners=[RiverWeakLearner(naive_bayes.GaussianNB(), 3)], seed=0)
    >>> scores = model.learn(X, Y)
    >>> bl.metrics.rank_loss(Y[200:], scores[200:]) < 0.2
    True
    """

    def __init__(self, model: Any, n_labels: int, *, weighted: bool | None = None) -> None:
        for method in ("predict_proba_one", "learn_one"):
            if not hasattr(model, method):
                raise TypeError(
                    f"model is a {type(model).__name__} without {method}, but must be a classifier of River"
                )
        if weighted is None:
            weighted = "w" in inspect.signature(model.learn_one).parameters
        super().__init__(model, n_labels)
        self.weighted = weighted

    def _votes(self, x: Any) -> FloatArray:
        votes = np.zeros(self.n_labels)
        for label, share in self.model.predict_proba_one(_named(x)).items():
            if share > 0:  # not NaN either
                votes[int(label)] = share
        return votes

    def _learn(self, x: Any, label: int, weight: float) -> None:
        self.model.learn_one(_named(x), label, **({"w": weight} if self.weighted else {}))


def _named(x: Any) -> dict[int, float]:
    """A row as River takes it; of a sparse row what is stored."""
    if is_sparse(x):
        row = x.tocsr()
        return dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
    return dict(enumerate(np.ravel(x).tolist()))


def _rows(x: Any) -> Any:
    return x if is_sparse(x) else np.atleast_2d(np.asarray(x, dtype=np.float64))
