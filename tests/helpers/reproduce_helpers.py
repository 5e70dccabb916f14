"""Helpers of the tests of `boostline reproduce`."""

from typing import Any

import numpy as np

from boostline.data import Dataset
from boostline.lab.reproduce.summary import Summary


def make_data(n: int = 150, n_train: int = 90, seed: int = 0, name: str = "toy") -> Dataset:
    """A small problem that features decide; row 3 has no label and row 100 has all."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    Y = X @ rng.normal(size=(6, 4)) + rng.normal(scale=0.5, size=(n, 4)) > 0.6
    Y[3], Y[100] = False, True
    return Dataset(X, Y, n_train=n_train, name=name)


def essence(summary: Summary) -> dict[tuple[Any, ...], dict[str, Any]]:
    """All that must not depend on how, where or in how many calls the runs were done."""
    kept = {}
    for key, cell in summary.cells.items():
        for run in cell.runs:
            record = {k: v for k, v in run.items() if k not in ("seconds", "finished", "machine")}
            kept[(*key, run["task"]["seed"])] = record
    return kept
