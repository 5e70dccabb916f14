"""SparseLinear: against its NumPy twin and the batch problem, and on more columns than would fit."""

import numpy as np
import pytest
from faults import grant_allocations
from learner_arrays import learner_arrays
from scipy import sparse
from states import assert_same_model

import boostline as bl
from boostline.lab import reference
from boostline.learners import SparseLinear


def documents(n=300, d=40, k=12, seed=0):
    """Rows of counts of words; a label has words of its own."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, k)) < np.linspace(0.3, 0.05, k)
    rates = 0.15 + 2.0 * (Y @ (rng.random((k, d)) < 0.1))
    return rng.poisson(rates).astype(float), Y


def ranker(k, **settings):
    return bl.LabelRanker(k, learners=[SparseLinear(**settings)], drift=None)


@pytest.mark.parametrize(("k", "n", "emphasis"), [(90, 120, 3), (1100, 40, 0)])
def test_it_is_its_twin(k, n, emphasis):
    """With more labels than a visit changes, unknown labels, missing values and weights."""
    X, Y = documents(n, k=k)
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.02] = np.nan
    labels = np.where(rng.random(Y.shape) < 0.1, np.nan, Y)
    weight = rng.choice([0.3, 1.0], size=len(X))
    settings = {"C": 2.0, "n_replays": 5, "memory": 50, "emphasis": emphasis, "seed": 7}
    model, twin = ranker(k, **settings), reference.SparseLinear(k, 40, **settings)
    for t, (x, y, w) in enumerate(zip(X, labels, weight, strict=True)):
        expected = twin.score(x) + 1e-6
        np.testing.assert_allclose(
            model.votes(x)[0], expected / expected.sum(), rtol=1e-4, err_msg=f"row {t}"
        )
        model.learn(x, y, weight=w)
        twin.learn(x, np.nan_to_num(y, nan=-1.0), w)
    arrays = learner_arrays(model)
    weights = np.zeros((40, k), np.float32)
    weights[np.repeat(arrays["features"], arrays["n_weights"]), arrays["weight_labels"]] = arrays[
        "weights"
    ]
    np.testing.assert_allclose(weights, twin.weights, atol=1e-5)
    assert any((row.duals > 0).sum() > 64 for row in twin.rows)


def test_with_enough_replays_it_solves_the_batch_problem():
    X, Y = documents(150, k=4)
    model = ranker(4, C=1.0, n_replays=300, memory=150)
    model.learn(X, Y)
    kept = Y.any(axis=1) & ~Y.all(axis=1)  # others have no pair to rank, and are not learned
    u = np.log1p(X)
    u /= np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1e-300)
    arrays = learner_arrays(model)
    weights = np.zeros((40, 4))
    weights[np.repeat(arrays["features"], arrays["n_weights"]), arrays["weight_labels"]] = arrays[
        "weights"
    ]
    for label in range(4):
        w = primal(u[kept], np.where(Y[kept, label], 1.0, -1.0))
        np.testing.assert_allclose(weights[:, label], w, atol=0.05)


def primal(u, y, C=1.0):
    """Minimise |w|^2 / 2 + C sum of max(0, 1 - y z)^2, z = w x + sqrt(.3) b - 1, by L-BFGS."""
    from scipy.optimize import minimize

    x = np.column_stack([u, np.full(len(u), np.sqrt(0.3))])

    def loss(w):
        margin = np.maximum(0, 1 - y * (x @ w - 1))
        return w @ w / 2 + C * (margin**2).sum(), w - 2 * C * x.T @ (y * margin)

    found = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B", tol=1e-12)
    return found.x[:-1]


def test_with_many_labels_it_is_saved_exactly_and_learns_rows_whole(tmp_path):
    """Above 1,024 labels most replays look at few of them."""
    X, Y = documents(24, k=1100)
    model = ranker(1100, memory=15)
    model.learn(X[:20], Y[:20])
    model.save(tmp_path / "m.blm")
    loaded = bl.load(tmp_path / "m.blm")
    assert_same_model(model, loaded)
    scores = model.learn(X[20:], Y[20:])
    for x, y, expected in zip(X[20:], Y[20:], scores, strict=True):
        for n in range(10_000):
            grant_allocations(n)  # what memory there is: one allocation more each time
            try:
                found = loaded.learn(x, y)
            except MemoryError:
                continue
            finally:
                grant_allocations(-1)
            break
        np.testing.assert_array_equal(found, expected)
    assert_same_model(model, loaded)


def test_a_million_columns_and_a_thousand_labels_take_what_was_seen():
    X = sparse.random_array((300, 2**20), density=4e-5, format="csr", rng=0)
    model = ranker(1000)
    model.learn(X, [{i % 1000, 7 * i % 1000} for i in range(300)])
    assert model.memory_usage() < 40e6  # 2^20 x 1,000 numbers are 4 GB


def test_beyond_max_bytes_what_is_least_use_is_forgotten():
    """Words that come once, beside twenty that matter: these stay."""
    n, d = 800, 5000
    rng = np.random.default_rng(0)
    X, Y = documents(n, d=20)
    noise = sparse.random_array((n, d), density=1e-3, format="csr", rng=rng)
    X = sparse.csr_array(sparse.hstack([sparse.csr_array(X), noise]))
    whole, capped = ranker(12), ranker(12, max_bytes=60_000)
    scores = {model: model.learn(X, Y) for model in (whole, capped)}
    features = learner_arrays(capped)["features"]
    assert len(features) < 200 < len(learner_arrays(whole)["features"])
    assert set(range(20)) <= set(features)
    loss = [bl.metrics.rank_loss(Y[400:], scores[m][400:]) for m in (whole, capped)]
    assert loss[1] < loss[0] + 0.02


def test_tf_idf_is_kept_and_counts_do_as_well():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    X, Y = documents(800, d=60)
    weighted = text.TfidfTransformer(sublinear_tf=True).fit_transform(X)
    frequency = np.tile(Y.mean(axis=0), (400, 1))
    floor = bl.metrics.rank_loss(Y[400:], frequency)
    losses = [
        bl.metrics.rank_loss(Y[400:], ranker(12).learn(rows, Y)[400:]) for rows in (X, weighted)
    ]
    assert max(losses) < 0.6 * floor
    assert abs(losses[0] - losses[1]) < 0.02


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"C": 0.0}, "C is 0.0"),
        ({"n_replays": -1}, "n_replays is -1"),
        ({"memory": 0}, "memory is 0"),
        ({"max_bytes": -1}, "max_bytes is -1"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_settings_out_of_range_are_refused(settings, error):
    with pytest.raises(ValueError, match=error):
        SparseLinear(**settings)
