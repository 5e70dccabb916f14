"""Streams that change: ``python benchmarks/drift.py [streams] --seeds 2 [--out drift.json] [--plot drift.svg]``.

Rank loss on the second half of each stream, one pass, for the recommended model, recursive ridge regression with
forgetting and scikit-learn's perceptron with ``partial_fit``, these two with the rate that is best in hindsight.
``--moa`` runs MOA's generators instead (moa_streams.py), with River's adaptive random forest, one per label, beside
the others, the better of two settings.
``--abrupt`` measures instead how a change at one moment is overcome: the mean loss before it, over rows 0 to 100, 100
to 500 and 500 to 1,000 after it, and the last divided by that of a fresh model that starts at the change.
``--wrong-rows`` measures what rows with wrong labels do (wrong_rows.py).
``--long 2000000`` lets the model learn that many rows of the first stream and shows loss, memory and
time of each tenth.
With ``--out`` figures are written as they come, and a run that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import moa_streams
import numpy as np
import wrong_rows
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


def forest(X: Array, Y: NDArray[np.bool_], grace_period: int) -> Array:
    from river.forest import ARFClassifier

    models = [ARFClassifier(10, grace_period=grace_period, seed=0) for _ in Y.T]
    scores = np.zeros(Y.shape)
    for t, (row, relevant) in enumerate(zip(X, Y, strict=True)):
        x = dict(enumerate(row))
        for label, model in enumerate(models):
            scores[t, label] = model.predict_proba_one(x).get(True, 0.0)
            model.learn_one(x, bool(relevant[label]))
    return scores


Scorer = Callable[[Array, NDArray[np.bool_]], Array]
#: Each model by its settings; of several the one counts whose loss is the least in hindsight.
MODELS: dict[str, dict[str, Scorer]] = {
    "LabelRanker": {"default": lambda X, Y: bl.LabelRanker(Y.shape[1], seed=0).learn(X, Y)},
    "ridge regression with forgetting": {
        str(rate): lambda X, Y, rate=rate: ridge(X, 1.0 * Y, rate)  # type: ignore[misc]
        for rate in (0.98, 0.99, 0.995, 0.999, 0.9998)
    },
    "perceptron": {
        str(rate): lambda X, Y, rate=rate: perceptron(X, Y, rate)  # type: ignore[misc]
        for rate in (0.001, 0.005)
    },
}
FOREST: dict[str, dict[str, Scorer]] = {
    "adaptive random forest": {
        str(rows): lambda X, Y, rows=rows: forest(X, Y, rows)  # type: ignore[misc]
        for rows in (50, 20)  # between two tries to split
    }
}
PIECES = 40  # of a stream, in a picture


def measure(settings: dict[str, Scorer], X: Array, Y: NDArray[np.bool_]) -> dict[str, Any]:
    """The loss on the second half, the setting that it is reached with, and the loss over time."""
    found = []
    for setting, scores in settings.items():
        rows = bl.metrics.RankLoss().rows(Y, scores(X, Y))
        curve = np.nanmean(rows.reshape(PIECES, -1), axis=1).tolist()
        loss = float(np.nanmean(rows[len(rows) // 2 :]))
        found.append({"loss": loss, "setting": setting, "curve": curve})
    return min(found, key=lambda one: one["loss"])


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
    rows = bl.metrics.RankLoss().rows(Y, model.learn(X, Y))
    of_fresh = bl.metrics.RankLoss().rows(Y[at:], fresh.learn(X[at:], Y[at:]))
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
            losses.append(np.nanmean(bl.metrics.RankLoss().rows(Y, scores)))
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


def plot(results: dict[str, Any], rows: dict[str, int], path: str) -> None:
    """Draw the loss over time, of the last seed."""
    figure, axes = panels(len(rows), 2.4, across=2)
    for panel, (name, n) in zip(axes, rows.items(), strict=True):
        for (model, seeds), colour in zip(results[name].items(), SERIES, strict=False):
            places = (np.arange(PIECES) + 0.5) * n / PIECES
            curve = seeds[max(seeds, key=int)]["curve"]
            panel.plot(places, curve, label=model, color=colour, lw=1.4)
        panel.set(xlabel="rows", ylabel="rank loss", yscale="log")
        panel.set_xticks(np.linspace(0, n, 5), [f"{at:,.0f}" for at in np.linspace(0, n, 5)])
        title(panel, name)
    legend(figure)
    with open(path, "w", encoding="utf-8") as file:
        file.write(svg(figure))


class Results(dict[str, Any]):
    """Figures by name and seed, written down as they come; what the file has is not measured again."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        super().__init__(json.loads(path.read_text()) if path is not None and path.exists() else {})

    def get_or(self, names: tuple[str, ...], seed: int, make: Callable[[], Any]) -> Any:
        holder: dict[str, Any] = self
        for name in names:
            holder = holder.setdefault(name, {})
        if str(seed) not in holder:
            holder[str(seed)] = make()
            self.write()
        return holder[str(seed)]

    def write(self) -> None:
        if self.path is not None:
            self.path.write_text(json.dumps(self, indent=1))


def show_abrupt(results: Results, n_seeds: int) -> None:
    for kind in KINDS:
        for at in (2000, 10_000):
            found = np.array(
                [
                    results.get_or((f"{kind} at {at}",), s, partial(abrupt, s, kind, at))
                    for s in range(n_seeds)
                ]
            )
            ratios = found[:, -2] / found[:, -1]
            shown = " ".join(f"{value:.4f}" for value in found.mean(axis=0))
            of_means = found[:, -2].mean() / found[:, -1].mean()
            print(
                f"{kind:18} at {at:6}: {shown}; {of_means:.2f} of a fresh model's "
                f"(streams: {ratios.mean():.2f}, most {ratios.max():.2f})",
                flush=True,
            )


def show_streams(results: Results, names: list[str], models: list[str], n_seeds: int) -> None:
    streams, known = {**STREAMS, **MOA_STREAMS}, {**MODELS, **FOREST}
    for name in names:
        for seed in range(n_seeds):
            make = cache(partial(streams[name], seed))
            for model in models:
                results.get_or(
                    (name, model), seed, lambda m=model, make=make: measure(known[m], *make())
                )
        means = {m: np.mean([one["loss"] for one in v.values()]) for m, v in results[name].items()}
        print(f"{name:24}", {m: f"{mean:.4f}" for m, mean in means.items()}, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("streams", nargs="*", help="default: all")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--models", nargs="*", help="default: all")
    parser.add_argument("--abrupt", action="store_true")
    parser.add_argument("--wrong-rows", action="store_true")
    parser.add_argument("--moa", action="store_true", help="MOA's generators")
    parser.add_argument("--long", type=int, help="so many rows of one stream")
    parser.add_argument("--out", type=Path, help="JSON; what it has already is not measured again")
    parser.add_argument("--plot", help="draw the losses over time, of the last seed")
    given = parser.parse_args()
    warnings.filterwarnings("ignore")  # the perceptron's, about batches of 8
    results = Results(given.out)
    if given.long:
        results["long"] = long(given.long)
        results.write()
    elif given.wrong_rows:
        results["wrong rows"] = wrong_rows.show()
        results.write()
    elif given.abrupt:
        show_abrupt(results, given.seeds)
    else:
        names = given.streams or list(MOA_STREAMS if given.moa else STREAMS)
        models = given.models or [*MODELS, *(FOREST if given.moa else ())]
        show_streams(results, names, models, given.seeds)
        if given.plot:
            plot(results, {n: MOA_ROWS if n in MOA_STREAMS else ROWS for n in names}, given.plot)


if __name__ == "__main__":
    main()
