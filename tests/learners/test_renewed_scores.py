"""Scores that `OutputNeighbours` keeps are renewed as the kernel learns: against NumPy, and by blocks and rows."""

import copy

import numpy as np
import pytest

import boostline as bl
from boostline.learners import Committee, Kernel, OutputNeighbours, Recency

K, D, MARKS, RIDGE = 4, 6, 40, 0.2
KERNEL, OUTPUT = "learners.0.kernel.", "learners.0.output_neighbours."


def data(n, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) * rng.uniform(0.5, 4.0, size=D)
    Y = (X @ rng.normal(size=(D, K)) > 0.3).astype(float)
    Y[np.arange(n), rng.integers(K, size=n)] = 1.0
    Y[np.arange(n), rng.integers(K, size=n)] = 0.0
    Y[Y.sum(axis=1) == 0, 0] = 1.0
    return X, Y, np.round(rng.uniform(0.2, 1.0, size=n), 2)


def ranker(memory=500, marks=MARKS):
    members = [Kernel(n_landmarks=marks, ridge=RIDGE), OutputNeighbours(memory=memory)]
    return bl.LabelRanker(K, learners=[Committee(members), Recency()], drift=None)


def arrays_of(model):
    return model.state()["arrays"]


def points_of(model):
    return arrays_of(model)[OUTPUT + "points"].reshape(-1, K)


def kernel_matrix(arrays, X):
    """exp(-|u - u'| / width) + 1 for every landmark u'."""
    at = KERNEL + "landmarks."
    inverse = arrays[at + "inverse"]
    u = np.clip((X - arrays[at + "mean"]) * inverse, -5, 5) / np.sqrt((inverse > 0).sum())
    marks = arrays[at + "unit"].reshape(-1, D)
    distance = np.linalg.norm(u[:, None] - marks[None], axis=2)
    return np.exp(-distance / arrays[at + "width"][0]) + 1.0


def kernel_scores(arrays, X):
    return kernel_matrix(arrays, X) @ arrays[KERNEL + "weights"].reshape(-1, K)


@pytest.mark.parametrize("n", [32, MARKS])
def test_at_a_fit_a_row_has_the_score_of_a_kernel_that_did_not_learn_it(n):
    """Each row in turn is left out of kernel ridge regression, which is solved without it."""
    X, Y, weights = data(n)
    model = ranker()
    model.learn(X, Y, weight=weights)
    matrix = kernel_matrix(arrays_of(model), X)
    noise = RIDGE / weights + (1e-3 if n == MARKS else 0.0)
    wanted = np.zeros((n, K))
    for i in range(n):
        rest = np.arange(n) != i
        a = np.linalg.solve(matrix[np.ix_(rest, rest)] + np.diag(noise[rest]), Y[rest])
        wanted[i] = matrix[i, rest] @ a
    np.testing.assert_allclose(points_of(model), wanted, atol=2e-4)


def test_between_fits_rows_keep_the_scores_of_their_time():
    X, Y, weights = data(MARKS)
    model = ranker()
    model.learn(X[:32], Y[:32], weight=weights[:32])
    before = points_of(model)
    wanted = kernel_scores(arrays_of(model), X[32:33])
    model.learn(X[32:36], Y[32:36], weight=weights[32:36])
    np.testing.assert_array_equal(points_of(model)[:32], before)
    np.testing.assert_allclose(points_of(model)[32:33], wanted, atol=1e-4)


def stream(n):
    X, Y, weights = data(n, seed=2)
    weights[50::23] = 0.0
    Y[60::31] = 0.0  # no pair to rank
    Y[70::29, 2] = np.nan
    return X, Y, weights


def learned(how, memory=90, n=450):
    X, Y, weights = stream(n)
    model = ranker(memory)
    model.n_threads = 2 if how == "threads" else 1
    sizes = {"rows": [1], "pieces": [7, 1, 64, 33, 16], "saved": [50]}.get(how, [n])
    at, i = 0, 0
    while at < n:
        end = min(n, at + sizes[i % len(sizes)])
        if at < 300 < end:
            end = 300
        if at == 300:
            model.add_labels(1)
            Y = np.hstack([Y, np.ones((n, 1))])
        model.learn(X[at:end], Y[at:end], weight=weights[at:end])
        at, i = end, i + 1
        if how == "saved":
            model = copy.deepcopy(model) if at % 100 else _reloaded(model)
    return model.state()["arrays"]


def _reloaded(model):
    made, arguments = model.__reduce__()
    return made(*arguments)


@pytest.mark.parametrize("how", ["pieces", "block", "threads", "saved"])
def test_the_same_bits_in_any_way(how):
    wanted, found = learned("rows"), learned(how)
    assert wanted.keys() == found.keys()
    for name in wanted:
        np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)


def test_one_who_reads_several_members_is_not_renewed():
    X, Y, weights = data(MARKS)
    members = [
        Kernel(n_landmarks=MARKS),
        bl.learners.Linear(),
        OutputNeighbours(reads=("kernel", "linear")),
    ]
    model = bl.LabelRanker(K, learners=[Committee(members)], drift=None)
    model.learn(X[:-1], Y[:-1], weight=weights[:-1])
    before = points_of(model)
    model.learn(X[-1], Y[-1], weight=weights[-1])  # the kernel fits again
    np.testing.assert_array_equal(points_of(model)[:-1], before)
