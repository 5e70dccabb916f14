"""The Hoeffding tree of the reference, by hand and against a batch computation with scipy."""

import math

import numpy as np
import pytest

from boostline.lab import reference

EAGER = {"split_confidence": 0.99, "tie_threshold": 0.0, "weight_scale": 1.0}


def teach(tree, x, labels, costs=0.0, weight=1.0):
    relevant = np.zeros(tree.n_labels, dtype=bool)
    relevant[labels] = True
    given = np.ones(tree.n_labels)
    given[labels] = costs
    tree.learn(np.atleast_1d(np.asarray(x, dtype=float)), relevant, given, weight)


def test_masses_and_votes_by_hand():
    tree = reference.HoeffdingTree(4, 100, 0.1, 0.1, weight_scale=2.0, features=[0])
    np.testing.assert_array_equal(tree.predict(np.zeros(1)), [0.25] * 4)
    teach(tree, 1.0, [1])  # 1 + 2 * 1 * (1 - 0)
    teach(tree, 2.0, [1, 3], costs=[0.25, 0.5], weight=0.5)  # + .75, and 1 + .5
    np.testing.assert_allclose(tree.leaf_masses[0], [0, 3.75, 0, 1.5])
    np.testing.assert_allclose(tree.predict(np.zeros(1)) * 7.25, [1, 3.75, 1, 1.5])
    leaf = tree.nodes[0]
    np.testing.assert_allclose(leaf.weight[:, 0], [0, 2.75, 0, 0.5])
    mean = (2 * 1 + 0.75 * 2) / 2.75
    np.testing.assert_allclose(leaf.mean[:, 0], [0, mean, 0, 2])
    square = 2 * (1 - mean) ** 2 + 0.75 * (2 - mean) ** 2
    np.testing.assert_allclose(leaf.m2[:, 0], [0, square, 0, 0], atol=1e-15)


def test_importance_zero_does_nothing():
    tree = reference.HoeffdingTree(3, 1, features=[0], **EAGER)
    teach(tree, 1.0, [0, 1], costs=1.0)
    teach(tree, 1.0, [0, 1], weight=0.0)
    teach(tree, 1.0, [])
    assert (tree.leaf_masses[0] == 0).all()
    assert tree.closest_decision == math.inf


def test_split_on_an_obvious_feature_by_hand():
    # W = t + 2 exceeds the grace period of 10 at t = 9: five of label 0 at x = 0, four of label 1
    # at x = 1. Gain H(5/9) = .991 at every threshold, so the first one, 1/11; bound .177.
    tree = reference.HoeffdingTree(2, 10, 0.5, 0.1, 1.0, features=[1])
    for t in range(8):
        teach(tree, [7.0, t % 2], [t % 2])
    assert tree.structure == [(-1, 0.0, -1, -1)]
    teach(tree, [7.0, 0.0], [0])
    assert tree.structure == [(1, 1 / 11, 1, 2), (-1, 0.0, -1, -1), (-1, 0.0, -1, -1)]
    np.testing.assert_array_equal(tree.leaf_masses[1], [5, 0])
    np.testing.assert_array_equal(tree.leaf_masses[2], [0, 4])
    assert [tree.nodes[i].weight_at_last_try for i in (1, 2)] == [5, 4]
    np.testing.assert_allclose(tree.predict(np.array([0.0, 1 / 11])), [5 / 6, 1 / 6])
    np.testing.assert_allclose(tree.predict(np.array([0.0, 0.1])), [1 / 5, 4 / 5])
    h = -(5 / 9) * math.log2(5 / 9) - (4 / 9) * math.log2(4 / 9)
    bound = math.sqrt(math.log(2) / 22)
    # Of all its decisions the nearest was bound < tie_threshold.
    assert tree.closest_decision == pytest.approx(min(bound - 0.1, h - bound), rel=1e-12)


def test_a_split_waits_for_strictly_more_than_the_grace_period():
    for grace, n_splits in ((4.0, 0), (3.9, 1)):
        tree = reference.HoeffdingTree(2, grace, features=[0], **EAGER)
        teach(tree, 0.0, [0])
        teach(tree, 1.0, [1])  # W = 4
        assert len(tree.nodes) == 1 + 2 * n_splits


def test_one_label_alone_never_splits_but_restarts_the_grace_period():
    tree = reference.HoeffdingTree(2, 3, features=[0], **EAGER)
    for x in range(4):
        teach(tree, x, [0])
    assert len(tree.nodes) == 1
    assert tree.nodes[0].weight_at_last_try == 4  # tried at W = 4, not again at 5


@pytest.mark.parametrize(("heavy", "n_nodes"), [(90.0, 3), (99.5, 1), (200.0, 1)])
def test_a_branch_needs_more_than_a_hundredth_of_the_weight(heavy, n_nodes):
    # 1/91 is above 1 %, 1/100.5 and 1/201 are below.
    tree = reference.HoeffdingTree(2, heavy + 2, 0.99, 0.0, 1.0, features=[0])
    teach(tree, 0.0, [0], weight=heavy)
    teach(tree, 1.0, [1])
    assert len(tree.nodes) == n_nodes


def test_labels_of_one_example_are_routed_anew_after_a_split():
    tree = reference.HoeffdingTree(3, 3.9, features=[0], **EAGER)
    teach(tree, 0.0, [0])
    teach(tree, 1.0, [1, 2])  # label 1 splits the root, label 2 goes to the new leaf
    np.testing.assert_array_equal(tree.leaf_masses[1], [1, 0, 0])
    np.testing.assert_array_equal(tree.leaf_masses[2], [0, 1, 2])


def test_nan_is_skipped_in_statistics_and_goes_to_the_heavier_branch():
    tree = reference.HoeffdingTree(3, 8, features=[0, 1], **EAGER)
    nan = math.nan
    teach(tree, [0.0, nan], [0])
    teach(tree, [0.0, nan], [0])
    teach(tree, [nan, 3.0], [2])  # label 2 has no statistics on covariate 0
    teach(tree, [1.0, nan], [1])
    assert len(tree.nodes) == 1
    np.testing.assert_array_equal(tree.nodes[0].weight, [[2, 0], [1, 0], [0, 1]])
    teach(tree, [1.0, nan], [1], weight=1.5)  # W = 9.5
    assert tree.structure[0] == (0, 1 / 11, 1, 2)
    np.testing.assert_array_equal(tree.leaf_masses[1], [2, 0, 0])
    np.testing.assert_array_equal(tree.leaf_masses[2], [0, 2.5, 0])  # label 2 passed down nothing
    assert tree.find(np.array([nan, 0.0]))[0] == 2
    np.testing.assert_allclose(tree.predict(np.array([nan, 0.0])), np.array([1, 2.5, 1]) / 4.5)


def test_single_label_votes_for_the_heaviest_label_and_the_lowest_at_ties():
    tree = reference.HoeffdingTree(3, 100, 0.1, 0.1, 1.0, features=[0], single_label=True)
    assert tree.predict(np.zeros(1)).tolist() == [1, 0, 0]
    teach(tree, 0.0, [1, 2])
    assert tree.predict(np.zeros(1)).tolist() == [0, 1, 0]
    teach(tree, 0.0, [2], weight=0.5)
    assert tree.predict(np.zeros(1)).tolist() == [0, 0, 1]
    assert tree.vote_gap == pytest.approx(2.5e-9)  # the heaviest itself, within the tie


def batch_split(values, labels, weights, masses, delta, tie):
    """The same attempt from the raw observations, label by label, with scipy's normal law."""
    norm = pytest.importorskip("scipy.stats").norm
    stats = pytest.importorskip("scipy.stats")
    n_labels, n = len(masses), masses.sum()
    seen = np.flatnonzero(masses)
    bound = math.log2(max(2, len(seen))) * math.sqrt(math.log(1 / delta) / (2 * n))
    w_obs = max(weights[~np.isnan(v)].sum() for v in values.T)
    found = []
    for f, column in enumerate(values.T):
        known = ~np.isnan(column)
        v, y, q = column[known], labels[known], weights[known]
        best = None
        for j in range(1, 11):
            threshold = v.min() + (v.max() - v.min()) * j / 11
            left, right = np.zeros(n_labels), np.zeros(n_labels)
            for label in np.unique(y):
                own, w = v[y == label], q[y == label]
                mean = np.average(own, weights=w)
                sd = math.sqrt(max(np.average((own - mean) ** 2, weights=w), 1e-12))
                share = norm.cdf(threshold, mean, sd)
                share = 1.0 if threshold >= own.max() else 0.0 if threshold < own.min() else share
                left[label], right[label] = w.sum() * share, w.sum() * (1 - share)
            parts = [left, right]
            if min(p.sum() for p in parts) <= 0.01 * q.sum():
                continue
            gain = stats.entropy(left + right, base=2) - sum(
                p.sum() / q.sum() * stats.entropy(p, base=2) for p in parts
            )
            gain *= q.sum() / w_obs
            if best is None or gain > best[0] + 1e-12:
                best = (gain, f, threshold, left, right)
        if best:
            found.append(best)
    found.sort(key=lambda c: -c[0])
    second = found[1][0] if len(found) > 1 else 0.0
    if found and (found[0][0] - second > bound or bound < tie):
        return found[0][1:]
    return None


@pytest.mark.parametrize("seed", range(12))
def test_first_split_agrees_with_a_batch_computation(seed):
    rng = np.random.default_rng(seed)
    k, dim = 4, 5
    delta, tie = 0.3, float(rng.choice([0.05, 0.3, 0.6]))
    features = np.array([4, 0, 3])
    tree = reference.HoeffdingTree(k, 6.0, delta, tie, 3.0, features)
    masses, last_try = np.zeros(k), 0.0
    rows, labels, weights = [], [], []
    for _ in range(400):
        label = int(rng.integers(k))
        x = rng.normal(size=dim) + label * np.array([0.3, 9.0, 0.0, 0.8, 0.0])
        x[rng.random(dim) < 0.1 * (seed % 2)] = np.nan
        weight = float(rng.random())
        teach(tree, x, [label], weight=weight)
        rows.append(x[features])
        labels.append(label)
        weights.append(3.0 * weight)
        masses[label] += 3.0 * weight + (masses[label] == 0)
        split = None
        if masses.sum() - last_try > 6.0:
            last_try = masses.sum()
            if (masses > 0).sum() >= 2:
                data = np.array(rows), np.array(labels), np.array(weights)
                split = batch_split(*data, masses, delta, tie)
        assert (split is not None) == (len(tree.nodes) > 1)
        if split is not None:
            f, threshold, left, right = split
            assert tree.structure[0] == (features[f], pytest.approx(threshold), 1, 2)
            np.testing.assert_allclose(tree.leaf_masses[1], left, atol=1e-9)
            np.testing.assert_allclose(tree.leaf_masses[2], right, atol=1e-9)
            return
    pytest.fail("no split in 400 steps")


def test_covariates_that_tie_but_for_rounding_go_to_the_first():
    # Two points of label 0, and label 1 on one of them: every covariate is the same up to its
    # scale and offset, so all gains are equal but for rounding, which must not decide.
    scale, offset = np.array([0.1, 0.3, 0.7, 1.1]), np.array([0.0, 0.2, 5.3, 7.7])
    tree = reference.HoeffdingTree(2, 5.5, 0.99, 9.0, 1.0, features=range(4))
    for x, label in ((0.0, 0), (1.0, 0), (1.0, 1), (1.0, 1)):
        teach(tree, x * scale + offset, [label])
    assert len(tree.nodes) == 3
    assert tree.structure[0][0] == 0
    assert tree.closest_decision > 1e-11
