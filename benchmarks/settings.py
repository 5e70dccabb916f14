"""Chooses the settings of the default on train rows alone: ``python benchmarks/settings.py``.

No test row is read. The train rows of every set are shuffled (scene's are sorted by class), the model passes over them
once, and the mean rank loss over the last third counts. Each setting is changed alone, the others staying at
the default. What counts is the mean over the sets of log(loss / loss of the default), each with the same shuffles and
seeds; its standard error is over shuffles. The rule, fixed beforehand: a value takes the default's place if it is
better by more than two standard errors and by more than half a percent, and the mix stays within the cost that was
asked for (CPU per row, and memory that is constant in the number of rows). mediamill gives 5,000 of its train rows,
drawn anew for each shuffle.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import boostline as bl
from boostline.learners import Committee, Recency, paper_trees
from boostline.learners.committee import MEMBERS

SETS = ("emotions", "scene", "yeast", "m-reduced", "mediamill", "enron", "bibtex")
SHUFFLES = {"emotions": 10, "scene": 5, "yeast": 5, "m-reduced": 5, "enron": 5}  # others 3
MOST_ROWS = 5000


def mix(
    trees: int = 0,
    decays: tuple[float, ...] = (1.0, 0.9, 0.5),
    members: Sequence[Any] = MEMBERS,
) -> list[Any]:
    found = [Committee(members), *(Recency(decay) for decay in decays)]
    return [*found, paper_trees(trees, max_bytes=2**21)] if trees else found


def variants() -> dict[str, list[Any]]:
    """What each candidate gives as learners; what they are compared with comes first."""
    found: dict[str, list[Any]] = {"default": bl.learners.auto_mix()}
    # A setting, and the kinds of the members that have it.
    grid: dict[tuple[str, tuple[str, ...]], tuple[Any, ...]] = {
        ("n_landmarks", ("kernel",)): (500, 700, 1200, 1500),
        ("ridge", ("kernel",)): (0.1, 0.2, 0.5, 1.0),
        ("n_replays", ("linear",)): (4, 8, 32),
        ("memory", ("linear", "neighbours", "output_neighbours")): (1000, 2000, 8000),
        ("learning_rate", ("linear",)): (0.1, 0.2, 0.5),
        ("ridge", ("ridge",)): (0.3, 1.0, 10.0, 30.0),
        ("n_neighbours", ("neighbours", "output_neighbours")): (10, 20, 80),
    }
    for (name, kinds), values in grid.items():
        for value in values:
            changed = [replace(m, **{name: value}) if m.kind in kinds else m for m in MEMBERS]
            found[f"{name} of {kinds[0]}={value}"] = mix(members=changed)
    for member in MEMBERS:
        left = [m for m in MEMBERS if m is not member and m.reads != (member.kind,)]
        found[f"without {member.kind}"] = mix(members=left)
    for decays in ((1.0,), (0.9, 0.5), (1.0, 0.99, 0.9, 0.5)):
        found[f"recency {decays}"] = mix(decays=decays)
    for n in (5, 10, 20, 40):
        found[f"and {n} trees"] = mix(n)
    return found


def train_rows(name: str, shuffle: int) -> tuple[Any, np.ndarray]:
    data = bl.data.load(name)
    order = np.random.default_rng([shuffle, 7]).permutation(data.n_train)[:MOST_ROWS]
    return data.X[order], data.Y[order]


def tail_loss(name: str, shuffle: int, learners: list[Any]) -> tuple[float, float]:
    """Mean rank loss over the last third of the train rows, ranked before they are learned, and CPU ms per row."""
    X, Y = train_rows(name, shuffle)
    model = bl.LabelRanker(Y.shape[1], learners=learners, seed=shuffle)
    cpu = time.process_time()
    scores = model.learn(X, Y)
    cpu = time.process_time() - cpu
    start = 2 * len(Y) // 3
    loss = bl.metrics.rank_loss(Y[start:], scores[start:])
    return loss, 1e3 * cpu / len(Y)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--only", help="only candidates whose name contains this")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", help="write the figures as JSON")
    arguments = parser.parse_args()
    candidates = {
        title: learners
        for title, learners in variants().items()
        if title == "default" or not arguments.only or arguments.only in title
    }
    tasks = [(name, s) for name in arguments.sets for s in range(SHUFFLES.get(name, 3))]
    results: list[dict[str, Any]] = []
    for title, learners in candidates.items():
        found = Parallel(arguments.jobs)(delayed(tail_loss)(n, s, learners) for n, s in tasks)
        losses = {
            n: [f[0] for t, f in zip(tasks, found, strict=True) if t[0] == n]
            for n in arguments.sets
        }
        ms = {
            n: float(np.mean([f[1] for t, f in zip(tasks, found, strict=True) if t[0] == n]))
            for n in arguments.sets
        }
        results.append({"candidate": title, "losses": losses, "ms": ms} | against(losses, results))
        report(results[-1])
        if arguments.out:
            with open(arguments.out, "w") as file:
                json.dump(results, file, indent=1)


def against(losses: dict[str, list[float]], results: list[dict[str, Any]]) -> dict[str, float]:
    """Percent by which it is worse than the default (less than 0: better), and the standard error."""
    if not results:
        return {"worse": 0.0, "error": 0.0}
    means, variances = [], []
    for name, found in losses.items():
        ratio = np.log(np.array(found) / np.array(results[0]["losses"][name]))
        means.append(ratio.mean())
        variances.append(ratio.var(ddof=1) / len(ratio))
    error = np.sqrt(np.sum(variances)) / len(means)
    return {"worse": 100 * float(np.mean(means)), "error": 100 * float(error)}


def report(row: dict[str, Any]) -> None:
    losses = "  ".join(f"{name} {np.mean(found):.4f}" for name, found in row["losses"].items())
    better = row["worse"] < -max(2 * row["error"], 0.5)
    print(
        f"{row['candidate']:22} {row['worse']:+6.2f} % +- {row['error']:.2f}{' BETTER' if better else ''}   {losses}   "
        f"ms {max(row['ms'].values()):.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
