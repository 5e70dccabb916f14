"""SparseRanker: against its NumPy twin, what leaves the memory, and what the blend is worth."""

import numpy as np
import pytest
from learner_arrays import learner_arrays
from states import assert_same_model

import boostline as bl
from boostline import metrics
from boostline.lab import reference
from boostline.learners import SparseLinear, SparseRanker


def documents(n=300, d=40, k=12, seed=0):
    """Rows of counts of words; a label has words of its own."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, k)) < np.linspace(0.3, 0.05, k)
    rates = 0.15 + 2.0 * (Y @ (rng.random((k, d)) < 0.1))
    return rng.poisson(rates).astype(float), Y


def ranker(k, **settings):
    return bl.LabelRanker(k, learners=[SparseRanker(**settings)], drift=None)


@pytest.mark.parametrize("memory", [50, 1000])
def test_it_is_its_twin(memory):
    """With unknown labels, missing values, negative values and weights."""
    k = 20
    X, Y = documents(160, k=k)
    rng = np.random.default_rng(1)
    X *= np.where(rng.random(X.shape) < 0.1, -1.0, 1.0)
    X[rng.random(X.shape) < 0.02] = np.nan
    labels = np.where(rng.random(Y.shape) < 0.1, np.nan, Y)
    labels[:, 0] = 1.0  # every row has a pair to rank
    labels[:, 1] = 0.0
    weight = rng.choice([0.3, 1.0], size=len(X))
    settings = {"C": 2.0, "n_replays": 3, "memory": memory, "n_neighbours": 5, "seed": 7}
    model, twin = ranker(k, **settings), reference.SparseRanker(k, 40, **settings)
    for t, (x, y, w) in enumerate(zip(X, labels, weight, strict=True)):
        expected = twin.score(x)
        expected = expected / expected.sum()
        np.testing.assert_allclose(
            model.votes(x)[0], expected, rtol=1e-2, atol=1e-4, err_msg=f"row {t}"
        )
        model.learn(x, y, weight=w)
        twin.learn(x, np.nan_to_num(y, nan=-1.0), w)
    arrays = learner_arrays(model)
    np.testing.assert_allclose(arrays["blend_weights"], twin.weights, rtol=1e-2, atol=1e-2)
    centroids = sum(w * np.outer(y, v) for _, v, y, w in twin.rows)
    np.testing.assert_allclose(arrays["squares"], (centroids**2).sum(axis=1), rtol=1e-3, atol=1e-4)


def test_rows_that_have_left_are_in_no_score():
    """After 60 rows with other words, a model with 20 rows in memory knows no neighbour of the first ones."""
    X, Y = documents(60, k=5, d=30)
    wide = np.zeros((120, 60))
    wide[:60, :30], wide[60:, 30:] = X, X
    model = ranker(5, memory=20, n_replays=0)
    model.learn(wide, np.vstack([Y, Y]))
    kept = {int(i) for i in learner_arrays(model)["row_index"]}
    assert min(kept) >= 30
    (rows,) = model.evidence(wide[3], 0)[1]
    assert len(rows.index) == 0


def test_a_capped_model_stays_within_its_cap_and_can_be_saved(tmp_path):
    rng = np.random.default_rng(0)
    X = (rng.random((600, 3000)) < 0.01).astype(float)
    Y = X[:, :8] + X[:, 8:16] + (rng.random((600, 8)) < 0.1) > 0
    model = bl.LabelRanker(8, learners=[SparseRanker()], drift=None, max_bytes=400_000)
    for i in range(0, 600, 50):
        model.learn(X[i : i + 50], Y[i : i + 50])
        assert model.memory_usage() <= 400_000
    arrays = learner_arrays(model)
    assert 0 < np.count_nonzero(arrays["row_importance"]) < len(arrays["row_importance"])
    model.save(tmp_path / "m.blm")
    again = bl.load(tmp_path / "m.blm")
    for one in (model, again):
        one.learn(X[:100], Y[:100])
    assert_same_model(model, again)


def test_neighbours_order_labels_that_the_machine_knows_nothing_of():
    """Labels that go with groups of rows instead of words: the rank loss is lower than that of SparseLinear alone."""
    rng = np.random.default_rng(3)
    groups = rng.random((40, 200)) < 0.05
    of = rng.integers(40, size=900)
    X = ((rng.random((900, 200)) < 0.5) & groups[of]) + (rng.random((900, 200)) < 0.02)
    labels = rng.random((40, 60)) < 0.05
    labels[np.arange(40), np.arange(40)] = True
    Y = labels[of]
    losses = []
    for learner in (SparseLinear(C=0.5), SparseRanker()):
        model = bl.LabelRanker(60, learners=[learner], drift=None)
        model.learn(X[:600].astype(float), Y[:600])
        losses.append(metrics.rank_loss(Y[600:], model.score(X[600:].astype(float))))
    assert losses[1] < 0.9 * losses[0]


@pytest.mark.parametrize(
    ("setting", "value"), [("C", 0.0), ("n_neighbours", 0), ("memory", 0), ("max_bytes", -1)]
)
def test_settings_out_of_range_are_refused(setting, value):
    with pytest.raises(ValueError, match=f"{setting} is {value}"):
        SparseRanker(**{setting: value})
