"""Real streams in the order of time: each row is ranked, and learned when its labels arrive.

    python benchmarks/live.py run                       every stream, every learner; goes on where it was stopped
    python benchmarks/live.py run arxiv --jobs 2        one stream, two processes
    python benchmarks/live.py table                     the last two thirds of each stream, as Markdown
    python benchmarks/live.py picture docs/live.svg     precision over the years

Learners are those of ``live_peers.py``: ours, ours frozen after the first tenth, a label tree (Omikuji) trained again
from scratch at fixed intervals, Vowpal Wabbit, AdaGrad, scikit-learn's networks, label frequencies. A learner with a
rate runs with each of its rates; the table has the best in hindsight. Per month, a file in ``results/live`` has the
sums of P@1, P@5, nDCG@5, rank loss and, where there are probabilities, log loss; and CPU time and memory per run.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from live_peers import LEARNERS, make
from live_streams import STREAMS, Stream, load

RESULTS = Path("results") / "live"
METRICS = ("P@1", "P@5", "nDCG@5", "rank loss", "log loss")
BLOCK = 250  # rows that are ranked and learned in one call where labels are not late
_DISCOUNTS = 1 / np.log2(np.arange(2, 7))


def judge(scores: Any, relevant: list[int], unknown: list[int], probabilities: Any) -> list[float]:
    """Return the metrics of one row. ``scores`` has a number for each label, -inf for those not ranked."""
    known = np.ones(len(scores), bool)
    known[unknown] = False
    is_relevant = np.zeros(len(scores), bool)
    is_relevant[relevant] = True
    ranked = np.where(known, scores, -np.inf)
    n_top = min(5, len(scores))
    top = np.argpartition(-ranked, n_top - 1)[:n_top]
    top = top[np.lexsort((top, -ranked[top]))]
    hits = is_relevant[top] & np.isfinite(ranked[top])
    ideal = _DISCOUNTS[: min(5, len(relevant))].sum()
    good, bad = ranked[is_relevant], np.sort(ranked[known & ~is_relevant])
    above = len(bad) - np.searchsorted(bad, good, "right")
    level = np.searchsorted(bad, good, "right") - np.searchsorted(bad, good, "left")
    loss = float((above + level / 2).sum() / max(1, len(good) * len(bad)))
    log_loss = np.nan
    if probabilities is not None:
        # A label that has not occurred so far has the least probability.
        p = np.clip(np.where(np.isfinite(probabilities), probabilities, 0.0), 1e-6, 1 - 1e-6)
        log_loss = float(-np.log(np.where(is_relevant, p, 1 - p))[known].mean())
    return [
        float(hits[0]),
        hits.sum() / 5,
        float(hits @ _DISCOUNTS[:n_top] / ideal),
        loss,
        log_loss,
    ]


def run(stream: Stream, learner: str) -> dict[str, Any]:
    """Rank each row, then learn those whose labels have arrived; rows without a relevant label are not judged."""
    model = make(learner, stream)
    sums: dict[str, Any] = {}
    seconds = 0.0
    step = 1 if stream.delay else BLOCK
    for first in range(0, len(stream), step):
        rows = range(first, min(first + step, len(stream)))
        start = time.process_time()
        scores, probabilities = model.rank_then_learn(rows)
        seconds += time.process_time() - start
        for i, row in enumerate(rows):
            if stream.labels[row]:
                of_row = judge(
                    scores[i],
                    stream.labels[row],
                    stream.unknown[row] if stream.unknown else [],
                    None if probabilities is None else probabilities[i],
                )
                period = sums.setdefault(stream.periods[row], {"rows": 0, "sums": [0.0] * 5})
                period["rows"] += 1
                period["sums"] = [a + b for a, b in zip(period["sums"], of_row, strict=True)]
    return {
        "stream": stream.name,
        "learner": learner,
        "rows": len(stream),
        "labels": stream.n_labels,
        "microseconds per row": 1e6 * seconds / len(stream),
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        "model MB": model.megabytes(),
        "periods": sums,
    }


def path_of(stream: str, learner: str) -> Path:
    return RESULTS / stream.replace(" ", "-") / f"{learner.replace(' ', '-')}.json"


def run_missing(streams: list[str], learners: list[str], jobs: int, rows: int | None) -> None:
    """Each run is a process of its own, so that its memory can be measured."""
    todo = [(s, m) for s in streams for m in learners if not path_of(s, m).exists()]
    print(f"{len(todo)} runs, {jobs} at a time; finished ones are kept in {RESULTS}")

    def one(job: tuple[str, str]) -> None:
        command = [sys.executable, __file__, "one", *job, *(["--rows", str(rows)] if rows else [])]
        done = subprocess.run(command, check=False, capture_output=True)  # label trees print much
        reason = done.stderr.decode(errors="replace").strip().rpartition("\n")[2][-200:]
        print(
            "failed:" if done.returncode else "done:",
            *job,
            reason * bool(done.returncode),
            flush=True,
        )

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, todo))


def finished() -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*/*.json"))]


def means(result: dict[str, Any], skip: float = 1 / 3) -> list[float]:
    """Return the mean of each metric over the rows after the first third."""
    periods = list(result["periods"].values())
    n = np.array([p["rows"] for p in periods])
    counts = np.cumsum(n) > skip * n.sum()
    sums = np.array([p["sums"] for p in periods])
    return list(sums[counts].sum(axis=0) / n[counts].sum())


def best_rates(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep the rate with the highest P@1 of each learner and stream."""
    best: dict[tuple[str, str], dict[str, Any]] = {}
    for result in results:
        key = result["stream"], result["learner"].split(" rate ")[0]
        if key not in best or means(result)[0] > means(best[key])[0]:
            best[key] = result
    return list(best.values())


def table() -> None:
    for stream in STREAMS:
        results = [r for r in best_rates(finished()) if r["stream"] == stream]
        if not results:
            continue
        first = results[0]
        print(f"\n**{stream}**, {first['rows']:,} rows, {first['labels']:,} labels\n")
        print("| | P@1 | P@5 | nDCG@5 | rank loss | log loss | us per row | peak MB |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|")
        for result in sorted(results, key=lambda r: -means(r)[0]):
            p1, p5, ndcg, loss, log_loss = means(result)
            has_log = np.isfinite(log_loss)
            print(
                f"| {result['learner']} | {100 * p1:.1f} | {100 * p5:.1f} | {ndcg:.3f} | {loss:.4f} | "
                f"{f'{log_loss:.4f}' if has_log else '-'} | {result['microseconds per row']:,.0f} | "
                f"{result['peak MB']:,.0f} |"
            )


def picture(path: Path, streams: tuple[str, ...] = ("arxiv", "pkgsrc labels", "nuclei")) -> None:
    """Draw P@1 over time: ours learning, ours frozen, the best retrained label tree."""
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10})
    lines = {
        "ours": ("#2a78d6", "boostline, learning"),
        "label tree retrained": ("#d6632a", "label tree, retrained from scratch"),
        "ours frozen": ("#8a8f98", "boostline, not updated after the first tenth"),
    }
    figure, axes = plt.subplots(1, len(streams), figsize=(11, 3.4), sharey=True)
    for axis, stream in zip(np.atleast_1d(axes), streams, strict=True):
        for result in finished():
            colour_and_name = lines.get(result["learner"])
            if result["stream"] != stream or colour_and_name is None:
                continue
            periods = list(result["periods"].values())
            edges = np.cumsum([p["rows"] for p in periods])
            group = np.minimum(25 * edges // edges[-1], 24)  # 25 spans with as many rows each
            hits = np.bincount(group, [p["sums"][0] for p in periods], 25)
            rows = np.bincount(group, [p["rows"] for p in periods], 25)
            filled = rows > 0
            axis.plot(
                np.flatnonzero(filled) / 24,
                100 * hits[filled] / rows[filled],
                color=colour_and_name[0],
                label=colour_and_name[1],
                linewidth=2,
            )
            names = [p[:4] for p in result["periods"]]
            axis.set_xticks(
                [0, 0.5, 1],
                [names[0], names[int(np.searchsorted(edges, edges[-1] / 2))], names[-1]],
            )
        axis.set_title(stream, fontsize=10, color="#8a8f98")
        axis.grid(axis="y", alpha=0.25)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
        axis.tick_params(colors="#8a8f98")
        for spine in axis.spines.values():
            spine.set_color("#8a8f98")
    first = np.atleast_1d(axes)[0]
    first.set_ylabel("first label correct, %", color="#8a8f98")
    figure.legend(
        *first.get_legend_handles_labels(),
        ncols=3,
        loc="upper center",
        frameon=False,
        labelcolor="#8a8f98",
    )
    figure.tight_layout(rect=(0, 0, 1, 0.9))
    figure.savefig(path, transparent=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    of_run = commands.add_parser("run")
    of_run.add_argument("streams", nargs="*", default=[s for s in STREAMS if s != "sample"])
    of_run.add_argument("--learners", nargs="*", default=list(LEARNERS))
    of_run.add_argument("--jobs", type=int, default=1)
    of_run.add_argument("--rows", type=int)
    of_one = commands.add_parser("one")
    of_one.add_argument("stream")
    of_one.add_argument("learner")
    of_one.add_argument("--rows", type=int)
    commands.add_parser("table")
    commands.add_parser("picture").add_argument("path", type=Path)
    options = parser.parse_args()
    if options.command == "run":
        run_missing(options.streams, options.learners, options.jobs, options.rows)
    elif options.command == "one":
        result = run(load(options.stream, options.rows), options.learner)
        path = path_of(options.stream, options.learner)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result))
    elif options.command == "table":
        table()
    else:
        picture(options.path)


if __name__ == "__main__":
    main()
