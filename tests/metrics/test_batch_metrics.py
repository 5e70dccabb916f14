"""Batch metrics equal scikit-learn's where it has them, and brute force where it has not."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as skm

from boostline import metrics

ROWS = {
    "rank_loss": metrics.RankLoss().rows,
    "rank_loss_full": metrics.RankLoss("full").rows,
    "coverage": metrics.Coverage().rows,
    "average_precision": metrics.AveragePrecision().rows,
    "one_error": metrics.OneError().rows,
    "precision@3": metrics.PrecisionAt(3).rows,
    "ndcg": metrics.NDCGAt().rows,
    "ndcg@3": metrics.NDCGAt(3).rows,
}


def random_block(seed: int, n: int = 60, k: int = 7, levels: int | None = 4):
    """Rows with few score levels (many ties), and empty and full label sets among them."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, k)) < rng.random((n, 1))
    Y[0], Y[1] = False, True
    S = rng.normal(size=(n, k)) if levels is None else rng.integers(0, levels, (n, k)).astype(float)
    return Y, S


# What each metric is, one row at a time, straight from its definition.


def slow_rank_loss(y: np.ndarray, s: np.ndarray, tie: float) -> float:
    pairs = [(s[a], s[b]) for a in np.flatnonzero(y) for b in np.flatnonzero(~y)]
    return sum((b > a) + tie * (b == a) for a, b in pairs) / len(pairs) if pairs else 0.0


def mean_over_orders(s: np.ndarray, value: Callable[[tuple[int, ...]], float]) -> float:
    """Mean of `value` over all rankings that respect the scores: ties broken in every way."""
    groups = [np.flatnonzero(s == level) for level in np.unique(s)[::-1]]
    orders = itertools.product(*(itertools.permutations(g.tolist()) for g in groups))
    values = [value(tuple(itertools.chain(*order))) for order in orders]
    return float(np.mean(values))


def slow_precision(y: np.ndarray, s: np.ndarray, k: int) -> float:
    return mean_over_orders(s, lambda order: sum(y[list(order[:k])]) / min(k, len(s)))


def slow_one_error(y: np.ndarray, s: np.ndarray) -> float:
    return mean_over_orders(s, lambda order: float(not y[order[0]])) if y.any() else 0.0


@pytest.mark.parametrize("levels", [1, 2, 5, None])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(3))
def test_equal_scikit_learn(seed, dtype, levels):
    Y, S = random_block(seed, levels=levels)
    S = S.astype(dtype)
    assert metrics.rank_loss(Y, S, ties="full") == pytest.approx(skm.label_ranking_loss(Y, S))
    assert metrics.coverage(Y, S) == pytest.approx(skm.coverage_error(Y, S))
    expected = skm.label_ranking_average_precision_score(Y, S)
    assert metrics.average_precision(Y, S) == pytest.approx(expected)
    assert metrics.ndcg_at(Y, S) == pytest.approx(skm.ndcg_score(Y, S))
    for k in (1, 3, 7, 20):
        assert metrics.ndcg_at(Y, S, k) == pytest.approx(skm.ndcg_score(Y, S, k=k))


@pytest.mark.parametrize("levels", [1, 3, None])
def test_equal_the_definitions(levels):
    Y, S = random_block(5, n=25, k=5, levels=levels)
    for tie, ties in ((0.5, "half"), (1.0, "full")):
        slow = [slow_rank_loss(y, s, tie) for y, s in zip(Y, S, strict=True)]
        np.testing.assert_allclose(metrics.RankLoss(ties).rows(Y, S), slow, atol=1e-15)
    slow = [slow_one_error(y, s) for y, s in zip(Y, S, strict=True)]
    np.testing.assert_allclose(metrics.OneError().rows(Y, S), slow, atol=1e-15)
    for k in (1, 2, 5, 9):
        slow = [slow_precision(y, s, k) for y, s in zip(Y, S, strict=True)]
        np.testing.assert_allclose(metrics.PrecisionAt(k).rows(Y, S), slow, atol=1e-15)


def test_empty_and_full_label_sets():
    Y, S = np.array([[0, 0, 0], [1, 1, 1]]), np.array([[1.0, 2.0, 2.0], [1.0, 2.0, 2.0]])
    assert metrics.RankLoss().rows(Y, S).tolist() == [0, 0]
    assert metrics.Coverage().rows(Y, S).tolist() == [0, 3]
    assert metrics.AveragePrecision().rows(Y, S).tolist() == [1, 1]
    assert metrics.OneError().rows(Y, S).tolist() == [0, 0]
    assert metrics.PrecisionAt(2).rows(Y, S).tolist() == [0, 1]
    assert metrics.NDCGAt(2).rows(Y, S).tolist() == [0, 1]
    assert metrics.RankLoss().update(Y, S).n_without_pairs == 2
    # They count in the mean: one row of loss 1 among three.
    Y, S = np.vstack([Y, [[1, 0, 0]]]), np.vstack([S, [[1.0, 2.0, 2.0]]])
    assert metrics.rank_loss(Y, S) == pytest.approx(1 / 3)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("levels", [2, None])
def test_unknown_labels_are_as_if_not_there(name, levels):
    rows = ROWS[name]
    rng = np.random.default_rng(3)
    Y, S = random_block(11, levels=levels)
    known = rng.random(Y.shape) < 0.6
    known[:3] = [[False] * 7, [True] * 7, [True] + [False] * 6]
    Y &= known
    got = rows(Y, S, unknown=~known)
    for i in range(3, len(Y)):
        columns = known[i]
        alone = rows(Y[i : i + 1, columns], S[i : i + 1, columns]) if columns.any() else None
        if alone is not None:
            assert got[i] == pytest.approx(alone[0], abs=1e-15)
    # How an unknown label is scored changes nothing, nor does the way in which it is marked.
    other_S = np.where(known, S, -S * 3 + 1)
    np.testing.assert_array_equal(rows(Y, other_S, unknown=~known), got)
    np.testing.assert_array_equal(rows(np.where(known, Y, np.nan), S), got)
    sets = [set(np.flatnonzero(~one).tolist()) for one in known]
    np.testing.assert_array_equal(rows(sp.csr_matrix(Y), S, unknown=sets), got)


def test_no_known_label_at_all():
    Y, S, unknown = np.array([[0, 0]]), np.array([[0.0, 1.0]]), np.array([[True, True]])
    got = {name: rows(Y, S, unknown=unknown)[0] for name, rows in ROWS.items()}
    assert got == {**dict.fromkeys(ROWS, 0.0), "average_precision": 1.0}
    assert metrics.RankLoss().update(Y, S, unknown).n_without_pairs == 1


def test_infinite_scores_rank_last_and_first():
    assert metrics.rank_loss([{0}], [[np.inf, 0.0, -np.inf]]) == 0
    assert metrics.rank_loss([{2}], [[np.inf, 0.0, -np.inf]]) == 1
    # An unknown label does not tie with one at minus infinity.
    assert metrics.rank_loss([{1}], [[0.0, -np.inf, -np.inf]], unknown=[{2}]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metrics.coverage([{1}], [[0.0, -np.inf, -np.inf]]) == 3


@pytest.mark.parametrize("name", ROWS)
def test_every_layout_of_the_labels_gives_the_same(name):
    rows = ROWS[name]
    Y, S = random_block(8)
    want = rows(Y, S)
    sets = [set(np.flatnonzero(y).tolist()) for y in Y]
    for same in (Y.astype(int), Y.astype(float), sp.csr_matrix(Y), sp.csc_array(Y), sets, list(Y)):
        np.testing.assert_array_equal(rows(same, S), want)
    np.testing.assert_array_equal(rows(np.asfortranarray(Y), np.asfortranarray(S)), want)
    # One row may come with one axis.
    assert rows(Y[4], S[4])[0] == want[4]
    assert rows(sets[4], S[4])[0] == want[4]


def test_frames_are_taken_by_value():
    pd = pytest.importorskip("pandas")
    Y, S = random_block(8)
    frame = metrics.rank_loss(pd.DataFrame(Y.astype(int)), pd.DataFrame(S))
    assert frame == metrics.rank_loss(Y, S)


def test_many_rows_go_through_in_pieces():
    Y, S = random_block(1, n=5000, k=101, levels=30)
    want = skm.label_ranking_loss(Y, S)
    assert metrics.rank_loss(Y, S, ties="full") == pytest.approx(want)
    assert metrics.rank_loss(sp.csr_array(Y), S, ties="full") == pytest.approx(want)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 9), st.integers(1, 4))
def test_properties(seed, k, levels):
    Y, S = random_block(seed, n=6, k=k, levels=levels)
    half, full = metrics.RankLoss().rows(Y, S), metrics.RankLoss("full").rows(Y, S)
    assert np.all((half >= 0) & (half <= full) & (full <= 1))
    # Reversing the scores turns right pairs into wrong ones; ties stay one half.
    with_pairs = Y.any(axis=1) & ~Y.all(axis=1)
    np.testing.assert_allclose((half + metrics.RankLoss().rows(Y, -S))[with_pairs], 1)
    permutation = np.random.default_rng(seed).permutation(k)
    for rows in ROWS.values():
        values = rows(Y, S)
        np.testing.assert_allclose(rows(Y[:, permutation], S[:, permutation]), values)
        np.testing.assert_allclose(rows(Y, np.exp(S)), values)  # only the order counts


@pytest.mark.parametrize(
    ("Y", "S", "keywords", "error", "message"),
    [
        ([[True, False]], [[np.nan, 1.0]], {}, ValueError, "S is NaN at row 0, label 0"),
        ([True, False], [1.0, np.nan], {}, ValueError, "S is NaN at label 1"),
        (np.eye(3), np.eye(2), {}, ValueError, r"Y is an array of shape \(3, 3\).*\(2, 2\)"),
        (np.eye(2), np.zeros((2, 3)), {}, ValueError, r"Y is an array of shape \(2, 2\)"),
        (sp.eye_array(3).tocsr(), np.eye(2), {}, ValueError, r"Y is an array of shape \(3, 3\)"),
        (
            [{0}],
            np.eye(2),
            {},
            ValueError,
            "Y has 1 label sets, but must have one for each of the 2 rows",
        ),
        ([{2}, {0}], np.eye(2), {}, ValueError, r"Y\[0\] has label 2, but n_labels is 2"),
        ([{-1}, {0}], np.eye(2), {}, ValueError, r"Y\[0\] has label -1"),
        ([{"a"}, {0}], np.eye(2), {}, ValueError, "labels must be whole numbers between 0 and 1"),
        ([[1, 1], {0}], np.eye(2), {}, ValueError, "label 1 twice"),
        (np.array([[0, 2], [0, 1]]), np.eye(2), {}, ValueError, "Y has the value 2"),
        (np.array([["a", "b"]]), np.zeros((1, 2)), {}, TypeError, "Y has dtype <U1"),
        ("ab", np.eye(2), {}, TypeError, "Y is a str"),
        (7, np.eye(2), {}, TypeError, "Y is a int"),
        (7, [0.0, 1.0], {}, TypeError, "Y is a int"),
        (np.eye(2), np.zeros((2, 2, 2)), {}, ValueError, "S has shape"),
        (np.zeros((2, 0)), np.zeros((2, 0)), {}, ValueError, "at least one label"),
        (np.eye(2), [["a", "b"]], {}, TypeError, "S has dtype"),
        (
            np.eye(2),
            np.eye(2),
            {"unknown": np.array([True])},
            ValueError,
            "unknown is an array of shape",
        ),
        (
            np.eye(2),
            np.eye(2),
            {"unknown": np.array([[3, 1]] * 2)},
            ValueError,
            "unknown has the value 3",
        ),
        (
            np.eye(2),
            np.eye(2),
            {"unknown": np.eye(2)},
            ValueError,
            "unknown has label 0 of row 0, but must not",
        ),
        (np.eye(2), np.eye(2), {"ties": "none"}, ValueError, "'half' or 'full'"),
        (np.zeros((0, 2)), np.zeros((0, 2)), {}, ValueError, "S has no rows"),
    ],
)
def test_bad_input_is_named(Y, S, keywords, error, message):
    with pytest.raises(error, match=message):
        metrics.rank_loss(Y, S, **keywords)


@pytest.mark.parametrize(("k", "error"), [(0, ValueError), (1.5, TypeError), (True, TypeError)])
def test_bad_depth(k, error):
    for function in (metrics.precision_at, metrics.ndcg_at):
        with pytest.raises(error, match="k is"):
            function(np.eye(2), np.eye(2), k)
