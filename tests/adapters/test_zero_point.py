"""The learned zero point: against brute force, in blocks, with unknown labels, weights and new labels."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from boostline.adapters.zero_point import ZeroPoint
from boostline.contract.label_sets import UNKNOWN


def micro_f1(relevant, named):
    return 2 * (relevant & named).sum() / (relevant.sum() + named.sum())


def stream(n, k=6, seed=0, offsets=None):
    """Scores whose labels are relevant above a cut of their own, on the example's own scale, with noise."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, k)) * rng.gamma(2.0, size=(n, 1)) + rng.normal(size=(n, 1)) * 5
    z = (scores - scores.mean(1, keepdims=True)) / scores.std(1, keepdims=True)
    cuts = np.zeros(k) if offsets is None else np.asarray(offsets)
    return scores, z + 0.3 * rng.normal(size=(n, k)) > cuts


def best_common_f1(scores, relevant):
    z = (scores - scores.mean(1, keepdims=True)) / scores.std(1, keepdims=True)
    return max(micro_f1(relevant, z > cut) for cut in np.linspace(-2, 2, 201))


def test_common_threshold_is_as_good_as_the_best_found_by_brute_force():
    scores, relevant = stream(4000, offsets=[0.5] * 6)
    zero = ZeroPoint(6, per_label=False)
    zero.observe(scores[:3000], relevant[:3000])
    reached = micro_f1(relevant[3000:], zero.decide(scores[3000:]) > 0)
    assert reached >= best_common_f1(scores[3000:], relevant[3000:]) - 0.01


def test_thresholds_per_label_beat_any_common_one_where_labels_differ():
    scores, relevant = stream(4000, offsets=[-1.0, -0.5, 0.0, 0.5, 1.0, 1.5])
    zero = ZeroPoint(6)
    zero.observe(scores[:3000], relevant[:3000])
    reached = micro_f1(relevant[3000:], zero.decide(scores[3000:]) > 0)
    assert reached > best_common_f1(scores[3000:], relevant[3000:]) + 0.05


def test_common_threshold_keeps_the_order_of_the_scores():
    scores, relevant = stream(500)
    zero = ZeroPoint(6, per_label=False)
    zero.observe(scores, relevant)
    decided = zero.decide(scores)
    assert (decided.argsort(axis=1) == scores.argsort(axis=1)).all()


def test_shift_and_scale_of_scores_change_nothing():
    scores, relevant = stream(500)
    zero = ZeroPoint(6)
    zero.observe(scores, relevant)
    np.testing.assert_allclose(zero.decide(scores * 7.0 - 3.0), zero.decide(scores), atol=1e-9)


@pytest.mark.parametrize("k", [2, 6, 150])
@pytest.mark.parametrize("cuts", [[1, 2, 3], [31, 32, 64], [500], list(range(1, 777, 5))])
def test_a_block_gives_what_the_loop_of_single_calls_gives(cuts, k):
    scores, relevant = stream(777, k)
    weights = np.random.default_rng(1).random(777)
    loop, blocks = ZeroPoint(k), ZeroPoint(k)
    for row, labels, weight in zip(scores, relevant, weights, strict=True):
        loop.observe_one(row, labels, float(weight))
    for rows in np.split(np.arange(777), cuts):
        blocks.observe(scores[rows], relevant[rows], weights[rows])
    assert pickle.dumps(loop) == pickle.dumps(blocks)
    one_by_one = np.array([loop.decide(row) for row in scores])
    np.testing.assert_array_equal(one_by_one, blocks.decide(scores))


def test_unknown_labels_count_for_nothing():
    zero = ZeroPoint(6)
    zero.observe_one(np.arange(6.0), np.array([1, 1, 0, 0, 0, UNKNOWN]), 0.5)
    np.testing.assert_array_equal(zero._counts[1].sum(axis=1), [0.5, 0.5, 0, 0, 0, 0])
    np.testing.assert_array_equal(zero._counts[0].sum(axis=1), [0, 0, 0.5, 0.5, 0.5, 0])
    none = ZeroPoint(6)
    none.observe(stream(640)[0], np.full((640, 6), UNKNOWN))
    np.testing.assert_array_equal(none.thresholds, np.zeros(6))


def test_equal_scores_are_at_the_middle_whatever_their_value():
    zero = ZeroPoint(14)
    for value in (0.0, 0.1, 1 / 3, -7.3, 1e9):
        np.testing.assert_array_equal(zero.decide(np.full(14, value)), np.zeros(14))


def test_it_follows_a_change():
    before, many = stream(3000, offsets=[-1.0] * 6)
    after, few = stream(6000, seed=1, offsets=[1.0] * 6)
    zero = ZeroPoint(6, per_label=False)
    zero.observe(before, many)
    old = zero.thresholds[0]
    zero.observe(after, few)
    fresh = ZeroPoint(6, per_label=False)
    fresh.observe(after, few)
    assert old < 0 < zero.thresholds[0]
    assert zero.thresholds[0] == pytest.approx(fresh.thresholds[0], abs=2 / 16)


def test_new_labels_start_from_what_is_common():
    scores, relevant = stream(1000, offsets=[0.7] * 6)
    zero = ZeroPoint(6)
    zero.observe(scores, relevant)
    zero.add_labels(2)
    assert zero.thresholds.shape == (8,)
    common = ZeroPoint(6, per_label=False)
    common.observe(scores, relevant)
    np.testing.assert_allclose(zero.thresholds[6:], common.thresholds[0], atol=2 / 16)
    wider, labels = stream(100, k=8)
    zero.observe(wider, labels)
    assert zero.decide(wider).shape == (100, 8)
