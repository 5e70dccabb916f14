"""One run: make the model, pass once over the rows, note what happened. Runs in worker processes."""

from __future__ import annotations

import datetime
import os
import platform
import time
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np

import boostline
from boostline.array_types import FloatArray
from boostline.data import Dataset
from boostline.evaluate import train_then_test
from boostline.evaluate.baselines import DecayedCounts
from boostline.lab.reproduce.plan import BASELINES, Task

#: Format of a run's file.
FORMAT = 1
# A curve has about so many points; blocks of rows end there, which changes no result.
_POINTS = 120


class Stopped(Exception):
    """Ctrl-C came before the end of a run; what it had is not a result."""


def perform(task: Task, data: Dataset) -> dict[str, Any]:
    """Do one run and return what is to be stored, as JSON-able values.

    Besides the mean rank loss over the test rows: time of the model's calls, the cumulative loss along
    train and test, and, for a booster, the mean loss over the test rows of each expert (the first i
    learners), and at the end the learners' weights, the experts' weights and the empirical edges.
    """
    model = _model(task, data)
    watch = _Watch(model, data.n_train)
    before = time.thread_time()
    run = train_then_test(
        model,
        data,
        order=task.order,  # type: ignore[arg-type]
        seed=task.seed,
        block=max(1, len(data) // _POINTS),
        progress=watch,
    )
    # The model's calls by the process's clock, which in a Dask worker counts other threads as well.
    cpu = min(run.seconds.cpu, time.thread_time() - before)
    if run.stopped:
        raise Stopped
    return {
        "format": FORMAT,
        "version": boostline.__version__,
        "task": asdict(task),
        "rank_loss": run.rank_loss,
        "n_test": run.n,
        "n_without_pairs": run.n_without_pairs,
        "seconds": {"cpu": cpu, "wall": run.seconds.wall},
        **watch.record(run.n),
        "machine": machine(),
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _model(task: Task, data: Dataset) -> Any:
    if task.algorithm in BASELINES:
        return DecayedCounts(data.n_labels, decay=BASELINES[task.algorithm])
    settings, is_bmr = task.settings, task.algorithm == "online_bmr"
    # Potentials built upon the rank loss need votes for single labels.
    single = is_bmr and settings.loss == "rank"
    trees = boostline.learners.paper_trees(
        settings.trees, n_covariates=settings.covariates, single_label=single
    )
    shared: dict[str, Any] = {"learners": trees, "seed": task.seed}
    if not is_bmr:
        return boostline.AdaOLMR(data.n_labels, expert=settings.expert, **shared)
    assert task.edge is not None
    return boostline.OnlineBMR(data.n_labels, edge=task.edge, loss=settings.loss, **shared)


class _Watch:
    """Looks at a booster between blocks: a block never has rows of train and of test."""

    def __init__(self, model: Any, n_train: int) -> None:
        self._model = model
        self._n_train = n_train
        self._boosts = hasattr(model, "diagnostics")
        self._n: list[int] = []
        self._loss: list[float] = []
        self._at_end_of_train: FloatArray | float = 0.0

    def __call__(self, done: int, total: int | None) -> None:
        if not self._boosts:
            return
        self._n.append(done)
        self._loss.append(self._model.suffered_loss)
        if done == self._n_train:
            self._at_end_of_train = self._model.diagnostics.expert_losses

    def record(self, n_test: int) -> dict[str, Any]:
        if not self._boosts:
            return {}
        model = self._model
        return {
            "curve": {"n": self._n, "cumulative_loss": self._loss},
            "expert_losses": (
                (model.diagnostics.expert_losses - self._at_end_of_train) / n_test
            ).tolist(),
            "learner_weights": model.learner_weights.tolist(),
            "expert_weights": model.diagnostics.expert_weights.tolist(),
            "edges": model.edges().tolist(),
            "memory_bytes": model.memory_usage(),
        }


@cache
def machine() -> dict[str, Any]:
    """Describe this machine: processor, cores, system and versions, nothing that tells whose it is."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
