"""The boosters as scikit-learn classifiers."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from boostline.adapters import logit, make_booster, margins
from boostline.array_types import FloatArray
from boostline.contract.label_sets import LabelSets
from boostline.contract.numbers import Optimize, read_optimize, unmasked, whole_number
from boostline.contract.sparse import is_sparse
from boostline.models import AdaOLMR, Booster, LabelRanker, OnlineBMR, Shown
from boostline.sklearn import targets

#: Rows given to the booster at a time: bounds the memory of a pass and changes no result.
_BLOCK = 1024
_MAX_WEIGHT = 1000.0


@dataclass(eq=False, repr=False)
class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What all share. Subclasses say which booster they wrap, and have its settings as parameters of their own."""

    booster_type: ClassVar[type[Booster]]

    learners: Any = None
    _: KW_ONLY
    optimize: Optimize = "micro-f1"
    n_passes: int = 1
    shuffle: bool = True
    random_state: Any = None
    n_jobs: int | None = None

    classes_: NDArray[Any] = field(init=False)
    booster_: Booster = field(init=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    # Learning.

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch, in one pass over the rows (``n_passes`` for more).

        Parameters
        ----------
        X
            (n, d): array, frame or sparse matrix. NaN means missing.
        y
            A class per row (n,), or indicators of the relevant labels (n, k), dense or sparse, NaN where it is not
            known whether a label is relevant.
        sample_weight
            Importance of each row. Up to 1 it is the booster's importance weight; above 1 a row is learned several
            times in succession (2.5: three times with 5/6); a row with 0 is left out.
        """
        X, y, weights = self._checked(X, y, sample_weight, reset=True)
        n_passes = whole_number(self.n_passes, "n_passes", 1)
        target = targets.begin(y, None)
        sets = target.read(y)
        self._begin(target)
        random = check_random_state(self.random_state)
        n = X.shape[0]
        for i in range(n_passes):
            order = random.permutation(n) if self.shuffle else np.arange(n)
            # Scores of rows that were learned before say nothing about new rows.
            with self.booster_.frozen_calibration(i > 0):
                self._pass(X, sets, weights, order)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning, row by row in the given order. How rows are cut into calls changes nothing.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes
            For y of shape (n,) all classes that will ever occur, needed in the first call. For Y of shape (n, k) names
            for its columns, never needed.
        """
        return self._go_on(X, y, classes, sample_weight)

    def _go_on(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, shown: Shown | None = None
    ) -> Self:
        first = not hasattr(self, "booster_")
        if first and classes is None and np.ndim(y) < 2 and not is_sparse(y):
            raise ValueError("classes must be passed on the first call to partial_fit.")
        X, y, weights = self._checked(X, y, sample_weight, reset=first)
        if first:
            target = targets.begin(y, classes)
        else:
            target = self._target
            targets.go_on(target, y, classes)
        sets = target.read(y)
        if first:  # only now that nothing can be wrong with y
            self._begin(target)
        self.booster_.n_threads = effective_n_jobs(self.n_jobs)
        self._pass(X, sets, weights, np.arange(X.shape[0]), shown)
        return self

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool
    ) -> tuple[Any, Any, FloatArray | None]:
        read_optimize(self.optimize)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        X = self._features(X, reset=reset)
        y = targets.checked(y)
        check_consistent_length(X, y)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
            if weights.max() > _MAX_WEIGHT:
                raise ValueError(
                    f"sample_weight has the value {weights.max():g}, but a row can be learned at most "
                    f"{_MAX_WEIGHT:g} times; divide the weights by a common factor"
                )
        return X, y, weights

    def _features(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self,
            unmasked(X),
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
        )

    def _begin(self, target: targets.Target) -> None:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        threads = effective_n_jobs(self.n_jobs)
        booster = make_booster(self, target.classes.tolist(), seed=seed, n_threads=threads)
        if hasattr(self, "feature_names_in_"):
            booster.features = self.feature_names_in_.tolist()
        self._target, self.classes_, self.booster_ = target, target.classes, booster

    def _pass(
        self,
        X: Any,
        sets: LabelSets,
        weights: FloatArray | None,
        order: NDArray[np.intp],
        shown: Shown | None = None,
    ) -> None:
        """Learn the rows in the given order."""
        in_order = bool((order[1:] > order[:-1]).all())
        if weights is not None and shown is None:
            order, weights = _repeated(order, weights)
        # What was said about labels that were shown is accepted or refused as a whole.
        size = _BLOCK if shown is None else max(len(order), 1)
        for start in range(0, len(order), size):
            rows: Any = order[start : start + size]
            if in_order and weights is None:
                rows = slice(start, start + len(rows))  # a view, not a copy
            importance = 1.0 if weights is None else weights[start : start + size]
            self._teach(X[rows], sets.take(rows), importance, shown)

    def _teach(self, X: Any, sets: LabelSets, weight: Any, shown: Shown | None) -> None:
        self.booster_.learn(X, sets, weight=weight, return_scores=False)

    # Prediction.

    def decision_function(self, X: Any) -> FloatArray:
        """How much speaks for each label: (n, k); for binary y (n,), above 0 for ``classes_[1]``.

        With Y of shape (n, k) this is the log-odds of `predict_proba` less that of the threshold
        (``booster_.threshold(optimize)``). With a class per row it is the log-odds themselves, since one class is
        always named. The plain ranking is `rank`.
        """
        check_is_fitted(self, "booster_")
        if self._target.multilabel:
            return margins(self.booster_, self._probabilities(X), self.optimize)
        odds = self._odds(X)
        return odds[:, 1] - odds[:, 0] if len(self.classes_) == 2 else odds

    def predict(self, X: Any) -> NDArray[Any]:
        """Indicators of the relevant labels (n, k), where `decision_function` is above 0; or a class per row (n,)."""
        decided = self.decision_function(X)
        if self._target.multilabel:
            return (decided > 0).astype(np.int64)
        best = (decided > 0).astype(np.intp) if decided.ndim == 1 else decided.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities, strictly between 0 and 1: of each label to be relevant, (n, k).

        With a class per row: of each class, (n, k); rows sum to 1.
        """
        check_is_fitted(self, "booster_")
        if self._target.multilabel:
            return self._probabilities(X)
        # Given that exactly one label is relevant.
        odds = self._odds(X)
        odds = np.exp(odds - odds.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def rank(self, X: Any, top: int | None = None) -> NDArray[Any]:
        """The labels or classes of each row, best first, by the booster's scores: (n, k), or (n, ``top``)."""
        check_is_fitted(self, "booster_")
        X = self._features(X, reset=False)
        k = self.booster_.n_labels if top is None else min(top, self.booster_.n_labels)
        order = np.empty((X.shape[0], k), dtype=np.intp)
        for start in range(0, X.shape[0], _BLOCK):
            some = X[start : start + _BLOCK]
            order[start : start + _BLOCK] = self.booster_.rank_indices(some, top)
        return np.asarray(self.classes_[order])

    def _probabilities(self, X: Any) -> FloatArray:
        return self._scores_and_probabilities(X)[1]

    def _odds(self, X: Any) -> FloatArray:
        """Log-odds of the classes. Of equal ones the class that is ranked first is ahead."""
        scores, probabilities = self._scores_and_probabilities(X)
        odds = logit(probabilities)
        odds[np.arange(len(odds)), scores.argmax(axis=1)] += 1e-9
        return odds

    def _scores_and_probabilities(self, X: Any) -> tuple[FloatArray, FloatArray]:
        X = self._features(X, reset=False)
        n = X.shape[0]
        scores, likely = np.empty((2, n, self.booster_.n_labels))
        for start in range(0, n, _BLOCK):
            part = slice(start, start + _BLOCK)
            scores[part], likely[part] = self.booster_.scores_and_probabilities(X[part])
        return scores, likely


@dataclass(eq=False, repr=False)
class LabelRankerClassifier(Classifier):
    """`boostline.LabelRanker` for scikit-learn: multi-label, and multiclass and binary with y of shape (n,).

    `fit` makes one pass over the rows in random order; `partial_fit` learns rows in the given order.

    Parameters
    ----------
    learners, drift, max_bytes
        As in `boostline.LabelRanker`.
    optimize
        What `predict` is to be good at: ``"micro-f1"``, ``"macro-f1"``, or the probability above which a label is
        named; see `boostline.LabelRanker.predict`. It can be changed after fitting.
    n_passes
        Number of passes that `fit` makes.
    shuffle
        Whether `fit` shuffles the rows. Do not turn it off for rows that are sorted by class.
    random_state
        Random seed.
    n_jobs
        Number of threads; does not change the result.

    Attributes
    ----------
    booster_ : boostline.LabelRanker
        The model itself: scores, ranking, edges, weights, saving.
    classes_ : array (k,)
        The classes; for Y of shape (n, k) the names of its columns, or 0, ..., k - 1.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(1000, 5))
    >>> model = LabelRankerClassifier(random_state=0).fit(X, X > 0.5)
    >>> model.predict([[2.0, -1.0, -1.0, 2.0, -1.0]])
    array([[1, 0, 0, 1, 0]])
    """

    booster_type = LabelRanker

    learners: Any = "auto"
    _: KW_ONLY
    drift: str | None = "restart"
    max_bytes: int | None = None


@dataclass(eq=False, repr=False)
class AdaOLMRClassifier(Classifier):
    """Ada.OLMR as a scikit-learn classifier: multi-label, and multiclass and binary with y of shape (n,).

    Parameters
    ----------
    learners
        As in `boostline.AdaOLMR`; None for the paper's 100 trees.
    expert
        Whose scores are used, as in `boostline.AdaOLMR`. The default is the weighted mean, because a single draw would
        decide for all rows that a fitted model scores.
    steps
        As in `boostline.AdaOLMR`.
    optimize, n_passes, shuffle, random_state, n_jobs
        As in `LabelRankerClassifier`, which also describes the attributes.

    Examples
    --------
    >>> import numpy as np
    >>> from boostline.learners import paper_trees
    >>> X = np.random.default_rng(0).normal(size=(1000, 5))
    >>> model = AdaOLMRClassifier(paper_trees(20), random_state=0).fit(X, X > 0.5)
    >>> model.predict([[2.0, -1.0, -1.0, 2.0, -1.0]])
    array([[1, 0, 0, 1, 0]])
    """

    booster_type = AdaOLMR

    _: KW_ONLY
    expert: str = "weighted"
    steps: str = "paper"


@dataclass(eq=False, repr=False)
class OnlineBMRClassifier(Classifier):
    """OnlineBMR as a scikit-learn classifier: multi-label, and multiclass and binary with y of shape (n,).

    Parameters
    ----------
    edge, loss
        As in `boostline.OnlineBMR`.
    learners, optimize, n_passes, shuffle, random_state, n_jobs
        As in `LabelRankerClassifier`, which also describes the attributes.

    Examples
    --------
    >>> import numpy as np
    >>> from boostline.learners import paper_trees
    >>> X = np.random.default_rng(0).normal(size=(1000, 5))
    >>> model = OnlineBMRClassifier(paper_trees(20), edge=0.1, random_state=0).fit(X, X > 0.5)
    >>> model.predict([[2.0, -1.0, -1.0, 2.0, -1.0]])
    array([[1, 0, 0, 1, 0]])
    """

    booster_type = OnlineBMR

    _: KW_ONLY
    edge: float | str = 0.01
    loss: Any = "hinge"


def _repeated(order: NDArray[np.intp], weights: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
    """Rows as often as their weights ask for, and what each round weighs, at most 1."""
    weights = weights[order]
    rounds = np.ceil(weights).astype(np.intp)
    return np.repeat(order, rounds), np.repeat(weights / np.maximum(rounds, 1), rounds)
