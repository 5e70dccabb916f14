"""Decayed label counts: a ranker that looks at no feature."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from boostline.evaluate.baselines import DecayedCounts


def test_counts_are_the_decayed_sums():
    Y = np.random.default_rng(0).random((20, 4)) < 0.4
    model = DecayedCounts(4, decay=0.8)
    before = model.learn(np.zeros((20, 2)), Y)
    for t in range(20):
        np.testing.assert_allclose(before[t], sum(0.8 ** (t - 1 - i) * Y[i] for i in range(t)))
    np.testing.assert_allclose(model.score([0.0]), sum(0.8 ** (19 - i) * Y[i] for i in range(20)))


def test_one_by_one_is_the_block():
    Y = np.random.default_rng(1).random((20, 4)) < 0.4
    single, block, sparse = (DecayedCounts(4) for _ in range(3))
    rows = np.array([single.learn(np.zeros(2), y) for y in Y])
    np.testing.assert_array_equal(block.learn(np.zeros((20, 2)), Y), rows)
    got = sparse.learn(sp.csr_matrix(np.ones((20, 2))), sp.csr_matrix(Y))
    np.testing.assert_array_equal(got, rows)


def test_plain_frequency():
    model = DecayedCounts(2, decay=1)
    for relevant in ({0}, {0, 1}, {0}):
        model.learn([0.0], relevant)
    assert model.counts.tolist() == [3, 1]


def test_scores_are_copies_and_ask_nothing():
    model = DecayedCounts(2)
    model.learn([0.0], {1})
    model.score([0.0])[:] = 7
    assert model.score(np.zeros((2, 1))).tolist() == [[0, 1], [0, 1]]


def test_names_and_ranks():
    model = DecayedCounts(labels=["a", "b", "c"])
    model.learn([0.0], ["c"])
    assert model.rank([0.0]) == ["c", "a", "b"]
    assert model.rank([0.0], top=1) == ["c"]
    assert DecayedCounts(3).rank([0.0], top=2) == [0, 1]
    with pytest.raises(
        ValueError, match="label 'z', but labels must be those of the model: 'a', 'b', 'c'"
    ):
        model.learn([0.0], {"z"})


def test_unknown_labels_keep_their_counts():
    model = DecayedCounts(3)
    model.learn([0.0], {0, 1})
    model.learn([0.0], {2}, unknown={1})
    assert model.counts.tolist() == [0.5, 1, 1]


def test_weight():
    model = DecayedCounts(2)
    model.learn([0.0], {0}, weight=0.25)
    assert model.counts.tolist() == [0.25, 0]


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({}, TypeError, "give n_labels or labels"),
        ({"n_labels": 0}, ValueError, "n_labels is 0"),
        ({"n_labels": 2, "decay": 0}, ValueError, "decay is 0"),
        ({"n_labels": 2, "decay": 1.5}, ValueError, "decay is 1.5"),
        ({"n_labels": 2, "labels": ["a"]}, ValueError, "n_labels is 2, but labels has 1 names"),
    ],
)
def test_bad_settings_are_named(keywords, error, message):
    with pytest.raises(error, match=message):
        DecayedCounts(**keywords)


def test_bad_labels_are_named():
    with pytest.raises(ValueError, match="relevant has label 17, but n_labels is 14"):
        DecayedCounts(14).learn([0.0], {17})
