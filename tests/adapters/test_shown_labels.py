"""Top-k feedback through River and scikit-learn: the same as the core, saved, threaded, with late feedback."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("river")
pytest.importorskip("sklearn")

import boostline as bl
import boostline.river
import boostline.sklearn

K = 6
NAMES = [f"f{i}" for i in range(K)]
LABELS = list("abcdef")

#: Adapter's name -> its settings; what the core is made of with labels, seed and threads.
CASES: dict[str, tuple[dict[str, Any], Any]] = {
    "ExplorerClassifier": (
        {"rate": 2.0},
        lambda **o: bl.Explorer(bl.LabelRanker(**o), rate=2.0, seed=o["seed"]),
    ),
}
EACH = pytest.mark.parametrize("name", CASES)


def rows(n: int, seed: int = 0) -> tuple[Any, Any]:
    X = np.random.default_rng(seed).normal(size=(n, K))
    return X, X > 0.4


def river_model(name: str, **options: Any) -> Any:
    settings = {"labels": LABELS, "n_features": K, "seed": 7, **CASES[name][0], **options}
    return getattr(boostline.river, name)(**settings)


def sklearn_model(name: str, **options: Any) -> Any:
    return getattr(boostline.sklearn, name)(random_state=0, **CASES[name][0], **options)


def named(x: Any) -> dict[str, float]:
    return dict(zip(NAMES, x.tolist(), strict=True))


def heard(y: Any, shown: Any) -> set[Any]:
    """What a user says who looks at the shown labels only."""
    return {label for label in shown.labels if y[LABELS.index(label)]}


@EACH
def test_river_is_the_core(name):
    X, Y = rows(60)
    model, core = river_model(name), CASES[name][1](labels=LABELS, seed=7)
    explored = 0
    for x, y in zip(X, Y, strict=True):
        shown, expected = model.show_one(named(x)), core.show(x)
        assert list(shown.labels) == list(expected.labels)
        np.testing.assert_array_equal(shown.explored, expected.explored)
        explored += shown.explored.any()
        model.learn_one(named(x), heard(y, shown), shown=shown)
        core.learn(x, heard(y, shown), shown=shown)
    assert 0 < explored < len(X)
    np.testing.assert_array_equal(list(model.score_one(named(X[0])).values()), core.score(X[0]))


@EACH
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_scikit_learn_is_the_core(name, n_jobs):
    X, Y = rows(60)
    model = sklearn_model(name, n_jobs=n_jobs)
    first = model.show(X[:1], classes=LABELS)
    core = CASES[name][1](labels=LABELS, seed=model.booster_.seed)
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        shown = first if i == 0 else model.show(X[i : i + 1])
        expected = core.show(x)
        assert shown.labels[0].tolist() == list(expected.labels)
        said = np.where(np.isin(LABELS, shown.labels[0]), y, np.nan)
        model.partial_fit(X[i : i + 1], said[np.newaxis], shown=shown)
        core.learn(x, heard(y, expected), shown=expected)
    np.testing.assert_array_equal(model.booster_.score(X), core.score(X))


@EACH
def test_what_was_not_shown_is_not_looked_at(name):
    X, Y = rows(40)
    model, liar, many = (river_model(name) for _ in range(3))
    for x, y in zip(X, Y, strict=True):
        shown = model.show_one(named(x))
        truth = dict(zip(LABELS, y.tolist(), strict=True))
        lies = {label: said if label in shown.labels else not said for label, said in truth.items()}
        model.learn_one(named(x), truth)  # without `shown`: what it would show now
        liar.learn_one(named(x), {**lies, "never seen": True}, shown=shown)
    assert liar.label_names == LABELS
    pd = pytest.importorskip("pandas")
    many.learn_many(pd.DataFrame(X, columns=NAMES), pd.DataFrame(Y, columns=LABELS))
    for x in X[:5]:
        assert model.score_one(named(x)) == liar.score_one(named(x)) == many.score_one(named(x))


@EACH
def test_fit_hears_of_what_it_would_have_shown(name):
    X, Y = rows(50)
    model = sklearn_model(name, shuffle=False).fit(X, Y)
    core = CASES[name][1](n_labels=K, seed=model.booster_.seed)
    core.learn(X, Y)
    np.testing.assert_array_equal(model.booster_.score(X), core.score(X))
    np.testing.assert_array_equal(model.rank(X, 2), core.rank(X, 2))


@EACH
def test_pickled_in_the_middle_it_goes_on(name):
    X, Y = rows(60)
    for model in (river_model(name), sklearn_model(name)):
        learn = (
            (lambda m, part: m.partial_fit(X[part], Y[part]))
            if hasattr(model, "partial_fit")
            else lambda m, part: [
                m.learn_one(named(x), dict(zip(LABELS, y.tolist(), strict=True)))
                for x, y in zip(X[part], Y[part], strict=True)
            ]
        )
        learn(model, slice(0, 30))
        twin = pickle.loads(pickle.dumps(model))
        for each in (model, twin):
            learn(each, slice(30, 60))
        if hasattr(model, "partial_fit"):
            assert twin.show(X).labels.tolist() == model.show(X).labels.tolist()
            np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
        else:
            assert twin.show_one(named(X[0])).labels == model.show_one(named(X[0])).labels
            assert twin.score_one(named(X[0])) == model.score_one(named(X[0]))


@EACH
def test_late_feedback_has_a_turn_of_its_own(name):
    X, Y = rows(30)
    model = river_model(name)
    waiting = [model.show_one(named(x), turn=i) for i, x in enumerate(X)]
    for x, y, shown in zip(X, Y, waiting, strict=True):
        model.learn_one(named(x), heard(y, shown), shown=shown)
    block = sklearn_model(name)
    shown = block.show(X, classes=LABELS)
    assert len({tuple(row) for row in shown.labels.tolist()}) > 3
    block.partial_fit(X, Y, shown=shown)
    assert model.booster.clock == block.booster_.clock == len(X)


@EACH
def test_few_labels(name):
    """River waits for more labels, scikit-learn shows all."""
    model = river_model(name, labels=["a", "b"])
    assert model.show_one({"f0": 1.0}).labels == ["a", "b"]
    model.learn_one({"f0": 1.0}, {"a": True, "b": False})
    assert model.score_one({"f0": 1.0}) == {"a": 0.0, "b": 0.0}
    for i in range(20):
        model.learn_one({"f0": float(i)}, {"abcdefgh"[i % 8]: True})
    assert model.booster.n_labels == 8
    X, _ = rows(30)
    fitted = sklearn_model(name).fit(X, X[:, 0] > 0)
    assert sorted(fitted.show(X[:1]).labels[0].tolist()) == [False, True]


@EACH
def test_bad_input_is_refused_and_changes_nothing(name):
    X, Y = rows(20)
    model = sklearn_model(name)
    with pytest.raises(ValueError, match="classes must be passed"):
        model.show(X)
    shown = model.fit(X, Y).show(X)
    before = model.booster_.score(X)
    few = bl.Shown(shown.labels[:3], shown.explored[:3])
    strange = bl.Shown(np.where(shown.labels == 0, 99, shown.labels), shown.explored)
    for wrong in (few, strange):
        with pytest.raises(ValueError, match="shown"):
            model.partial_fit(X, Y, shown=wrong)
    with pytest.raises(ValueError, match="weight"):
        model.partial_fit(X, Y, sample_weight=np.full(len(X), 2.0), shown=shown)
    np.testing.assert_array_equal(model.booster_.score(X), before)
    with pytest.raises(ValueError, match="n_shown is 0"):
        river_model(name, n_shown=0)
    with pytest.raises(ValueError, match="n_shown is 0"):
        sklearn_model(name).set_params(n_shown=0).fit(X, Y)
