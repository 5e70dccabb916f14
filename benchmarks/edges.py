"""OnlineBMR with edge="auto" against the paper's fixed edges: ``python benchmarks/edges.py [sets] --seeds 10``.

100 of the paper's trees, train then test (the test rows are ranked, then learned), mean rank loss over seeds and CPU
seconds of one run. `auto - best` compares with the fixed edge whose mean is the smallest, found in hindsight; its
standard error is that of the difference seed by seed (the trees of a seed are the same). BOOSTLINE_DATA names the
folder of the data.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

import boostline as bl

SMALL, LARGE = (0.2, 0.1, 0.01, 0.001), (0.05, 0.01, 0.005, 0.001)
ALLOWANCE = 0.003


def paper_edges(n_labels: int) -> tuple[float, ...]:
    """The grid that the paper searched."""
    return SMALL if n_labels < 50 else LARGE


def measure(
    data: bl.data.Dataset, edge: float | str, seeds: int, n_learners: int, order: str
) -> tuple[np.ndarray, float, float]:
    """Losses per seed, mean CPU seconds of a run, mean of the edge at its end."""
    found, last = [], []
    cpu = time.process_time()
    for seed in range(seeds):
        learners = bl.learners.paper_trees(n_learners)
        model = bl.OnlineBMR(data.Y.shape[1], learners=learners, edge=edge, seed=seed)
        result = bl.evaluate.train_then_test(model, data, order=order, seed=seed)
        found.append(result.rank_loss)
        last.append(model.edge)
    return np.array(found), (time.process_time() - cpu) / seeds, float(np.mean(last))


def compare(name: str, seeds: int, n_learners: int, order: str) -> dict[str, Any]:
    data = bl.data.load(name)
    row: dict[str, Any] = {"set": name, "order": order, "seeds": seeds, "fixed": {}}
    losses = {}
    for edge in (*paper_edges(data.Y.shape[1]), "auto"):
        losses[edge], seconds, last = measure(data, edge, seeds, n_learners, order)
        entry = {"loss": losses[edge].mean(), "sd": losses[edge].std(ddof=1), "seconds": seconds}
        if edge == "auto":
            row["auto"] = entry | {"last edge": last}
        else:
            row["fixed"][edge] = entry
        print(
            f"{name:10} {order:8} edge {edge!s:5} loss {entry['loss']:.4f} ({entry['sd']:.4f})  "
            f"{seconds:.2f} s" + (f"  ends at edge {last:.4f}" if edge == "auto" else ""),
            flush=True,
        )
    best = min(row["fixed"], key=lambda e: row["fixed"][e]["loss"])
    gap = losses["auto"] - losses[best]
    row |= {
        "best": best,
        "gap": gap.mean(),
        "gap error": gap.std(ddof=1) / np.sqrt(seeds),
        "cost": row["auto"]["seconds"] / np.mean([e["seconds"] for e in row["fixed"].values()]),
    }
    print(
        f"{name:10} {order:8} auto - best ({best}) {row['gap']:+.4f} +- {row['gap error']:.4f}, "
        f"CPU {row['cost']:.2f} times one fixed edge: "
        + ("kept" if row["gap"] <= ALLOWANCE else f"MISSED the allowance of {ALLOWANCE}"),
        flush=True,
    )
    return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    everything = ["emotions", "scene", "yeast", "m-reduced", "mediamill"]  # the last takes an hour
    parser.add_argument("sets", nargs="*", default=everything)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--learners", type=int, default=100)
    parser.add_argument("--order", choices=["file", "shuffled"], default="file")
    parser.add_argument("--out", help="write the figures as JSON")
    arguments = parser.parse_args()
    rows = [
        compare(n, arguments.seeds, arguments.learners, arguments.order) for n in arguments.sets
    ]
    if arguments.out:
        with open(arguments.out, "w") as file:
            json.dump(rows, file, indent=1)
    if any(row["gap"] > ALLOWANCE for row in rows):
        raise SystemExit(f"edge='auto' is worse than the best fixed edge by more than {ALLOWANCE}")


if __name__ == "__main__":
    main()
