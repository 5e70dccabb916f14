"""Small real rankers and data for the tests of the evaluation."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest


class OnlineLogistic:
    """One logistic regression per label, one gradient step per example; dense or sparse rows."""

    blocks_are_rows = True

    def __init__(self, n_features: int, n_labels: int, rate: float = 0.3) -> None:
        self.n_labels = n_labels
        self.rate = rate
        self.weights = np.zeros((n_labels, n_features))
        self.calls: list[tuple[str, int]] = []  # what was called, with how many rows

    def score(self, x):
        X, single = self._rows(x)
        self.calls.append(("score", len(X)))
        # Row by row, so that a block gives the bits of single calls.
        S = np.array([(self.weights * row).sum(axis=1) for row in X])
        return S[0] if single else S

    def learn(self, x, relevant, weight=1.0, unknown=None):
        X, single = self._rows(x)
        Y = np.atleast_2d(relevant)
        Z = ~Y if unknown is None else ~Y & ~np.atleast_2d(unknown)
        self.calls.append(("learn", len(X)))
        S = np.empty(Y.shape)
        for i, (row, y, z) in enumerate(zip(X, Y, Z, strict=True)):
            S[i] = (self.weights * row).sum(axis=1)
            step = (y | z) * (y - 1 / (1 + np.exp(-S[i])))
            self.weights = self.weights + self.rate * weight * np.outer(step, row)
        return S[0] if single else S

    @staticmethod
    def _rows(x):
        if hasattr(x, "toarray"):
            return x.toarray(), False
        x = np.asarray(x)
        return np.atleast_2d(x), x.ndim == 1


def make_data(n: int = 240, d: int = 8, k: int = 5, seed: int = 0) -> SimpleNamespace:
    """Labels that depend linearly on the features; the first test row has none."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k)) > 1
    n_train = 2 * n // 3
    Y[n_train] = False
    return SimpleNamespace(X=X, Y=Y, n_train=n_train, name="linear")


@pytest.fixture
def data() -> SimpleNamespace:
    return make_data()


@pytest.fixture
def logistic():
    return lambda: OnlineLogistic(8, 5)


@pytest.fixture
def make():
    return make_data
