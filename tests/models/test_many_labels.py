"""Thousands of labels: the best few without a score for each, and learning that returns nothing."""

import numpy as np
import pytest
from model_zoo import ZOO, rows

import boostline as bl


def learned(name="ranker", n=60):
    X, Y = rows(n)
    model = ZOO[name].make()
    model.learn(X, Y)
    return model, X


@pytest.mark.parametrize("name", ["ranker", "ada", "bmr"])
def test_rank_is_the_stable_order_of_the_scores(name):
    model, X = learned(name)
    expected = np.argsort(-model.score(X), axis=-1, kind="stable")
    for top in (None, 1, 3, model.n_labels, model.n_labels + 5):
        np.testing.assert_array_equal(model.rank(X, top=top), expected[:, :top])
        np.testing.assert_array_equal(model.rank(X[7], top=top), expected[7, :top])
    assert model.rank(X[:0], top=2).shape == (0, 2)


@pytest.mark.parametrize("top", [1, 5, 64, 65, 400, 1000])
def test_many_ties_go_by_label(top):
    """Labels that never came, and many that came equally often."""
    model = bl.LabelRanker(1000, learners=[bl.learners.Recency(1.0)])
    model.learn(np.zeros((40, 1)), [{(37 * i) % 90, 7} for i in range(40)])
    expected = np.argsort(-model.score([0.0]), kind="stable")[:top]
    np.testing.assert_array_equal(model.rank([0.0], top=top), expected)


def test_named_labels_are_ranked_by_name():
    model = bl.LabelRanker(labels=["sun", "rain", "wind"], learners=[bl.learners.Recency()])
    model.learn([[1.0], [2.0]], [{"rain"}, {"rain"}])
    assert model.rank([1.0], top=2) == ["rain", "sun"]
    assert model.rank([[1.0], [1.0]], top=1) == [["rain"], ["rain"]]


@pytest.mark.parametrize("name", ["ranker", "ada", "bmr-edge-auto", "python"])
def test_learning_without_scores_learns_the_same(name):
    X, Y = rows(50)
    one, other = ZOO[name].make(), ZOO[name].make()
    one.learn(X, Y)
    assert other.learn(X, Y, return_scores=False) is None
    assert other.learn(X[0], Y[0], return_scores=False) is None
    one.learn(X[0], Y[0])
    np.testing.assert_array_equal(one.score(X), other.score(X))


def test_a_weak_learner_may_score_with_a_model_of_its_own():
    """Scoring keeps its arrays from row to row; a model inside a model has others."""
    inner = bl.LabelRanker(30, learners=[bl.learners.Recency(1.0)])
    inner.learn(np.zeros((5, 1)), [{3, 8}] * 5)

    class Inside:
        def predict(self, x):
            scores = inner.score([0.0])[:6] + 1e-3
            return scores / scores.sum()

        def learn(self, x, relevant, costs, weight):
            pass

    model = bl.AdaOLMR(6, learners=[Inside(), bl.learners.Recency(1.0), Inside()], expert="last")
    model.learn(np.zeros((20, 2)), [{i % 6} for i in range(20)])
    expected = model.votes([0.0, 0.0]).T @ model.learner_weights
    np.testing.assert_allclose(model.score([0.0, 0.0]), expected, rtol=1e-12)
