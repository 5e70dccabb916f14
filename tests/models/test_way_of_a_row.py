"""The way of a row: what has been read is not read again, and looking at the clock costs nothing."""

import time

import numpy as np
import pytest

import boostline as bl
from boostline.contract import labels, rows
from boostline.contract.label_sets import LabelSets
from boostline.evaluate import prequential
from boostline.river import AdaOLMRClassifier as River
from boostline.sklearn import AdaOLMRClassifier as Sklearn

K, D = 4, 5


@pytest.fixture
def read(monkeypatch):
    """Counts how many rows are read and how many label sets."""
    counts = {"rows": 0, "labels": 0}
    indicators, sets = labels.LabelSpace._read_indicators, labels.read_told

    def counting(name, function):
        def called(*arguments, **keywords):
            counts[name] += 1
            return function(*arguments, **keywords)

        return called

    monkeypatch.setattr(rows, "_checked", counting("rows", rows._checked))
    monkeypatch.setattr(labels.LabelSpace, "_read_indicators", counting("labels", indicators))
    monkeypatch.setattr(labels, "read_told", counting("labels", sets))
    simple = labels.LabelSpace._simple_places
    monkeypatch.setattr(labels.LabelSpace, "_simple_places", counting("labels", simple))
    monkeypatch.setattr("boostline.river.classifiers.read_told", counting("labels", sets))
    return counts


def model():
    return bl.AdaOLMR(K, learners=bl.learners.paper_trees(3))


def data(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D))
    return X, X[:, :K] > 0.3


def test_learn_reads_once(read):
    X, Y = data(3)
    one = model()
    one.learn(X, Y)
    assert read == {"rows": 1, "labels": 1}
    one.learn(X[0], {1})
    assert read == {"rows": 2, "labels": 2}


def test_evaluation_reads_once(read):
    X, Y = data(20)
    prequential(model(), zip(X, Y, strict=True), block=20)
    assert read == {"rows": 1, "labels": 20}  # 20 rows in one block
    read.update(rows=0, labels=0)
    prequential(model(), zip(X, [{0}] * 20, strict=True), block=1)
    assert read == {"rows": 20, "labels": 20}


def test_adapters_read_once(read):
    X, Y = data(20)
    Sklearn(bl.learners.paper_trees(3), random_state=0).partial_fit(X, Y.astype(int))
    assert read == {"rows": 1, "labels": 1}
    read.update(rows=0, labels=0)
    river = River(bl.learners.paper_trees(3), labels=["a", "b"])
    river.learn_one({"x": 1.0, "y": 2.0}, {"a": True, "b": False})
    assert read == {"rows": 1, "labels": 1}


def test_sets_that_were_read_for_other_labels_are_refused():
    X, _ = data(2)
    for n, k in ((2, K + 1), (3, K)):
        with pytest.raises(
            ValueError, match=f"relevant has {n} rows of {k} labels, but must have 2"
        ):
            model().learn(X, LabelSets.of_relevance(np.zeros((n, k), np.int8)))


def test_the_clock_does_not_copy_the_state():
    """With 200,000 labels a copy of the state takes milliseconds, the clock less than a microsecond."""
    one = bl.AdaOLMR(200_000, learners=bl.learners.paper_trees(2))
    one.learn(np.zeros(D), {1})
    seconds = []
    for _ in range(20):
        start = time.thread_time()
        for _ in range(10):
            assert one.clock == 1
        seconds.append(time.thread_time() - start)
    assert min(seconds) < 0.001  # ten copies take 5 ms
