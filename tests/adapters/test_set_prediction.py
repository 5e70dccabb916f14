"""As a predictor of label sets it is no toy: micro-F1 beside scikit-learn's perceptron."""

from __future__ import annotations

import os

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.metrics import f1_score

import boostline.sklearn


@pytest.mark.slow
@pytest.mark.skipif("BOOSTLINE_DATA" not in os.environ, reason="needs BOOSTLINE_DATA with yeast")
@pytest.mark.parametrize("shuffle", [0, 1])
def test_micro_f1_on_shuffled_yeast_is_at_least_that_of_the_perceptron(shuffle):
    """One prequential pass, scaled; the perceptron learns row by row, which suits it best."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler

    data = boostline.data.load("yeast")
    order = np.random.default_rng(shuffle).permutation(len(data.X))
    X = StandardScaler().fit_transform(data.X)[order]
    Y = np.asarray(data.Y, dtype=int)[order]

    def micro_f1(model, block):
        named = np.zeros_like(Y)
        for i in range(0, len(X), block):
            rows = slice(i, i + block)
            if i:
                named[rows] = model.predict(X[rows])
            model.partial_fit(X[rows], Y[rows], classes=np.arange(Y.shape[1]))
        return f1_score(Y, named, average="micro")

    perceptron = micro_f1(MLPClassifier(random_state=0), 1)
    assert micro_f1(boostline.sklearn.LabelRankerClassifier(random_state=0), 20) >= perceptron
    assert micro_f1(boostline.sklearn.OnlineBMRClassifier(random_state=0), 20) >= perceptron
