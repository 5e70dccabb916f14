"""Where memory ends in the middle of a row, nothing of the row has been learned: by no learner, and not by the booster.

Every allocation of the core within a call is made to fail, one after the other, with all that follow it.
"""

import hashlib

import numpy as np
import pytest

import boostline as bl
from boostline import _core
from boostline import learners as L

K, D = 4, 5


def stream(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)).round(1)
    X[rng.random((n, D)) < 0.2] = 0.0
    X[rng.random((n, D)) < 0.05] = np.nan
    return X, np.nan_to_num(X[:, :K]) + 0.3 * rng.normal(size=(n, K)) > 0.3


def tree(**settings):
    """One that tries to split, and splits, all the time."""
    return L.HoeffdingTree(**{"grace_period": 2.0, "tie_threshold": 0.8, **settings})


MODELS = {
    "ada": lambda **kw: bl.AdaOLMR(K, learners=[tree()] * 3, **kw),
    "capped": lambda **kw: bl.AdaOLMR(K, learners=[tree(max_bytes=4000)] * 3, **kw),
    "single label": lambda **kw: bl.OnlineBMR(
        K, learners=[tree(single_label=True)] * 3, loss="rank", edge=0.1, **kw
    ),
    "edge search": lambda **kw: bl.OnlineBMR(K, learners=[tree()] * 3, edge="auto", **kw),
    "default": lambda **kw: bl.LabelRanker(K, **kw),
    "kernel": lambda **kw: bl.LabelRanker(K, learners=[L.Kernel(40), tree()], **kw),
    "linear": lambda **kw: bl.LabelRanker(K, learners=[L.Linear(memory=20), tree()], **kw),
    "hashed": lambda **kw: bl.LabelRanker(K, learners=[L.Linear(n_hashed=3), tree()], **kw),
    "ridge": lambda **kw: bl.LabelRanker(K, learners=[L.Ridge(forgetting=0.9), tree()], **kw),
    "neighbours": lambda **kw: bl.LabelRanker(K, learners=[L.Neighbours(memory=20), tree()], **kw),
    "recency": lambda **kw: bl.LabelRanker(K, learners=[L.Recency(0.9), tree()], **kw),
}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def fingerprint(model):
    state = model.state()["arrays"]
    return hashlib.sha256(b"".join(state[name].tobytes() for name in sorted(state))).digest()


def learn_with(n_allocations, model, *row):
    """Learn while memory lasts; return the scores, or None."""
    _core.testing.grant_allocations(n_allocations)
    try:
        return model.learn(*row)
    except MemoryError:
        return None
    finally:
        _core.testing.grant_allocations(-1)


def assert_learned_whole_or_not_at_all(model, twin, X, Y):
    """Return how often memory ended."""
    n_ends = 0
    for x, y in zip(X, Y, strict=True):
        before = fingerprint(model)
        expected = twin.learn(x, y)
        for n in range(10_000):
            scores = learn_with(n, model, x, y)
            if scores is not None:
                break
            n_ends += 1
            assert fingerprint(model) == before, f"clock {model.clock}, allocation {n}"
        np.testing.assert_array_equal(scores, expected)
        assert fingerprint(model) == fingerprint(twin)
    return n_ends


@each_model
@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_row_is_learned_whole_or_not_at_all(make, n_threads):
    X, Y = stream(70)
    model, twin = make(n_threads=n_threads), make()
    model.learn(X[0], Y[0])
    twin.learn(X[0], Y[0])
    assert assert_learned_whole_or_not_at_all(model, twin, X[1:], Y[1:]) > 5


def test_without_memory_for_more_threads_nothing_is_learned():
    X, Y = stream(3)
    model, twin = MODELS["ada"](), MODELS["ada"]()
    model.learn(X[0], Y[0])
    twin.learn(X[0], Y[0])
    model.n_threads = 5  # they start at the next row
    assert assert_learned_whole_or_not_at_all(model, twin, X[1:], Y[1:]) > 5


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_restart_in_the_row_needs_no_memory(n_threads):
    """When the stream changes, learners start anew in the middle of a row."""
    X = np.random.default_rng(0).normal(size=(800, D))
    Y = np.where(np.arange(800)[:, None] < 600, X[:, :K] > 0.3, X[:, :K] < -0.3)
    learners = [
        L.Committee([L.Kernel(40), L.Linear(), L.Ridge(), L.Neighbours(), L.Stack()]),
        tree(),
    ]
    model = bl.LabelRanker(K, learners=learners, n_threads=n_threads)
    twin = bl.LabelRanker(K, learners=learners)
    n = 600
    model.learn(X[:n], Y[:n])
    twin.learn(X[:n], Y[:n])
    while twin.n_restarts == 0:
        before = fingerprint(model)
        twin.learn(X[n], Y[n])
        if twin.n_restarts == 0:
            model.learn(X[n], Y[n])
        n += 1
    for allowed in range(1000):
        if learn_with(allowed, model, X[n - 1], Y[n - 1]) is not None:
            break
        assert fingerprint(model) == before
    assert allowed > 5 and model.n_restarts == 1
    assert fingerprint(model) == fingerprint(twin)
    np.testing.assert_array_equal(model.learn(X[n:], Y[n:]), twin.learn(X[n:], Y[n:]))


@each_model
def test_a_first_row_without_memory_leaves_a_new_model(make):
    X, Y = stream(2)
    model = make()
    for n in range(1000):
        if learn_with(n, model, X[0], Y[0]) is not None:
            break
        assert model.n_features is None and model.clock == 0
    assert n > 0
    assert fingerprint(model) == fingerprint(learned(make(), X[:1], Y[:1]))


@each_model
def test_a_block_keeps_the_rows_before_the_one_without_memory(make):
    X, Y = stream(60)
    for n_allocations in (2**i for i in range(20)):
        model = make()
        _core.testing.grant_allocations(n_allocations)
        try:
            with pytest.raises(MemoryError) as failure:
                model.learn(X, Y)
        finally:
            _core.testing.grant_allocations(-1)
        n = model.clock
        if n > 0:
            break
    assert 0 < n < 60
    assert f"first {n} have been learned, of the others nothing; clock is {n}" in str(failure.value)
    assert fingerprint(model) == fingerprint(learned(make(), X[:n], Y[:n]))


def learned(model, X, Y):
    model.learn(X, Y)
    return model


class Counting:
    """Votes for all labels alike, and counts its rows; fails at one of them."""

    def __init__(self, fails_at=None, error=None):
        self.n, self.fails_at, self.error = 0, fails_at, error

    def predict(self, x):
        return np.full(K, 1 / K)

    def learn(self, x, relevant, costs, weight):
        self.n += 1
        if self.n == self.fails_at:
            raise self.error

    def get_state(self):
        return {"n": self.n}

    def set_state(self, state):
        self.n = state["n"]


def with_python(counting, edge=None):
    learners = [tree(), counting, tree(), Counting()]
    if edge is None:
        return bl.AdaOLMR(K, learners=learners)
    return bl.OnlineBMR(K, learners=learners, edge=edge)


def test_learners_in_python_take_the_row_back_too():
    X, Y = stream(30)
    model, twin = with_python(Counting()), with_python(Counting())
    model.learn(X[0], Y[0])
    twin.learn(X[0], Y[0])
    assert assert_learned_whole_or_not_at_all(model, twin, X[1:], Y[1:]) > 5
    assert model.state()["python"] == twin.state()["python"]


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, MemoryError, ValueError])
@pytest.mark.parametrize("edge", [None, 0.1, "auto"])
@pytest.mark.parametrize("n_rows", [1, 60])
def test_whatever_a_learner_in_python_raises_the_call_leaves_no_trace(error, edge, n_rows):
    X, Y = stream(100)
    Y[:, :2] = [True, False]  # so that every row has a pair to rank, and is taught
    model = with_python(Counting(40 if n_rows == 1 else 80, error()), edge)
    model.learn(X[:39], Y[:39])
    before, python = fingerprint(model), model.state()["python"]
    x, y = (X[39], Y[39]) if n_rows == 1 else (X[39:], Y[39:])
    with pytest.raises(error):
        model.learn(x, y)
    assert fingerprint(model) == before
    assert model.state()["python"] == python
