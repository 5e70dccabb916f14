"""One model in an evaluation: its metrics, its curves, its time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract.label_sets import LabelSets
from boostline.evaluate.callers import Caller, Predicted
from boostline.evaluate.curves import CurveRecorder
from boostline.evaluate.runs import OF_PROBABILITIES, Run, Seconds
from boostline.metrics import Metric, ProbabilityTally, Ranking, RankLoss, from_name
from boostline.metrics.label_set_scores import ThresholdF1

MetricLike = str | Metric
#: The default metrics; models that give probabilities also have F1 and log loss.
STANDARD = ("rank_loss", "precision@1", "precision@3")


def make_metrics(metrics: MetricLike | Iterable[MetricLike]) -> list[Metric]:
    """Return fresh metrics with distinct names; the rank loss is always the first.

    Metrics of probabilities are always computed; they may be named, too.
    """
    if isinstance(metrics, (str, Metric)):
        metrics = [metrics]
    made: dict[str, Metric] = {"rank_loss": RankLoss()}
    given = set()
    for metric in metrics:
        if not isinstance(metric, (str, Metric)):
            raise TypeError(
                f"metrics has a {type(metric).__name__}, but must have names or metrics"
            )
        if metric in OF_PROBABILITIES:
            continue
        one = from_name(metric) if isinstance(metric, str) else metric.fresh()
        if one.name in given:
            raise ValueError(f"metrics has {one.name!r} twice")
        given.add(one.name)
        made[one.name] = one
    return list(made.values())


def named_models(models: Any) -> dict[str, Any]:
    """Return name -> model for a dict of models or a single one."""
    named = dict(models) if isinstance(models, dict) else {type(models).__name__: models}
    if not named:
        raise ValueError("models is empty, but must have at least one")
    if len({id(model) for model in named.values()}) < len(named):
        raise ValueError(
            "models has the same model under two names, so it would learn every row twice"
        )
    return named


class Candidate:
    """One model in an evaluation: its metrics, its curves, its time.

    Parameters
    ----------
    caller
        The model, its name, and how it is called.
    metrics
        Settings of the metrics; each candidate gets its own.
    window
        Window of the curves, in examples.
    block
        Scores are kept until so many rows are there, and handed to the metrics together.
    """

    def __init__(self, caller: Caller, metrics: Sequence[Metric], window: int, block: int) -> None:
        self.name = caller.name
        self.caller = caller
        self.metrics = [metric.fresh() for metric in metrics]
        self.n_learned = 0
        self._recorders = [CurveRecorder(window) for _ in metrics]
        self._values: list[list[FloatArray]] = [[] for _ in metrics]
        self._block = block
        self._kept: list[tuple[LabelSets, Predicted]] = []
        self._tally = ProbabilityTally()
        self._f1 = ThresholdF1()
        self._log_losses: list[FloatArray] = []
        self._n_kept = 0

    def learn(self, X: Any, sets: LabelSets, is_judged: bool = True) -> Predicted:
        """Learn rows; return what was predicted before each of them was learned."""
        predicted = self.caller.learn(X, sets, is_judged)
        self.n_learned += sets.n
        return predicted

    def record(self, sets: LabelSets, predicted: Predicted) -> None:
        """Hand predictions to the metrics."""
        if self._kept and self._kept[-1][0].n_labels != sets.n_labels:
            self.flush()
        self._kept.append((sets, predicted))
        self._n_kept += sets.n
        if self._n_kept >= self._block:
            self.flush()

    def flush(self) -> None:
        """Bring metrics and curves up to date."""
        if not self._kept:
            return
        kept, predicted = zip(*self._kept, strict=True)
        self._kept, self._n_kept = [], 0
        sets = LabelSets.concat(kept)
        scores, likely = Predicted.joined(predicted)
        block = Ranking(sets.is_relevant, scores, sets.is_unknown)
        for metric, recorder, all_values in zip(
            self.metrics, self._recorders, self._values, strict=True
        ):
            values = metric.update_ranking(block)
            recorder.extend(values)
            all_values.append(values)
        if likely is not None:
            p = likely.astype(np.float64, copy=False)
            hidden = sets.is_unknown
            known = np.ones(p.shape, np.bool_) if hidden is None else ~hidden
            self._log_losses.append(self._tally.update_read(sets.is_relevant, known, p))
            self._f1.update(sets.is_relevant, known, p)

    def run(self, stopped: bool, settings: dict[str, Any], labels: Sequence[Any] | None) -> Run:
        """Return the result so far."""
        self.flush()
        metrics = {metric.name: metric.get() for metric in self.metrics}
        units = {metric.name: metric.unit for metric in self.metrics}
        own_values: dict[str, FloatArray] = {}
        counts = None
        # A River model without probabilities at first has none for all rows, so they are left out.
        if self._tally.n and self._tally.n == self.metrics[0].n:
            f1 = (self._f1.micro, self._f1.macro)
            found = (*f1, self._tally.log_loss, self._tally.calibration_error)
            metrics |= dict(zip(OF_PROBABILITIES, found, strict=True))
            counts = self._f1.counts[0]
            units |= OF_PROBABILITIES
            own_values["log_loss"] = np.concatenate(self._log_losses)
        return Run(
            model=self.name,
            metrics=metrics,
            units=units,
            curves={
                metric.name: recorder.curve()
                for metric, recorder in zip(self.metrics, self._recorders, strict=True)
            },
            seconds=Seconds(cpu=self.caller.cpu, wall=self.caller.wall),
            n=self.metrics[0].n,
            n_learned=self.n_learned,
            n_without_pairs=self.metrics[0].n_without_pairs,
            stopped=stopped,
            settings=settings,
            values={
                metric.name: np.concatenate(values) if values else np.zeros(0)
                for metric, values in zip(self.metrics, self._values, strict=True)
            }
            | own_values,
            labels=None if labels is None else list(labels),
            label_counts=counts,
        )
