"""Texts in scikit-learn and River: the same rows and scores as those of a TextRanker."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import boostline as bl
from boostline.river import TextRankerClassifier as RiverTexts
from boostline.sklearn import TextRankerClassifier as SklearnTexts
from boostline.text import TextRanker

LEARNERS = [bl.learners.SparseLinear()]
WORDS = {"billing": ["invoice", "refund", "amount"], "login": ["password", "account", "locked"]}


def tickets(n=120, seed=0):
    rng = np.random.default_rng(seed)
    texts, Y = [], []
    for _ in range(n):
        named = rng.random(2) < [0.6, 0.5]
        chosen = [tag for tag, is_named in zip(WORDS, named, strict=True) if is_named]
        words = [str(rng.choice(WORDS[tag])) for tag in chosen for _ in range(2)]
        texts.append(" ".join(["the", *words]))
        Y.append(named)
    return texts, np.array(Y).astype(int)


def sklearn_model(**settings):
    return SklearnTexts(LEARNERS, n_columns=2**12, random_state=0, **settings)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_frame_with_a_column_of_texts(make):
    texts, Y = tickets()
    model = sklearn_model(text="body").fit(make({"id": range(120), "body": texts}), Y)
    new = make({"body": ["a refund of the amount", "password locked", "nothing"]})
    np.testing.assert_array_equal(model.predict(new)[:2], [[1, 0], [0, 1]])
    from_list = sklearn_model().fit(texts, Y)
    np.testing.assert_array_equal(
        from_list.decision_function(list(new["body"])), model.decision_function(new)
    )


def test_several_columns_are_one_text():
    frame = pd.DataFrame({"a": ["red", None, "blue"] * 10, "b": ["wine", "bread", np.nan] * 10})
    model = sklearn_model(text=["a", "b"]).partial_fit(frame, np.eye(3, dtype=int)[[0, 1, 2] * 10])
    assert model.predict(frame[:3]).tolist() == np.eye(3, dtype=int).tolist()


def test_partial_fit_gives_the_scores_of_a_text_ranker():
    texts, Y = tickets()
    named = [{tag for tag, y in zip(WORDS, row, strict=True) if y} for row in Y]
    model = sklearn_model()
    for start in range(0, 120, 7):  # how rows are cut into calls changes nothing
        model.partial_fit(texts[start : start + 7], Y[start : start + 7], classes=list(WORDS))
    ranker = TextRanker(list(WORDS), learners=LEARNERS, n_columns=2**12)
    ranker.learn(texts, named)
    assert model.text_features_.n_documents == ranker.text_features.n_documents == 120
    rows = model._features(texts[:20], reset=False)[:]
    np.testing.assert_array_equal(rows.dense, ranker.rows(texts[:20]).dense)


def test_later_passes_do_not_count_words_again():
    texts, Y = tickets(40)
    model = sklearn_model(n_passes=3).fit(texts, Y)
    assert model.text_features_.n_documents == 40


def test_embeddings_in_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"body": ["same"] * 60, "e0": rng.normal(size=60), "e1": rng.normal(size=60)}
    )
    Y = np.stack([frame["e0"] > 0, frame["e0"] <= 0], axis=1).astype(int)
    model = sklearn_model(text="body", embedding=["e0", "e1"]).fit(frame, Y)
    assert (model.predict(frame) == Y).mean() > 0.9


def test_a_classifier_of_texts_is_cloned_and_pickled():
    texts, Y = tickets(40)
    model = sklearn_model(text=None, pairs=True).fit(texts, Y)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.decision_function(texts), model.decision_function(texts))
    assert clone(model).get_params()["pairs"]


def test_one_class_per_text():
    texts = ["wrong invoice", "cannot log in", "blue car"] * 20
    model = sklearn_model().fit(texts, ["billing", "login", "car"] * 20)
    assert model.predict(["the invoice", "car"]).tolist() == ["billing", "car"]


@pytest.mark.parametrize(
    ("settings", "X", "error"),
    [
        ({}, pd.DataFrame({"body": ["a"]}), "text is None, but must name the column"),
        ({}, "one text", "X is a str, but must be a list of strings"),
        ({}, ["a", 3], r"X\[1\] is a int, 3, but must be a string"),
        ({}, np.zeros((2, 2)), "X has 2 dimensions"),
        ({"text": "bdy"}, pd.DataFrame({"body": ["a"]}), r"no column 'bdy' \(is 'body' meant\?\)"),
        ({"text": "body"}, ["a"], "X is a list, but must be a frame"),
        ({"text": "body"}, pd.DataFrame({"body": [3]}), "X has the text 3"),
    ],
)
def test_bad_texts_are_refused(settings, X, error):
    with pytest.raises((TypeError, ValueError), match=error):
        sklearn_model(**settings).fit(X, np.eye(2, dtype=int)[: len(X)])


def test_river_learns_dicts_with_a_text():
    texts, Y = tickets()
    model = RiverTexts(LEARNERS, text=("subject", "body"), n_columns=2**12)
    for text, row in zip(texts, Y, strict=True):
        subject = {} if row[0] else {"subject": None}
        model.learn_one(
            {**subject, "body": text, "price": 3.0}, dict(zip(WORDS, map(bool, row), strict=True))
        )
    assert model.predict_one({"body": "a refund of the amount"}) == {
        "billing": True,
        "login": False,
    }
    scores = model.score_one({"body": "password"})
    assert scores["login"] > scores["billing"]
    model.learn_one({"body": "printer"}, {"hardware"})
    assert model.label_names == ["billing", "login", "hardware"]


def test_river_has_the_rows_of_a_text_ranker():
    texts, _ = tickets(50)
    model = RiverTexts(LEARNERS, labels=list(WORDS), text="body", n_columns=2**12)
    ranker = TextRanker(learners=LEARNERS, n_columns=2**12)
    for i, text in enumerate(texts):
        model.learn_one({"body": text}, {"billing"} if i % 2 else {"login"})
        ranker.learn(text, {"billing"} if i % 2 else {"login"})
    np.testing.assert_array_equal(
        model._features.row({"body": texts[3]}).dense, ranker.rows(texts[3]).dense
    )
    assert pickle.loads(pickle.dumps(model)).score_one({"body": "refund"}) == model.score_one(
        {"body": "refund"}
    )


def test_river_takes_embeddings_and_refuses_what_is_no_text():
    model = RiverTexts(
        LEARNERS, text="body", embedding="vector", n_embedding=2, n_columns=2**10, labels=["a", "b"]
    )
    for _ in range(20):
        model.learn_one({"body": "x", "vector": [1.0, 0.0]}, {"a"})
        model.learn_one({"body": "x", "vector": [0.0, 1.0]}, {"b"})
    scores = model.score_one({"body": "x", "vector": [1.0, 0.1]})
    assert scores["a"] > scores["b"]
    with pytest.raises(TypeError, match="feature 'body' is 3, but must be a string"):
        model.learn_one({"body": 3}, {"a"})
