"""CPU time of the recommended model in this build, in an older one and in Vowpal Wabbit, in turns.

Each turn is a process of its own, so that two builds can be compared. ``python benchmarks/speed.py --older PATH`` calls
it; PATH is the ``src`` folder of a checkout with its core built in place.

The same file is the worker: ``python benchmarks/older_build.py yeast 2417 ours`` prints what one turn took.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent


def microseconds(task: Callable[[], Any], n: int) -> float:
    start = time.process_time()
    task()
    return 1e6 * (time.process_time() - start) / n


def shuffled(name: str, n: int) -> tuple[Any, Any]:
    import boostline as bl

    data = bl.data.load(name, download=False)
    order = np.random.default_rng(0).permutation(len(data.X))[:n]
    return np.ascontiguousarray(np.asarray(data.X, float)[order]), np.asarray(data.Y)[order]


def of_boostline(name: str, n: int, n_threads: int = 1) -> dict[str, float]:
    """Microseconds of CPU per row; with threads the wall-clock is what counts, and stands beside."""
    import boostline as bl

    X, Y = shuffled(name, n)
    recommended = getattr(bl, "LabelRanker", bl.AdaOLMR)
    model, single = (recommended(Y.shape[1], seed=0, n_threads=n_threads) for _ in range(2))
    start = time.perf_counter()
    learn = microseconds(lambda: model.learn(X, Y), len(X))
    wall = 1e6 * (time.perf_counter() - start) / len(X)
    few = min(len(X), 1500)

    def one_by_one() -> None:
        for x, y in zip(X[:few], Y[:few], strict=True):
            single.learn(x, y)

    return {
        "learn": learn,
        "learn, wall-clock": wall,
        "score": microseconds(lambda: model.score(X), len(X)),
        "single rows": microseconds(one_by_one, few),
    }


def of_vowpal_wabbit(name: str, n: int) -> dict[str, float]:
    """One linear model per label (``--multilabel_oaa``), on rows that have been parsed before."""
    import vowpalwabbit

    X, Y = shuffled(name, n)
    vw = vowpalwabbit.Workspace(f"--multilabel_oaa {Y.shape[1]} --quiet")
    lines = [
        ",".join(map(str, np.flatnonzero(y)))
        + " | "
        + " ".join(f"{j}:{v:g}" for j, v in enumerate(x))
        for x, y in zip(X, Y, strict=True)
    ]
    rows = [vw.parse(line) for line in lines]

    def learn() -> None:
        for row in rows:
            vw.learn(row)

    return {"learn": microseconds(learn, len(rows))}


def turn(name: str, n: int, who: str, source: Path | None = None, threads: int = 1) -> Any:
    """The figures of one process."""
    environment = dict(os.environ)
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    command = [sys.executable, str(Path(__file__).resolve()), name, str(n), who, str(threads)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def compare(name: str, n: int, older: Path, repeats: int = 3) -> dict[str, float]:
    """Ratios of the least times over several turns: how many times faster this build is."""
    least: dict[str, dict[str, float]] = {}

    def keep(who: str, figures: dict[str, float]) -> None:
        known = least.setdefault(who, figures)
        least[who] = {key: min(known[key], value) for key, value in figures.items()}

    for _ in range(repeats):
        keep("ours", turn(name, n, "ours", HERE.parent / "src"))
        keep("older", turn(name, n, "ours", older))
        keep("two", turn(name, n, "ours", HERE.parent / "src", threads=2))
        with contextlib.suppress(subprocess.CalledProcessError):  # if it is not installed
            keep("vw", turn(name, n, "vowpal_wabbit", HERE.parent / "src"))
    ours, of_older = least["ours"], least["older"]
    ratios = {
        f"{key}, {name}": of_older[key] / ours[key] for key in ("learn", "score", "single rows")
    }
    ratios[f"two threads, {name}"] = ours["learn, wall-clock"] / least["two"]["learn, wall-clock"]
    if "vw" in least:
        ratios[f"times Vowpal Wabbit, {name}"] = ours["learn"] / least["vw"]["learn"]
    return ratios


if __name__ == "__main__":
    _, name, n, who, threads = [*sys.argv, "1"][:5]
    figures = (
        of_vowpal_wabbit(name, int(n))
        if who == "vowpal_wabbit"
        else of_boostline(name, int(n), int(threads))
    )
    print(json.dumps(figures))
