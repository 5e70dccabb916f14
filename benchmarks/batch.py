"""Batch learners with settings picked on the train rows: ``python benchmarks/batch.py [sets] --out batch.json``.

Each learner is tried with a few settings by cross-validation over the train rows (3 folds, rank loss; at most
``--rows`` rows of a large set), fitted on all train rows with the best of them, and tested once. No test row is looked
at before that, so the comparison with a model that is frozen after one pass is fair. A learner whose cross-validation
would need more than ``--minutes`` of CPU time for a set is left out and said to be. Figures are written as they come;
what the file has already is not measured again.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.tree import ExtraTreeRegressor

import boostline as bl

SETS = ("emotions", "scene", "yeast", "m-reduced", "mediamill", "enron", "bibtex")
Array = NDArray[np.float64]


class PerLabel:
    """One classifier per label; a label that is always or never relevant keeps its frequency."""

    def __init__(self, make: Callable[[], Any], prepare: Callable[[Any], Any]) -> None:
        self.make, self.prepare = make, prepare

    def fit(self, X: Any, Y: NDArray[np.int64]) -> PerLabel:
        X = self.prepare(X)
        self.models = [
            self.make().fit(X, y) if 0 < y.sum() < len(y) else float(y.mean()) for y in Y.T
        ]
        return self

    def score(self, X: Any) -> Array:
        X = self.prepare(X)
        columns = [
            np.full(X.shape[0], m) if isinstance(m, float) else m.predict_proba(X)[:, 1]
            for m in self.models
        ]
        return np.stack(columns, axis=1)


class Perceptron:
    """All labels at once."""

    def __init__(self, alpha: float, epochs: int) -> None:
        self.model = MLPClassifier((100,), alpha=alpha, max_iter=epochs, random_state=0)

    def fit(self, X: Any, Y: NDArray[np.int64]) -> Perceptron:
        self.model.fit(dense(X), Y)
        return self

    def score(self, X: Any) -> Array:
        return self.model.predict_proba(dense(X))


class ExtraTrees:
    """Trees for all labels at once, at most 40 features tried at a split; grown when the rows to score are there.

    The squared error of 0 and 1 is Gini's measure. So only one tree is held at a time: in each of its leaves are the
    frequencies of all labels.
    """

    def __init__(self, leaf: int) -> None:
        self.leaf = leaf

    def fit(self, X: Any, Y: NDArray[np.int64]) -> ExtraTrees:
        self.X, self.Y = dense(X).astype(np.float32), Y
        return self

    def score(self, X: Any) -> Array:
        X = dense(X).astype(np.float32)
        tried = min(40, max(1, X.shape[1] // 5))
        scores = np.zeros((len(X), self.Y.shape[1]))
        for seed in range(300 if self.Y.size < 500_000 else 100):
            tree = ExtraTreeRegressor(
                min_samples_leaf=self.leaf, max_features=tried, random_state=seed
            )
            scores += tree.fit(self.X, self.Y).predict(X)
        return scores


class Neighbours:
    """The n nearest train rows vote, each with one over its distance."""

    def __init__(self, n: int) -> None:
        self.n = n

    def fit(self, X: Any, Y: NDArray[np.int64]) -> Neighbours:
        self.X, self.Y = dense(X), Y
        return self

    def score(self, X: Any) -> Array:
        found = []
        for rows in pieces(dense(X)):
            far = distances(rows, self.X)
            near = np.argpartition(far, self.n, axis=1)[:, : self.n]
            weight = 1 / np.maximum(np.take_along_axis(far, near, axis=1), 1e-6)
            votes = np.einsum("ij,ijk->ik", weight, self.Y[near])
            found.append(votes / weight.sum(axis=1, keepdims=True))
        return np.concatenate(found)


class KernelRidge:
    """Kernel ridge regression with the kernel exp(-distance / width), on at most 4,000 landmarks."""

    def __init__(self, ridge: float, width: float, most: int = 4000) -> None:
        self.ridge, self.width, self.most = ridge, width, most

    def kernel(self, X: Array) -> Array:
        return np.exp(-distances(X, self.landmarks) / (self.width * self.unit))

    def fit(self, X: Any, Y: NDArray[np.int64]) -> KernelRidge:
        X = dense(X)
        chosen = np.random.default_rng(0).permutation(len(X))[: self.most]
        self.landmarks = X[chosen]
        self.unit = float(np.sqrt(2 * X.var(axis=0).sum()))
        inner = self.kernel(self.landmarks)
        if len(chosen) == len(X):
            A, b = inner + self.ridge * np.eye(len(inner)), 1.0 * Y[chosen]
        else:
            A, b = self.ridge * inner, np.zeros((len(inner), Y.shape[1]))
            for rows, labels in zip(pieces(X), pieces(Y), strict=True):
                z = self.kernel(rows)
                A, b = A + z.T @ z, b + z.T @ labels
            A = A + 1e-6 * np.eye(len(A))
        self.weights = np.linalg.solve(A, b)
        return self

    def score(self, X: Any) -> Array:
        return np.concatenate([self.kernel(rows) @ self.weights for rows in pieces(dense(X))])


def dense(X: Any) -> Array:
    return X.toarray() if hasattr(X, "toarray") else X


def pieces(rows: Any) -> list[Any]:
    return np.array_split(rows, len(rows) // 2000 + 1)


def distances(A: Array, B: Array) -> Array:
    squares = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1) - 2 * A @ B.T
    return np.sqrt(np.maximum(squares, 0))


Make = Callable[[], Any]


def logistic(C: float) -> Any:
    return PerLabel(lambda: LogisticRegression(C=C, max_iter=300, solver="liblinear"), csr_array)


def boosting(rate: float) -> Any:
    return PerLabel(
        lambda: HistGradientBoostingClassifier(learning_rate=rate, max_iter=100, random_state=0),
        dense,
    )


#: Each learner with its settings.
LEARNERS: dict[str, dict[str, Make]] = {
    "logistic": {f"C={C}": lambda C=C: logistic(C) for C in (0.01, 0.1, 1.0, 10.0)},
    "extra trees": {f"leaf={leaf}": lambda leaf=leaf: ExtraTrees(leaf) for leaf in (1, 3, 10)},
    "kernel ridge": {
        f"ridge={ridge}, width={width}": lambda r=ridge, w=width: KernelRidge(r, w)
        for ridge in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
        for width in (0.25, 0.5, 1.0, 2.0, 4.0)
    },
    "neighbours": {f"n={n}": lambda n=n: Neighbours(n) for n in (10, 20, 40, 80)},
    "perceptron": {
        f"alpha={alpha}, epochs={n}": lambda alpha=alpha, n=n: Perceptron(alpha, n)
        for alpha in (1e-3, 1e-1, 1.0, 10.0)
        for n in (20, 100)
    },
    "gradient boosting": {f"rate={rate}": lambda rate=rate: boosting(rate) for rate in (0.03, 0.1)},
}


def run(settings: dict[str, Make], data: Any, most_rows: int, minutes: float) -> dict[str, Any]:
    """The loss of each setting in cross-validation, and that of the best on the test rows."""
    n_train = data.n_train
    X, Y = data.X, np.asarray(data.Y).astype(int)
    if hasattr(X, "tocsr"):
        X = MaxAbsScaler().fit(X[:n_train]).transform(X).tocsr()
    else:
        X = StandardScaler().fit(X[:n_train]).transform(X)
    rows = np.random.default_rng(0).permutation(n_train)[:most_rows]
    tried: dict[str, float] = {}
    started = time.process_time()
    for setting, make in settings.items():
        losses = []
        for fit, test in KFold(3).split(rows):
            model = make().fit(X[rows[fit]], Y[rows[fit]])
            losses.append(bl.metrics.rank_loss(Y[rows[test]], model.score(X[rows[test]])))
            spent = time.process_time() - started
            done = len(tried) + len(losses) / 3
            if spent / done * len(settings) > 60 * minutes:
                return {"left out": f"{spent:.0f} s for {done:.1f} of {len(settings)} settings"}
        tried[setting] = float(np.mean(losses))
    setting = min(tried, key=lambda s: tried[s])
    model = settings[setting]().fit(X[:n_train], Y[:n_train])
    loss = bl.metrics.rank_loss(Y[n_train:], model.score(X[n_train:]))
    spent = time.process_time() - started
    return {"tried": tried, "setting": setting, "test": float(loss), "seconds": spent}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--learners", nargs="*", default=list(LEARNERS))
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--out", type=Path, default=Path("batch.json"))
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    results = json.loads(given.out.read_text()) if given.out.exists() else {}
    for name in given.sets:
        found, data = results.setdefault(name, {}), bl.data.load(name)
        for learner in given.learners:
            if learner not in found:
                found[learner] = run(LEARNERS[learner], data, given.rows, given.minutes)
                given.out.write_text(json.dumps(results, indent=1))
            print(f"{name:10} {learner:18}", show(found[learner]), flush=True)
        done = {learner: min(e["tried"].values()) for learner, e in found.items() if "test" in e}
        best = min(done, key=lambda learner: done[learner])  # by cross-validation too
        print(f"{name:10} best on train rows: {best}, {found[best]['test']:.4f}", flush=True)


def show(found: dict[str, Any]) -> str:
    if "test" not in found:
        return f"left out: {found['left out']}"
    chosen = min(found["tried"].values())
    return (
        f"{found['setting']:24} {chosen:.4f} {found['test']:.4f} on test rows, "
        f"{found['seconds']:.0f} s"
    )


if __name__ == "__main__":
    main()
