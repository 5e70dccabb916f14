"""100 paper trees in this build and in an older one, in turns: ``python benchmarks/trees.py --older PATH``.

PATH is the ``src`` folder of a checkout with its core built in place. CPU time of one thread, the least of several
turns; each turn is a process of its own. Needs BOOSTLINE_DATA. ``--record`` adds the ratios to the history.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
#: Rows of each set; the whole of mediamill takes minutes.
SETS = {"yeast": 2417, "m-reduced": 2000, "mediamill": 8000}


def work(name: str, algorithm: str, n: int) -> dict[str, float]:
    """One pass over the first rows: seconds of CPU, and a checksum of the scores."""
    import boostline as bl

    data = bl.data.load(name, download=False)
    X, Y, trees = data.X[:n], data.Y[:n], bl.learners.paper_trees(100)
    k = Y.shape[1]
    model = (
        bl.AdaOLMR(k, learners=trees, seed=0)
        if algorithm == "AdaOLMR"
        else bl.OnlineBMR(k, learners=trees, edge=0.01, seed=0)
    )
    model.learn(X[:2], Y[:2])
    start = time.process_time()
    scores = model.learn(X[2:], Y[2:])
    return {"seconds": time.process_time() - start, "checksum": float(abs(scores).sum())}


def turn(name: str, algorithm: str, n: int, source: Path) -> Any:
    command = [sys.executable, str(Path(__file__).resolve()), "--work", name, algorithm, str(n)]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def compare(name: str, algorithm: str, n: int, older: Path, repeats: int) -> float:
    """How many times faster this build is."""
    ours, theirs = [], []
    for _ in range(repeats):
        theirs.append(turn(name, algorithm, n, older))
        ours.append(turn(name, algorithm, n, HERE.parent / "src"))
    if ours[0]["checksum"] != theirs[0]["checksum"]:
        print(f"{algorithm}, {name}: the scores differ")
    ratio: float = min(t["seconds"] for t in theirs) / min(t["seconds"] for t in ours)
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--older", type=Path, help="the src folder of an older build")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--record", action="store_true", help="add the ratios to the history")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        name, algorithm, n = arguments.work
        print(json.dumps(work(name, algorithm, int(n))))
        return
    if arguments.older is None:
        parser.error("--older is missing, but must be the src folder of an older build")
    ratios = {}
    for name in arguments.sets:
        for algorithm in ("AdaOLMR", "OnlineBMR"):
            title = f"trees, {algorithm}, {name}"
            ratios[title] = compare(name, algorithm, SETS[name], arguments.older, arguments.repeats)
            print(f"{title}: {ratios[title]:.2f}", flush=True)
    if arguments.record:
        import history  # of this build: the worker also runs in older ones

        history.append("trees", ratios)


if __name__ == "__main__":
    main()
