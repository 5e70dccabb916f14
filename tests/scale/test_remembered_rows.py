"""Rows that workers remember: where neighbours by scores find them, and how many travel."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import boostline as bl
from boostline import scale
from boostline.learners import Committee, Kernel, Linear, OutputNeighbours

N_SAMPLE, N, K = 80, 200, 4
PREFIX = "learners.0.output_neighbours."


def data(sparse):
    rng = np.random.default_rng(3)
    d = 60 if sparse else 5
    X = rng.normal(size=(N, d)) * rng.uniform(0.5, 4.0, size=d)
    if sparse:
        X = np.where(rng.random(X.shape) < 0.9, 0.0, X)
    Y = (X @ rng.normal(size=(d, K)) > 0.5).astype(float)
    Y[90::7, 2] = np.nan
    weights = np.round(rng.uniform(0.1, 1.0, size=N), 2)
    weights[95::20] = 0.0
    return (sp.csr_array(X) if sparse else X), X, Y, weights


def committee(memory=500, members=()):
    found = members or [Kernel(n_landmarks=40), OutputNeighbours(memory=memory)]
    return bl.LabelRanker(K, learners=[Committee(found)], drift=None)


def parts(model, rows, Y, weights, n_parts):
    cuts = np.linspace(N_SAMPLE, N, n_parts + 1).astype(int)
    return [
        scale.partial(model, (rows[a:b], Y[a:b], weights[a:b])) for a, b in itertools.pairwise(cuts)
    ]


def kernel_scores(arrays, X):
    """exp(-|u - u'| / width) + 1 for every landmark u', times the weights."""
    at = "learners.0.kernel.landmarks."
    mean, inverse = arrays[at + "mean"], arrays[at + "inverse"]
    u = np.clip((X - mean) * inverse, -5, 5) / np.sqrt((inverse > 0).sum())
    if arrays[at + "is_dense"][0]:
        marks = arrays[at + "unit"].reshape(-1, X.shape[1])
    else:  # as differences to a row of zeros
        zero = np.clip(-mean * inverse, -5, 5) / np.sqrt((inverse > 0).sum())
        start, marks = arrays[at + "offset"], np.tile(zero, (40, 1))
        for i, (a, b) in enumerate(itertools.pairwise(start)):
            marks[i, arrays[at + "index"][a:b]] += arrays[at + "unit"][a:b]
    distance = np.linalg.norm(u[:, None] - marks[None], axis=2)
    weights = arrays["learners.0.kernel.weights"].reshape(40, K)
    return (np.exp(-distance / arrays[at + "width"][0]) + 1.0) @ weights


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_of_all_workers_at_the_scores_of_the_merged_kernel(sparse):
    rows, X, Y, weights = data(sparse)
    model = committee()
    model.learn(rows[:N_SAMPLE], Y[:N_SAMPLE], weight=weights[:N_SAMPLE])
    before = model.state()["arrays"]
    assert bool(before["learners.0.kernel.landmarks.is_dense"][0]) is not sparse
    made = scale.finish(model, scale.merge(parts(model, rows, Y, weights, 3)))
    after = made.state()["arrays"]
    n_before = len(before[PREFIX + "point_importance"])
    points = after[PREFIX + "points"].reshape(-1, K)
    np.testing.assert_array_equal(points[:n_before].ravel(), before[PREFIX + "points"])

    known = ~np.isnan(Y)
    n_relevant = np.nansum(Y, axis=1)
    has_pairs = (n_relevant > 0) & (n_relevant < known.sum(axis=1))
    heard = (weights > 0) & (has_pairs | ~known.all(axis=1))
    heard[:N_SAMPLE] = False
    wanted = kernel_scores(after, X[heard])
    targets = np.where(known, Y + 1.0, 0.0)[heard]  # 0: unknown, as files have it
    got = np.column_stack(
        [
            after[PREFIX + "point_importance"][n_before:],
            after[PREFIX + "point_targets"].reshape(-1, K)[n_before:],
            points[n_before:],
        ]
    )
    expected = np.column_stack([weights[heard], targets, wanted])
    assert len(got) == len(expected) > 80
    order, wanted_order = (np.lexsort(np.round(a, 4).T) for a in (got, expected))
    np.testing.assert_allclose(got[order], expected[wanted_order], atol=2e-5)


def test_the_order_of_merging_does_not_matter():
    rows, _, Y, weights = data(sparse=True)
    model = committee(
        members=[Kernel(n_landmarks=40), OutputNeighbours(memory=90), Linear(memory=50)]
    )
    model.learn(rows[:N_SAMPLE], Y[:N_SAMPLE], weight=weights[:N_SAMPLE])
    made = parts(model, rows, Y, weights, 4)
    states = [
        scale.finish(model, scale.merge([made[i] for i in order])).state()["arrays"]
        for order in ((0, 1, 2, 3), (3, 1, 0, 2))
    ]
    for name in ("output_neighbours.point_targets", "linear.row_index", "linear.row_length"):
        one, other = (state["learners.0." + name] for state in states)
        np.testing.assert_array_equal(one, other)
    assert len(states[0][PREFIX + "point_importance"]) == 90
    one, other = (state[PREFIX + "points"] for state in states)
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_each_part_carries_its_share():
    rows, _, Y, weights = data(sparse=False)
    model = committee(memory=60)
    model.learn(rows[:N_SAMPLE], Y[:N_SAMPLE], weight=weights[:N_SAMPLE])
    name = PREFIX + "memory"
    for n_parts, most in ((1, 60), (3, 20)):
        one = scale.partial(model, (rows[N_SAMPLE:], Y[N_SAMPLE:]), n_parts=n_parts)
        assert len(one.sums[name].priority) == most
    few = scale.partial(model, (rows[100:103], Y[100:103]), n_parts=3)
    none = scale.partial(model, [])
    merged = scale.merge([few, none])
    assert len(merged.sums[name].priority) <= 3
    assert scale.finish(model, merged).clock == N_SAMPLE + 3
    with pytest.raises(ValueError, match="n_parts is 0"):
        scale.partial(model, [], n_parts=0)


def test_without_a_kernel_alone_the_memory_is_that_of_the_tail():
    rows, _, Y, weights = data(sparse=False)
    members = [Kernel(n_landmarks=40), Linear(), OutputNeighbours(reads=("kernel", "linear"))]
    model = committee(members=members)
    model.learn(rows[:N_SAMPLE], Y[:N_SAMPLE])
    made = scale.finish(model, scale.merge(parts(model, rows, Y, weights, 2)))
    one, other = (m.state()["arrays"][PREFIX + "points"] for m in (model, made))
    np.testing.assert_array_equal(one, other)
