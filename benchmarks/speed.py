"""Speed, as ratios measured side by side in one run: ``python benchmarks/speed.py``.

1. 100 paper trees with Ada.OLMR on the first rows of yeast, against the same schema written on River.
2. OnlineBMR against Ada.OLMR on m-reduced (needs BOOSTLINE_DATA).
3. Two threads against one.
4. Examples per second on every data set that is there.
5. With ``--older PATH``: the recommended model against an older build (the ``src`` folder of a checkout with its core
   built in place) and against Vowpal Wabbit, in turns (``older_build.py``; needs BOOSTLINE_DATA).

``--record`` adds the ratios of 1 to 3 and of 5 to ``benchmarks/history.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import history
import older_build
from river_program import RiverAdaOLMR

import boostline as bl

#: What goes into the history: ratios, which can be compared between machines.
RATIOS = {
    "river": ("times faster than River", "ratio"),
    "bmr": ("OnlineBMR / Ada.OLMR", "ratio"),
    "threads": ("speed of two threads", "speedup"),
}


def seconds(model: bl.AdaOLMR | bl.OnlineBMR, data: bl.data.Dataset, n: int | None = None) -> float:
    """Wall-clock seconds of one pass, learning row after row in one call."""
    start = time.perf_counter()
    model.learn(data.X[:n], data.Y[:n])
    return time.perf_counter() - start


def against_river(n: int) -> dict[str, float]:
    data = bl.data.load("yeast")
    k = data.Y.shape[1]
    ours = seconds(bl.AdaOLMR(k, learners=bl.learners.paper_trees(100)), data, n)
    names = [f"f{j}" for j in range(data.X.shape[1])]
    rows = [dict(zip(names, row, strict=True)) for row in data.X[:n].tolist()]
    labels = data.Y[:n].astype(bool)
    river = RiverAdaOLMR(k, names)
    start = time.perf_counter()
    for x, y in zip(rows, labels, strict=True):
        river.learn(x, y)
    theirs = time.perf_counter() - start
    return {
        "rows": n,
        "boostline_ms": 1e3 * ours / n,
        "river_ms": 1e3 * theirs / n,
        "ratio": theirs / ours,
    }


def bmr_against_ada(repeats: int = 3) -> dict[str, float]:
    data = bl.data.load("m-reduced", download=False)
    trees, k = bl.learners.paper_trees(100), data.Y.shape[1]
    ada = min(seconds(bl.AdaOLMR(k, learners=trees, seed=s), data) for s in range(repeats))
    bmr = min(
        seconds(bl.OnlineBMR(k, learners=trees, edge=0.01, seed=s), data) for s in range(repeats)
    )
    return {"ada_s": ada, "bmr_s": bmr, "ratio": bmr / ada}


def threads() -> dict[str, float]:
    data = bl.data.load("yeast")
    trees, k = bl.learners.paper_trees(100), data.Y.shape[1]
    one = min(seconds(bl.AdaOLMR(k, learners=trees, n_threads=1), data) for _ in range(3))
    two = min(seconds(bl.AdaOLMR(k, learners=trees, n_threads=2), data) for _ in range(3))
    return {"one_s": one, "two_s": two, "speedup": one / two}


def all_sets() -> dict[str, dict[str, float]]:
    results = {}
    for name, where in bl.data.available().items():
        if where is None or name == "mediamill":
            continue
        data = bl.data.load(name, download=False)
        k, n = data.Y.shape[1], len(data)
        for title, learners in (("100 trees", bl.learners.paper_trees(100)), ("auto", "auto")):
            cpu = time.process_time()
            bl.AdaOLMR(k, learners=learners).learn(data.X, data.Y)
            results[f"{name}, {title}"] = {"microseconds": 1e6 * (time.process_time() - cpu) / n}
    return results


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rows", type=int, default=500, help="rows of yeast for the comparison with River"
    )
    parser.add_argument("--only", choices=["river", "bmr", "threads", "sets", "older"])
    parser.add_argument("--older", type=Path, help="the src folder of an older build")
    parser.add_argument("--repeats", type=int, default=3, help="turns with the older build")
    parser.add_argument("--record", action="store_true", help="add the ratios to the history")
    arguments = parser.parse_args()
    parts = {"river": lambda: against_river(arguments.rows), "threads": threads, "sets": all_sets}
    if os.environ.get("BOOSTLINE_DATA"):
        parts["bmr"] = bmr_against_ada
    ratios = {}
    if arguments.older is not None and arguments.only in (None, "older"):
        for data_set, n in (("scene", 2407), ("yeast", 2417), ("mediamill", 4000)):
            figures = older_build.compare(data_set, n, arguments.older, arguments.repeats)
            print("older", json.dumps(figures, indent=2), flush=True)
            ratios.update(figures)
    for name, measure in parts.items():
        if arguments.only in (None, name):
            figures = measure()
            print(name, json.dumps(figures, indent=2), flush=True)
            if name in RATIOS:
                title, key = RATIOS[name]
                ratios[title] = figures[key]
    if arguments.record and ratios:
        history.append("speed", ratios)


if __name__ == "__main__":
    main()
