"""100 paper trees in this build and in an older one, in turns: ``python benchmarks/trees.py --older PATH``.

PATH is the ``src`` folder of a checkout with its core built in place. CPU time of one thread, the least of several
turns; each turn is a process of its own. Needs BOOSTLINE_DATA. ``--record`` adds the ratios to the history.

``--patience 1 4`` instead compares trees that try to split every grace period, as the paper's, with trees that try
every fourth: CPU time and rank loss of the scores given before each row was learned. ``--whole`` runs both algorithms
over the whole of mediamill side by side and prints what the clock says.
"""

from __future__ import annotations

import argparse
import hashlib
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
FIVE = ("emotions", "scene", "yeast", "m-reduced", "mediamill")
ALGORITHMS = ("AdaOLMR", "OnlineBMR")


def work(name: str, algorithm: str, n: int, patience: float = 1.0) -> dict[str, Any]:
    """One pass over the first rows: seconds of CPU, a checksum of the scores' bits, and their rank loss."""
    import boostline as bl

    data = bl.data.load(name, download=False)
    options = {} if patience == 1.0 else {"patience": patience}  # which older builds do not have
    X, Y, trees = data.X[:n], data.Y[:n], bl.learners.paper_trees(100, **options)
    k = Y.shape[1]
    model = (
        bl.AdaOLMR(k, learners=trees, seed=0)
        if algorithm == "AdaOLMR"
        else bl.OnlineBMR(k, learners=trees, edge=0.01, seed=0)
    )
    model.learn(X[:2], Y[:2])
    start, by_clock = time.process_time(), time.perf_counter()
    scores = model.learn(X[2:], Y[2:])
    return {
        "seconds": time.process_time() - start,
        "clock": time.perf_counter() - by_clock,
        "rows": len(scores),
        "checksum": hashlib.sha256(scores.tobytes()).hexdigest(),
        "loss": float(bl.metrics.rank_loss(Y[2:], scores)),
    }


def command(name: str, algorithm: str, n: int, patience: float = 1.0) -> list[str]:
    here = str(Path(__file__).resolve())
    return [sys.executable, here, "--work", name, algorithm, str(n), str(patience)]


def compare_patience(names: list[str], values: list[float]) -> None:
    for name in names:
        for algorithm in ALGORITHMS:
            for value in values:
                done = work(name, algorithm, 10_000, value)
                us = 1e6 * done["seconds"] / done["rows"]
                print(
                    f"{name}, {algorithm}, {value:g}: {us:.0f} us, {done['loss']:.4f}", flush=True
                )


def side_by_side() -> None:
    start = time.perf_counter()
    both = [
        subprocess.Popen(command("mediamill", algorithm, 10**9), stdout=subprocess.PIPE, text=True)
        for algorithm in ALGORITHMS
    ]
    for algorithm, process in zip(ALGORITHMS, both, strict=True):
        done = json.loads(process.communicate()[0])
        print(
            f"{algorithm}: {done['clock']:.1f} s by the clock, {done['seconds']:.1f} s of CPU, {done['rows']} rows"
        )
    print(f"with reading the data: {time.perf_counter() - start:.1f} s")


def turn(name: str, algorithm: str, n: int, source: Path) -> Any:
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(
        command(name, algorithm, n), env=environment, check=True, capture_output=True, text=True
    )
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
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--record", action="store_true", help="add the ratios to the history")
    parser.add_argument("--patience", type=float, nargs="+", help="compare these")
    parser.add_argument(
        "--whole", action="store_true", help="mediamill, both algorithms side by side"
    )
    parser.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        name, algorithm, n, patience = arguments.work
        print(json.dumps(work(name, algorithm, int(n), float(patience))))
        return
    if arguments.patience:
        compare_patience(arguments.sets or list(FIVE), arguments.patience)
        return
    if arguments.whole:
        side_by_side()
        return
    if arguments.older is None:
        parser.error("--older is missing, but must be the src folder of an older build")
    ratios = {}
    for name in arguments.sets or list(SETS):
        for algorithm in ALGORITHMS:
            title = f"trees, {algorithm}, {name}"
            ratios[title] = compare(name, algorithm, SETS[name], arguments.older, arguments.repeats)
            print(f"{title}: {ratios[title]:.2f}", flush=True)
    if arguments.record:
        import history  # of this build: the worker also runs in older ones

        history.append("trees", ratios)


if __name__ == "__main__":
    main()
