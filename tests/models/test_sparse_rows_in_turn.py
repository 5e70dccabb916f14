"""The room for dense copies of sparse rows is kept between calls: no row may see another one's values."""

import numpy as np
import pytest
import scipy.sparse as sp

import boostline as bl

K, D = 3, 50


class Learner:
    """A learner written in Python that asks another model, or fails."""

    def __init__(self, ask=None):
        self.ask, self.fails = ask, False

    def predict(self, x):
        if self.ask is not None:
            self.ask()
        if self.fails:
            raise RuntimeError("no")
        return np.full(K, 1 / K)

    def learn(self, x, relevant, costs, weight):
        pass


def dense_rows(n, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, D)) * (rng.random((n, D)) < 0.3)


def taught(learner=None):
    """Trees look at the dense copy of a row."""
    learners = [bl.learners.paper_trees(3), *([] if learner is None else [learner])]
    model = bl.AdaOLMR(K, learners=learners, expert="weighted")
    X = dense_rows(800, 0)
    model.learn(X, np.stack([X[:, i] > 0 for i in range(K)], axis=1))
    return model


def assert_sees_what_is_there(model):
    X = dense_rows(40, 1)
    for x in X:
        np.testing.assert_array_equal(model.votes(sp.csr_array(x[None]))[0], model.votes(x))
    np.testing.assert_array_equal(model.votes(sp.csr_array(X)), model.votes(X))


def test_single_rows_and_blocks_one_after_the_other():
    assert_sees_what_is_there(taught())


def test_a_call_that_fails_leaves_no_values_behind():
    learner = Learner()
    model = taught(learner)
    learner.fails = True
    with pytest.raises(RuntimeError):
        model.score(sp.csr_array(np.full((2, D), 9.0)))
    learner.fails = False
    assert_sees_what_is_there(model)


def test_a_call_within_a_call_has_room_of_its_own():
    inner = taught()
    other = sp.csr_array(np.full((2, D), 9.0))
    learner = Learner(ask=lambda: inner.score(other))
    assert_sees_what_is_there(taught(learner))
