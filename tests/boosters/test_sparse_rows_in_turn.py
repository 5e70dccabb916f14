"""The room for dense copies of sparse rows is kept between calls: no row may see another one's values."""

import numpy as np
import pytest
import scipy.sparse as sp

import boostline as bl

K, D = 3, 50


class Learner:
    """Looks at the dense row; may ask another model, or fail."""

    def __init__(self, ask=None):
        self.ask, self.fails, self.seen = ask, False, None

    def predict(self, x):
        if self.ask is not None:
            self.ask()
        self.seen = np.array(x)
        if self.fails:
            raise RuntimeError("no")
        return np.full(K, 1 / K)

    def learn(self, x, relevant, costs, weight):
        pass


def rows(*columns):
    matrix = np.zeros((len(columns), D))
    for i, column in enumerate(columns):
        matrix[i, column] = 1.0
    return sp.csr_array(matrix)


def test_a_call_that_fails_leaves_no_values_behind():
    learner = Learner()
    model = bl.AdaOLMR(K, learners=[learner])
    model.learn(rows(1, 2), [{0}, {1}])
    learner.fails = True
    with pytest.raises(RuntimeError):
        model.score(rows(7, 8))
    learner.fails = False
    model.score(rows(3))
    assert np.flatnonzero(learner.seen).tolist() == [3]


def test_a_call_within_a_call_has_room_of_its_own():
    inner_learner = Learner()
    inner = bl.AdaOLMR(K, learners=[inner_learner])
    inner.learn(rows(1), [{0}])
    learner = Learner(ask=lambda: inner.score(rows(5)))
    outer = bl.AdaOLMR(K, learners=[learner])
    outer.learn(rows(2, 3), [{0}, {1}])
    outer.score(rows(4))
    assert np.flatnonzero(learner.seen).tolist() == [4]
    assert np.flatnonzero(inner_learner.seen).tolist() == [5]


def test_rows_of_other_lengths_in_turn():
    wide, narrow = Learner(), Learner()
    models = [bl.AdaOLMR(K, learners=[one]) for one in (wide, narrow)]
    for column in (40, 3):
        models[0].learn(rows(column), [{0}])
        models[1].learn(rows(column)[:, :45], [{0}])
        assert (
            np.flatnonzero(wide.seen).tolist() == np.flatnonzero(narrow.seen).tolist() == [column]
        )
