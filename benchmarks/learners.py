"""What each learner of the default is worth: ``python benchmarks/learners.py [sets] --shuffles 5``.

For every data set, in file order and shuffled within train and within test (mean over shuffles): each member alone,
each one left out, the boosted mix, the plain unboosted mean of the same votes, the mix frozen after train, and the
paper's 100 trees. Train-only figures (``--train-only``: the last third of the train rows plays the test) are there to
decide defaults. Rank loss, ties one half; the online models go on learning on the test rows, batch learners do not.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import boostline as bl
from boostline.learners import Committee, Recency
from boostline.learners.committee import MEMBERS

RECENCY = [Recency(1.0), Recency(0.9), Recency(0.5)]


class PlainMean:
    """The unboosted mean of the learners' votes; the recency learners are left out."""

    def __init__(self, n_labels: int, seed: int) -> None:
        self.model = bl.LabelRanker(n_labels, learners=[Committee()], drift=None, seed=seed)
        self.n_labels = n_labels

    def score(self, x: Any) -> np.ndarray:
        return self.model.votes(x).mean(axis=-2)

    def learn(self, x: Any, relevant: Any) -> np.ndarray:
        scores = []
        for i in range(len(relevant)):
            row = x[i : i + 1]
            scores.append(self.score(row)[0])
            self.model.learn(row, relevant[i : i + 1])
        return np.array(scores)


def alone(part: str) -> list[Any]:
    (reads,) = (m.reads for m in MEMBERS if m.kind == part)
    needed = [m for m in MEMBERS if m.kind == part or m.kind in reads]
    # whatever the number of features: here each member is to show what it can do
    return [Committee(needed, few_features=10**9)]


class OneVote:
    """One vote of a committee, without boosting."""

    def __init__(self, n_labels: int, learners: list[Any], seed: int) -> None:
        self.model = bl.LabelRanker(n_labels, learners=learners, drift=None, seed=seed)
        self.n_labels = n_labels

    def learn(self, x: Any, relevant: Any) -> np.ndarray:
        scores = []
        for i in range(len(relevant)):
            row = x[i : i + 1]
            scores.append(self.model.votes(row)[0, -1])
            self.model.learn(row, relevant[i : i + 1])
        return np.array(scores)

    def score(self, x: Any) -> np.ndarray:
        return self.model.votes(x)[:, -1]


def without(part: str) -> list[Any]:
    """The default without one member, and without those that need it."""
    left = [m for m in MEMBERS if m.kind != part and m.reads != (part,)]
    return [Committee(left), *RECENCY]


def mixed(learners: list[Any]) -> Callable[[int, int], Any]:
    return lambda k, seed: bl.LabelRanker(k, learners=learners, seed=seed)


def models(which: str) -> dict[str, Callable[[int, int], Any]]:
    found: dict[str, Callable[[int, int], Any]] = {"mix": lambda k, s: bl.LabelRanker(k, seed=s)}
    if which == "mix":
        return found
    found["plain mean"] = PlainMean
    mix = bl.learners.auto_mix()
    found["OnlineBMR, same learners"] = lambda k, s: bl.OnlineBMR(k, learners=mix, seed=s)
    found["Ada.OLMR, same learners"] = lambda k, s: bl.AdaOLMR(k, learners=mix, seed=s)
    found["100 paper trees"] = lambda k, s: bl.AdaOLMR(
        k, learners=bl.learners.paper_trees(100), seed=s
    )
    for part in (m.kind for m in MEMBERS):
        found[f"{part} alone"] = lambda k, s, p=part: OneVote(k, alone(p), s)
    for part in (m.kind for m in MEMBERS):
        found[f"without {part}"] = mixed(without(part))
    found["without recency"] = mixed([Committee()])
    return found


def train_part(data: bl.data.Dataset) -> bl.data.Dataset:
    n = data.n_train
    return bl.data.Dataset(
        data.X[:n], data.Y[:n], 2 * n // 3, data.labels, data.features, data.name
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "sets", nargs="*", default=["emotions", "scene", "yeast", "m-reduced", "enron", "bibtex"]
    )
    parser.add_argument("--shuffles", type=int, default=5)
    parser.add_argument("--which", choices=["mix", "all"], default="all")
    parser.add_argument("--train-only", action="store_true")
    parser.add_argument("--out", help="write the figures as JSON")
    arguments = parser.parse_args()
    results = []
    for name in arguments.sets:
        data = bl.data.load(name)
        if arguments.train_only:
            data = train_part(data)
        for title, make in models(arguments.which).items():
            for freeze in (False, True) if title == "mix" else (False,):
                row = measure(data, make, arguments.shuffles, freeze)
                row |= {"set": name, "model": title + (", frozen after train" if freeze else "")}
                results.append(row)
                print(
                    f"{name:10} {row['model']:36} shuffled {row['shuffled']:.4f} ({row['sd']:.4f})  "
                    f"file {row['file']:.4f}  {row['ms']:.2f} ms",
                    flush=True,
                )
                if arguments.out:
                    with open(arguments.out, "w") as file:
                        json.dump(results, file, indent=1)


def measure(
    data: bl.data.Dataset, make: Callable[[int, int], Any], shuffles: int, freeze: bool
) -> dict[str, float]:
    k = data.Y.shape[1]
    cpu = time.process_time()
    in_order = bl.evaluate.train_then_test(make(k, 0), data, freeze=freeze).rank_loss
    losses = [
        bl.evaluate.train_then_test(
            make(k, s), data, order="shuffled", seed=s, freeze=freeze
        ).rank_loss
        for s in range(1, shuffles + 1)
    ]
    cpu = time.process_time() - cpu
    return {
        "shuffled": float(np.mean(losses)) if losses else float("nan"),
        "sd": float(np.std(losses)) if losses else float("nan"),
        "file": in_order,
        "ms": 1e3 * cpu / (len(data) * (shuffles + 1)),
    }


if __name__ == "__main__":
    main()
