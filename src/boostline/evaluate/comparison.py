"""Several models, several orders of the rows, several seeds: a table of mean and spread."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from boostline.display.progress import ProgressLike, show_progress
from boostline.evaluate.holdout import Order, train_then_test
from boostline.evaluate.judged_models import STANDARD, MetricLike
from boostline.evaluate.reports import Report
from boostline.evaluate.runs import OF_PROBABILITIES, Run


@dataclass(frozen=True)
class Comparison(Report):
    """The result of `compare`.

    Attributes
    ----------
    runs
        (name of the model, order) -> its runs, one per seed.
    stopped
        Whether Ctrl-C ended it early; a run that was cut short is left out.
    """

    runs: dict[tuple[str, str], list[Run]]
    stopped: bool

    def mean(self, model: str, order: str, metric: str = "rank_loss") -> float:
        """Return the mean over the seeds; NaN if none was run, or of a probability that the model does not have."""
        values = [
            run.metrics[metric]
            for run in self.runs[model, order]
            if metric in run.metrics or metric not in OF_PROBABILITIES
        ]
        return statistics.fmean(values) if values else math.nan

    def _lines(self) -> Iterator[tuple[dict[str, str], list[Run]]]:
        for (model, order), runs in self.runs.items():
            yield {"model": model, "order": order}, runs

    def to_dict(self, curves: bool = False) -> dict[str, Any]:
        """Return the result as values for JSON."""
        results = []
        for (model, order), runs in self.runs.items():
            metrics = list(runs[0].metrics) if runs else []
            results.append(
                {
                    "model": model,
                    "order": order,
                    "n_runs": len(runs),
                    "mean": {
                        name: None if math.isnan(mean := self.mean(model, order, name)) else mean
                        for name in metrics
                    },
                    "runs": [run.to_dict(curves) for run in runs],
                }
            )
        return {"results": results, "stopped": self.stopped}


def compare(
    models: Mapping[str, Callable[[int], Any]],
    data: Any,
    orders: Iterable[Order] = ("file", "shuffled"),
    seeds: Iterable[int] = (0, 1, 2),
    metrics: MetricLike | Iterable[MetricLike] = STANDARD,
    *,
    block: int = 256,
    freeze: bool = False,
    progress: ProgressLike = None,
) -> Comparison:
    """Run `train_then_test` for every model, order and seed.

    Parameters
    ----------
    models
        Name -> function of a seed that makes a new model. The seed is also that of the shuffling,
        so all models see the same shuffled rows.
    data, metrics, block, freeze, progress
        As in `train_then_test`.
    orders
        Orders of the rows. Report both: on rows sorted by class, the file order is misleading.
    seeds
        One run each.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from boostline.evaluate.baselines import DecayedCounts
    >>> Y = np.repeat(np.eye(3, dtype=bool), 40, axis=0)
    >>> data = SimpleNamespace(X=np.zeros((120, 1)), Y=Y, n_train=60)
    >>> result = compare({"counts": lambda seed: DecayedCounts(3)}, data, orders=["file"])
    >>> round(result.mean("counts", "file"), 4)
    0.0167
    """
    if not isinstance(models, Mapping) or not models:
        raise TypeError(
            f"models is {models!r}, but must be a dict name -> function of a seed that makes a model"
        )
    for name, make in models.items():
        if not callable(make):
            raise TypeError(
                f"models[{name!r}] is a {type(make).__name__}, but must be a function of the seed that makes a "
                "model: each run needs a new one"
            )
    orders, seeds = list(orders), list(seeds)
    if not orders or not seeds:
        raise ValueError("orders and seeds must each have at least one entry")
    metrics = (
        [metrics] if isinstance(metrics, str) or not isinstance(metrics, Iterable) else [*metrics]
    )
    runs: dict[tuple[str, str], list[Run]] = {(m, o): [] for o in orders for m in models}
    n = int(data.X.shape[0])
    wanted = [(order, seed, name) for order in orders for seed in seeds for name in models]
    with show_progress(progress, f"{len(wanted)} runs", n * len(wanted), "rows") as advance:
        for i, (order, seed, name) in enumerate(wanted):
            run = train_then_test(
                models[name](seed),
                data,
                order,
                seed,
                metrics,
                block=block,
                freeze=freeze,
                progress=lambda done, _, first=i * n: advance.to(first + done),  # type: ignore[misc]
                name=name,
            )
            if run.stopped:
                return Comparison(runs, stopped=True)
            runs[name, order].append(run)
    return Comparison(runs, stopped=False)
