"""A generated history in files, and a small model of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from measuring import temporary, write_tables

import boostline as bl
from boostline.learners import Committee, Kernel, Linear, Recency, Ridge

LABELS = [f"tag{j}" for j in range(5)]


def small_model() -> bl.LabelRanker:
    members = [Kernel(n_landmarks=200), Ridge(), Linear(n_replays=2)]
    return bl.LabelRanker(labels=LABELS, learners=[Committee(members), Recency(1.0)])


def generated(folder: Path, n: int, n_files: int) -> None:
    """Ten features, five labels, by a rule with an interaction; single precision."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(10, 5))
    for i in range(n_files):
        X = rng.normal(size=(n // n_files, 10)).astype(np.float32)
        Y = X @ weights + X[:, :5] * X[:, 5:] + rng.normal(size=(len(X), 5)) > 1.0
        inside = folder / f"{i}"
        inside.mkdir()
        write_tables(inside, X, Y, LABELS, 1)
        os.replace(inside / "part-0000.parquet", folder / f"part-{i:04}.parquet")
        inside.rmdir()


@contextmanager
def history_in(n: int, n_files: int, keep: str | None = None) -> Iterator[Path]:
    """For `with`: generated files; in a folder to `keep` they stay, and serve the next run."""
    if keep is None:
        with temporary() as folder:
            generated(folder, n, n_files)
            yield folder
        return
    folder = Path(keep) / f"rows-{n}-{n_files}"
    if not folder.exists():
        folder.mkdir(parents=True)
        generated(folder, n, n_files)
    yield folder
