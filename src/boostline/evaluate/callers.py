"""How the evaluation calls models of each kind: boostline's, others with `score` and `learn`, River's."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from boostline.boosters import Booster
from boostline.boosters.topk_booster import TopkBooster
from boostline.contract.frames import Named, take_rows
from boostline.contract.label_sets import LabelSets
from boostline.contract.sparse import is_sparse
from boostline.metrics.scores import Floats, read_scores


class Caller:
    """Calls one model and takes the time. Subclasses know how to pass rows and labels on."""

    def __init__(self, name: str, model: Any) -> None:
        self.name = name
        self.model = model
        self.cpu = 0.0
        self.wall = 0.0

    def learn(self, X: Any, sets: LabelSets) -> Floats:
        """Learn rows; return the scores (n, k) given before each of them was learned."""
        raise NotImplementedError

    def score(self, X: Any, sets: LabelSets) -> Floats:
        """Score rows without learning. Of `sets` only the numbers of rows and labels are looked at."""
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

    def learn(self, X: Any, sets: LabelSets) -> Floats:
        scores: Floats = self._timed(self.model.learn, X, sets)
        return scores

    def score(self, X: Any, sets: LabelSets) -> Floats:
        scores: Floats = self._timed(self.model.score, X)
        return scores


class PlainCaller(Caller):
    """Anything with `score` and `learn`: gets arrays, one example at a time unless it says that `blocks_are_rows`.

    Parameters
    ----------
    batch
        Rows per call. With 1 the model is only ever called with single examples.
    """

    def __init__(self, name: str, model: Any, batch: int) -> None:
        super().__init__(name, model)
        self._batch = sys.maxsize if getattr(model, "blocks_are_rows", False) else batch
        self._takes_unknown: bool | None = None

    def learn(self, X: Any, sets: LabelSets) -> Floats:
        return self._in_batches("learn", X, sets)

    def score(self, X: Any, sets: LabelSets) -> Floats:
        return self._in_batches("score", X, sets)

    def _in_batches(self, method: str, X: Any, sets: LabelSets) -> Floats:
        X = X.matrix if isinstance(X, Named) else X
        step = 1 if isinstance(X, list) else min(self._batch, max(1, sets.n))
        scores = [
            self._call(method, take_rows(X, part), sets.take(part))
            for part in (slice(start, start + step) for start in range(0, sets.n, step))
        ]
        return np.concatenate(scores) if scores else np.empty((0, sets.n_labels))

    def _call(self, method: str, X: Any, sets: LabelSets) -> Floats:
        Y, unknown = sets.is_relevant, sets.is_unknown
        if sets.n == 1 and not is_sparse(X):
            X, Y, unknown = X[0], Y[0], None if unknown is None else unknown[0]
        if method == "score":
            result = self._timed(self.model.score, X)
        elif unknown is None:
            result = self._timed(self.model.learn, X, Y)
        else:
            self._refuse_unless_told()
            result = self._timed(self.model.learn, X, Y, unknown=unknown)
        return self._checked(method, result, sets.n, sets.n_labels)

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
    because it does not know it yet, stands below all others.
    """

    #: Names of the labels, in the order of the columns of scores; the evaluation sets it.
    labels: list[Any]

    def __init__(self, name: str, model: Any) -> None:
        super().__init__(name, model)
        last = last_step(model)
        self._method = "score_one" if hasattr(last, "score_one") else "predict_proba_one"
        self._takes_unknown = type(last).__module__.startswith("boostline.")
        self.labels = list(getattr(last, "label_names", ()))

    def learn(self, X: Any, sets: LabelSets) -> Floats:
        scores = np.empty((sets.n, sets.n_labels))
        if sets.has_unknown and not self._takes_unknown:
            raise TypeError(
                f"relevant has unknown labels, but model {self.name!r} has to know every label"
            )
        for i, (x, codes) in enumerate(zip(_dicts(X), sets.relevance.tolist(), strict=True)):
            scores[i] = self._scores(x, sets.n_labels)
            y = {
                label: None if code < 0 else code == 1
                for label, code in zip(self.labels, codes, strict=False)
            }
            self._timed(self.model.learn_one, x, y)
        return scores

    def score(self, X: Any, sets: LabelSets) -> Floats:
        rows = [self._scores(x, sets.n_labels) for x in _dicts(X)]
        return np.array(rows).reshape(sets.n, sets.n_labels)

    def _scores(self, x: Mapping[Any, Any], k: int) -> Floats:
        told = self._timed(getattr(self.model, self._method), x)
        found = [told.get(label) for label in self.labels[:k]]
        if self._method == "predict_proba_one":
            found = [one if one is None else one.get(True, 0.0) for one in found]
        scores = np.array([-np.inf if one is None else one for one in found], dtype=np.float64)
        return np.asarray(self._checked(self._method, scores, 1, k)[0])


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


def caller_for(name: str, model: Any, batch: int) -> Caller:
    """The way to call this model; refuses what is none."""
    if getattr(type(model), "learn", None) in (Booster.learn, TopkBooster.learn):
        return BoosterCaller(name, model)
    if is_river(model):
        return RiverCaller(name, model)
    for method in ("score", "learn"):
        if not callable(getattr(model, method, None)):
            raise TypeError(
                f"model {name!r} is a {type(model).__name__} without {method}(), but must have score(x) and "
                "learn(x, relevant), or be a River model with score_one or predict_proba_one"
            )
    return PlainCaller(name, model, batch)


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
