"""The River classifiers: River's own checks, equality with the core, features and labels that come and go."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("river")

from river import checks, datasets, feature_extraction, preprocessing

import boostline as bl
from boostline.learners import paper_trees
from boostline.river import (
    AdaOLMRClassifier,
    ExplorerClassifier,
    LabelRankerClassifier,
    OnlineBMRClassifier,
)

BOTH = pytest.mark.parametrize("make", [AdaOLMRClassifier, OnlineBMRClassifier])
ALL = pytest.mark.parametrize(
    "make", [LabelRankerClassifier, AdaOLMRClassifier, OnlineBMRClassifier]
)
MODELS = {
    "the default": LabelRankerClassifier,
    "the default of AdaOLMR": AdaOLMRClassifier,
    "the default of OnlineBMR": OnlineBMRClassifier,
    "AdaOLMR": lambda: AdaOLMRClassifier(paper_trees(10)),
    "AdaOLMR without a seed": lambda: AdaOLMRClassifier(paper_trees(10), seed=None),
    "AdaOLMR, draw, counts": lambda: AdaOLMRClassifier(
        paper_trees(10), expert="draw", optimize="macro-f1", fill_value=0.0
    ),
    "OnlineBMR": lambda: OnlineBMRClassifier(paper_trees(10), labels=["Class2", "Class1"]),
    "Explorer": ExplorerClassifier,
    "pipeline": lambda: preprocessing.StandardScaler() | AdaOLMRClassifier(paper_trees(10)),
}


def yeast_in_musics_place():
    """The checks of a model; Music would be downloaded, Yeast comes with River."""
    original = datasets.Music
    datasets.Music = datasets.Yeast
    try:
        for name, make in MODELS.items():
            for check in checks.yield_checks(make()):
                yield pytest.param(make, check, id=f"{name}: {check.__name__}")
    finally:
        datasets.Music = original


@pytest.mark.parametrize(("make", "check"), list(yeast_in_musics_place()))
@pytest.mark.gate
def test_rivers_checks(make, check):
    model = make()
    assert not model._unit_test_skips()
    check(model)


@BOTH
def test_learn_one_is_the_core_on_yeast(make):
    rows = list(datasets.Yeast().take(150))
    names, labels = sorted(rows[0][0]), sorted(rows[0][1])
    model = make(paper_trees(10), n_features=len(names), seed=4)
    settings = {"expert": "weighted"} if make is AdaOLMRClassifier else {}
    core_class = bl.AdaOLMR if make is AdaOLMRClassifier else bl.OnlineBMR
    core = core_class(labels=labels, learners=paper_trees(10), seed=4, **settings)
    for x, y in rows:
        row, relevant = [x[n] for n in names], np.array([y[label] for label in labels])
        if core.n_features is not None:
            scores = core.score(row)
            assert model.score_one(x) == dict(zip(labels, scores, strict=True))
            named = dict(zip(labels, core.predict(row), strict=True))
            assert model.predict_one(x) == named
            assert model.predict_one(x).scores == model.score_one(x)
            likely = {label: p[True] for label, p in model.predict_proba_one(x).items()}
            assert likely == dict(zip(labels, core.probabilities(row), strict=True))
        model.learn_one(x, y)
        core.learn(row, relevant)
    assert model.booster.clock == len(rows)


def test_a_vanished_feature_is_missing_or_zero():
    rows = list(datasets.Yeast().take(60))
    names = sorted(rows[0][0])
    for fill_value, filler in ((None, float("nan")), (0.0, 0.0)):
        model = AdaOLMRClassifier(
            paper_trees(10), fill_value=fill_value, n_features=len(names), labels=sorted(rows[0][1])
        )
        core = bl.AdaOLMR(14, learners=paper_trees(10), expert="weighted")
        for i, (x, y) in enumerate(rows):
            kept = x if i == 0 else {n: v for j, (n, v) in enumerate(x.items()) if (i + j) % 3}
            model.learn_one(kept, y)
            core.learn([kept.get(n, filler) for n in names], np.array([y[n] for n in sorted(y)]))
        np.testing.assert_array_equal(
            list(model.score_one(x).values()), core.score([x[n] for n in names])
        )


def test_features_that_appear_are_learned_from():
    """The label follows a feature that comes late."""
    rng = np.random.default_rng(0)
    model = OnlineBMRClassifier([bl.learners.HoeffdingTree(grace_period=5.0)] * 5)
    for t in range(600):
        x = {"noise": rng.normal()}
        late = rng.normal()
        if t >= 100:
            x["late"] = late
        model.learn_one(x, {"up": late > 0, "down": late <= 0})
    assert model.feature_names == ["noise", "late"]
    hits = 0
    for _ in range(200):
        late = rng.normal()
        scores = model.score_one({"late": late, "noise": rng.normal()})
        hits += (scores["up"] > scores["down"]) == (late > 0)
    assert hits > 180


@pytest.mark.parametrize("fill_value", [None, 0.0])
def test_features_may_go_on_appearing(fill_value):
    """The labels follow one of 60 features that come one after the other, far beyond any reserve."""
    rng = np.random.default_rng(0)
    model = LabelRankerClassifier(fill_value=fill_value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for t in range(600):
            first = min(t // 5, 50)
            x = {f"f{first + j}": rng.normal() for j in range(10)}
            x["f59"] = x.get("f59", rng.normal() if t >= 250 else 0.0)
            model.learn_one(x, {"up": x["f59"] > 0, "down": x["f59"] < 0, "else": False})
    assert len(model.feature_names) == 60 <= model.booster.n_features
    hits = 0
    for _ in range(100):
        late = rng.normal()
        scores = model.score_one({"f59": late, "f55": rng.normal(), "new": 1.0})
        hits += (scores["up"] > scores["down"]) == (late > 0)
    assert hits > 90
    twin = pickle.loads(pickle.dumps(model))
    for name in ("g1", "g2", *(f"h{i}" for i in range(30))):
        for each in (model, twin):
            each.learn_one({name: 1.0, "f59": 0.5}, {"up"})
    assert twin.score_one({"f59": 1.0, "h3": 1.0}) == model.score_one({"f59": 1.0, "h3": 1.0})


def test_words_without_end():
    """A vocabulary that grows with every document, without a word about its size."""
    rng = np.random.default_rng(1)
    topics = {"sport": ["goal", "team", "match"], "law": ["court", "bill", "vote"]}
    model = feature_extraction.BagOfWords() | LabelRankerClassifier(fill_value=0.0)
    letters = str.maketrans("01", "ab")
    hits = []
    for t in range(300):
        topic = str(rng.choice(list(topics)))
        words = [
            *rng.choice(topics[topic], 2),
            *("w" + np.base_repr(rng.integers(20 * t + 20)).translate(letters) for _ in range(12)),
        ]
        scores = model.score_one(" ".join(words))
        hits.append(bool(scores) and max(scores, key=scores.get) == topic)
        model.learn_one(" ".join(words), {topic})
    assert np.mean(hits[150:]) > 0.9
    assert model["LabelRankerClassifier"].booster.n_features > 1000


def test_learners_that_cannot_take_more_features_keep_the_first():
    class Half:
        def predict(self, x):
            return np.full(2, 0.5)

        def learn(self, x, relevant, costs, weight):
            self.seen = len(x)

    model = AdaOLMRClassifier([Half()])
    model.learn_one({"a": 1.0}, {"x": True, "y": False})
    names = {f"n{i}": 1.0 for i in range(20)}
    with pytest.warns(UserWarning, match="is ignored, because the model has 9 features already"):
        model.learn_one({"a": 1.0, **names}, {"x": True, "y": False})
    model.learn_one({"a": 1.0, **names}, {"x": False, "y": True})
    assert model.booster.n_features == 9


def test_too_many_features_are_left_out_with_one_warning():
    model = AdaOLMRClassifier(paper_trees(3), n_features=2)
    model.learn_one({"a": 1.0, "b": 2.0}, {"x": True, "y": False})
    with pytest.warns(
        UserWarning, match="feature 'c' is ignored, because the model has 2 features already"
    ):
        model.learn_one({"a": 1.0, "c": 2.0}, {"x": True, "y": False})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.learn_one({"d": 1.0, "b": 2.0}, {"x": False, "y": True})
        twin = bl.AdaOLMR(labels=["x", "y"], learners=paper_trees(3), expert="weighted")
    for row, relevant in (([1, 2], "x"), ([1, np.nan], "x"), ([np.nan, 2], "y")):
        twin.learn(row, {relevant})
    assert list(model.score_one({"a": 1.0, "d": 9.0}).values()) == twin.score([1, np.nan]).tolist()


def test_new_labels_while_running():
    rng = np.random.default_rng(0)
    model = AdaOLMRClassifier([bl.learners.HoeffdingTree(grace_period=5.0)] * 10)
    assert model.predict_one({"a": 1.0}) == {}
    model.learn_one({"a": 1.0}, {"first": True})
    assert model.booster is None and model.predict_one({"a": 1.0}) == {"first": False}
    for t in range(900):
        a = float(rng.integers(3))
        y = {"first": a == 0, "second": a == 1}
        if t >= 200:
            y["third"] = a == 2
        model.learn_one({"a": a}, y)
    booster: Any = model.booster
    assert model.label_names == ["first", "second", "third"] == booster.labels
    for a, label in enumerate(model.label_names):
        assert [n for n, on in model.predict_one({"a": float(a)}).items() if on] == [label]
    assert list(pickle.loads(pickle.dumps(model)).score_one({"a": 2.0})) == model.label_names


def test_sets_dicts_unknown_and_absent_labels():
    x = {"a": 1.0, "b": 2.0}
    full, short = ({"p": True, "q": False, "r": False}, {"p"})

    def learned(y, absent="irrelevant"):
        model = AdaOLMRClassifier(paper_trees(5), labels="pqr", absent=absent)
        for _ in range(5):
            model.learn_one(x, y)
        return model.booster

    def core(relevant, unknown=()):
        model = bl.AdaOLMR(labels=["p", "q", "r"], learners=paper_trees(5), expert="weighted")
        row = [1.0, 2.0, *[np.nan] * 8]  # the reserve
        for _ in range(5):
            model.learn(row, relevant, unknown=set(unknown))
        return model

    for booster, twin in [
        (learned(full), core({"p"})),
        (learned(short), core({"p"})),
        (learned({"p": True}), core({"p"})),
        (learned({"p": True, "q": None, "r": 0}), core({"p"}, {"q"})),
        (learned({"p": True, "q": False}, "unknown"), core({"p"}, {"r"})),
        (learned(short, "unknown"), core({"p"}, {"q", "r"})),
    ]:
        np.testing.assert_array_equal(booster.learner_weights, twin.learner_weights)
        np.testing.assert_array_equal(booster.diagnostics.weight_sums, twin.diagnostics.weight_sums)


def test_words_are_passed_on_as_sparse_rows():
    texts = ["the ball is round", "one vote is cast", "the ball and the vote", "music plays"] * 5
    labels = [{"sport"}, {"politics"}, {"sport", "politics"}, {"music"}] * 5
    names = ["music", "politics", "sport"]
    classifier = AdaOLMRClassifier(paper_trees(5), labels=names, n_features=200, fill_value=0.0)
    assert not isinstance(classifier._features.row({}), np.ndarray)
    thin = feature_extraction.BagOfWords() | classifier
    core = bl.AdaOLMR(labels=names, learners=paper_trees(5), expert="weighted")
    words: dict[str, int] = {}
    for text, relevant in zip(texts, labels, strict=True):
        thin.learn_one(text, relevant)
        row = np.zeros(200)
        for word in sorted(set(text.split())):
            words.setdefault(word, len(words))
        for word in text.split():
            row[words[word]] += 1
        core.learn(row, relevant)
    assert list(thin.score_one(text).values()) == core.score(row).tolist()


@BOTH
def test_copies_go_on_alike(make):
    rows = list(datasets.Yeast().take(80))
    model = make(paper_trees(10))
    for x, y in rows[:40]:
        model.learn_one(x, y)
    twins = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for x, y in rows[40:]:
        for one in (model, *twins):
            one.learn_one(x, y)
    for twin in twins:
        assert twin.score_one(x) == model.score_one(x)
        assert twin.predict_one(x) == model.predict_one(x)


@pytest.mark.parametrize(
    ("x", "y", "w", "message"),
    [
        ({"a": "red", "new": 1.0}, {"p": True, "n": True}, 1.0, "feature 'a' is 'red'"),
        ({"a": float("inf"), "new": 1.0}, {"p": True, "n": True}, 1.0, "feature 'a' is inf"),
        (
            {"a": 1.0, "new": 1.0},
            {"p": "yes", "n": True},
            1.0,
            "y has the value 'yes' for label 'p', but must",
        ),
        ({"a": 1.0, "new": 1.0}, "p", 1.0, "y is a str, but must be a set or list of labels"),
        (
            {"a": 1.0, "new": 1.0},
            {"p": True, "n": True},
            2.0,
            "w has the value 2.0, but must lie in",
        ),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(x, y, w, message):
    model = AdaOLMRClassifier(paper_trees(3))
    model.learn_one({"a": 1.0}, {"p": True, "q": False})
    before = pickle.dumps(model)
    with pytest.raises((TypeError, ValueError), match=message):
        model.learn_one(x, y, w)
    assert pickle.dumps(model) == before


def test_weights_reach_the_core():
    light = AdaOLMRClassifier(paper_trees(3), labels="pq", n_features=1)
    core = bl.AdaOLMR(labels=["p", "q"], learners=paper_trees(3), expert="weighted")
    for i in range(10):
        light.learn_one({"a": float(i)}, {"p": i > 4, "q": i < 5}, w=i / 10)
        core.learn([float(i)], {"p" if i > 4 else "q"}, weight=i / 10)
    np.testing.assert_array_equal(light.booster.learner_weights, core.learner_weights)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"absent": "maybe"}, "absent is 'maybe'"),
        ({"optimize": "median"}, "optimize is 'median'"),
        ({"n_features": 0}, "n_features is 0"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        LabelRankerClassifier(**parameters)


def test_options_are_passed_on():
    assert LabelRankerClassifier(labels="pq").booster.drift == "restart"
    assert LabelRankerClassifier(labels="pq", drift=None).booster.drift is None
    assert AdaOLMRClassifier(labels="pq").booster.expert == "weighted"
    assert AdaOLMRClassifier(labels="pq").booster.n_learners == 100
    assert AdaOLMRClassifier(labels="pq", expert="draw").booster.expert == "draw"
    assert OnlineBMRClassifier(labels="pq").booster.n_learners == 100


@ALL
def test_the_default_learns_beside_places_that_stay_empty(make):
    """Three features, and a reserve of eight that no example ever fills."""
    rng = np.random.default_rng(1)
    model = make()
    right = 0
    for t in range(600):
        x = dict(zip("abc", rng.normal(size=3).tolist(), strict=True))
        y = {"a": x["a"] > x["b"], "b": x["a"] <= x["b"], "c": x["c"] > 0}
        if t >= 400:
            scores = model.score_one(x)
            assert np.isfinite(list(scores.values())).all()
            right += (scores["a"] > scores["b"]) == y["a"]
        model.learn_one(x, y)
    assert model.booster.n_features == 11
    assert right > 180
