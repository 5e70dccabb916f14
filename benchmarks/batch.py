"""Batch learners with settings picked on the train rows: ``python benchmarks/batch.py [sets] --out batch.json``.

Each learner is tried with a few settings by cross-validation over the train rows (3 folds, rank loss; at most 3,000
rows of a large set), fitted on all train rows with the best of them, and tested once. No test row is looked at before
that, so the comparison with a model that is frozen after one pass is fair. A learner that would need more than
``--minutes`` for a set, judged by its cross-validation, is left out and said to be.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import boostline as bl

SETS = ("emotions", "scene", "yeast", "m-reduced", "mediamill", "enron", "bibtex")
MOST_ROWS = 3000
Array = NDArray[np.float64]


def probabilities(fitted: Any, X: Any, k: int) -> Array:
    """The chance of each label being relevant, whatever form a classifier gives it in."""
    found = fitted.predict_proba(X)
    if isinstance(found, np.ndarray):
        return found
    columns = [
        p[:, list(classes).index(1)] if 1 in classes else np.zeros(len(p))
        for p, classes in zip(found, fitted.classes_, strict=True)
    ]
    return np.stack(columns, axis=1)


class PerLabel:
    """One classifier per label; a label that is always or never relevant keeps its frequency."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def fit(self, X: Any, Y: NDArray[np.int64]) -> PerLabel:
        self.models = [
            self.make().fit(X, y) if 0 < y.sum() < len(y) else float(y.mean()) for y in Y.T
        ]
        return self

    def score(self, X: Any) -> Array:
        columns = [
            np.full(X.shape[0], m) if isinstance(m, float) else m.predict_proba(X)[:, 1]
            for m in self.models
        ]
        return np.stack(columns, axis=1)


class Together:
    """A classifier of scikit-learn that takes all labels at once."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, Y: NDArray[np.int64]) -> Together:
        self.k = Y.shape[1]
        self.model.fit(X, Y)
        return self

    def score(self, X: Any) -> Array:
        return probabilities(self.model, X, self.k)


class KernelRidge:
    """Kernel ridge regression with the kernel exp(-distance / width), on at most 6,000 landmarks."""

    def __init__(self, ridge: float, width: float, most: int = 6000) -> None:
        self.ridge, self.width, self.most = ridge, width, most

    def kernel(self, X: Array) -> Array:
        return np.exp(-cdist(X, self.landmarks) / (self.width * self.unit))

    def fit(self, X: Array, Y: NDArray[np.int64]) -> KernelRidge:
        chosen = np.random.default_rng(0).permutation(len(X))[: self.most]
        self.landmarks = X[chosen]
        self.unit = float(np.sqrt(2 * X.var(axis=0).sum()))
        inner = self.kernel(self.landmarks)
        if len(chosen) == len(X):
            A, b = inner + self.ridge * np.eye(len(inner)), 1.0 * Y[chosen]
        else:
            A, b = self.ridge * inner, np.zeros((len(inner), Y.shape[1]))
            for rows in np.array_split(np.arange(len(X)), len(X) // 2000 + 1):
                z = self.kernel(X[rows])
                A, b = A + z.T @ z, b + z.T @ Y[rows]
            A = A + 1e-6 * np.eye(len(A))
        self.weights = np.linalg.solve(A, b)
        return self

    def score(self, X: Array) -> Array:
        return np.concatenate(
            [self.kernel(rows) @ self.weights for rows in np.array_split(X, len(X) // 2000 + 1)]
        )


def candidates() -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Each learner with each of its settings."""
    for C in (0.01, 0.1, 1.0, 10.0):
        yield (
            "logistic",
            f"C={C}",
            lambda C=C: PerLabel(lambda: LogisticRegression(C=C, max_iter=300, solver="liblinear")),
        )
    for leaf in (1, 3, 10):
        yield (
            "extra trees",
            f"leaf={leaf}",
            lambda leaf=leaf: Together(
                ExtraTreesClassifier(300, min_samples_leaf=leaf, max_features=0.2, random_state=0)
            ),
        )
    for rate in (0.03, 0.1):
        yield (
            "gradient boosting",
            f"rate={rate}",
            lambda rate=rate: PerLabel(
                lambda: HistGradientBoostingClassifier(
                    learning_rate=rate, max_iter=100, random_state=0
                )
            ),
        )
    for ridge in (0.1, 0.3, 1.0, 3.0):
        for width in (0.5, 1.0, 2.0):
            yield (
                "kernel ridge",
                f"ridge={ridge}, width={width}",
                lambda ridge=ridge, width=width: KernelRidge(ridge, width),
            )
    for n in (10, 20, 40, 80):
        yield (
            "neighbours",
            f"n={n}",
            lambda n=n: Together(KNeighborsClassifier(n, weights="distance")),
        )
    for alpha in (1e-4, 1e-2, 1.0):
        yield (
            "perceptron",
            f"alpha={alpha}",
            lambda alpha=alpha: Together(
                MLPClassifier(
                    (100,), alpha=alpha, max_iter=100, early_stopping=True, random_state=0
                )
            ),
        )


def loss_of(make: Callable[[], Any], X: Any, Y: Any, X_test: Any, Y_test: Any) -> float:
    return float(bl.metrics.rank_loss(Y_test, make().fit(X, Y.astype(int)).score(X_test)))


def run(name: str, minutes: float, learners: set[str]) -> dict[str, Any]:
    data = bl.data.load(name)
    n_train = data.n_train
    X, Y = data.X, np.asarray(data.Y)
    if hasattr(X, "tocsr"):
        X = MaxAbsScaler().fit(X[:n_train]).transform(X).toarray()
    else:
        X = StandardScaler().fit(X[:n_train]).transform(X)
    rows = np.random.default_rng(0).permutation(n_train)[:MOST_ROWS]
    folds = list(KFold(3).split(rows))
    found: dict[str, Any] = {}
    for learner, setting, make in candidates():
        if learner not in learners or found.get(learner, {}).get("left out"):
            continue
        entry = found.setdefault(learner, {"tried": {}})
        started = time.process_time()
        losses = []
        for fit, test in folds:
            losses.append(loss_of(make, X[rows[fit]], Y[rows[fit]], X[rows[test]], Y[rows[test]]))
            spent = time.process_time() - started
            if spent * n_train / len(rows) > 60 * minutes:
                entry["left out"] = f"{spent:.0f} s for a fold of {len(rows)} rows"
                break
        if not entry.get("left out"):
            entry["tried"][setting] = (float(np.mean(losses)), make)
    for learner, entry in found.items():
        if entry.get("left out"):
            print(f"{name:10} {learner:18} left out: {entry['left out']}", flush=True)
            continue
        setting, (_, make) = min(entry["tried"].items(), key=lambda item: item[1][0])
        entry["setting"] = setting
        entry["tried"] = {s: value for s, (value, _) in entry["tried"].items()}
        entry["test"] = loss_of(make, X[:n_train], Y[:n_train], X[n_train:], Y[n_train:])
        print(f"{name:10} {learner:18} {setting:22} {entry['test']:.4f}", flush=True)
    done = {learner: e for learner, e in found.items() if "test" in e}
    if done:  # the learner is chosen by cross-validation too
        best = min(done, key=lambda learner: min(done[learner]["tried"].values()))
        print(f"{name:10} best on train rows: {best}, {done[best]['test']:.4f}", flush=True)
        found["chosen"] = best
    return found


def main() -> None:
    everything = list(dict.fromkeys(learner for learner, _, _ in candidates()))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--learners", nargs="*", default=everything)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--out", type=Path, default=Path("batch.json"))
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    results = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    for name in arguments.sets:
        results.setdefault(name, {}).update(run(name, arguments.minutes, set(arguments.learners)))
        arguments.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
