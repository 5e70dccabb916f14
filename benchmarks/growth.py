"""How the cost of a row grows: ``python benchmarks/growth.py [--out growth.json] [--plot docs/growth.svg]``.

CPU time per row of `LabelRanker` against the number of features, of labels and of rows, of `Kernel` against its
landmarks, and of Ada.OLMR against its trees. Beside each stands the limit of memory traffic: the time that it takes to
move what a row has to read and write, if none of it were in a cache. Smaller states stay in the caches and may be
faster than that; what is slower computes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import boostline as bl
from boostline.display.charts import legend, panels, svg, title
from boostline.learners import Kernel, paper_trees

FEATURES, LABELS = 60, 10
ROWS = 2000  # so many that every kernel has its last fit among them: a sixth of the rows have nothing to learn
BLOCK = 16  # rows that share a walk along a matrix

Point = dict[str, float]


def stream(n: int, d: int, k: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k)) > np.sqrt(d)


def bandwidth() -> float:
    """Bytes per second, read and written, of a copy that no cache holds."""
    source = np.ones(2**25)
    target = np.empty_like(source)
    seconds = []
    for _ in range(5):
        start = time.process_time()
        np.copyto(target, source)
        seconds.append(time.process_time() - start)
    return 2 * source.nbytes / min(seconds)


def cpu(task: Callable[[], Any]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


def covariance(n: float) -> float:
    """Bytes a row: a packed n x n matrix is read, and later changed, once for a block."""
    return 3 * 4 * n * n / BLOCK


def of_kernel(landmarks: float, d: int) -> float:
    return covariance(landmarks) + 4 * landmarks * d / BLOCK


def of_linear(d: int, k: int, n_replays: int) -> float:
    """A step reads the weights twice and their squares once, and writes both."""
    return (n_replays + 1) * 5 * 4 * d * (-(-k // 8) * 8)


def of_tracker(d: int, k: int) -> float:
    """A row reads the weights twice and writes them once."""
    return 3 * 8 * d * (-(-k // 8) * 8)


def of_default(d: int, k: int, rows: float) -> float:
    """Bytes a row, after so many rows; half of the time there is a young kernel beside the recent one."""
    kernels = of_kernel(min(rows, 1000), d) + 1.5 * of_kernel(min(rows, 200), d)
    weights = of_linear(d, k, 16) + 2 * of_tracker(d, k) + covariance(k + 1)
    return kernels + weights + 4 * (min(rows, 4000) * d + min(rows, 32_000) * k) / BLOCK


def of_trees(n: int, d: int) -> float:
    """Five statistics of every feature, of one label, in one leaf of each tree."""
    return n * 2 * 5 * 8 * d


def by_features() -> list[Point]:
    points = []
    for d in (15, 30, 60, 120, 240, 480):
        X, Y = stream(ROWS, d, LABELS)
        seconds = cpu(lambda X=X, Y=Y: bl.LabelRanker(LABELS).learn(X, Y)) / ROWS
        points.append({"x": d, "seconds": seconds, "bytes": of_default(d, LABELS, ROWS / 2)})
    return points


def by_labels() -> list[Point]:
    points = []
    for k in (5, 10, 20, 40, 80, 160, 320):
        X, Y = stream(ROWS, FEATURES, k)
        seconds = cpu(lambda X=X, Y=Y, k=k: bl.LabelRanker(k).learn(X, Y)) / ROWS
        points.append({"x": k, "seconds": seconds, "bytes": of_default(FEATURES, k, ROWS / 2)})
    return points


def by_landmarks() -> list[Point]:
    """Once they are complete."""
    points = []
    for n in (62, 125, 250, 500, 1000, 1500):
        first = 2 * n
        X, Y = stream(first + 640, FEATURES, LABELS)
        model = bl.LabelRanker(LABELS, learners=[Kernel(n_landmarks=n)], drift=None)
        model.learn(X[:first], Y[:first])
        X, Y = X[first:], Y[first:]
        seconds = cpu(lambda X=X, Y=Y, model=model: model.learn(X, Y)) / 640
        points.append({"x": n, "seconds": seconds, "bytes": of_kernel(n, FEATURES)})
    return points


def by_trees() -> list[Point]:
    points = []
    X, Y = stream(600, FEATURES, LABELS)
    for n in (10, 30, 100, 300):
        model = bl.AdaOLMR(LABELS, learners=paper_trees(n))
        seconds = cpu(lambda model=model: model.learn(X, Y)) / 600
        points.append({"x": n, "seconds": seconds, "bytes": of_trees(n, FEATURES)})
    return points


def by_rows() -> list[Point]:
    points, step = [], 400
    X, Y = stream(15 * step, FEATURES, LABELS)
    model = bl.LabelRanker(LABELS)
    for at in range(0, len(X), step):
        now = slice(at, at + step)
        seconds = cpu(lambda now=now: model.learn(X[now], Y[now])) / step
        rows = at + step / 2
        points.append({"x": rows, "seconds": seconds, "bytes": of_default(FEATURES, LABELS, rows)})
    return points


PANELS: dict[str, tuple[str, Callable[[], list[Point]]]] = {
    "features": ("features d (k = 10)", by_features),
    "labels": ("labels k (d = 60)", by_labels),
    "landmarks": ("landmarks of Kernel", by_landmarks),
    "trees": ("trees N of Ada.OLMR", by_trees),
    "rows": ("rows learned before", by_rows),
}


def plot(results: dict[str, Any], path: Path) -> None:
    figure, grid = panels(len(PANELS), height=2.6, across=3)
    for axes, (name, (label, _)) in zip(grid, PANELS.items(), strict=True):
        points = results[name]
        x = [p["x"] for p in points]
        axes.plot(
            x, [1e6 * p["seconds"] for p in points], marker="o", markersize=3.5, label="CPU time"
        )
        limit = [1e6 * p["bytes"] / results["bandwidth"] for p in points]
        axes.plot(x, limit, linestyle="--", label="limit of memory traffic")
        axes.set_yscale("log")
        if name != "rows":
            axes.set_xscale("log")
            axes.set_xticks(x, [f"{v:g}" for v in x], minor=False)
            axes.minorticks_off()
        axes.set_xlabel(label)
        axes.set_ylabel("µs per row")
        title(
            axes,
            "Ada.OLMR" if name == "trees" else "Kernel" if name == "landmarks" else "LabelRanker",
        )
    legend(figure)
    path.write_text(svg(figure))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="measured figures, as JSON")
    parser.add_argument("--plot", type=Path, help="where the picture goes (SVG)")
    parser.add_argument("--repeats", type=int, default=2, help="the least time counts")
    arguments = parser.parse_args()
    results: dict[str, Any] = {"bandwidth": bandwidth()}
    print(f"memory: {results['bandwidth'] / 1e9:.1f} GB/s", flush=True)
    for name, (_, measure) in PANELS.items():
        turns = [measure() for _ in range(arguments.repeats)]
        results[name] = [
            {**points[0], "seconds": min(p["seconds"] for p in points)}
            for points in zip(*turns, strict=True)
        ]
        for p in results[name]:
            limit = 1e6 * p["bytes"] / results["bandwidth"]
            print(
                f"{name:10} {p['x']:6g}: {1e6 * p['seconds']:8.1f} µs, limit {limit:8.1f}",
                flush=True,
            )
    if arguments.out:
        arguments.out.write_text(json.dumps(results, indent=1))
    if arguments.plot:
        plot(results, arguments.plot)


if __name__ == "__main__":
    main()
