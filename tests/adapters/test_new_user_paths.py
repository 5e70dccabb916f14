"""What a new user does first: text through a scikit-learn pipeline, dicts through a River pipeline, yeast."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("river")

from river import compose, datasets, preprocessing
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline

import boostline.river
import boostline.sklearn
from boostline.learners import paper_trees

TOPICS = {
    "sport": ["ball", "goal", "team", "match", "coach"],
    "politics": ["vote", "law", "party", "minister", "debate"],
    "music": ["song", "band", "tune", "choir", "violin"],
    "food": ["bread", "soup", "salt", "oven", "apple"],
}
FILLERS = ["the", "a", "of", "and", "we", "they", "new", "old", "today", "again"]


def texts(n, seed):
    """Short texts of one or two topics: three words of each topic among fillers."""
    rng = np.random.default_rng(seed)
    written, relevant = [], np.zeros((n, len(TOPICS)), dtype=int)
    for i in range(n):
        chosen = rng.choice(len(TOPICS), size=rng.integers(1, 3), replace=False)
        relevant[i, chosen] = 1
        words = list(rng.choice(FILLERS, size=6))
        for topic in chosen:
            words += list(rng.choice(list(TOPICS.values())[topic], size=3))
        written.append(" ".join(rng.permutation(words)))
    return written, relevant


def test_text_through_a_scikit_learn_pipeline_stays_sparse(monkeypatch):
    train, Y = texts(1500, 0)
    test, expected = texts(300, 1)
    seen = []
    learn = boostline.AdaOLMR.learn

    def watched(self, x, *args, **kwargs):
        seen.append(sparse.issparse(x))
        return learn(self, x, *args, **kwargs)

    monkeypatch.setattr(boostline.AdaOLMR, "learn", watched)
    pipeline = make_pipeline(
        TfidfVectorizer(), boostline.sklearn.AdaOLMRClassifier(random_state=0)
    ).fit(train, Y)
    assert seen and all(seen)
    named = pipeline.predict(test)
    # Naming the two most frequent topics always would give a micro-F1 of 0.5 or so.
    assert f1_score(expected, named, average="micro") > 0.8


def test_dicts_through_a_river_pipeline():
    model = compose.Pipeline(
        preprocessing.StandardScaler(), boostline.river.AdaOLMRClassifier(paper_trees(50))
    )
    named = relevant = hit = 0
    for x, y in datasets.Yeast().take(1200):
        guess = model.predict_one(x)
        for label, on in y.items():
            relevant += on
            named += guess.get(label, False)
            hit += on and guess.get(label, False)
        model.learn_one(x, y)
    assert 2 * hit / (named + relevant) > 0.55
    scores = model.score_one(x)
    assert sorted(scores) == sorted(y) and all(isinstance(s, float) for s in scores.values())


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
    assert micro_f1(boostline.sklearn.AdaOLMRClassifier(random_state=0), 20) >= perceptron
    assert micro_f1(boostline.sklearn.OnlineBMRClassifier(random_state=0), 20) >= perceptron


def test_import_of_boostline_pulls_in_neither_library():
    code = (
        "import sys, boostline; "
        "print([m for m in ('sklearn', 'river', 'scipy', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
