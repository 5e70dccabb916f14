"""Where memory ends in the middle of a row, nothing of the row has been learned: by no learner, and not by the booster.

Every allocation of the core within a call is made to fail, one after the other, with all that follow it.
"""

import copy

import numpy as np
import pytest
from faults import grant_allocations
from model_zoo import SPLITTING, ZOO, D, K, each_model, rows
from states import assert_same_model, assert_same_state

import boostline as bl
from boostline import learners as L


def learn_with(n_allocations, model, *row):
    """Learn while memory lasts; return the scores, or None."""
    grant_allocations(n_allocations)
    try:
        return model.learn(*row)
    except MemoryError:
        return None
    finally:
        grant_allocations(-1)


def assert_learned_whole_or_not_at_all(model, twin, X, Y):
    """Return how often memory ended."""
    n_ends = 0
    for x, y in zip(X, Y, strict=True):
        before = model.state()
        expected = twin.learn(x, y)
        for n in range(10_000):
            scores = learn_with(n, model, x, y)
            if scores is not None:
                break
            n_ends += 1
            assert_same_state(model.state(), before, f"clock {model.clock}, allocation {n}")
        np.testing.assert_array_equal(scores, expected)
        assert_same_model(model, twin)
    return n_ends


@pytest.mark.gate
@each_model
@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_row_is_learned_whole_or_not_at_all(kind, n_threads):
    X, Y = rows(70)
    model, twin = kind.make(n_threads=n_threads), kind.make()
    model.learn(X[0], Y[0])
    twin.learn(X[0], Y[0])
    assert assert_learned_whole_or_not_at_all(model, twin, X[1:], Y[1:]) > 5


def test_without_memory_for_more_threads_nothing_is_learned():
    X, Y = rows(3)
    model, twin = ZOO["ada"].make(), ZOO["ada"].make()
    model.learn(X[0], Y[0])
    twin.learn(X[0], Y[0])
    model.n_threads = 5  # they start at the next row
    assert assert_learned_whole_or_not_at_all(model, twin, X[1:], Y[1:]) > 5


@each_model
def test_a_first_row_without_memory_leaves_a_new_model(kind):
    X, Y = rows(2)
    model = kind.make()
    for n in range(1000):
        if learn_with(n, model, X[0], Y[0]) is not None:
            break
        assert model.n_features is None and model.clock == 0
    assert n > 0
    assert_same_model(model, learned(kind, X[:1], Y[:1]))


@each_model
def test_a_block_keeps_the_rows_before_the_one_without_memory(kind):
    """But with learners written in Python it is taken back as a whole."""
    X, Y = rows(60)
    for n_allocations in (2**i for i in range(20)):
        model = kind.make()
        grant_allocations(n_allocations)
        try:
            model.learn(X, Y)
        except MemoryError as failure:
            error = str(failure)
            assert model.clock == 0 or not kind.is_in_python
        else:
            error = ""
        finally:
            grant_allocations(-1)
        n = model.clock
        if n > 0:
            break
    said = f"first {n} were learned, the others were not; clock is {n}"
    assert said in error if n < 60 else not error
    assert_same_model(model, learned(kind, X[:n], Y[:n]))


def test_threads_keep_the_rows_before_the_one_without_memory():
    """They look at rows while the next are learned, of which a kernel takes the 32nd and the 64th alone."""
    X, Y = rows(90)
    members = [L.Kernel(64), L.Linear(), L.Neighbours(), L.OutputNeighbours()]
    start = bl.LabelRanker(K, learners=[L.Committee(members), L.Recency(1.0)], n_threads=2)
    start.learn(X[:20], Y[:20])
    twin = copy.deepcopy(start)
    twin.n_threads = 1
    at = [copy.deepcopy(twin)]
    for x, y in zip(X[20:], Y[20:], strict=True):
        twin.learn(x, y)
        at.append(copy.deepcopy(twin))
    ends = set()
    for n in range(10_000):
        model = copy.deepcopy(start)
        if learn_with(n, model, X[20:], Y[20:]) is not None:
            break
        ends.add(model.clock)
        assert_same_model(model, at[model.clock - 20])
    assert len(ends) > 5
    assert_same_model(model, twin)


def learned(kind, X, Y):
    model = kind.make()
    if len(X):
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
    learners = [SPLITTING[0], counting, SPLITTING[1], Counting()]
    if edge is None:
        return bl.AdaOLMR(K, learners=learners)
    return bl.OnlineBMR(K, learners=learners, edge=edge)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, MemoryError, ValueError])
@pytest.mark.parametrize("edge", [None, 0.1, "auto"])
@pytest.mark.parametrize("n_rows", [1, 60])
def test_whatever_a_learner_in_python_raises_the_call_leaves_no_trace(error, edge, n_rows):
    X, Y = rows(100)
    Y[:, :2] = [True, False]  # so that every row has a pair to rank, and is taught
    model = with_python(Counting(40 if n_rows == 1 else 80, error()), edge)
    model.learn(X[:39], Y[:39])
    before = model.state()
    x, y = (X[39], Y[39]) if n_rows == 1 else (X[39:], Y[39:])
    with pytest.raises(error):
        model.learn(x, y)
    assert_same_state(model.state(), before)


def test_points_are_arranged_anew_or_not_at_all(tmp_path):
    """With 2,048 points in memory a few coordinates are chosen that are looked at first (near_points.hpp)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2054, D))
    often = np.where(np.arange(60) < 8, 0.0, 2.5)
    Y = X @ rng.normal(size=(D, 60)) / np.sqrt(D) > often
    Y[:, 0] = ~Y[:, 59]
    learners = [L.Committee([L.Kernel(32), L.OutputNeighbours(memory=2300)])]
    model, twin = bl.LabelRanker(60, learners=learners), bl.LabelRanker(60, learners=learners)
    for one in (model, twin):
        one.learn(X[:2044], Y[:2044])
    assert assert_learned_whole_or_not_at_all(model, twin, X[2044:], Y[2044:]) > 5
    model.save(tmp_path / "model")
    again = bl.load(tmp_path / "model")
    np.testing.assert_array_equal(again.score(X), model.score(X))
    np.testing.assert_array_equal(again.learn(X, Y), model.learn(X, Y))
