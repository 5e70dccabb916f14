"""Top-k feedback: ``python benchmarks/topk.py [sets] --seeds 3 [--rows 10000] [--out topk.json] [--plot DIR]``.

Rank loss on the test rows of models that show k' labels of each train row and hear only of those, beside the same
models with all labels. Two questions: how the loss falls with the number of passes over the train rows (k' = 3, 2
labels swapped, exploration .02, as in the paper on top-k feedback), and how with k' in one pass. Rows are shuffled anew
for each seed, and in the same way for all models. ``--plot`` writes a chart for each question.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import boostline as bl
from boostline.display.charts import legend, panels, svg, title
from boostline.display.colours import SERIES
from boostline.metrics import rank_loss

SETS = ("emotions", "scene", "yeast", "m-reduced", "mediamill")
PASSES = (1, 2, 5, 10, 20)
RANKER_PASSES = 1  # it remembers rows, so that rows that come again say nothing about new ones
SHOWN, EXPLORATION = 3, 0.02

Make = Callable[[int, int], Any]  # from the number of labels and the seed


def trees() -> Any:
    return bl.learners.paper_trees(100)


def topk_models(n_shown: int, exploration: float = EXPLORATION) -> dict[str, Make]:
    options = {"n_shown": n_shown, "exploration": exploration}
    return {
        "TopkBMR": lambda k, seed: bl.TopkBMR(k, learners=trees(), seed=seed, **options),
        "TopkAdaptive": lambda k, seed: bl.TopkAdaptive(k, learners=trees(), seed=seed, **options),
        "LabelRanker": lambda k, seed: bl.Explorer(
            bl.LabelRanker(k, seed=seed), n_shown, n_explored=min(2, n_shown), seed=seed
        ),
    }


FULL: dict[str, Make] = {
    "TopkBMR": lambda k, seed: bl.OnlineBMR(k, learners=trees(), seed=seed),
    "TopkAdaptive": lambda k, seed: bl.AdaOLMR(k, learners=trees(), seed=seed),
    "LabelRanker": lambda k, seed: bl.LabelRanker(k, seed=seed),
}


def shown_sizes(k: int) -> list[int]:
    return [n for n in (3, 4, 6, 10, 16, 32, 64, 101) if n < k]


def runs(
    name: str, seed: int, most_rows: int, only: set[str], questions: set[str]
) -> Iterator[dict[str, Any]]:
    """One record for each model, setting and number of passes."""
    data = bl.data.load(name)
    rng = np.random.default_rng(seed)
    order = rng.permutation(data.train.X.shape[0])[:most_rows]
    X, Y = data.train.X[order], data.train.Y[order]
    Xt, Yt = data.test.X, data.test.Y
    if Xt.shape[0] > most_rows:
        some = np.random.default_rng(0).permutation(Xt.shape[0])[:most_rows]
        Xt, Yt = Xt[some], Yt[some]
    k = Y.shape[1]

    def learn(model: Any, question: str, label: str, passes: int, n_shown: int) -> Iterator[Any]:
        began = time.process_time()
        for i in range(1, passes + 1):
            model.learn(X, Y)
            if i in PASSES:
                loss = float(rank_loss(Yt, model.score(Xt)))
                seconds = time.process_time() - began
                record = dict(set=name, seed=seed, model=label, shown=n_shown, passes=i)
                yield {**record, "question": question, "loss": loss, "seconds": round(seconds, 2)}

    def wanted(models: dict[str, Make], question: str) -> list[tuple[str, Make]]:
        if questions and question not in questions:
            return []
        return [(label, make) for label, make in models.items() if not only or label in only]

    for label, make in wanted(FULL, "full"):
        yield from learn(make(k, seed), "full", label, 1, k)
    for label, make in wanted(topk_models(SHOWN), "passes"):
        passes = RANKER_PASSES if label == "LabelRanker" else PASSES[-1]
        yield from learn(make(k, seed), "passes", label, passes, SHOWN)
    for n_shown in shown_sizes(k)[1:]:
        for label, make in wanted(topk_models(n_shown), "shown"):
            yield from learn(make(k, seed), "shown", label, 1, n_shown)


def mean(records: list[dict[str, Any]], **wanted: Any) -> float:
    found = [r["loss"] for r in records if all(r[key] == value for key, value in wanted.items())]
    return float(np.mean(found)) if found else float("nan")


def table(records: list[dict[str, Any]]) -> str:
    lines = ["| set | model | all labels, 1 pass | " + " | ".join(f"{p}" for p in PASSES) + " |"]
    lines.append("|---|---|---:|" + "---:|" * len(PASSES))
    for name in dict.fromkeys(r["set"] for r in records):
        for label in FULL:
            full = mean(records, set=name, model=label, question="full")
            cells = [
                mean(records, set=name, model=label, question="passes", passes=p) for p in PASSES
            ]
            shown = " | ".join("" if np.isnan(c) else f"{c:.4f}" for c in cells)
            lines.append(f"| {name} | {label} | {full:.4f} | {shown} |")
    return "\n".join(lines)


def closeness(records: list[dict[str, Any]]) -> str:
    """How much of what all labels gain over a random order (rank loss .5) is gained from those that were shown."""

    def gained(loss: float, full: float) -> str:
        return "" if np.isnan(loss) else f"{100 * (0.5 - loss) / (0.5 - full):.0f} %"

    lines = [
        "| set (about half) | model | 3 shown, 1 pass | 3 shown, 20 passes | about half, 1 pass |"
    ]
    lines.append("|---|---|---:|---:|---:|")
    for name in dict.fromkeys(r["set"] for r in records):
        k = max(r["shown"] for r in records if r["set"] == name)
        half = min(shown_sizes(k), key=lambda n: abs(n - k / 2))
        for label in FULL:
            of = {"set": name, "model": label}
            full = mean(records, **of, question="full")
            passes = [mean(records, **of, question="passes", passes=p) for p in (1, PASSES[-1])]
            many = passes[0] if half == SHOWN else mean(records, **of, question="shown", shown=half)
            cells = " | ".join(gained(loss, full) for loss in (*passes, many))
            lines.append(f"| {name} ({half} of {k}) | {label} | {cells} |")
    return "\n".join(lines)


def plot(records: list[dict[str, Any]], folder: Path) -> None:
    names = list(dict.fromkeys(r["set"] for r in records))
    for question, field in (("passes", "passes"), ("shown", "shown")):
        figure, grid = panels(len(names), height=2.6, across=3)
        for axes, name in zip(grid, names, strict=True):
            of_set = [r for r in records if r["set"] == name]
            ticks = sorted({r[field] for r in of_set if r["question"] in (question, "passes")})
            for label, colour in zip(FULL, SERIES, strict=False):
                asked = [r for r in of_set if r["model"] == label and r["passes"] == 1]
                if question == "passes":
                    asked = [r for r in of_set if r["model"] == label and r["question"] == "passes"]
                places = sorted({r[field] for r in asked if r["question"] != "full"})
                losses = [
                    np.mean([r["loss"] for r in asked if r[field] == p and r["question"] != "full"])
                    for p in places
                ]
                axes.plot(places, losses, marker="o", markersize=3.5, color=colour, label=label)
                full = mean(of_set, model=label, question="full")
                axes.axhline(full, color=colour, linestyle=":", label=f"{label}, all labels")
            axes.set_xscale("log")
            axes.set_xticks(ticks, [str(p) for p in ticks], minor=False)
            axes.minorticks_off()
            what = "passes over the train rows" if question == "passes" else "labels shown"
            axes.set_xlabel(what)
            axes.set_ylabel("rank loss, test rows")
            title(axes, name)
        legend(figure)
        (folder / f"top-k-{question}.svg").write_text(svg(figure))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument(
        "--rows", type=int, default=10_000, help="at most so many rows of each part"
    )
    parser.add_argument("--models", default="", help="only these, with commas between")
    parser.add_argument("--questions", default="", help="of full, passes and shown, only these")
    parser.add_argument("--out", type=Path, help="records as JSON lines; adds to what is there")
    parser.add_argument("--plot", type=Path, help="folder for the charts; of all records in --out")
    arguments = parser.parse_args()
    only, questions = (
        {one for one in given.split(",") if one}
        for given in (arguments.models, arguments.questions)
    )
    records = []
    for name in arguments.sets:
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            for record in runs(name, seed, arguments.rows, only, questions):
                print(json.dumps(record), file=sys.stderr, flush=True)
                records.append(record)
                if arguments.out:
                    with arguments.out.open("a") as file:
                        file.write(json.dumps(record) + "\n")
    if arguments.out:
        records = [json.loads(line) for line in arguments.out.read_text().splitlines()]
    print(table(records), closeness(records), sep="\n\n")
    if arguments.plot:
        plot(records, arguments.plot)


if __name__ == "__main__":
    main()
