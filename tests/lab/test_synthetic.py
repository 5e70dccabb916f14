"""Synthetic problems: what the documentation promises is what the rows show."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostline.lab import synthetic
from boostline.lab.synthetic import Synthetic

KINDS: dict[str, Callable[..., Synthetic]] = {
    "separable": synthetic.separable,
    "noisy": synthetic.noisy,
    "abrupt": synthetic.abrupt_drift,
    "gradual": synthetic.gradual_drift,
    "sorted": synthetic.sorted_order,
}


def rank_loss(scores: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The definition: share of wrong pairs of a row, ties one half, 0 without a pair."""
    losses = np.zeros(len(Y))
    for row, (s, y) in enumerate(zip(scores, Y, strict=True)):
        gaps = s[~y][:, None] - s[y][None, :]
        if gaps.size:
            losses[row] = (gaps > 0).mean() + (gaps == 0).mean() / 2
    return losses


@pytest.mark.parametrize("kind", KINDS)
@given(
    n=st.integers(0, 40), d=st.integers(1, 5), k=st.integers(2, 6), seed=st.integers(0, 2**64 - 1)
)
@settings(max_examples=20, deadline=None)
def test_any_size_and_seed(kind: str, n: int, d: int, k: int, seed: int) -> None:
    data = KINDS[kind](n, d, k, seed=seed, relevant=k / 3, n_train=n // 2)
    assert data.X.shape == (n, d) and data.Y.shape == data.scores.shape == (n, k)
    assert data.probabilities.shape == (n, k) and data.n_train == n // 2
    assert np.isfinite(data.X).all() and np.isfinite(data.scores).all()
    assert ((data.probabilities >= 0) & (data.probabilities <= 1)).all()
    again = KINDS[kind](n, d, k, seed=seed, relevant=k / 3)
    np.testing.assert_array_equal(again.X, data.X)
    np.testing.assert_array_equal(again.Y, data.Y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block", [1, 100, 1024, 5000])
def test_a_stream_has_the_rows_of_the_data_set(kind: str, block: int) -> None:
    n = 10 if block == 1 else 2500
    data = KINDS[kind](n, 3, 4, seed=8, relevant=1)
    stream = synthetic.stream(kind, n, 3, 4, seed=8, relevant=1, block=block)
    blocks = list(stream)
    assert all(len(X) == block for X, _ in blocks[:-1])
    np.testing.assert_array_equal(np.vstack([X for X, _ in blocks]), data.X)
    np.testing.assert_array_equal(np.vstack([Y for _, Y in blocks]), data.Y)
    truth = np.vstack([part.scores for part in stream.with_truth()])
    np.testing.assert_array_equal(truth, data.scores)
    rows = list(islice(stream.rows(), 5))
    np.testing.assert_array_equal([x for x, _ in rows], data.X[:5])
    assert stream.n_features == 3 and stream.labels == ["0", "1", "2", "3"]


def test_a_stream_without_end_begins_like_one_with_an_end() -> None:
    endless = islice(synthetic.stream("noisy", d=3, k=4, block=700), 3)
    X = np.vstack([block.X for block in endless])
    np.testing.assert_array_equal(X, synthetic.noisy(2100, 3, 4).X)


def test_the_truth_of_a_separable_problem_has_no_loss() -> None:
    data = synthetic.separable(3000, 10, 12, seed=1, relevant=3)
    assert rank_loss(data.scores, data.Y).max() == 0.0
    sizes = data.Y.sum(axis=1)
    assert sizes.min() >= 1 and sizes.max() <= 5 and 2 < sizes.mean() < 4
    # The truth is linear in x: least squares finds the scores without any rest.
    assert np.linalg.lstsq(data.X, data.scores, rcond=None)[1].max() < 1e-15 * data.scores.size


def test_scores_are_standard_normal() -> None:
    scores = synthetic.noisy(20_000, 7, 5, seed=2).scores
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=0.03)
    np.testing.assert_allclose(scores.std(axis=0), 1, atol=0.03)
    turning = synthetic.gradual_drift(20_000, 7, 5, seed=2, start=0, end=1).scores
    np.testing.assert_allclose(turning[9_000:11_000].std(axis=0), 1, atol=0.07)


@pytest.mark.parametrize("noise", [0.1, 0.5, 2.0])
def test_labels_follow_their_probabilities(noise: float) -> None:
    data = synthetic.noisy(20_000, 6, 8, seed=3, noise=noise, relevant=2)
    # Independent Bernoulli draws: the sum of (Y - p) has variance sum p (1 - p).
    rest, variance = data.Y - data.probabilities, data.probabilities * (1 - data.probabilities)
    assert np.abs(rest.sum(axis=0) / np.sqrt(variance.sum(axis=0))).max() < 4
    for low, high in ((0, 0.1), (0.1, 0.3), (0.3, 0.7), (0.7, 1)):
        chosen = (data.probabilities >= low) & (data.probabilities < high)
        assert abs(rest[chosen].sum()) < 4 * np.sqrt(variance[chosen].sum())
    assert abs(data.Y.sum(axis=1).mean() - 2) < 0.1
    correlation = np.corrcoef(rest.T) - np.eye(8)
    assert np.abs(correlation).max() < 4 / np.sqrt(20_000)


def test_ranking_by_the_truth_is_the_best_that_can_be_done() -> None:
    """Brute force over all label sets and all rankings, on a few rows."""
    data = synthetic.noisy(6, 3, 4, seed=4, relevant=1.5)
    label_sets = np.array(list(product([False, True], repeat=4)))
    for scores, p in zip(data.scores, data.probabilities, strict=True):
        chance = np.where(label_sets, p, 1 - p).prod(axis=1)

        def expected(ranking: np.ndarray, chance: np.ndarray = chance) -> float:
            return float(chance @ rank_loss(np.tile(ranking, (16, 1)), label_sets))

        best = min(expected(np.array(order, dtype=float)) for order in permutations(range(4)))
        assert expected(scores) == pytest.approx(best, abs=1e-12)


def test_abrupt_drift_permutes_every_label() -> None:
    still, moved = synthetic.noisy(2000, 5, 6, seed=5), synthetic.abrupt_drift(2000, 5, 6, seed=5)
    np.testing.assert_array_equal(still.X, moved.X)
    np.testing.assert_array_equal(still.scores[:1000], moved.scores[:1000])
    match = (still.scores[1000:, :, None] == moved.scores[1000:, None, :]).all(axis=0)
    assert (match.sum(axis=0) == 1).all() and (match.sum(axis=1) == 1).all()  # a permutation
    assert not match.diagonal().any()  # that moves every label
    early = synthetic.abrupt_drift(2000, 5, 6, seed=5, at=0.1)
    assert (early.scores[:200] == still.scores[:200]).all()
    assert (early.scores[200] != still.scores[200]).all()


def test_gradual_drift_turns_slowly() -> None:
    still, turning = (
        synthetic.noisy(4000, 30, 6, seed=6),
        synthetic.gradual_drift(4000, 30, 6, seed=6),
    )
    np.testing.assert_array_equal(still.scores[:1000], turning.scores[:1000])

    def likeness(start: int) -> float:
        rows = slice(start, start + 250)
        return float(np.corrcoef(still.scores[rows].ravel(), turning.scores[rows].ravel())[0, 1])

    course = [likeness(start) for start in range(1000, 3001, 400)]
    assert course == sorted(course, reverse=True) and course[0] > 0.95
    after = turning.X[3000:]
    assert np.linalg.lstsq(after, turning.scores[3000:], rcond=None)[1].max() < 1e-9  # at rest


def test_sorted_order_has_the_rows_of_noisy() -> None:
    plain, ordered = synthetic.noisy(3000, 4, 5, seed=7), synthetic.sorted_order(3000, 4, 5, seed=7)
    best = ordered.scores.argmax(axis=1)
    assert (np.diff(best) >= 0).all() and len(set(best)) > 1
    by_x = np.lexsort(plain.X.T), np.lexsort(ordered.X.T)
    np.testing.assert_array_equal(plain.X[by_x[0]], ordered.X[by_x[1]])
    np.testing.assert_array_equal(plain.Y[by_x[0]], ordered.Y[by_x[1]])


def test_the_truth_stays_with_its_rows() -> None:
    data = synthetic.noisy(50, 3, 4, n_train=30).shuffled(1)
    assert isinstance(data, Synthetic) and isinstance(data.test, Synthetic)
    W = np.linalg.lstsq(data.X, data.scores, rcond=None)[0]
    np.testing.assert_allclose(data.test.X @ W, data.test.scores, atol=1e-12)
    assert data.test.probabilities.shape == (20, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": -1}, "n is -1"),
        ({"d": 0}, "d is 0, but must be at least 1"),
        ({"k": 1}, "k is 1, but must be at least 2"),
        ({"seed": -1}, "seed is -1"),
        ({"relevant": 10}, "relevant is 10, but must lie between 0 and k=10"),
        ({"noise": 0}, "noise is 0, but must be positive"),
        ({"start": 0.8}, "the drift is from 0.8 to 0.75"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        synthetic.gradual_drift(**arguments)


def test_bad_streams_are_named() -> None:
    with pytest.raises(ValueError, match="kind is 'other', but must be one of separable, noisy"):
        synthetic.stream("other")
    with pytest.raises(ValueError, match="abrupt needs the length of the stream"):
        synthetic.stream("abrupt")
    with pytest.raises(ValueError, match="block is 0"):
        synthetic.stream("noisy", block=0)
