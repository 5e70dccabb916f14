"""What the recommended model costs with many labels: ``python benchmarks/many_labels.py --plot curve.svg``.

Generated rows: 5 relevant labels and 50 words each, both drawn by Zipf's law, of k labels and 50,000 words. Every label
has words of its own, which make up half of a row. Each row is ranked (the five best labels) and then learned, one by
one, as in a stream; each k has a process of its own, so that its peak of memory is that of this k.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import boostline as bl
from boostline.display.charts import legend, panels, svg, title

N_FEATURES, N_WORDS, N_RELEVANT = 50_000, 50, 5
SIZES = (1_000, 5_000, 50_000)


def zipf(rng: np.random.Generator, n: int, size: int | tuple[int, ...]) -> np.ndarray:
    """Numbers below n; number i is drawn in proportion to 1 / (i + 1)."""
    weights = np.cumsum(1 / np.arange(1, n + 1))
    return np.searchsorted(weights, rng.random(size) * weights[-1])


def stream(k: int, n_rows: int, seed: int = 0) -> tuple[sparse.csr_array, list[list[int]]]:
    rng = np.random.default_rng(seed)
    own = rng.integers(N_FEATURES, size=(k, 30))  # the words of each label
    sets, columns, starts = [], [], [0]
    for _ in range(n_rows):
        labels: set[int] = set()
        while len(labels) < N_RELEVANT:
            labels.update(zipf(rng, k, N_RELEVANT - len(labels)).tolist())
        words: set[int] = set(rng.choice(own[list(labels)].ravel(), N_WORDS // 2).tolist())
        while len(words) < N_WORDS:
            words.update(zipf(rng, N_FEATURES, N_WORDS - len(words)).tolist())
        sets.append(sorted(labels))
        columns.extend(sorted(words))
        starts.append(len(columns))
    values = np.ones(len(columns))
    shape = (n_rows, N_FEATURES)
    return sparse.csr_array((values, np.array(columns), np.array(starts)), shape=shape), sets


def measure(k: int, n_rows: int) -> dict[str, Any]:
    """CPU milliseconds per row to rank and to learn, P@5 over the last fifth, and megabytes."""
    X, sets = stream(k, n_rows)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    model = bl.LabelRanker(n_labels=k, seed=0)
    model.learn(X[:1], sets[:1], return_scores=False)
    ranking = learning = 0.0
    hits = n_judged = 0
    for i in range(1, n_rows):
        x = X[i : i + 1]
        start = time.process_time()
        top = model.rank(x, top=5)
        middle = time.process_time()
        model.learn(x, sets[i : i + 1], return_scores=False)
        learning += time.process_time() - middle
        ranking += middle - start
        if i >= 4 * n_rows // 5:
            hits += len(set(np.ravel(top).tolist()) & set(sets[i]))
            n_judged += 5
    return {
        "k": k,
        "rows": n_rows,
        "rank_ms": 1e3 * ranking / n_rows,
        "learn_ms": 1e3 * learning / n_rows,
        "precision_at_5": 100 * hits / n_judged,
        "model_mb": model.memory_usage() / 2**20,
        "data_mb": before,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def plot(results: list[dict[str, Any]], path: Path) -> None:
    figure, (times, sizes) = panels(2, height=3.0, across=2)
    k = [r["k"] for r in results]
    both = [r["rank_ms"] + r["learn_ms"] for r in results]
    times.plot(k, [r["rank_ms"] for r in results], "o-", label="rank(top=5)")
    times.plot(k, [r["learn_ms"] for r in results], "s-", label="learn")
    times.plot(k, both, "d-", label="both")
    times.set_ylabel("ms of CPU per row")
    title(times, "Time")
    sizes.plot(k, [r["model_mb"] for r in results], "o--", label="model")
    sizes.plot(k, [r["peak_mb"] for r in results], "s--", label="peak of the process")
    sizes.set_ylabel("MB")
    title(sizes, "Memory")
    for axes in (times, sizes):
        axes.set_xscale("log")
        axes.set_xticks(k, [f"{n:,}" for n in k], minor=False)
        axes.minorticks_off()
        axes.set_xlabel("labels")
        axes.set_ylim(bottom=0)
    legend(figure)
    path.write_text(svg(figure))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES), help="numbers of labels")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--plot", type=Path, help="draw the curve into this file (SVG)")
    parser.add_argument("--json", action="store_true", help="one line of JSON for each size")
    arguments = parser.parse_args()
    if len(arguments.sizes) == 1:
        results = [measure(arguments.sizes[0], arguments.rows)]
    else:
        results = []
        for k in arguments.sizes:
            command = [sys.executable, __file__, str(k), "--rows", str(arguments.rows), "--json"]
            found = subprocess.run(command, check=True, capture_output=True, text=True)
            results.append(json.loads(found.stdout))
    for r in results:
        if arguments.json:
            print(json.dumps(r))
            continue
        print(
            f"k = {r['k']:6,}: rank {r['rank_ms']:.2f} ms, learn {r['learn_ms']:.2f} ms, "
            f"P@5 {r['precision_at_5']:.1f}, model {r['model_mb']:.0f} MB, process {r['peak_mb']:.0f} MB"
        )
    if arguments.plot:
        plot(results, arguments.plot)


if __name__ == "__main__":
    main()
