"""What the scikit-learn and River adapters add to the core's own time.

Both sides learn the same stream and take turns, chunk by chunk, on the CPU clock of this thread, so that other
programs disturb them alike. Run: ``python benchmarks/adapters.py [--yeast] [--json]``. With ``--yeast`` it compares
label sets instead: micro-F1 of one prequential pass over shuffled, scaled yeast, against `MLPClassifier.partial_fit`.

The aims: `partial_fit` on blocks of 100 rows adds less than 5 %; River's ``learn_one``, ``score_one`` and
``predict_one`` with 100 features add less than 40 microseconds per example.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import boostline as bl
from boostline.river import AdaOLMRClassifier as RiverClassifier
from boostline.sklearn import AdaOLMRClassifier as SklearnClassifier

N_FEATURES, N_LABELS, SEED = 100, 14, 0
MAX_SHARE, MAX_MICROSECONDS = 0.05, 40.0


def stream(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n, N_FEATURES))
    return X, X @ rng.normal(size=(N_FEATURES, N_LABELS)) / 10 > 0.5


def seconds(call: Callable[[], object]) -> float:
    start = time.thread_time()
    call()
    return time.thread_time() - start


def taking_turns(
    left: Sequence[Callable[[], object]], right: Sequence[Callable[[], object]]
) -> tuple[float, float, float]:
    """Median seconds of a call on either side, and the median of their differences."""
    pairs = []
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        if i % 2:
            after = seconds(b)
            pairs.append((seconds(a), after))
        else:
            pairs.append((seconds(a), seconds(b)))
    kept = pairs[len(pairs) // 10 :]  # the first calls warm up
    return (
        statistics.median(a for a, _ in kept),
        statistics.median(b for _, b in kept),
        statistics.median(b - a for a, b in kept),
    )


def partial_fit(learners: Any, n_blocks: int = 40, block: int = 100) -> dict[str, float]:
    X, Y = stream(n_blocks * block)
    indicators = Y.astype(int)
    adapter = SklearnClassifier(learners, random_state=SEED).partial_fit(
        X[:block], indicators[:block]
    )
    # The same seed: other settings would take other times.
    core = bl.AdaOLMR(N_LABELS, learners=learners, expert="weighted", seed=adapter.booster_.seed)
    core.learn(X[:block], indicators[:block])
    blocks = [slice(i, i + block) for i in range(0, len(X), block)]
    a, b, added = taking_turns(
        [lambda rows=rows: core.learn(X[rows], indicators[rows]) for rows in blocks],  # type: ignore[misc]
        [lambda rows=rows: adapter.partial_fit(X[rows], indicators[rows]) for rows in blocks],  # type: ignore[misc]
    )
    return {"core_ms": a * 1e3, "adapter_ms": b * 1e3, "added_share": added / a}


def river(method: str, n: int = 4000, n_trees: int = 1) -> dict[str, float]:
    """One small tree, so that the difference is not lost in the core's own time."""
    X, Y = stream(n)
    learners = [bl.learners.HoeffdingTree(features=(0,), grace_period=1e9)] * n_trees
    core = bl.AdaOLMR(N_LABELS, learners=learners, expert="weighted", seed=SEED)
    adapter = RiverClassifier(learners, n_features=N_FEATURES, seed=SEED)
    xs = [{f"feature {i}": float(v) for i, v in enumerate(row)} for row in X]
    ys = [{f"label {i}": bool(v) for i, v in enumerate(row)} for row in Y]
    if method == "learn_one":
        left = [lambda i=i: core.learn(X[i], Y[i]) for i in range(n)]  # type: ignore[misc]
        right = [lambda i=i: adapter.learn_one(xs[i], ys[i]) for i in range(n)]  # type: ignore[misc]
    else:
        for i in range(100):
            core.learn(X[i], Y[i])
            adapter.learn_one(xs[i], ys[i])
        call = getattr(adapter, method)
        left = [lambda i=i: core.score(X[i]) for i in range(n)]  # type: ignore[misc]
        right = [lambda i=i: call(xs[i]) for i in range(n)]  # type: ignore[misc]
    a, b, added = taking_turns(left, right)
    return {"core_us": a * 1e6, "adapter_us": b * 1e6, "added_us": added * 1e6}


def yeast(n_shuffles: int) -> dict[str, dict[str, float]]:
    """Micro-F1 of predictions made before learning: of all rows, and of the last 917."""
    from sklearn.base import clone
    from sklearn.metrics import f1_score
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler

    from boostline.sklearn import LabelRankerClassifier, OnlineBMRClassifier

    data = bl.data.load("yeast")
    X, Y = StandardScaler().fit_transform(data.X), np.asarray(data.Y, dtype=int)
    # Small blocks and steps of 0.01 were tried as well as the defaults, so that the peer is seen at its best.
    models = {
        "LabelRankerClassifier": (LabelRankerClassifier(random_state=SEED), 10),
        "LabelRankerClassifier(optimize='macro-f1')": (
            LabelRankerClassifier(optimize="macro-f1", random_state=SEED),
            10,
        ),
        "OnlineBMRClassifier(auto_mix())": (
            OnlineBMRClassifier(bl.learners.auto_mix(), random_state=SEED),
            10,
        ),
        "AdaOLMRClassifier": (SklearnClassifier(random_state=SEED), 10),
        "AdaOLMRClassifier(optimize='macro-f1')": (
            SklearnClassifier(optimize="macro-f1", random_state=SEED),
            10,
        ),
        "MLPClassifier, single rows": (MLPClassifier(random_state=SEED), 1),
        "MLPClassifier, blocks of 10": (MLPClassifier(random_state=SEED), 10),
        "MLPClassifier, blocks of 10, steps of 0.01": (
            MLPClassifier(random_state=SEED, learning_rate_init=0.01),
            10,
        ),
    }
    found: dict[str, dict[str, float]] = {}
    for name, (unfitted, block) in models.items():
        of_all, of_last = [], []
        for shuffle in range(n_shuffles):
            order = np.random.default_rng(shuffle).permutation(len(X))
            model, named = clone(unfitted), np.zeros_like(Y)
            for i in range(0, len(X), block):
                rows = order[i : i + block]
                if i:
                    named[rows] = model.predict(X[rows])
                model.partial_fit(X[rows], Y[rows], classes=np.arange(Y.shape[1]))
            of_all.append(f1_score(Y, named, average="micro"))
            last = order[data.n_train :]
            of_last.append(f1_score(Y[last], named[last], average="micro"))
        found[name] = {"all": statistics.mean(of_all), "last": statistics.mean(of_last)}
        if n_shuffles > 1:
            found[name]["sd"] = statistics.stdev(of_all)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument(
        "--yeast", action="store_true", help="compare label sets with MLPClassifier's"
    )
    parser.add_argument("--shuffles", type=int, default=3)
    arguments = parser.parse_args()
    as_json = arguments.json
    if arguments.yeast:
        table = yeast(arguments.shuffles)
        if as_json:
            print(json.dumps(table, indent=2))
            return
        print(f"{'micro-F1, shuffled yeast':<45}{'all rows':>9}{'last 917':>10}")
        for name, row in table.items():
            print(f"{name:<45}{row['all']:>9.4f}{row['last']:>10.4f}")
        return
    result = {
        "partial_fit": partial_fit("auto"),
        "partial_fit, 100 trees": partial_fit(bl.learners.paper_trees(100)),
    }
    # What the adapter does is the same for all learners. With one that costs next to nothing it is seen without the
    # noise of the learners' own time, which on a busy machine is larger than what is looked for.
    light = partial_fit([bl.learners.Recency()])
    for one in result.values():
        one["own_ms"] = light["adapter_ms"] - light["core_ms"]
        one["own_share"] = one["own_ms"] / one["core_ms"]
    for method in ("learn_one", "score_one", "predict_one"):
        result[method] = river(method)
    if as_json:
        print(json.dumps(result, indent=2))
        return
    for name, note in (("partial_fit", "default"), ("partial_fit, 100 trees", "100 trees")):
        one = result[name]
        print(
            f"partial_fit, blocks of 100, {note}: core {one['core_ms']:.1f} ms, "
            f"adds {one['added_share']:+.1%} taking turns, {one['own_share']:+.1%} by its own work of "
            f"{one['own_ms']:.2f} ms (aim: below {MAX_SHARE:.0%})"
        )
    for method in ("learn_one", "score_one", "predict_one"):
        one = result[method]
        print(
            f"River {method}, {N_FEATURES} features: core {one['core_us']:.0f} us, "
            f"adds {one['added_us']:.0f} us (aim: below {MAX_MICROSECONDS:.0f})"
        )


if __name__ == "__main__":
    main()
