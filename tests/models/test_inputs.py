"""Bad input: an error that names the argument, and a model that is exactly as it was."""

import numpy as np
import pytest

import boostline as bl

K, D = 5, 6


@pytest.fixture(scope="module")
def named():
    model = bl.AdaOLMR(labels=["a", "b", "c"], learners=bl.learners.paper_trees(4))
    model.learn(np.zeros((3, 2)), [["a"], {"b", "c"}, ()])
    return model


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
        ({}, "n_labels and labels are None, but one of them must be given"),
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
        ({"features": ()}, "distinct columns"),
        ({"features": (1, 1)}, "distinct columns"),
        ({"max_bytes": 0}, "max_bytes is 0"),
    ],
)
def test_bad_tree_settings(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        bl.learners.HoeffdingTree(**options)


def test_a_covariate_that_x_does_not_have():
    other = bl.AdaOLMR(3, learners=[bl.learners.HoeffdingTree(features=(7,))])
    with pytest.raises(ValueError, match="column 7, but x has 2 features"):
        other.learn([0.0, 1.0], {0})
    assert other.n_features is None


def test_many_labels():
    model = bl.AdaOLMR(20_000, learners=bl.learners.paper_trees(3), seed=0)
    scores = model.learn(np.arange(4.0), {19_999, 3})
    assert scores.shape == (20_000,)
    for _ in range(4):
        model.learn(np.arange(4.0), {19_999, 3})
    assert set(model.rank(np.arange(4.0), top=2).tolist()) == {3, 19_999}
