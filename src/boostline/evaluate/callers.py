"""How the evaluation calls models of each kind: boostline's, others with `score` and `learn`, River's."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from boostline.contract.frames import Named, take_rows
from boostline.contract.label_sets import LabelSets
from boostline.contract.sparse import is_sparse
from boostline.metrics.sorted_scores import Floats, read_scores
from boostline.models import Booster

#: Methods of models that give scores and probabilities together.
_OF_BOTH = ("learn_with_probabilities", "scores_and_probabilities")


class Predicted(NamedTuple):
    """What a model predicted for rows, (n, k) each."""

    scores: Floats
    #: None for models that give none.
    probabilities: Floats | None

    @staticmethod
    def joined(parts: Sequence[Predicted]) -> Predicted:
        """Predictions of successive rows as one; without probabilities if some have none."""
        likely = [one.probabilities for one in parts if one.probabilities is not None]
        return Predicted(
            np.concatenate([one.scores for one in parts]),
            np.concatenate(likely) if len(likely) == len(parts) else None,
        )


class Caller:
    """Calls one model and takes the time. Subclasses know how to pass rows and labels on."""

    def __init__(self, name: str, model: Any) -> None:
        self.name = name
        self.model = model
        self.cpu = 0.0
        self.wall = 0.0

    def learn(self, X: Any, sets: LabelSets, is_judged: bool = True) -> Predicted:
        """Learn rows; return what was predicted before each of them was learned.

        Probabilities are not needed for rows that are not judged.
        """
        raise NotImplementedError

    def score(self, X: Any, sets: LabelSets) -> Predicted:
        """Predict rows without learning. It uses only the numbers of rows and labels of `sets`."""
        raise NotImplementedError

    def _timed(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        wall, cpu = time.perf_counter(), time.process_time()
        result = function(*arguments, **keywords)
        self.cpu += time.process_time() - cpu
        self.wall += time.perf_counter() - wall
        return result

    def _checked(self, method: str, result: Any, n: int, k: int) -> Floats:
        if result is None:
            raise TypeError(
                f"{method}() of model {self.name!r} returned None, but must return the scores"
                + (" given before learning" if method == "learn" else "")
            )
        scores = np.asarray(result)
        if scores.shape != (n, k) and not (n == 1 and scores.shape == (k,)):
            raise ValueError(
                f"{method}() of model {self.name!r} returned scores of shape {scores.shape}, but {n} rows "
                f"with {k} labels must have {(n, k)}"
            )
        # Copied: a model may hand out its own array and write into it at the next call.
        checked = read_scores(scores, f"{method}() of model {self.name!r}: scores")
        return np.array(checked.reshape(n, k))


class BoosterCaller(Caller):
    """Boostline's own models: a block is the loop of its rows, and labels are not read again."""

    def learn(self, X: Any, sets: LabelSets, is_judged: bool = True) -> Predicted:
        if not is_judged:
            return Predicted(self._timed(self.model.learn, X, sets), None)
        return Predicted(*self._timed(self.model.learn_with_probabilities, X, sets))

    def score(self, X: Any, sets: LabelSets) -> Predicted:
        return Predicted(*self._timed(self.model.scores_and_probabilities, X))


class PlainCaller(Caller):
    """Anything with `score` and `learn`: gets arrays, one example at a time unless it has `blocks_are_rows`.

    Its scores are taken for probabilities if it has `scores_are_probabilities`. If it has
    `learn_with_probabilities` and `scores_and_probabilities`, which return both, these are called.
    """

    def __init__(self, name: str, model: Any) -> None:
        super().__init__(name, model)
        self._takes_blocks = bool(getattr(model, "blocks_are_rows", False))
        self._takes_unknown: bool | None = None
        self._gives_both = all(callable(getattr(model, method, None)) for method in _OF_BOTH)

    def learn(self, X: Any, sets: LabelSets, is_judged: bool = True) -> Predicted:
        both = is_judged and self._gives_both
        return self._in_batches("learn_with_probabilities" if both else "learn", X, sets)

    def score(self, X: Any, sets: LabelSets) -> Predicted:
        both = self._gives_both
        return self._in_batches("scores_and_probabilities" if both else "score", X, sets)

    def _in_batches(self, method: str, X: Any, sets: LabelSets) -> Predicted:
        X = X.matrix if isinstance(X, Named) else X
        step = sets.n if self._takes_blocks and not isinstance(X, list) else 1
        parts = [slice(start, start + step) for start in range(0, sets.n, step)]
        return Predicted.joined([self._call(method, take_rows(X, p), sets.take(p)) for p in parts])

    def _call(self, method: str, X: Any, sets: LabelSets) -> Predicted:
        n, k = sets.n, sets.n_labels
        Y, unknown = sets.is_relevant, sets.is_unknown
        if n == 1 and not is_sparse(X):
            X, Y, unknown = X[0], Y[0], None if unknown is None else unknown[0]
        function = getattr(self.model, method)
        if not method.startswith("learn"):
            result = self._timed(function, X)
        elif unknown is None:
            result = self._timed(function, X, Y)
        else:
            self._refuse_unless_told()
            result = self._timed(function, X, Y, unknown=unknown)
        if method in _OF_BOTH:
            return Predicted(*(self._checked(method, one, n, k) for one in result))
        scores = self._checked(method, result, n, k)
        likely = getattr(self.model, "scores_are_probabilities", False)
        return Predicted(scores, scores if likely else None)

    def _refuse_unless_told(self) -> None:
        if self._takes_unknown is None:
            parameters = inspect.signature(self.model.learn).parameters
            self._takes_unknown = "unknown" in parameters
        if not self._takes_unknown:
            raise TypeError(
                f"relevant has unknown labels, but learn() of model {self.name!r} has no argument unknown"
            )


class RiverCaller(Caller):
    """River's models and pipelines: one dict of features and one of labels at a time.

    Scores are those of `score_one`, or the probabilities of `predict_proba_one`. A label that the model has not scored,
    because it does not know it yet, stands below all others, and its probability is 0.
    """

    #: Names of the labels, in the order of the columns of scores; the evaluation sets it.
    labels: list[Any]

    def __init__(self, name: str, model: Any) -> None:
        super().__init__(name, model)
        last = last_step(model)
        self._method = "score_one" if hasattr(last, "score_one") else "predict_proba_one"
        self._takes_unknown = is_own = type(last).__module__.startswith("boostline.")
        # River's own models have the method as well, but it need not work.
        self._asks_twice = is_own and hasattr(last, "predict_proba_one")
        self.labels = list(getattr(last, "label_names", ()))

    def learn(self, X: Any, sets: LabelSets, is_judged: bool = True) -> Predicted:
        found = []
        if sets.has_unknown and not self._takes_unknown:
            raise TypeError(
                f"relevant has unknown labels, but model {self.name!r} has to know every label"
            )
        for x, codes in zip(_dicts(X), sets.relevance.tolist(), strict=True):
            found.append(self._predict(x, sets.n_labels, is_judged))
            y = {
                label: None if code < 0 else code == 1
                for label, code in zip(self.labels, codes, strict=False)
            }
            self._timed(self.model.learn_one, x, y)
        return Predicted.joined(found)

    def score(self, X: Any, sets: LabelSets) -> Predicted:
        return Predicted.joined([self._predict(x, sets.n_labels, True) for x in _dicts(X)])

    def _predict(self, x: Mapping[Any, Any], k: int, is_judged: bool) -> Predicted:
        given = self._timed(getattr(self.model, self._method), x)
        if self._method == "predict_proba_one":
            scores = self._in_order(self._method, _shares(given), k)
            return Predicted(scores, np.maximum(scores, 0.0))
        scores = self._in_order(self._method, given, k)
        if not (self._asks_twice and is_judged):
            return Predicted(scores, None)
        likely = _shares(self.model.predict_proba_one(x))
        return Predicted(scores, np.maximum(self._in_order("predict_proba_one", likely, k), 0.0))

    def _in_order(self, method: str, given: Mapping[Any, Any], k: int) -> Floats:
        found = [given.get(label) for label in self.labels[:k]]
        row = np.array([-np.inf if one is None else one for one in found], dtype=np.float64)
        return self._checked(method, row, 1, k)


def _shares(given: Mapping[Any, Any]) -> dict[Any, Any]:
    """Of what `predict_proba_one` returned, each label's probability to be relevant."""
    return {label: one.get(True, 0.0) for label, one in given.items()}


def last_step(model: Any) -> Any:
    """The estimator at the end of a River pipeline; the model itself if it is none."""
    while hasattr(model, "_last_step"):
        model = model._last_step
    return model


def is_river(model: Any) -> bool:
    """Whether a model learns and scores one dict at a time, as River's multi-label models do."""
    last = last_step(model)
    return callable(getattr(model, "learn_one", None)) and (
        hasattr(last, "score_one") or hasattr(last, "predict_proba_one")
    )


def caller_for(name: str, model: Any) -> Caller:
    """The way to call this model; refuses objects that are no models."""
    if getattr(type(model), "learn", None) is Booster.learn:
        return BoosterCaller(name, model)
    if is_river(model):
        return RiverCaller(name, model)
    for method in ("score", "learn"):
        if not callable(getattr(model, method, None)):
            raise TypeError(
                f"model {name!r} is a {type(model).__name__} without {method}(), but must have score(x) and "
                "learn(x, relevant), or be a River model with score_one or predict_proba_one"
            )
    return PlainCaller(name, model)


def _dicts(X: Any) -> Iterator[Mapping[Any, Any]]:
    """Rows as dicts of features by name, or by place; what is missing is left out, as River has it."""
    if isinstance(X, list):
        for x in X:
            yield x if isinstance(x, Mapping) else next(_dicts(np.atleast_2d(x)))
        return
    names: Any = range(X.shape[1])
    if isinstance(X, Named):
        X, names = X.matrix, X.names
    if is_sparse(X):
        csr = X.tocsr()
        for i in range(csr.shape[0]):
            part = slice(csr.indptr[i], csr.indptr[i + 1])
            places, values = csr.indices[part].tolist(), csr.data[part].tolist()
            yield {names[j]: value for j, value in zip(places, values, strict=True)}
        return
    for row in np.atleast_2d(X):
        there = ~np.isnan(row)
        yield {
            name: value
            for name, value, is_there in zip(names, row.tolist(), there, strict=True)
            if is_there
        }
