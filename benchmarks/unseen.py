"""The default on data that nobody looked at while it was made: ``python benchmarks/unseen.py --shuffles 5``.

Sets that come inside wheels: digits, wine and breast cancer of scikit-learn and the image segments of River (one
relevant label per row; river's yeast is one of the seven). And scikit-learn's generator of multi-label problems
(`make_multilabel_classification`: word counts) in four shapes. Rows are shuffled; two thirds train, the rest test.
Online: ranked before they are learned, still learning on the test rows; frozen: not. Beside it the online peer,
`MLPClassifier.partial_fit` row by row on standardised rows, and batch learners fitted on the train rows with
scikit-learn's defaults, the best of which is shown. Rank loss, ties one half.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from river import datasets as river_datasets
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_wine,
    make_multilabel_classification,
)
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import boostline as bl

SHAPES = {
    "made, k=8": {"n_samples": 2000, "n_features": 20, "n_classes": 8, "n_labels": 2},
    "made, k=30": {"n_samples": 2000, "n_features": 60, "n_classes": 30, "n_labels": 4},
    "made, d=400": {
        "n_samples": 1500,
        "n_features": 400,
        "n_classes": 12,
        "n_labels": 3,
        "length": 30,
    },
    "made, k=100": {"n_samples": 2000, "n_features": 100, "n_classes": 100, "n_labels": 3},
}


def one_hot(y: np.ndarray) -> np.ndarray:
    return y[:, None] == np.unique(y)[None, :]


def sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    for name, load in (
        ("digits", load_digits),
        ("wine", load_wine),
        ("breast cancer", load_breast_cancer),
    ):
        X, y = load(return_X_y=True)
        yield name, np.asarray(X, dtype=float), one_hot(y)
    rows, labels = zip(*river_datasets.ImageSegments(), strict=True)
    yield "segments", np.array([list(r.values()) for r in rows]), one_hot(np.array(labels))
    for name, shape in SHAPES.items():
        X, Y = make_multilabel_classification(random_state=0, allow_unlabeled=False, **shape)
        yield name, np.asarray(X, dtype=float), np.asarray(Y, dtype=bool)


def scores_of(model: Any, X: np.ndarray) -> np.ndarray:
    """Probabilities of each label, whatever the form of predict_proba; a label without two classes in train gets 0."""
    found = model.predict_proba(X)
    if isinstance(found, list):
        return np.column_stack([p[:, 1] if p.shape[1] == 2 else np.zeros(len(X)) for p in found])
    return np.asarray(found)


def batch_losses(X: np.ndarray, Y: np.ndarray, n: int) -> dict[str, float]:
    models = {
        "extra trees": ExtraTreesClassifier(300, random_state=0, n_jobs=2),
        "logistic": make_pipeline(
            StandardScaler(), OneVsRestClassifier(LogisticRegression(max_iter=500))
        ),
        "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(20)),
        "perceptron": make_pipeline(StandardScaler(), MLPClassifier(random_state=0)),
    }
    found = {}
    for name, model in models.items():
        model.fit(X[:n], Y[:n].astype(int))
        found[name] = bl.metrics.rank_loss(Y[n:], scores_of(model, X[n:]))
    return found


def online_perceptron(X: np.ndarray, Y: np.ndarray, n: int) -> float:
    X = StandardScaler().fit(X[:n]).transform(X)
    model = MLPClassifier(random_state=0)
    scores = np.zeros(Y.shape)
    for i in range(len(X)):
        if i >= n:
            scores[i] = scores_of(model, X[i : i + 1])[0]
        model.partial_fit(X[i : i + 1], Y[i : i + 1].astype(int), classes=np.arange(Y.shape[1]))
    return bl.metrics.rank_loss(Y[n:], scores[n:])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shuffles", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # perceptrons and logistic regressions that did not converge
    print("| data | rows | d | k | default | frozen | online perceptron | best batch | which |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---|")
    for name, X, Y in sets():
        rows: list[dict[str, float]] = []
        for seed in range(arguments.shuffles):
            order = np.random.default_rng(seed).permutation(len(X))
            x, y, n = X[order], Y[order], 2 * len(X) // 3
            model = bl.LabelRanker(Y.shape[1], seed=seed)
            model.learn(x[:n], y[:n])
            frozen = bl.metrics.rank_loss(y[n:], model.score(x[n:]))
            online = bl.metrics.rank_loss(y[n:], model.learn(x[n:], y[n:]))
            rows.append(
                {
                    "default": online,
                    "frozen": frozen,
                    "perceptron, online": online_perceptron(x, y, n),
                }
                | batch_losses(x, y, n)
            )
        mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
        batch = {k: mean[k] for k in ("extra trees", "logistic", "neighbours", "perceptron")}
        best = min(batch, key=lambda k: batch[k])
        print(
            f"| {name} | {len(X):,} | {X.shape[1]} | {Y.shape[1]} | {mean['default']:.4f} | {mean['frozen']:.4f} | "
            f"{mean['perceptron, online']:.4f} | {batch[best]:.4f} | {best} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
