"""What a booster with top-k feedback shows, and what it hears."""

import numpy as np
import pytest

import boostline as bl
from boostline import _core

TREES = bl.learners.paper_trees(8)
BOTH = pytest.mark.parametrize("booster", [bl.TopkBMR, bl.TopkAdaptive])


def stream(n=400, m=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, X > 0.5


def made(booster, m=6, **options):
    return booster(m, **{"learners": TREES, "exploration": 0.4, "seed": 3, **options})


@BOTH
def test_showing_changes_nothing_and_gives_the_same_twice(booster):
    X, Y = stream()
    model, silent = made(booster), made(booster)
    for x, y in zip(X[:100], Y[:100], strict=True):
        first, second = model.show(x), model.show(x)
        assert (first.labels == second.labels).all() and (first.explored == second.explored).all()
        model.learn(x, y)
        silent.learn(x, y)
    np.testing.assert_array_equal(model.score(X), silent.score(X))


@BOTH
def test_the_best_are_shown_but_for_those_explored(booster):
    X, Y = stream()
    model = made(booster)
    model.learn(X, Y)
    shown, order = model.show(X), model.rank(X)
    assert shown.labels.shape == shown.explored.shape == (400, 3)
    n_explored = shown.explored.sum(axis=1)
    assert set(n_explored) == {0, 2} and 0.3 < (n_explored > 0).mean() < 0.5
    for labels, explored, best in zip(shown.labels, shown.explored, order, strict=True):
        assert len(set(labels)) == 3
        assert (labels[~explored] == best[:3][~explored]).all()  # in their places
        assert set(labels[explored]) <= set(best[3:])


@BOTH
def test_what_is_not_shown_is_not_heard(booster):
    X, Y = stream()
    rng = np.random.default_rng(1)
    told, lied_to, given = made(booster), made(booster), made(booster)
    for x, y in zip(X, Y, strict=True):
        shown = told.show(x)
        other = np.where(np.isin(np.arange(6), shown.labels), y, rng.random(6) < 0.5)
        heard = {label for label in shown.labels if y[label]}
        expected = told.learn(x, y)
        np.testing.assert_array_equal(lied_to.learn(x, other), expected)
        np.testing.assert_array_equal(given.learn(x, heard, shown=shown), expected)
    expected = told.state()["arrays"]
    for model in (lied_to, given):
        for name, array in model.state()["arrays"].items():
            np.testing.assert_array_equal(array, expected[name], name)


@BOTH
def test_feedback_may_come_late_and_in_blocks(booster):
    X, Y = stream()
    late, block = made(booster), made(booster)
    for first in range(0, 400, 50):
        part = slice(first, first + 50)
        shown = late.show(X[part])  # all before any of them is learned
        rows = [late.show(X[i], turn=i) for i in range(first, first + 50)]
        assert (shown.labels == [row.labels for row in rows]).all()
        for i, row in zip(range(first, first + 50), rows, strict=True):
            late.learn(X[i], Y[i], shown=row)
        block.learn(X[part], Y[part], shown=shown)
    np.testing.assert_array_equal(block.score(X), late.score(X))
    assert block.heard_weight == late.heard_weight > 0


@BOTH
def test_a_row_in_which_no_pair_was_heard_changes_no_score(booster):
    X, Y = stream()
    model = made(booster)
    model.learn(X, Y)
    for heard in (np.ones(6, bool), np.zeros(6, bool)):
        before, scores = model.state()["arrays"], model.votes(X)
        model.learn(X[0], heard)
        np.testing.assert_array_equal(model.votes(X), scores)
        after = model.state()["arrays"]
        changed = {n for n in before if not np.array_equal(before[n], after[n], equal_nan=True)}
        # what was heard of single labels counts for the probabilities
        changed = {name for name in changed if not name.startswith("calibration")}
        assert changed == {"clock", "rows_without_pairs"}


def test_names_are_shown_and_taken_back():
    model = bl.TopkBMR(labels=list("abcde"), learners=TREES, exploration=0.4)
    shown = model.show([0.0, 1.0])
    assert shown.labels == ["a", "b", "c"]
    model.learn([0.0, 1.0], {"b"}, shown=shown)
    block = model.show([[0.0, 1.0]] * 2)
    assert len(block.labels) == 2 and set(block.labels[0]) <= set("abcde")
    model.learn([[0.0, 1.0]] * 2, [{"a"}, {"b"}], shown=block)
    assert model.clock == 3


@BOTH
def test_a_saved_model_shows_the_same(booster, tmp_path):
    X, Y = stream()
    model = made(booster)
    model.learn(X[:200], Y[:200])
    model.save(tmp_path / "m.blm")
    loaded = bl.load(tmp_path / "m.blm")
    assert (loaded.n_shown, loaded.n_swapped, loaded.exploration) == (3, 2, 0.4)
    for x, y in zip(X[200:], Y[200:], strict=True):
        assert (model.show(x).labels == loaded.show(x).labels).all()
        model.learn(x, y)
        loaded.learn(x, y)
    np.testing.assert_array_equal(model.score(X), loaded.score(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(n_shown=1), "n_shown is 1, but must be"),
        (dict(n_shown=7), "n_shown is 7, but must be"),
        (dict(n_shown=2), "n_shown is 2, but must be at least 3 with 6 labels"),
        (dict(n_shown=3, n_swapped=1), "n_swapped is 1, but must be between 2 and 2"),
        (dict(n_shown=3, n_swapped=3), "n_swapped is 3, but must be between 2 and 2"),
        (dict(n_shown=5, n_swapped=2), "n_swapped is 2, but must be between 1 and 1"),
        (dict(n_shown=6, n_swapped=1), "n_swapped is 1, but must be between 0 and 0"),
        (dict(exploration=0.0), r"exploration is 0.0, but must be in \(0, 1\]"),
        (dict(exploration=1.0), "exploration is 1, but must be below 1"),
        (dict(exploration=float("nan")), "exploration is nan, but must be"),
    ],
)
def test_settings_that_cannot_hear_all_pairs_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        bl.TopkAdaptive(6, learners=TREES, **options)


def test_shown_that_cannot_be_is_refused():
    X, Y = stream(20)
    model = made(bl.TopkBMR)
    model.learn(X, Y)
    no = np.zeros(3, bool)
    for shown, message in [
        ((np.array([0, 1]), no[:2]), "shown has labels of shape"),
        ((np.array([0, 1, 1]), no), "a label twice"),
        ((np.array([0, 1, 6]), no), "shown has label"),
        ((np.array([0, 1, 2]), np.array([True, False, False])), "1 explored labels, but must"),
        ((np.array([[0, 1, 2]] * 2), np.zeros((2, 3), bool)), "shown has 2 rows, but"),
    ]:
        before = model.state()["arrays"]
        with pytest.raises(ValueError, match=message):
            model.learn(X[0], Y[0], shown=bl.Shown(*shown))
        after = model.state()["arrays"]
        assert all(np.array_equal(before[n], after[n], equal_nan=True) for n in before)
    with pytest.raises(TypeError, match=r"shown is a int, but must be what show\(\) returned"):
        model.learn(X[0], Y[0], shown=3)


def test_labels_are_added_only_where_all_pairs_can_still_be_shown():
    X, Y = stream(20, m=3)
    model = bl.TopkBMR(3, n_shown=2, learners=TREES)
    model.learn(X, Y)
    with pytest.raises(ValueError, match="n_shown is 2, but must be at least 3 with 4 labels"):
        model.add_labels(1)
    assert model.n_labels == 3


# All labels shown: nothing is estimated, and what is left are the algorithms that hear everything.


def test_with_all_labels_shown_topk_bmr_is_online_bmr_where_one_label_is_relevant():
    X, _ = stream(600)
    Y = np.eye(6, dtype=bool)[X.argmax(axis=1)]
    topk = bl.TopkBMR(6, n_shown=6, edge=0.1, learners=TREES, seed=1)
    full = bl.OnlineBMR(6, edge=0.1, learners=TREES, seed=1)
    np.testing.assert_allclose(topk.learn(X, Y), full.learn(X, Y), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(topk.edges(), full.edges(), rtol=1e-9)
    assert topk.suffered_loss == pytest.approx(full.suffered_loss)
    assert topk.n_swapped == 0 and topk.pair_probabilities[0] == 1


def test_with_all_labels_shown_the_costs_of_topk_adaptive_are_those_of_ada_olmr():
    X, Y = stream(1)
    Y[0] = np.arange(6) < 2
    topk = bl.TopkAdaptive(6, n_shown=6, learners=TREES, seed=1)
    full = bl.AdaOLMR(6, learners=TREES, seed=1)
    topk.learn(X, Y)
    full.learn(X, Y)
    ours, theirs = (_core.testing.last_round(one._native)["costs"] for one in (topk, full))
    # the mean over 2 * 4 pairs there, the sum in units of 5 here
    np.testing.assert_allclose(ours, theirs * (2 * 4) / 5, rtol=1e-12)
    assert topk.most_loss == 3 * 3 / 5
