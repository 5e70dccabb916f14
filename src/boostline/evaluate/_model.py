"""How the evaluation talks to a model: one example or a block, scores checked, time taken."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..metrics import Metric, Ranking, RankLoss, from_name
from ..metrics._inputs import Bools, Floats, as_scores, is_sparse
from ._curve import CurveRecorder
from ._run import Run, Seconds


@runtime_checkable
class Model(Protocol):
    """A ranker that learns from a stream."""

    def score(self, x: Any) -> Any:
        """Return scores (k,) of one example or (n, k) of a matrix, without changing the model."""

    def learn(self, x: Any, relevant: Any) -> Any:
        """Learn one example or a block; return the scores given before learning."""


MetricLike = str | Metric


def make_metrics(metrics: MetricLike | Iterable[MetricLike]) -> list[Metric]:
    """Return fresh metrics with distinct names; the rank loss is always the first."""
    if isinstance(metrics, (str, Metric)):
        metrics = [metrics]
    made: dict[str, Metric] = {"rank_loss": RankLoss()}
    given = set()
    for metric in metrics:
        if not isinstance(metric, (str, Metric)):
            raise TypeError(f"metrics has a {type(metric).__name__}; names or metrics are needed")
        one = from_name(metric) if isinstance(metric, str) else metric.fresh()
        if one.name in given:
            raise ValueError(f"metrics has {one.name!r} twice")
        given.add(one.name)
        made[one.name] = one
    return list(made.values())


def named_models(models: Any) -> dict[str, Any]:
    """Return name -> model for a dict of models or a single one, after checking each."""
    named = dict(models) if isinstance(models, dict) else {type(models).__name__: models}
    if not named:
        raise ValueError("models is empty; there must be at least one")
    for name, model in named.items():
        for method in ("score", "learn"):
            if not callable(getattr(model, method, None)):
                raise TypeError(
                    f"model {name!r} is a {type(model).__name__} without {method}(); "
                    "a model needs score(x) and learn(x, relevant)"
                )
    if len({id(model) for model in named.values()}) < len(named):
        raise ValueError("models has the same model under two names; it would learn all twice")
    return named


class Candidate:
    """One model in an evaluation: its metrics, its curves, its time.

    Parameters
    ----------
    name, model
        The model and what to call it.
    metrics
        Settings of the metrics; each candidate gets its own.
    window
        Window of the curves, in examples.
    block
        Scores are kept until so many rows are there, and handed to the metrics together.
    """

    def __init__(
        self, name: str, model: Any, metrics: Sequence[Metric], window: int, block: int
    ) -> None:
        self.name = name
        self.model = model
        self.metrics = [metric.fresh() for metric in metrics]
        self.n_learned = 0
        self._recorders = [CurveRecorder(window) for _ in metrics]
        self._cpu = 0.0
        self._wall = 0.0
        self._block = block
        self._kept: list[tuple[Bools, Floats, Bools | None]] = []
        self._n_kept = 0
        self._takes: set[str] | None = None  # names of the arguments of learn

    def learn(self, X: Any, Y: Bools, known: Bools | None = None) -> Floats:
        """Learn rows; return the scores given before each of them was learned."""
        scores = self._call("learn", X, Y, known)
        self.n_learned += len(Y)
        return scores

    def score(self, X: Any, Y: Bools) -> Floats:
        """Score rows without learning. Only the shape of `Y` is looked at."""
        return self._call("score", X, Y, None)

    def record(self, Y: Bools, scores: Floats, known: Bools | None = None) -> None:
        """Hand predictions to the metrics."""
        self._kept.append((Y, scores, known))
        self._n_kept += len(Y)
        if self._n_kept >= self._block:
            self.flush()

    def flush(self) -> None:
        """Bring metrics and curves up to date."""
        if not self._kept:
            return
        Y, scores, masks = zip(*self._kept, strict=True)
        known = None
        if any(mask is not None for mask in masks):
            full = [np.ones_like(y) if m is None else m for y, m in zip(Y, masks, strict=True)]
            known = np.concatenate(full)
        self._kept, self._n_kept = [], 0
        block = Ranking(np.concatenate(Y), np.concatenate(scores), known)
        for metric, recorder in zip(self.metrics, self._recorders, strict=True):
            recorder.extend(metric.update_ranking(block))

    def run(self, stopped: bool, settings: dict[str, Any]) -> Run:
        """Return the result so far."""
        self.flush()
        return Run(
            model=self.name,
            metrics={metric.name: metric.get() for metric in self.metrics},
            units={metric.name: metric.unit for metric in self.metrics},
            curves={
                metric.name: recorder.curve()
                for metric, recorder in zip(self.metrics, self._recorders, strict=True)
            },
            seconds=Seconds(cpu=self._cpu, wall=self._wall),
            n=self.metrics[0].n,
            n_learned=self.n_learned,
            n_without_pairs=self.metrics[0].n_without_pairs,
            stopped=stopped,
            settings=settings,
        )

    def _call(self, method: str, X: Any, Y: Bools, known: Bools | None) -> Floats:
        if isinstance(X, list):  # examples that make no matrix, such as dicts
            parts = [
                self._timed(method, x, Y[i], None if known is None else known[i])
                for i, x in enumerate(X)
            ]
            rows = [self._checked(method, part, Y[i : i + 1]) for i, part in enumerate(parts)]
            return np.concatenate(rows)
        if len(Y) == 1 and isinstance(X, np.ndarray):
            mask = None if known is None else known[0]
            return self._checked(method, self._timed(method, X[0], Y[0], mask), Y)
        return self._checked(method, self._timed(method, X, Y, known), Y)

    def _timed(self, method: str, X: Any, Y: NDArray[np.bool_], known: Any) -> Any:
        keywords = {} if known is None or method == "score" else self._partly(Y, known)
        relevant = Y if known is None else Y & known
        wall, cpu = time.perf_counter(), time.process_time()
        if method == "score":
            result = self.model.score(X)
        else:
            result = self.model.learn(X, relevant, **keywords)
        self._cpu += time.process_time() - cpu
        self._wall += time.perf_counter() - wall
        return result

    def _partly(self, Y: NDArray[np.bool_], known: NDArray[np.bool_]) -> dict[str, Any]:
        """Say which labels are not known, in the way in which the model's `learn` takes it."""
        if self._takes is None:
            self._takes = set(inspect.signature(self.model.learn).parameters)
        if "irrelevant" in self._takes:
            return {"irrelevant": known & ~Y}
        if "unknown" in self._takes:
            return {"unknown": ~known}
        raise TypeError(
            f"labels are partly known, but learn() of model {self.name!r} takes neither "
            "irrelevant= nor unknown="
        )

    def _checked(self, method: str, result: Any, Y: Bools) -> Floats:
        if result is None:
            raise TypeError(
                f"{method}() of model {self.name!r} returned None; it must return the scores"
                + (" given before learning" if method == "learn" else "")
            )
        scores = np.asarray(result)
        if scores.shape != Y.shape and not (len(Y) == 1 and scores.shape == Y.shape[1:]):
            raise ValueError(
                f"{method}() of model {self.name!r} returned scores of shape {scores.shape}; "
                f"{len(Y)} rows with {Y.shape[1]} labels need {Y.shape}"
            )
        # Copied: a model may hand out its own array and write into it at the next call.
        checked = as_scores(scores, f"{method}() of model {self.name!r}: scores")
        return np.array(checked.reshape(Y.shape))


def stack_examples(examples: Sequence[Any]) -> Any:
    """Make a matrix of single examples: an array, a CSR matrix, or a list if they make none."""
    first = examples[0]
    if is_sparse(first):
        from scipy import sparse

        return sparse.vstack([x.reshape(1, -1) for x in examples], format="csr")
    if isinstance(first, np.ndarray):
        for i, x in enumerate(examples):
            if not isinstance(x, np.ndarray) or x.shape != first.shape:
                got = x.shape if isinstance(x, np.ndarray) else type(x).__name__
                raise ValueError(
                    f"x changes its shape along the stream: {got} after {first.shape}"
                    f" (example {i} of its block)"
                )
        return np.stack(list(examples))
    return list(examples)
