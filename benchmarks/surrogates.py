"""Ada.OLMR's other surrogate and other target: ``python benchmarks/surrogates.py [sets] --seeds 5``.

100 of the paper's trees, train then test (the test rows are ranked, then learned), in file order and shuffled within
train and within test. Rank loss and one-error of the drawn expert, mean and standard deviation over seeds, for the
paper's algorithm, for the univariate surrogate, and with Hedge judging by one-error. `change` is that from the paper's,
seed by seed, with its standard error. BOOSTLINE_DATA names the folder of the data.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

import boostline as bl

VARIANTS: dict[str, dict[str, str]] = {
    "paper": {},
    "univariate": {"surrogate": "univariate"},
    "one-error": {"target": "one_error"},
}
MEASURES = ("rank_loss", "one_error")


def measure(
    data: bl.data.Dataset, options: dict[str, str], seeds: int, n_learners: int, order: str
) -> dict[str, np.ndarray]:
    """Each measure of the test rows, per seed."""
    found: dict[str, list[float]] = {name: [] for name in MEASURES}
    for seed in range(seeds):
        learners = bl.learners.paper_trees(n_learners)
        model = bl.AdaOLMR(data.Y.shape[1], learners=learners, seed=seed, **options)
        result = bl.evaluate.train_then_test(model, data, order, seed, metrics=MEASURES)
        for name in MEASURES:
            found[name].append(result.metrics[name])
    return {name: np.array(values) for name, values in found.items()}


def compare(name: str, order: str, seeds: int, n_learners: int) -> list[dict[str, Any]]:
    data = bl.data.load(name)
    rows: list[dict[str, Any]] = []
    paper: dict[str, np.ndarray] = {}
    for title, options in VARIANTS.items():
        values = measure(data, options, seeds, n_learners, order)
        paper = paper or values
        row: dict[str, Any] = {"set": name, "order": order, "variant": title, "seeds": seeds}
        text = f"{name:10} {order:8} {title:10}"
        for measure_name, found in values.items():
            change = found - paper[measure_name]
            row[measure_name] = {
                "mean": found.mean(),
                "sd": found.std(ddof=1),
                "change": change.mean(),
                "error": change.std(ddof=1) / np.sqrt(seeds),
            }
            text += f"  {measure_name} {found.mean():.4f} ({found.std(ddof=1):.4f})"
            if title != "paper":
                text += f" change {change.mean():+.4f} +- {row[measure_name]['error']:.4f}"
        print(text, flush=True)
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=["emotions", "scene", "yeast", "m-reduced"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--learners", type=int, default=100)
    parser.add_argument("--out", help="write the figures as JSON")
    arguments = parser.parse_args()
    rows = [
        row
        for name in arguments.sets
        for order in ("file", "shuffled")
        for row in compare(name, order, arguments.seeds, arguments.learners)
    ]
    if arguments.out:
        with open(arguments.out, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
