"""Merged statistics equal one pass over all rows: counts, moments and least squares."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import boostline as bl
from boostline import _core, scale
from boostline.learners import Centroids, Committee, Kernel, Neighbours, Recency, Ridge
from boostline.scale.row_blocks import row_blocks
from boostline.scale.rules.least_squares import KernelInputs, read_covariance
from boostline.scale.sums import Moments

N_SAMPLE, N = 150, 600


def data(seed=0, d=6, k=5, sparse=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, d)) * rng.uniform(0.1, 30.0, size=d) + rng.uniform(-9.0, 9.0, size=d)
    if sparse:
        X = np.where(rng.random(X.shape) < 0.8, 0.0, X)
    Y = (X @ rng.normal(size=(d, k)) + rng.normal(size=(N, k))) > 1.0
    weights = np.round(rng.uniform(0.1, 1.0, size=N), 2)
    weights[rng.random(N) < 0.05] = 0.0
    return X, Y, weights


def parts_of(n_parts, order=None):
    cuts = np.linspace(N_SAMPLE, N, n_parts + 1).astype(int)
    parts = [slice(a, b) for a, b in itertools.pairwise(cuts)]
    return parts if order is None else [parts[i] for i in order]


def merged(model, rows, parts):
    X, Y, weights = rows
    partials = [scale.partial(model, (X[p], Y[p], weights[p])) for p in parts]
    return scale.merge(pickle.loads(pickle.dumps(one)) for one in partials)


SPLITS = [(1, None), (2, None), (2, [1, 0]), (7, None), (7, [3, 6, 0, 5, 2, 4, 1])]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("n_parts", "order"), SPLITS)
def test_kernel_equals_recursive_least_squares(n_parts, order, sparse):
    """With its landmarks fixed the compiled kernel learner solves the same problem row by row."""
    X, Y, weights = data(sparse=sparse, d=40 if sparse else 6)
    rows = sp.csr_array(X) if sparse else X
    model = bl.LabelRanker(5, learners=[Kernel(n_landmarks=60)], drift=None)
    model.learn(rows[:N_SAMPLE], Y[:N_SAMPLE], weight=weights[:N_SAMPLE])
    assert model.state()["arrays"]["learners.0.landmarks.is_dense"][0] == (not sparse)
    made = scale.finish(model, merged(model, (rows, Y, weights), parts_of(n_parts, order)))
    model.learn(rows[N_SAMPLE:], Y[N_SAMPLE:], weight=weights[N_SAMPLE:])
    one_pass, got = model.state()["arrays"], made.state()["arrays"]
    name = "learners.0.weights"
    np.testing.assert_allclose(got[name], one_pass[name], atol=1e-9 * np.abs(one_pass[name]).max())
    P, Q = (read_covariance(a, "learners.0.", 60) for a in (got, one_pass))
    np.testing.assert_allclose(P, Q, atol=1e-9 * np.abs(Q).max())
    for name in ("clock", "rows_without_pairs"):
        np.testing.assert_array_equal(got[name], one_pass[name])
    assert got["rows_merged"] + got["label_set_sizes"].sum() == one_pass["label_set_sizes"].sum()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("n_parts", "order"), SPLITS)
def test_kernel_statistics_equal_one_pass(n_parts, order, sparse):
    """Recursive least squares row by row, in NumPy, from the same kernel values."""
    X, Y, weights = data(sparse=sparse, d=40 if sparse else 6)
    rows = sp.csr_array(X) if sparse else X
    model = bl.LabelRanker(5, learners=[Kernel(n_landmarks=60)], drift=None)
    model.learn(rows[:N_SAMPLE], Y[:N_SAMPLE], weight=weights[:N_SAMPLE])
    before = model.state()["arrays"]
    made = scale.finish(model, merged(model, (rows, Y, weights), parts_of(n_parts, order)))
    (block,) = row_blocks(model, (rows[N_SAMPLE:], Y[N_SAMPLE:], weights[N_SAMPLE:]))
    Z = KernelInputs(before, "learners.0.landmarks.").of(block)
    P, W = read_covariance(before, "learners.0.", 60), before["learners.0.weights"].reshape(60, 5)
    for z, y, w in zip(Z, Y[N_SAMPLE:], weights[N_SAMPLE:], strict=True):
        if w == 0.0 or not y.any() or y.all():
            continue
        gain = P @ z / (1.0 / w + z @ P @ z)
        W = W + np.outer(gain, y - z @ W)
        P = P - np.outer(gain, z @ P)
    after = made.state()["arrays"]
    got = after["learners.0.weights"].reshape(60, 5)
    np.testing.assert_allclose(got, W, atol=1e-9 * np.abs(W).max())
    np.testing.assert_allclose(
        read_covariance(after, "learners.0.", 60), P, atol=1e-9 * np.abs(P).max()
    )


@pytest.mark.parametrize(("n_parts", "order"), SPLITS)
def test_ridge_equals_the_normal_equations(n_parts, order):
    X, Y, weights = data()
    X[5::9, 2] = np.nan
    model = bl.LabelRanker(5, learners=[Ridge(ridge=2.0)], drift=None)
    model.learn(X[:N_SAMPLE], Y[:N_SAMPLE], weight=weights[:N_SAMPLE])
    before = model.state()["arrays"]
    made = scale.finish(model, merged(model, (X, Y, weights), parts_of(n_parts, order)))

    # The sample is in the covariance and the weights of the model; all other rows are at the scale of the sample.
    P = read_covariance(before, "learners.0.", 7)
    W = before["learners.0.weights"].reshape(7, 5)
    m = Moments.read(before, "learners.0.scale.")
    rest = slice(N_SAMPLE, N)
    u = np.nan_to_num(np.clip((X[rest] - m.means()) * m.inverse_deviations(), -5, 5)) / np.sqrt(6)
    Z = np.hstack([u, np.ones((len(u), 1))])
    has_pairs = Y[rest].any(axis=1) & ~Y[rest].all(axis=1)
    D = np.diag(weights[rest] * has_pairs)
    inverse = np.linalg.inv(P)
    wanted = np.linalg.solve(inverse + Z.T @ D @ Z, inverse @ W + Z.T @ D @ Y[rest])
    # The result is told in the scale of all rows; scores of rows that neither scale clips are the same.
    inside = (np.abs(np.nan_to_num(u)) < 1.5).all(axis=1) & ~np.isnan(X[rest]).any(axis=1)
    assert inside.sum() > 200
    after = made.state()["arrays"]
    scores = Z[inside] @ wanted
    new = Moments.read(after, "learners.0.scale.")
    v = (X[rest][inside] - new.means()) * new.inverse_deviations() / np.sqrt(6)
    got = np.hstack([v, np.ones((len(v), 1))]) @ after["learners.0.weights"].reshape(7, 5)
    np.testing.assert_allclose(got, scores, atol=1e-9)


@pytest.mark.parametrize(("n_parts", "order"), SPLITS)
def test_counts_and_moments_are_those_of_one_pass(n_parts, order):
    X, Y, weights = data(sparse=True)
    X[3::7, 1] = np.nan
    Y = Y.astype(float)
    Y[2::11, 1:] = np.nan  # one label is known: not a pair
    Y[5::11, 2] = np.nan
    learners = [Committee([Ridge(), Neighbours(memory=30)]), Recency(1.0)]
    model = bl.LabelRanker(5, learners=learners, drift=None)
    model.learn(X[:N_SAMPLE], Y[:N_SAMPLE], weight=weights[:N_SAMPLE])
    made = scale.finish(model, merged(model, (X, Y, weights), parts_of(n_parts, order)))
    model.learn(X[N_SAMPLE:], Y[N_SAMPLE:], weight=weights[N_SAMPLE:])
    one_pass, got = model.state()["arrays"], made.state()["arrays"]
    exact = ["clock", "rows_without_pairs", "learners.0.neighbours.is_dense"]
    for scale_of in ("learners.0.ridge.scale.", "learners.0.neighbours.scale_"):
        exact += [scale_of + name for name in ("n_rows", "n_nonzero", "n_missing")]
        for name in ("mean", "m2"):
            np.testing.assert_allclose(got[scale_of + name], one_pass[scale_of + name], rtol=1e-9)
    for name in exact:
        np.testing.assert_array_equal(got[name], one_pass[name], name)
    for name in (f"learners.0.neighbours.{one}" for one in ("relevant", "known", "n_added")):
        np.testing.assert_allclose(got[name], one_pass[name], rtol=1e-12)
    np.testing.assert_allclose(got["learners.1.total"], one_pass["learners.1.total"], rtol=1e-12)
    # An unknown label counts as its share so far, which is that of the sample here.
    counts = got["learners.1.counts"]
    np.testing.assert_allclose(counts, one_pass["learners.1.counts"], rtol=0.02)
    np.testing.assert_allclose(counts[0], one_pass["learners.1.counts"][0], rtol=1e-12)


@pytest.mark.parametrize(("n_parts", "order"), SPLITS)
def test_centroids_are_sums_of_rows(n_parts, order):
    X, Y, weights = data(sparse=True, d=40)
    X = sp.csr_array(X)
    model = bl.LabelRanker(5, learners=[Centroids()], drift=None)
    model.learn(X[:N_SAMPLE], Y[:N_SAMPLE], weight=weights[:N_SAMPLE])
    made = scale.finish(model, merged(model, (X, Y, weights), parts_of(n_parts, order)))
    model.learn(X[N_SAMPLE:], Y[N_SAMPLE:], weight=weights[N_SAMPLE:])
    one_pass, got = model.state()["arrays"], made.state()["arrays"]
    for name in ("features", "n_seen", "n_weights", "weight_labels"):
        np.testing.assert_array_equal(got[f"learners.0.{name}"], one_pass[f"learners.0.{name}"])
    for name in ("weights", "squares"):
        wanted = one_pass[f"learners.0.{name}"]
        np.testing.assert_allclose(got[f"learners.0.{name}"], wanted, rtol=1e-4, atol=1e-4)


def test_kernel_values_have_distances_in_single_precision():
    rng = np.random.default_rng(0)
    for n, m, d in ((1, 1, 1), (33, 17, 5), (70, 40, 12), (0, 3, 2)):
        rows, landmarks = (rng.normal(size=(size, d)).astype(np.float32) for size in (n, m))
        rows[: min(n, 1)] = landmarks[:1]  # a distance of 0
        products, of_rows, of_landmarks = np.zeros((3, n, m), np.float32)
        for f in range(d):  # |p|^2 + |q|^2 - 2 pq, summed in the order of the features
            products += rows[:, f, None] * landmarks[:, f]
            of_rows += rows[:, f, None] ** 2
            of_landmarks += landmarks[:, f] ** 2
        squares = np.maximum((of_landmarks + of_rows) - 2 * products, 0)
        wanted = np.exp(-np.sqrt(squares.astype(np.float64)) / 0.7) + 1.0
        got = _core.kernel_values(rows, landmarks, 0.7)
        assert got.shape == (n, m)
        np.testing.assert_allclose(got, wanted, rtol=1e-14)


def test_an_unknown_label_is_what_the_common_model_predicts():
    X, Y, _ = data()
    model = bl.LabelRanker(5, learners=[Kernel(n_landmarks=60)], drift=None)
    model.learn(X[:N_SAMPLE], Y[:N_SAMPLE])
    unknown = Y[N_SAMPLE:].astype(float)
    unknown[:, 3] = np.nan
    made = scale.finish(model, scale.partial(model, (X[N_SAMPLE:], unknown)))
    before, after = (
        m.state()["arrays"]["learners.0.weights"].reshape(60, 5) for m in (model, made)
    )
    np.testing.assert_array_equal(after[:, 3], before[:, 3])  # nothing was said about it
    assert np.abs(after - before)[:, :3].max() > 1e-3
