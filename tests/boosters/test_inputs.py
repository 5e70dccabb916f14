"""Bad input: an error that names the argument, and a model that is exactly as it was."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import boostline as bl

K, D = 5, 6


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, D))
    model = bl.AdaOLMR(K, learners=bl.learners.paper_trees(6), seed=1)
    model.learn(X, X[:, :K] > 0.5)
    return model


@pytest.fixture(scope="module")
def named():
    model = bl.AdaOLMR(labels=["a", "b", "c"], learners=bl.learners.paper_trees(4))
    model.learn(np.zeros((3, 2)), [["a"], {"b", "c"}, ()])
    return model


def arrays(model):
    return {name: array.copy() for name, array in model.state()["arrays"].items()}


def assert_unchanged(model, before):
    after = model.state()["arrays"]
    assert before.keys() == after.keys()
    for name, array in before.items():
        np.testing.assert_array_equal(array, after[name], err_msg=name)


x = np.zeros(D)
X = np.zeros((3, D))
BAD_LEARN = [
    (np.zeros(D + 1), {0}, {}, "x has 7 features, but must have 6"),
    (np.zeros((2, 2, 2)), {0}, {}, "x has 3 dimensions"),
    (np.zeros(0), {0}, {}, "features"),
    (np.array(["a"] * D), {0}, {}, "x has dtype"),
    (np.array([0, np.inf, 0, 0, 0, 0]), {0}, {}, "x has an infinite value at [0, 1]"),
    (sparse.csr_array(np.array([[0, 0, -np.inf, 0, 0, 0]])), [{0}], {}, "x has an infinite value"),
    (
        np.array([0, 0, -1e155, 0, 0, np.nan]),
        {0},
        {},
        "x has the value -1e+155 at [0, 2], but must have numbers",
    ),
    (
        sparse.csr_array(np.array([[0, 0, 0, 2e100, 0, 0]])),
        [{0}],
        {},
        "x has the value 2e+100 at [0, 3]",
    ),
    (np.zeros(D, dtype=complex), {0}, {}, "x has dtype complex"),
    (x, {17}, {}, "relevant has label 17, but n_labels is 5"),
    (x, {-1}, {}, "relevant has label -1"),
    (x, [1, 1], {}, "relevant has label 1 twice"),
    (x, [0, 1, 1, 0, 0], {}, "twice, but must have each once (an indicator must be an array"),
    (x, {"sun"}, {}, "relevant has label 'sun'"),
    (x, {1.5}, {}, "relevant has label 1.5"),
    (x, 3, {}, "relevant is a int"),
    (x, "ab", {}, "relevant is a str"),
    (x, None, {}, "relevant is a NoneType"),
    (
        x,
        np.array([1, 0]),
        {},
        "relevant is an array of shape (2,), but an indicator must have the shape (5,)",
    ),
    (x, np.array([2, 0, 0, 0, 0]), {}, "relevant has the value 2"),
    (x, np.array([0.5, 0, 0, 0, 0]), {}, "relevant has the value 0.5"),
    (x, np.array(["a"] * K), {}, "relevant has dtype"),
    (
        X,
        np.zeros((2, K)),
        {},
        "relevant is an array of shape (2, 5), but an indicator must have the shape (3, 5)",
    ),
    (X, [{0}, {1}], {}, "relevant has 2 label sets, but must have one for each of the 3 rows"),
    (X, [{0}, {1}, {9}], {}, "relevant[2] has label 9"),
    (X, {0, 1, 2}, {}, "relevant is a set"),
    (x, {0}, {"weight": -0.1}, "weight has the value -0.1"),
    (x, {0}, {"weight": 1.5}, "weight has the value 1.5"),
    (x, {0}, {"weight": np.nan}, "weight has the value nan"),
    (x, {0}, {"weight": "much"}, "weight is 'much'"),
    (X, np.zeros((3, K)), {"weight": [1.0, 1.0]}, "weight has shape (2,)"),
    (
        x,
        {0},
        {"unknown": {0}},
        "unknown has label 0 of row 0, but must not have labels that are in relevant too",
    ),
    (x, {0}, {"unknown": {9}}, "unknown has label 9"),
]


@pytest.mark.parametrize(("x", "relevant", "options", "message"), BAD_LEARN)
def test_bad_examples_are_refused_and_change_nothing(model, x, relevant, options, message):
    before = arrays(model)
    with pytest.raises((ValueError, TypeError)) as error:
        model.learn(x, relevant, **options)
    assert message in str(error.value)
    assert_unchanged(model, before)


@pytest.mark.parametrize("bad", [np.zeros(3), np.full(D, np.inf), np.array(["x"] * D), None])
def test_bad_features_are_refused_by_score(model, bad):
    with pytest.raises((ValueError, TypeError), match="x has"):
        model.score(bad)


@pytest.mark.parametrize("top", [0, -1, 1.5, True])
def test_bad_top(model, top):
    with pytest.raises((ValueError, TypeError), match="top is"):
        model.rank(x, top=top)


def test_unknown_names_are_refused_with_the_known_ones(named):
    with pytest.raises(
        ValueError, match=r"label 'z', but labels must be those of the model: 'a', 'b', 'c'"
    ):
        named.learn([0.0, 0.0], {"z"})


def test_names_and_indices_mean_the_same(named):
    twin = bl.AdaOLMR(labels=["a", "b", "c"], learners=bl.learners.paper_trees(4))
    twin.learn(np.zeros((3, 2)), [[0], {1, 2}, []])
    np.testing.assert_array_equal(twin.score([0.0, 0.0]), named.score([0.0, 0.0]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give n_labels or labels"),
        ({"n_labels": 1}, "n_labels is 1"),
        ({"n_labels": 2.5}, "n_labels is 2.5"),
        ({"n_labels": 3, "labels": ["a", "b"]}, "labels has 2 names"),
        ({"labels": ["a", "a"]}, "labels has the name 'a' twice"),
        ({"labels": "ab"}, "labels is the string"),
        ({"n_labels": 3, "seed": -1}, "seed is -1"),
        ({"n_labels": 3, "n_threads": 0}, "n_threads is 0"),
        ({"n_labels": 3, "learners": []}, "learners is empty"),
        ({"n_labels": 3, "learners": "trees"}, "learners is 'trees'"),
        ({"n_labels": 3, "learners": [object()]}, "predict(x) and learn"),
        ({"n_labels": 3, "expert": "first"}, "expert is 'first'"),
    ],
)
def test_bad_constructor_arguments(options, message):
    with pytest.raises((ValueError, TypeError)) as error:
        bl.AdaOLMR(**options)
    assert message in str(error.value)


@pytest.mark.parametrize("edge", [0.0, -0.1, 1.5, np.nan, "much"])
def test_bad_edges(edge):
    with pytest.raises((ValueError, TypeError), match="edge is"):
        bl.OnlineBMR(3, edge=edge)


def test_rank_loss_needs_single_label_votes():
    with pytest.raises(ValueError, match="single"):
        bl.OnlineBMR(3, learners=bl.learners.paper_trees(5), edge=0.1, loss="rank")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grace_period": -1}, "grace_period is -1"),
        ({"split_confidence": 0.0}, "split_confidence is 0.0"),
        ({"weight_scale": 0}, "weight_scale is 0"),
        ({"features": ()}, "distinct covariates"),
        ({"features": (1, 1)}, "distinct covariates"),
        ({"max_bytes": 0}, "max_bytes is 0"),
    ],
)
def test_bad_tree_settings(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        bl.learners.HoeffdingTree(**options)


def test_a_covariate_that_x_does_not_have(model):
    other = bl.AdaOLMR(3, learners=[bl.learners.HoeffdingTree(features=(7,))])
    with pytest.raises(ValueError, match="covariate 7, but x has 2 features"):
        other.learn([0.0, 1.0], {0})
    assert other.n_features is None


def test_empty_blocks_and_rows_without_pairs(model):
    before = arrays(model)
    assert model.learn(np.zeros((0, D)), np.zeros((0, K))).shape == (0, K)
    assert model.score(np.zeros((0, D))).shape == (0, K)
    assert_unchanged(model, before)
    clock = model.clock
    model.learn(np.zeros((2, D)), [[], list(range(K))])
    after = arrays(model)
    assert model.clock == clock + 2
    for name in before:
        if name not in ("clock", "rows_without_pairs"):
            np.testing.assert_array_equal(before[name], after[name], err_msg=name)


def test_nan_features_are_missing_values(model):
    scores = model.score(np.full(D, np.nan))
    assert np.isfinite(scores).all()
    model.learn(np.full(D, np.nan), {1})
    assert np.isfinite(model.score(np.zeros(D))).all()


def test_many_labels():
    model = bl.AdaOLMR(20_000, learners=bl.learners.paper_trees(3), seed=0)
    scores = model.learn(np.arange(4.0), {19_999, 3})
    assert scores.shape == (20_000,)
    for _ in range(4):
        model.learn(np.arange(4.0), {19_999, 3})
    assert set(model.rank(np.arange(4.0), top=2).tolist()) == {3, 19_999}


@settings(max_examples=60, deadline=None)
@given(
    labels=st.one_of(
        st.sets(st.integers(-3, 8)),
        st.lists(st.one_of(st.integers(-3, 8), st.floats(), st.text(), st.booleans()), max_size=7),
        st.none(),
        st.text(),
    ),
    weight=st.one_of(st.floats(), st.integers(-2, 2)),
)
def test_whatever_comes_is_learned_or_refused_without_a_trace(labels, weight):
    model = bl.AdaOLMR(4, learners=bl.learners.paper_trees(2), seed=1)
    model.learn(np.zeros((2, 3)), [{0}, {1}])
    before = arrays(model)
    try:
        scores = model.learn([0.1, 0.2, 0.3], labels, weight=weight)
    except (ValueError, TypeError):
        assert_unchanged(model, before)
    else:
        assert scores.shape == (4,) and np.isfinite(scores).all()
        assert model.clock == 3


def test_scoring_beside_learning_gives_a_state_before_or_after():
    """The states between calls are known: every answer is one of them, never a torn one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8))
    Y = X[:, :4] > 0.3
    make = lambda: bl.OnlineBMR(4, learners=bl.learners.paper_trees(20), edge=0.1, seed=2)  # noqa: E731
    probe = rng.normal(size=8)
    known, model = {make().score(probe).tobytes()}, make()
    for start in range(0, 400, 20):
        model.learn(X[start : start + 20], Y[start : start + 20])
        known.add(model.score(probe).tobytes())
    model, seen, done = make(), [], threading.Event()
    model.learn(X[:20], Y[:20])

    def watch():
        while not done.is_set():
            seen.append(model.score(probe).tobytes())

    watchers = [threading.Thread(target=watch) for _ in range(2)]
    for watcher in watchers:
        watcher.start()
    for start in range(20, 400, 20):
        model.learn(X[start : start + 20], Y[start : start + 20])
    done.set()
    for watcher in watchers:
        watcher.join()
    assert set(seen) <= known
    assert len(set(seen)) > 1
