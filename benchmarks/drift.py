"""Streams that change: ``python benchmarks/drift.py [streams] --seeds 2 [--out drift.json] [--plot drift.png]``.

Rank loss on the second half of each stream, one pass, for the recommended model, recursive ridge regression with
forgetting and scikit-learn's perceptron with ``partial_fit``, these two with the rate that is best in hindsight.
``--abrupt`` measures instead how a change at one moment is overcome: the mean loss over rows 500 to 1,000 after it,
divided by that of a fresh model that starts at the change.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.neural_network import MLPClassifier

import boostline as bl

Array = NDArray[np.float64]
Stream = tuple[Array, NDArray[np.bool_]]
ROWS = 20_000


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


STREAMS: dict[str, Callable[[int], Stream]] = {
    "rotating, period 6,000": lambda seed: rotating(seed, 6000),
    "rotating, 60,000": lambda seed: rotating(seed, 60_000),
    "network turning": network_turning,
    "inputs walking": inputs_walking,
    "taking turns": taking_turns,
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


def best(losses: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    return min(losses, key=lambda rows: float(np.nanmean(rows[ROWS // 2 :])))


def compare(seed: int, make: Callable[[int], Stream]) -> dict[str, NDArray[np.float64]]:
    X, Y = make(seed)
    loss = bl.metrics.rank_loss_rows
    rates = (0.98, 0.99, 0.995, 0.999, 0.9998)
    return {
        "LabelRanker": loss(Y, bl.LabelRanker(Y.shape[1], seed=0).learn(X, Y)),
        "ridge regression with forgetting": best([loss(Y, ridge(X, 1.0 * Y, f)) for f in rates]),
        "perceptron": best([loss(Y, perceptron(X, Y, rate)) for rate in (0.001, 0.005)]),
    }


def abrupt(seed: int, kind: str, at: int) -> float:
    """How much worse than a fresh model, over rows 500 to 1,000 after the change."""
    rng = np.random.default_rng(seed)
    d, k, n = 10, 6, at + 1000
    A, B = rng.normal(size=(d, k)), rng.normal(size=(d, k))
    X, noise = rng.normal(size=(n, d)), 0.3 * rng.normal(size=(n, k))
    Z = X @ A
    Z[at:] = {
        "labels permuted": X[at:] @ np.roll(A, 1, axis=1),
        "truth inverted": -X[at:] @ A,
        "other truth": X[at:] @ B,
    }[kind]
    Y = Z + noise > 1.0
    model, fresh = bl.LabelRanker(k, seed=seed), bl.LabelRanker(k, seed=seed)
    found = bl.metrics.rank_loss_rows(Y, model.learn(X, Y))[at + 500 :].mean()
    return float(
        found / bl.metrics.rank_loss_rows(Y[at:], fresh.learn(X[at:], Y[at:]))[500:].mean()
    )


def plot(curves: dict[str, dict[str, NDArray[np.float64]]], path: str) -> None:
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(len(curves), 1, figsize=(8, 2.2 * len(curves)), sharex=True)
    for panel, (name, models) in zip(np.atleast_1d(panels), curves.items(), strict=True):
        for model, rows in models.items():
            panel.plot(np.nanmean(rows.reshape(-1, 250), axis=1), label=model)
        panel.set(title=name, ylabel="rank loss", yscale="log")
    np.atleast_1d(panels)[0].legend()
    np.atleast_1d(panels)[-1].set_xlabel("rows / 250")
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("streams", nargs="*", default=list(STREAMS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--abrupt", action="store_true")
    parser.add_argument("--out", help="write the figures as JSON")
    parser.add_argument("--plot", help="draw the losses over time, of the last seed")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")  # the perceptron's, about batches of 8
    results: dict[str, object] = {}
    if arguments.abrupt:
        for kind in ("labels permuted", "truth inverted", "other truth"):
            for at in (2000, 10_000):
                ratios = [abrupt(seed, kind, at) for seed in range(arguments.seeds)]
                results[f"{kind} at {at}"] = ratios
                print(f"{kind:16} at {at:6}: {np.mean(ratios):.2f} (most {max(ratios):.2f})")
    else:
        curves = {}
        for name in arguments.streams:
            runs = [compare(seed, STREAMS[name]) for seed in range(arguments.seeds)]
            curves[name] = runs[-1]
            results[name] = {
                model: [float(np.nanmean(run[model][ROWS // 2 :])) for run in runs]
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
