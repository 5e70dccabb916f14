"""When does boosting help a strong learner? ``python benchmarks/strong_learners.py [sets] --seeds 3``.

Ten learners of one kind, shuffled rows, train then test (test rows are ranked, then learned). A learner follows the
labels (it is told which labels are relevant, whatever the costs) or the costs (it is told what the learners before it
left over). Trees are the paper's; those that follow labels are boosted with potentials of a hinge loss whose margin is
beyond N, which gives the same costs to all. Linear and kernel learners are recursive least squares on the features or
on random Fourier features: on the indicator of the relevant labels, or on the residual costs mean(c) - c.

Columns: rank loss of the first learner alone, of the plain sum of ten (OnlineBMR, edge="auto"), and of Ada.OLMR
(weighted experts); then the realised edges of the first and of the last learner under Ada.OLMR. BOOSTLINE_DATA names
the folder of the data.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

import boostline as bl
from boostline.losses import Hinge

N_LEARNERS = 10
SETS = ["emotions", "scene", "yeast", "m-reduced"]
KINDS = ["trees", "linear", "kernel"]


class LeastSquares:
    """Recursive least squares, with a vote that is a distribution.

    Parameters
    ----------
    follows : {"labels", "costs"}
        The target: 1 for relevant labels and 0 for others with weight 1; or the residual cost mean(c) - c.
    n_random : int
        Random Fourier features; 0 for the features as they are.
    """

    def __init__(
        self, n_labels: int, scale: tuple[Any, Any], follows: str, n_random: int, seed: int
    ) -> None:
        self.mean, self.deviation = scale
        self.follows, self.k = follows, n_labels
        rng = np.random.default_rng(seed)
        d = len(self.mean)
        # Every learner sees half of the features, so that ten are not one.
        self.kept = rng.choice(d, size=(d + 1) // 2, replace=False)
        self.width = len(self.kept)
        self.directions = rng.normal(size=(self.width, n_random)) / np.sqrt(self.width)
        self.phases = rng.uniform(0, 2 * np.pi, size=n_random)
        n = (n_random or self.width) + 1
        self.inverse = np.eye(n)
        self.weights = np.zeros((n, n_labels))

    def features(self, x: Any) -> NDArray[np.float64]:
        z = np.clip((np.nan_to_num(np.asarray(x)) - self.mean) / self.deviation, -5, 5)[self.kept]
        if len(self.phases):
            z = np.sqrt(2 / len(self.phases)) * np.cos(z @ self.directions + self.phases) * 3
        else:
            z = z / np.sqrt(self.width)
        return np.append(z, 1.0)

    def predict(self, x: Any) -> NDArray[np.float64]:
        raw = self.features(x) @ self.weights
        if self.follows == "costs":  # residuals are signed: what they add to an even vote
            raw = 1.0 / self.k + raw
        vote = np.maximum(raw, 0.0) + 1e-9
        return np.asarray(vote / vote.sum())

    def learn(self, x: Any, relevant: Any, costs: Any, weight: float) -> None:
        if self.follows == "labels":
            target, importance = np.asarray(relevant, float), 1.0
        else:
            target, importance = np.asarray(costs.mean() - costs), weight
        if importance <= 0.0:
            return
        z = self.features(x)
        gain = self.inverse @ z
        gain /= 1.0 / importance + z @ gain
        self.weights += np.outer(gain, target - z @ self.weights)
        self.inverse -= np.outer(gain, self.inverse @ z)


def learners_of(kind: str, follows: str, data: bl.data.Dataset, n: int, seed: int) -> Any:
    if kind == "trees":
        return bl.learners.paper_trees(n)
    train = np.nan_to_num(np.asarray(data.X[: data.n_train], float))
    deviation = train.std(axis=0)
    scale = train.mean(axis=0), np.where(deviation > 0, deviation, 1.0)
    k, n_random = data.Y.shape[1], {"linear": 0, "kernel": 200}[kind]
    return [LeastSquares(k, scale, follows, n_random, 1000 * seed + i) for i in range(n)]


def boosters(kind: str, follows: str, k: int, seed: int) -> dict[str, Any]:
    """Makers of the models of one row: (name, number of learners) -> model."""
    beyond = Hinge(margin=2.0 * N_LEARNERS)
    by_label = kind == "trees" and follows == "labels"
    plain: dict[str, Any] = {"edge": 0.01, "loss": beyond} if by_label else {"edge": "auto"}
    return {
        "alone": lambda learners: bl.OnlineBMR(k, learners=learners(1), seed=seed, **plain),
        "sum": lambda learners: bl.OnlineBMR(k, learners=learners(N_LEARNERS), seed=seed, **plain),
        "Ada.OLMR": None
        if by_label
        else lambda learners: bl.AdaOLMR(
            k, learners=learners(N_LEARNERS), expert="weighted", seed=seed
        ),
    }


def row(name: str, kind: str, follows: str, seeds: int) -> dict[str, Any]:
    data = bl.data.load(name)
    k = data.Y.shape[1]
    losses: dict[str, list[float]] = {}
    edges = []
    for seed in range(seeds):
        for title, make in boosters(kind, follows, k, seed).items():
            if make is None:
                continue
            model = make(lambda n, seed=seed: learners_of(kind, follows, data, n, seed))
            found = bl.evaluate.train_then_test(model, data, order="shuffled", seed=seed)
            losses.setdefault(title, []).append(found.rank_loss)
            if title == "Ada.OLMR":
                edges.append(model.edges()[[0, -1]])
    result: dict[str, Any] = {"set": name, "learners": kind, "follow": follows}
    for title, values in losses.items():
        result[title] = float(np.mean(values))
        gap = np.array(values) - np.array(losses["alone"])
        result[f"{title} - alone"] = float(gap.mean())
        result[f"error of {title}"] = float(gap.std(ddof=1) / np.sqrt(len(gap)))
    if edges:
        result["first edge"], result["last edge"] = (float(e) for e in np.mean(edges, axis=0))
    print(
        f"{name:10} {kind:7} {follows:7} alone {result['alone']:.4f}  sum of ten {result['sum']:.4f} "
        f"({result['sum - alone']:+.4f} ± {result['error of sum']:.4f})"
        + (
            f"  Ada.OLMR {result['Ada.OLMR']:.4f} ({result['Ada.OLMR - alone']:+.4f} ± "
            f"{result['error of Ada.OLMR']:.4f})  edges {result['first edge']:.3f}, {result['last edge']:.3f}"
            if edges
            else ""
        ),
        flush=True,
    )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--kinds", nargs="*", default=KINDS, choices=KINDS)
    parser.add_argument("--out", help="write the figures as JSON")
    arguments = parser.parse_args()
    rows = [
        row(name, kind, follows, arguments.seeds)
        for name in arguments.sets
        for kind in arguments.kinds
        for follows in ("labels", "costs")
    ]
    if arguments.out:
        with open(arguments.out, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
