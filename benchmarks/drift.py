"""Streams that change: ``python benchmarks/drift.py [streams] --seeds 2 [--out drift.json] [--plot drift.svg]``.

Rank loss on the second half of each stream, one pass, for the recommended model, recursive ridge regression with
forgetting and scikit-learn's perceptron with ``partial_fit``, these two with the rate that is best in hindsight.
``--moa`` runs MOA's generators instead (moa_streams.py), with River's adaptive random forest, one per label, beside
the others, the better of two settings.
``--abrupt`` measures instead how a change at one moment is overcome: the mean loss before it, over rows 0 to 100, 100
to 500 and 500 to 1,000 after it, and the last divided by that of a fresh model that starts at the change.
``--long 2000000`` lets the model learn that many rows of the first stream and shows loss, memory and
time of each tenth.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable

import moa_streams
import numpy as np
from numpy.typing import NDArray
from sklearn.neural_network import MLPClassifier

import boostline as bl
from boostline.display.charts import legend, panels, svg, title
from boostline.display.colours import SERIES

Array = NDArray[np.float64]
Stream = tuple[Array, NDArray[np.bool_]]
ROWS, MOA_ROWS = 20_000, 6_000


def turning(first: Array, second: Array, period: float) -> Array:
    angle = 2 * np.pi * np.arange(len(first))[:, None] / period
    return np.cos(angle) * first + np.sin(angle) * second


def rotating(seed: int, period: float) -> Stream:
    """Linear scores that turn once in a period."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(10, 6)), rng.normal(size=(10, 6))
    X = rng.normal(size=(ROWS, 10))
    Z = turning(X @ A, X @ B, period)
    return X, Z + 0.3 * rng.normal(size=Z.shape) > 1.5


def network_turning(seed: int) -> Stream:
    """A network with 24 hidden units whose second layer turns once in 15,000 rows."""
    rng = np.random.default_rng(seed)
    U, b = 1.5 * rng.normal(size=(12, 24)) / np.sqrt(12), rng.normal(size=24)
    A, B = rng.normal(size=(24, 8)) / 2, rng.normal(size=(24, 8)) / 2
    X = rng.normal(size=(ROWS, 12))
    H = np.tanh(X @ U + b)
    Z = turning(H @ A, H @ B, 15_000)
    return X, Z + 0.2 * rng.normal(size=Z.shape) > 1.2


def inputs_walking(seed: int) -> Stream:
    """Wavy scores that stay; the mean of the features moves by 12 in one direction."""
    rng = np.random.default_rng(seed)
    U, b = rng.normal(size=(8, 16)), 2 * np.pi * rng.random(16)
    V = rng.normal(size=(16, 6)) / 2
    X, way = rng.normal(size=(ROWS, 8)), rng.normal(size=8)
    X = X + 12 * np.arange(ROWS)[:, None] / ROWS * way / np.linalg.norm(way)
    Z = np.sin(0.6 * (X @ U) + b) @ V
    return X, Z + 0.2 * rng.normal(size=Z.shape) > 0.8


def taking_turns(seed: int) -> Stream:
    """Two linear truths that change places every 2,500 rows."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(10, 6)), rng.normal(size=(10, 6))
    X = rng.normal(size=(ROWS, 10))
    Z = np.where((np.arange(ROWS) // 2500 % 2 == 0)[:, None], X @ A, X @ B)
    return X, Z + 0.3 * rng.normal(size=Z.shape) > 1.5


def handed_over(seed: int) -> Stream:
    """Between rows 5,000 and 15,000 more and more rows follow another linear truth."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(10, 6)), rng.normal(size=(10, 6))
    X = rng.normal(size=(ROWS, 10))
    second = rng.random(ROWS) < (np.arange(ROWS) - 5000) / 10_000
    Z = np.where(second[:, None], X @ B, X @ A)
    return X, Z + 0.3 * rng.normal(size=Z.shape) > 1.5


def frequencies_swinging(seed: int) -> Stream:
    """Linear scores that stay; each label becomes frequent and rare again once in 8,000 rows, at its own time."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 10))
    phase = 2 * np.pi * (np.arange(ROWS)[:, None] / 8000 + rng.random(6))
    Z = X @ rng.normal(size=(10, 6)) + 3 * np.sin(phase)
    return X, Z + 0.3 * rng.normal(size=Z.shape) > 3.0


STREAMS: dict[str, Callable[[int], Stream]] = {
    "rotating, period 6,000": lambda seed: rotating(seed, 6000),
    "rotating, 60,000": lambda seed: rotating(seed, 60_000),
    "network turning": network_turning,
    "inputs walking": inputs_walking,
    "taking turns": taking_turns,
    "handed over": handed_over,
    "frequencies swinging": frequencies_swinging,
}

MOA_STREAMS: dict[str, Callable[[int], Stream]] = {
    f"{generator}, {change}": lambda seed, g=generator, c=change: moa_streams.make(  # type: ignore[misc]
        g, c, seed, MOA_ROWS
    )
    for generator in moa_streams.GENERATORS
    for change in moa_streams.CHANGES
}


def ridge(X: Array, Y: Array, forgetting: float) -> Array:
    d = X.shape[1] + 1
    P, W, scores = np.eye(d), np.zeros((d, Y.shape[1])), np.empty(Y.shape)
    for t, x in enumerate(X):
        z = np.append(x, 1.0)
        scores[t] = z @ W
        g = P @ z
        c = forgetting + z @ g
        W += np.outer(g / c, Y[t] - scores[t])
        P = (P - np.outer(g, g) / c) / forgetting
        P = (P + P.T) / 2
    return scores


def perceptron(X: Array, Y: Array, rate: float) -> Array:
    scores = np.zeros(Y.shape)
    model = MLPClassifier((100,), learning_rate_init=rate, random_state=0)
    for t in range(0, len(X), 8):
        if t:
            scores[t : t + 8] = model.predict_proba(X[t : t + 8])
        labels = np.arange(Y.shape[1]) if t == 0 else None
        model.partial_fit(X[t : t + 8], Y[t : t + 8].astype(int), classes=labels)
    return scores


def forest(X: Array, Y: NDArray[np.bool_], n_trees: int, features: str) -> Array:
    from river.forest import ARFClassifier

    models = [ARFClassifier(n_trees, max_features=features, seed=0) for _ in Y.T]
    scores = np.zeros(Y.shape)
    for t, (row, relevant) in enumerate(zip(X, Y, strict=True)):
        x = dict(enumerate(row))
        for label, model in enumerate(models):
            scores[t, label] = model.predict_proba_one(x).get(True, 0.0)
            model.learn_one(x, bool(relevant[label]))
    return scores


def best(losses: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    return min(losses, key=lambda rows: float(np.nanmean(rows[len(rows) // 2 :])))


def compare(X: Array, Y: NDArray[np.bool_], with_forest: bool) -> dict[str, NDArray[np.float64]]:
    loss = bl.metrics.rank_loss_rows
    rates = (0.98, 0.99, 0.995, 0.999, 0.9998)
    found = {
        "LabelRanker": loss(Y, bl.LabelRanker(Y.shape[1], seed=0).learn(X, Y)),
        "ridge regression with forgetting": best([loss(Y, ridge(X, 1.0 * Y, f)) for f in rates]),
        "perceptron": best([loss(Y, perceptron(X, Y, rate)) for rate in (0.001, 0.005)]),
    }
    if with_forest:
        settings = ((10, "sqrt"), (10, "log2"))
        found["adaptive random forest"] = best([loss(Y, forest(X, Y, *s)) for s in settings])
    return found


KINDS = (
    "labels permuted",
    "truth inverted",
    "other truth",
    "other frequencies",
    "labels appear",
    "labels vanish",
)
WINDOWS = ((-500, 0), (0, 100), (100, 500), (500, 1000))  # in rows after the change


def abrupt_stream(seed: int, kind: str, at: int) -> Stream:
    """One change after `at` rows, and 1,000 rows more."""
    rng = np.random.default_rng(seed)
    d, k, n = 10, 6, at + 1000
    A, B = rng.normal(size=(d, k)), rng.normal(size=(d, k))
    X, noise = rng.normal(size=(n, d)), 0.3 * rng.normal(size=(n, k))
    Z = X @ A
    if kind == "labels permuted":
        Z[at:] = X[at:] @ np.roll(A, 1, axis=1)
    elif kind == "truth inverted":
        Z[at:] *= -1
    elif kind == "other truth":
        Z[at:] = X[at:] @ B
    elif kind == "other frequencies":  # the frequent labels become rare, and the rare ones frequent
        shift = np.linspace(-3, 3, k)
        Z[:at] += shift
        Z[at:] -= shift
    elif kind == "labels appear":  # two that had never been relevant
        Z[:at, :2] = -np.inf
    elif kind == "labels vanish":
        Z[at:, :2] = -np.inf
    return X, Z + noise > 1.0


def abrupt(seed: int, kind: str, at: int) -> list[float]:
    """The mean loss in each window; last, that of a fresh model that starts at the change, in the last window."""
    X, Y = abrupt_stream(seed, kind, at)
    model, fresh = (bl.LabelRanker(Y.shape[1], seed=seed) for _ in range(2))
    rows = bl.metrics.rank_loss_rows(Y, model.learn(X, Y))
    of_fresh = bl.metrics.rank_loss_rows(Y[at:], fresh.learn(X[at:], Y[at:]))
    found = [float(np.nanmean(rows[at + first : at + last])) for first, last in WINDOWS]
    return [*found, float(np.nanmean(of_fresh[500:]))]


def long(n: int) -> list[dict[str, float]]:
    """Learn n rows of linear scores that turn once in 6,000; loss, memory and CPU time of each tenth."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(10, 6)), rng.normal(size=(10, 6))
    model, found = bl.LabelRanker(6, seed=0), []
    for tenth in range(10):
        losses, started = [], time.process_time()
        for at in range(tenth * n // 10, (tenth + 1) * n // 10, 2000):
            X = rng.normal(size=(2000, 10))
            angle = 2 * np.pi * (at + np.arange(2000))[:, None] / 6000
            Z = np.cos(angle) * (X @ A) + np.sin(angle) * (X @ B)
            Y = Z + 0.3 * rng.normal(size=Z.shape) > 1.5
            scores = model.learn(X, Y)
            if not np.isfinite(scores).all():
                raise AssertionError(f"scores that are not finite near row {at}")
            losses.append(np.nanmean(bl.metrics.rank_loss_rows(Y, scores)))
        part = {
            "rows": float(model.clock),
            "rank loss": float(np.mean(losses)),
            "MB": model.memory_usage() / 1e6,
            "microseconds per row": (time.process_time() - started) / (n // 10) * 1e6,
            "restarts": float(model.n_restarts),
        }
        found.append(part)
        print({name: round(value, 4) for name, value in part.items()}, flush=True)
    return found


def plot(curves: dict[str, dict[str, NDArray[np.float64]]], path: str) -> None:
    """Draw the loss over time, the mean of 40 pieces of each stream."""
    figure, axes = panels(len(curves), 2.4, across=2)
    for panel, (name, models) in zip(axes, curves.items(), strict=True):
        for (model, rows), colour in zip(models.items(), SERIES, strict=False):
            pieces = rows.reshape(40, -1)
            places = (np.arange(40) + 0.5) * pieces.shape[1]
            panel.plot(places, np.nanmean(pieces, axis=1), label=model, color=colour, lw=1.4)
        panel.set(xlabel="rows", ylabel="rank loss", yscale="log")
        panel.set_xticks(
            np.linspace(0, len(rows), 5), [f"{n:,.0f}" for n in np.linspace(0, len(rows), 5)]
        )
        title(panel, name)
    legend(figure)
    with open(path, "w", encoding="utf-8") as file:
        file.write(svg(figure))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("streams", nargs="*", help="default: all")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--abrupt", action="store_true")
    parser.add_argument("--moa", action="store_true", help="MOA's generators")
    parser.add_argument("--long", type=int, help="so many rows of one stream")
    parser.add_argument("--out", help="write the figures as JSON")
    parser.add_argument("--plot", help="draw the losses over time, of the last seed")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")  # the perceptron's, about batches of 8
    results: dict[str, object] = {}
    if arguments.long:
        results["long"] = long(arguments.long)
    elif arguments.abrupt:
        for kind in KINDS:
            for at in (2000, 10_000):
                found = np.array([abrupt(seed, kind, at) for seed in range(arguments.seeds)])
                results[f"{kind} at {at}"] = found.tolist()
                ratios = found[:, -2] / found[:, -1]
                shown = " ".join(f"{value:.3f}" for value in found.mean(axis=0))
                print(
                    f"{kind:18} at {at:6}: {shown}; {ratios.mean():.2f} (most {ratios.max():.2f})"
                )
    else:
        curves = {}
        streams = MOA_STREAMS if arguments.moa else STREAMS
        for name in arguments.streams or streams:
            runs = [compare(*streams[name](s), arguments.moa) for s in range(arguments.seeds)]
            curves[name] = runs[-1]
            results[name] = {
                model: [float(np.nanmean(run[model][len(run[model]) // 2 :])) for run in runs]
                for model in runs[0]
            }
            shown = {m: f"{np.mean(v):.4f}" for m, v in results[name].items()}  # type: ignore[attr-defined]
            print(f"{name:24}", shown, flush=True)
        if arguments.plot:
            plot(curves, arguments.plot)
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
