"""The boosters as River multi-label classifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from river import base

from boostline.adapters import make_booster
from boostline.array_types import FloatArray
from boostline.contract.label_sets import UNKNOWN, LabelSets
from boostline.contract.labels import distinct_labels, read_told
from boostline.contract.numbers import (
    Optimize,
    read_optimize,
    read_weights,
    real_number,
    whole_number,
)
from boostline.learners import paper_trees
from boostline.models import AdaOLMR, Booster, LabelRanker, OnlineBMR
from boostline.models.native import CannotGrow
from boostline.river.feature_places import FeaturePlaces
from boostline.river.scored_labels import ScoredLabels

Features = Mapping[Any, Any]

_ABSENT = {"irrelevant": 0, "unknown": UNKNOWN}


@dataclass(eq=False, repr=False)
class Classifier(base.MultiLabelClassifier):
    """What all share. Subclasses say which booster they wrap, and have its settings as parameters of their own."""

    booster_type: ClassVar[type[Booster]]

    learners: Any = None
    _: KW_ONLY
    labels: Sequence[Any] | None = None
    optimize: Optimize = "micro-f1"
    absent: str = "irrelevant"
    n_features: int | None = None
    fill_value: float | None = None
    n_threads: int = 1
    seed: int | None = 0

    def __post_init__(self) -> None:
        """Check the parameters and start with nothing known but the labels that were given."""
        if self.absent not in _ABSENT:
            raise ValueError(f"absent is {self.absent!r}, but must be one of {', '.join(_ABSENT)}")
        read_optimize(self.optimize)
        if self.n_features is not None:
            whole_number(self.n_features, "n_features", 1)
        if self.fill_value is not None:
            real_number(self.fill_value, "fill_value", -np.inf, np.inf)
        self._features = FeaturePlaces(self.n_features, self.fill_value)
        self._index: dict[Any, int] = {}
        self._booster: Booster | None = None
        self._admit_labels(self.labels or ())

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"learners": paper_trees(10)}
        yield {"learners": paper_trees(10), "seed": None}

    # Looking inside.

    @property
    def booster(self) -> Booster | None:
        """The model itself, None until two labels are known: edges, weights, saving."""
        return self._booster

    @property
    def label_names(self) -> list[Any]:
        """Labels known so far."""
        return list(self._index)

    @property
    def feature_names(self) -> list[Any]:
        """Features that have a place, in their order in the booster's rows."""
        return self._features.names

    # Learning.

    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> None:
        """Learn one example.

        Parameters
        ----------
        x
            Features by name: numbers, NaN or None for a missing one. Names may appear and vanish at any time.
        y
            Labels by name: True, False, or None if it is not known. Or a set of the relevant labels. Labels that were
            never seen before are added; what a label that is not there means is said by ``absent``.
        w
            Importance weight in [0, 1].
        """
        self._learn_one(x, y, w)

    def _learn_one(self, x: Features, y: Any, w: float, shown: Any = None) -> None:
        read_weights(w, 1, "w")
        told = distinct_labels(read_told(y, "y"), "y")
        if shown is not None:  # nothing is heard of other labels
            told = {label: said for label, said in told.items() if label in self._index}
        self._follow_the_booster()
        row = self._features.admitted(x, self._grow_features)
        index = self._index
        if new := [label for label in told if label not in index]:
            new.sort(key=lambda label: (type(label).__name__, str(label)))
            self._admit_labels(new)
        if self._booster is None or self._features.capacity is None:
            return  # nothing to rank, or nothing to tell examples apart
        if len(told) == len(index):
            relevance = np.array([told[label] for label in index], dtype=np.int8)
        else:
            relevance = np.full(len(index), _ABSENT[self.absent], dtype=np.int8)
            relevance[[index[label] for label in told]] = list(told.values())
        sets = LabelSets.of_relevance(relevance[np.newaxis])
        self._teach(self._booster, row, sets, w, shown)

    def _teach(self, booster: Booster, rows: Any, sets: LabelSets, weight: Any, shown: Any) -> None:
        booster.learn(rows, sets, weight=weight, return_scores=False)

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a pandas frame, exactly as `learn_one` in a loop, but faster.

        Parameters
        ----------
        X
            A frame of numbers, one column per feature.
        y
            A frame with one column per label: True, False, or None or NaN if it is not known.
        """
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} rows, but must have {len(y)}, one per row of y")
        names, labels = list(X.columns), list(y.columns)
        block = None
        if len(X):
            self.learn_one(_first(X), _first(y))  # gives names and labels their places
            block = self._block(X.iloc[1:], names)
        if block is None or self._booster is None or any(kind.kind != "b" for kind in y.dtypes):
            for i in range(1, len(X)):
                self.learn_one(_first(X.iloc[i:]), _first(y.iloc[i:]))
            return
        relevance = np.full((len(block), len(self._index)), _ABSENT[self.absent], dtype=np.int8)
        relevance[:, [self._index[label] for label in labels]] = y.iloc[1:].to_numpy(dtype=np.int8)
        if len(block):
            self._teach(self._booster, block, LabelSets.of_relevance(relevance), 1.0, None)

    def _block(self, X: Any, names: list[Any]) -> FloatArray | None:
        if any(kind.kind not in "fiub" for kind in X.dtypes) or self._features.capacity is None:
            return None
        return self._features.rows(names, X.to_numpy(dtype=np.float64))

    def _follow_the_booster(self) -> None:
        """Take over the booster's size: Ctrl-C may have come after the booster had grown and before the places had."""
        if self._booster is not None and self._booster.n_features is not None:
            self._features.capacity = self._booster.n_features

    def _grow_features(self, n: int) -> bool:
        """Make room for rows of n features; False if a learner (written in Python) cannot take more."""
        if self._booster is None or self._booster.n_features is None:
            return True
        try:
            self._booster.add_features(
                n - self._booster.n_features,
                past_values="zero" if self.fill_value == 0 else "missing",
            )
        except CannotGrow:
            return False
        return True

    @property
    def _labels_needed(self) -> int:
        return 2  # below that there is no pair to rank

    def _admit_labels(self, new: Iterable[Any]) -> None:
        for label in new:
            self._index.setdefault(label, len(self._index))
        if self._booster is not None:
            self._booster.add_labels(list(self._index)[self._booster.n_labels :])
        elif len(self._index) >= self._labels_needed:
            self._booster = make_booster(
                self, list(self._index), seed=self.seed, n_threads=self.n_threads
            )

    # Prediction.

    def score_one(self, x: Features) -> dict[Any, float]:
        """Score the known labels: higher is more relevant. Only the order has a meaning."""
        scores, _ = self._scores_and_probabilities(x)
        return dict(zip(self._index, scores.tolist(), strict=True))

    def predict_one(self, x: Features, **kwargs: Any) -> dict[Any, bool]:
        """Return for each known label whether it is relevant; ``optimize`` says what the choice is good for.

        The dict also carries ``scores``, so that the metrics of `boostline.river` can judge the ranking inside of
        River's ``progressive_val_score``.
        """
        scores, probabilities = self._scores_and_probabilities(x)
        if self._booster is None:
            named = [False] * len(scores)
        else:
            named = (probabilities > self._booster.threshold(self.optimize)).tolist()
        return ScoredLabels(zip(self._index, named, strict=True), scores)

    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Any, dict[bool, float]]:
        """Probabilities that each known label is relevant (True) and is not (False)."""
        _, found = self._scores_and_probabilities(x)
        return {
            label: {False: 1.0 - p, True: p}
            for label, p in zip(self._index, found.tolist(), strict=True)
        }

    def predict_many(self, X: Any) -> Any:
        """`predict_one` of every row of a pandas frame, as a frame of bools with the labels as columns."""
        return self._many(X, lambda x: dict(self.predict_one(x)))

    def predict_proba_many(self, X: Any) -> Any:
        """Probabilities that each label is relevant, for every row of a pandas frame."""
        return self._many(
            X, lambda x: {label: p[True] for label, p in self.predict_proba_one(x).items()}
        )

    def _many(self, X: Any, of_one: Callable[[Features], dict[Any, Any]]) -> Any:
        import pandas as pd

        rows = [of_one(_first(X.iloc[i:])) for i in range(len(X))]
        return pd.DataFrame(rows, index=X.index, columns=list(self._index))

    def _scores_and_probabilities(self, x: Features) -> tuple[FloatArray, FloatArray]:
        if self._booster is None or self._booster.n_features is None:
            k = len(self._index)
            return np.zeros(k), np.full(k, 0.5)
        self._follow_the_booster()
        scores, found = self._booster.scores_and_probabilities(self._features.row(x))
        return scores.reshape(-1), found.reshape(-1)


@dataclass(eq=False, repr=False)
class LabelRankerClassifier(Classifier):
    """`boostline.LabelRanker` as a River multi-label classifier.

    Parameters
    ----------
    learners, drift, max_bytes
        As in `boostline.LabelRanker`.
    labels
        Labels that are known from the start. Others are added when they first occur.
    optimize
        What `predict_one` is to be good at: ``"micro-f1"``, ``"macro-f1"``, or the probability above which a label is
        named; see `boostline.LabelRanker.predict`.
    absent
        What it means that a label is not in y: ``"irrelevant"`` or ``"unknown"``.
    n_features
        Largest number of features. None: 65,536, or 4,096 if ``fill_value`` is not 0. Further features are ignored,
        with a warning.
    fill_value
        Value of a feature that an example does not have: None for missing, 0 for counts of words. With 0, rows stay
        sparse.
    n_threads
        Number of threads; does not change the result.
    seed
        Random seed; None draws one.

    Examples
    --------
    >>> from river import datasets
    >>> model = LabelRankerClassifier()
    >>> for x, y in datasets.Yeast().take(200):
    ...     model.learn_one(x, y)
    >>> sum(model.predict_one(x).values()) > 0
    True
    """

    booster_type = LabelRanker

    learners: Any = "auto"
    _: KW_ONLY
    drift: str | None = "restart"
    max_bytes: int | None = None


@dataclass(eq=False, repr=False)
class AdaOLMRClassifier(Classifier):
    """Ada.OLMR as a River multi-label classifier.

    Parameters
    ----------
    learners
        As in `boostline.AdaOLMR`; None for the paper's 100 trees.
    expert
        Whose scores are used, as in `boostline.AdaOLMR`; ``"draw"`` is the paper's.
    steps
        As in `boostline.AdaOLMR`.
    labels, optimize, absent, n_features, fill_value, n_threads, seed
        As in `LabelRankerClassifier`.

    Examples
    --------
    >>> from boostline.learners import paper_trees
    >>> model = AdaOLMRClassifier(paper_trees(20))
    >>> for i in range(300):
    ...     model.learn_one({"a": float(i % 2)}, {"even": i % 2 == 0, "odd": i % 2 == 1})
    >>> model.predict_one({"a": 1.0})
    {'even': False, 'odd': True}
    """

    booster_type = AdaOLMR

    _: KW_ONLY
    expert: str = "weighted"
    steps: str = "paper"


@dataclass(eq=False, repr=False)
class OnlineBMRClassifier(Classifier):
    """OnlineBMR as a River multi-label classifier.

    Parameters
    ----------
    edge, loss
        As in `boostline.OnlineBMR`.
    learners, labels, optimize, absent, n_features, fill_value, n_threads, seed
        As in `LabelRankerClassifier`.

    Examples
    --------
    >>> from boostline.learners import paper_trees
    >>> model = OnlineBMRClassifier(paper_trees(20), edge=0.1)
    >>> for i in range(300):
    ...     model.learn_one({"a": float(i % 2)}, {"even": i % 2 == 0, "odd": i % 2 == 1})
    >>> model.predict_one({"a": 1.0})
    {'even': False, 'odd': True}
    """

    booster_type = OnlineBMR

    _: KW_ONLY
    edge: float | str = 0.01
    loss: Any = "hinge"


def _first(frame: Any) -> dict[Any, Any]:
    """The first row of a frame, as River would pass it."""
    return dict(zip(frame.columns, (column.iloc[0] for _, column in frame.items()), strict=True))
