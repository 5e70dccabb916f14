"""Rows with wrong labels in the middle of a stream, for ``drift.py --wrong-rows``.

The labels of n rows are those of other rows: an upstream bug. A model is judged by the right labels, over the next 500
rows, the next 1,500, and up to 20,000, with and without the drift alarm. On tables the figure is the rank loss, on
texts the share of rows whose first tag is right. Sets that are not there are left out.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import boostline as bl
from boostline.text import TextRanker

Array = NDArray[np.float64]
COUNTS = (0, 50, 150, 400)
WINDOWS = ((0, 500), (500, 2000), (0, 20_000))  # after the wrong rows
BURSTS, BURST = 10, 400


def told(n_rows: int, at: int, n: int) -> NDArray[np.int64]:
    """Whose labels each row gets."""
    source = np.arange(n_rows)
    source[at : at + n] = np.random.default_rng(0).permutation(at)[:n]
    return source


def table(name: str, at: int) -> Callable[[int, str | None], Array]:
    """The rank loss of each row after the wrong ones."""
    data = bl.data.load(name)

    def measure(n: int, drift: str | None) -> Array:
        source = told(len(data.Y), at, n)
        model = bl.LabelRanker(data.Y.shape[1], drift=drift)
        scores = model.learn(data.X, data.Y[source])
        return bl.metrics.RankLoss().rows(data.Y, scores)[at + n :]

    return measure


def texts(path: Path, at: int) -> Callable[[int, str | None], Array]:
    """Whether the first tag is right, row by row: the first ``at`` rows are learned in blocks."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines][: at + 20_400]

    def measure(n: int, drift: str | None) -> Array:
        source = told(len(records), at, n)
        model, hits = TextRanker(drift=drift), []
        for first in range(0, at + n, 100):
            part = range(first, min(first + 100, at + n))
            given = [set(records[source[i]]["labels"]) for i in part]
            model.learn([records[i]["text"] for i in part], given)
        for record in records[at + n :]:
            ranked = model.rank(record["text"], top=1)
            hits.append(bool(ranked) and ranked[0] in record["labels"])
            model.learn(record["text"], set(record["labels"]))
        return np.array(hits, float)

    return measure


def bursts(seed: int, drift: str | None) -> float:
    """The mean rank loss, by the right labels, of a stream with ten bursts of 400 rows of shuffled labels."""
    rng = np.random.default_rng(seed)
    n, d, k = 17_000, 12, 8
    X = rng.normal(size=(n, d))
    linear = X @ rng.normal(size=(d, k)) / np.sqrt(d)
    pairs = 0.5 * np.triu(rng.normal(size=(k, d, d)), 1) / np.sqrt(d * (d - 1) / 2)
    Z = linear + np.einsum("ni,kij,nj->nk", X, pairs, X) + 0.5 * rng.normal(size=k)
    Y = Z + 0.2 * rng.normal(size=Z.shape) > 1.0
    given = Y.copy()
    for start in np.linspace(2000, n - 1000, BURSTS).astype(int):
        rows = np.arange(start, start + BURST)
        given[rows] = Y[rng.permutation(rows)]
    scores = bl.LabelRanker(k, drift=drift).learn(X, given)
    return float(np.nanmean(bl.metrics.RankLoss().rows(Y, scores)))


def show() -> dict[str, Any]:
    """Measure all sets that are there, print as it comes."""
    folder, found = Path(os.environ.get("BOOSTLINE_DATA", ".")), {}
    sets: dict[str, Callable[[], Callable[[int, str | None], Array]]] = {
        "mediamill": lambda: table("mediamill", 5000),
        "bibtex": lambda: table("bibtex", 3000),
        "enron": lambda: table("enron", 800),
        "arxiv": lambda: texts(folder / "arxiv" / "arxiv.jsonl.gz", 30_000),
    }
    for drift in ("restart", None):
        found[f"bursts, {drift}"] = [bursts(seed, drift) for seed in (0, 1)]
        print(f"bursts, {drift}:", np.round(found[f"bursts, {drift}"], 4).tolist(), flush=True)
    for name, prepare in sets.items():
        try:
            measure = prepare()
        except (OSError, bl.data.DataError) as error:
            print(f"{name}: {error}")
            continue
        for n in COUNTS:
            for drift in ("restart", None):
                rows = measure(n, drift)
                figures = [float(np.nanmean(rows[first:last])) for first, last in WINDOWS]
                found[f"{name}, {n} wrong rows, {drift}"] = figures
                print(
                    f"{name}, {n} wrong rows, {drift}:", np.round(figures, 4).tolist(), flush=True
                )
    return found
