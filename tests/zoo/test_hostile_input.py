"""Whatever comes is learned or refused: with an error that names the argument, by a model that stays as it was."""

import functools
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_zoo import ZOO, D, K, each_model, rows
from scipy import sparse
from states import assert_same_model, assert_same_state

import boostline as bl
from boostline.learners import Tracker, linear, scorers
from boostline.metrics import rank_loss

x = np.zeros(D)
X = np.zeros((3, D))


def row(*cells):
    return np.r_[np.zeros(D - len(cells)), cells]


def csr(*cells):
    return sparse.csr_array(row(*cells)[np.newaxis])


def out_of_bounds():
    matrix = csr(1.0, 2.0)
    matrix.indices[1] = 10**6
    return matrix


#: Rows, and the words with which every call refuses them.
BAD_ROWS: list[tuple[Any, str]] = [
    (np.zeros(D + 1), "x has 7 features, but must have 6"),
    (np.zeros((3, D - 1)), "x has 5 features, but must have 6"),
    (sparse.csr_array((3, D + 1)), "x has 7 features, but must have 6"),
    (np.zeros((2, 2, 2)), "x has 3 dimensions"),
    (np.zeros(0), "features"),
    (np.zeros((3, 0)), "features"),
    ([[1.0] * D, [1.0] * 2, 3.0], "x has rows of different lengths (1, 2, 6), but must have"),
    (np.array(["a"] * D), "x has dtype"),
    (np.zeros(D, dtype=complex), "x has dtype complex"),
    (None, "x has"),
    (object(), "x"),
    ({"age": 1.0}, "x is a dict, but must be"),
    (row(np.inf), "x has an infinite value at [0, 5]"),
    (csr(-np.inf, 0.0), "x has an infinite value"),
    (row(-1e155, np.nan), "x has the value -1e+155 at [0, 4], but must have numbers"),
    (csr(2e100, 0.0), "x has the value 2e+100 at [0, 4]"),
    (out_of_bounds(), "x.indices has the column 1000000 in row 0"),
    (pd.DataFrame([["tall"] * D]), "x has 'tall' in the column 0, but must have numbers"),
    (pd.DataFrame(np.zeros((2, D)), columns=[0.5, 1, 2, 3, 4, 5]), "columns must be strings"),
]
#: Rows, labels, options, and the words with which `learn` refuses them.
BAD_LABELS: list[tuple[Any, Any, dict[str, Any], str]] = [
    (x, {17}, {}, "relevant has label 17, but n_labels is 4"),
    (x, {-1}, {}, "relevant has label -1"),
    (x, [1, 1], {}, "relevant has label 1 twice"),
    (x, {"sun"}, {}, "relevant has label 'sun'"),
    (x, {1.5}, {}, "relevant has label 1.5"),
    (x, 3, {}, "relevant is a int"),
    (x, None, {}, "relevant is a NoneType"),
    (x, np.array([1, 0]), {}, "relevant is an array of shape (2,), but an indicator must have the shape (4,)"),
    (x, np.array([2, 0, 0, 0]), {}, "relevant has the value 2"),
    (X, np.zeros((2, K)), {}, "relevant is an array of shape (2, 4), but an indicator must have the shape (3, 4)"),
    (X, [{0}, {1}], {}, "relevant has 2 label sets, but must have one for each of the 3 rows"),
    (X, [{0}, {1}, {9}], {}, "relevant[2] has label 9"),
    (X, {0, 1, 2}, {}, "relevant is a set"),
    (X, pd.DataFrame(np.zeros((3, K + 1))), {}, "relevant"),
    (x, {0}, {"weight": -0.1}, "weight has the value -0.1"),
    (x, {0}, {"weight": np.nan}, "weight has the value nan"),
    (x, {0}, {"weight": "much"}, "weight is 'much'"),
    (X, np.zeros((3, K)), {"weight": [1.0, 1.0]}, "weight has shape (2,)"),
    (x, {0}, {"unknown": {0}}, "unknown has label 0 of row 0, but must not have labels that are in relevant too"),
    (x, {0}, {"unknown": {9}}, "unknown has label 9"),
]  # fmt: skip


@functools.cache
def taught(kind):
    """Shared by tests that must leave it as it is."""
    model = kind.make()
    model.learn(*rows(40))
    return model


def some_sets(x):
    """Label sets for so many rows."""
    shape = getattr(x, "shape", (1,))
    return {0} if len(shape) == 1 else [{0}] * shape[0]


def refused(call, words):
    """Whether the call is refused in these words; else what happened."""
    try:
        call()
    except (ValueError, TypeError) as error:
        return None if words in str(error) else f"{error} (not: {words})"
    return f"was not refused: {words}"


@each_model
def test_bad_rows_are_refused_by_every_call(kind):
    model = taught(kind)
    before = model.state()
    found = [
        refused(call, words)
        for bad, words in BAD_ROWS
        for call in (
            lambda bad=bad: model.learn(bad, some_sets(bad)),
            lambda bad=bad: model.score(bad),
            lambda bad=bad: model.votes(bad),
            lambda bad=bad: model.rank(bad),
        )
    ]
    assert [what for what in found if what] == []
    assert_same_state(model.state(), before)


@each_model
def test_bad_labels_and_weights_are_refused(kind):
    model = taught(kind)
    before = model.state()
    found = [refused(lambda c=case: model.learn(*c[:2], **c[2]), case[3]) for case in BAD_LABELS]
    assert [what for what in found if what] == []
    assert_same_state(model.state(), before)


@each_model
def test_a_new_model_is_as_new_after_a_refused_call(kind):
    model = kind.make()
    before = model.state()
    for bad, labels in ((row(np.inf), {0}), (x, {17}), (X, [{0}])):
        assert refused(lambda bad=bad, labels=labels: model.learn(bad, labels), "") is None
    assert_same_state(model.state(), before)
    assert model.n_features is None and model.clock == 0
    assert model.learn(np.zeros(D + 3), {0}).shape == (K,)  # the first row says how many features


@each_model
def test_empty_blocks_change_nothing(kind):
    model = taught(kind)
    before = model.state()
    assert model.learn(np.zeros((0, D)), np.zeros((0, K))).shape == (0, K)
    assert model.learn(sparse.csr_array((0, D)), []).shape == (0, K)
    assert model.score(np.zeros((0, D))).shape == (0, K)
    assert_same_state(model.state(), before)


#: Rows of which nothing can be learned, since they have no pair of a relevant and an irrelevant label, or no weight.
NO_PAIR = {
    "no label": ([], {}),
    "all labels": (list(range(K)), {}),
    "the rest unknown": ({0, 1}, {"unknown": set(range(2, K))}),
    "all unknown": (np.full(K, np.nan), {}),
    "no weight": ({1}, {"weight": 0.0}),
}


@each_model
@pytest.mark.parametrize("case", NO_PAIR)
def test_of_rows_without_a_pair_or_weight_learners_learn_nothing(kind, case):
    relevant, options = NO_PAIR[case]
    if case == "the rest unknown" and kind.booster is bl.LabelRanker:
        pytest.skip("it learns what is known: tests/models/test_explorer.py")
    if case in ("no label", "all labels") and any(
        isinstance(one, Tracker) for one in kind.learners
    ):
        pytest.skip("it learns how frequent labels are: tests/models/test_label_ranker.py")
    model, x = kind.make(), rows(41)[0][-1]
    model.learn(*rows(40))
    before, n_restarts = model.state(), model.n_restarts
    model.learn(x, relevant, **options)
    after = model.state()
    assert model.clock == 41 and model.n_restarts == n_restarts
    for name, array in before["arrays"].items():
        if name.startswith("learners.") and ".tracker" not in name:
            np.testing.assert_array_equal(after["arrays"][name], array, name)
    np.testing.assert_equal(after["python"], before["python"])


@each_model
def test_missing_constant_late_and_large_values_do_little_harm(kind):
    X, Y = rows(200)
    clean = kind.make().learn(X, Y)
    rng = np.random.default_rng(1)
    X = np.column_stack([X, np.full(200, 3.0), np.zeros(200), np.full(200, np.nan)])
    X[120:, -2] = 7.0  # appears late
    X[rng.integers(200, size=4), rng.integers(D, size=4)] = 1e12
    X[60], X[150, 0], X[151, 1] = np.nan, 1e100, -1e100
    model, late = kind.make(), slice(100, None)
    scores = model.learn(X, Y)
    assert np.isfinite(scores).all()
    assert rank_loss(Y[late], scores[late]) < rank_loss(Y[late], clean[late]) + 0.1
    extreme = np.vstack([np.full(D + 3, np.nan), np.full(D + 3, 1e100)])
    assert np.isfinite(model.score(extreme)).all()


@each_model
def test_a_model_that_refused_calls_goes_on_as_one_that_did_not(kind):
    X, Y = rows(40)
    model, twin = kind.make(), kind.make()
    np.testing.assert_array_equal(model.learn(X[0], Y[0]), twin.learn(X[0], Y[0]))
    for x, y, (bad, words), case in zip(
        X[1:], Y[1:], cycle(BAD_ROWS), cycle(BAD_LABELS), strict=False
    ):
        assert refused(lambda bad=bad: model.learn(bad, some_sets(bad)), words) is None
        assert refused(lambda c=case: model.learn(*c[:2], **c[2]), case[3]) is None
        np.testing.assert_array_equal(model.learn(x, y), twin.learn(x, y))
    assert_same_model(model, twin)


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(sorted(ZOO)),
    labels=st.one_of(
        st.sets(st.integers(-3, 8)),
        st.lists(st.one_of(st.integers(-3, 8), st.floats(), st.text(), st.booleans()), max_size=7),
        st.none(),
        st.text(),
    ),
    weight=st.one_of(st.floats(), st.integers(-2, 2)),
)
def test_whatever_comes_is_learned_or_refused_without_a_trace(name, labels, weight):
    model = ZOO[name].make()
    model.learn(X[:2], [{0}, {1}])
    before = model.state()
    try:
        scores = model.learn(x + 0.1, labels, weight=weight)
    except (ValueError, TypeError):
        assert_same_state(model.state(), before)
    else:
        assert scores.shape == (K,) and np.isfinite(scores).all()
        assert model.clock == 3


@pytest.mark.parametrize("top", [0, -1, 1.5, True])
def test_bad_top(top):
    with pytest.raises((ValueError, TypeError), match="top is"):
        taught(ZOO["ada"]).rank(x, top=top)


def test_every_booster_and_every_scorer_is_in_the_zoo():
    """Whoever adds one is told here."""
    named = {getattr(bl.models, name) for name in bl.models.__all__}
    boosters = {one for one in named if issubclass(one, bl.models.Booster)}
    assert {kind.booster for kind in ZOO.values()} == boosters - {bl.models.Booster}
    learners = [one for kind in ZOO.values() for one in kind.learners]
    members = [one for group in learners for one in getattr(group, "members", [group])]
    there = {type(one).__name__ for one in members}
    assert there >= {*linear.__all__, *scorers.__all__}
