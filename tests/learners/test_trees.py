"""The Hoeffding tree beyond what the oracle compares: memory, cap, missing values, depth."""

import copy
import dataclasses
import gc
import os
from typing import Any

import numpy as np
import pytest
from learner_arrays import learner_arrays

import boostline as bl


def stream(n, d=10, k=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, :k] + 0.3 * rng.normal(size=(n, k)) > 0.8


def test_paper_trees_draw_the_papers_parameters():
    rng = np.random.default_rng(0)
    trees: list[Any] = bl.learners.paper_trees(400).resolve(103, rng)
    assert len(trees) == 400
    for name, low, high in (
        ("grace_period", 5, 20),
        ("split_confidence", 0.01, 0.9),
        ("tie_threshold", 0.01, 0.9),
        ("weight_scale", 3, 10),
    ):
        values = np.array([getattr(t, name) for t in trees])
        assert low <= values.min() < low + 0.05 * (high - low)
        assert high - 0.05 * (high - low) < values.max() <= high
    # log-uniform: half of the draws lie below the geometric mean of the ends
    confidence = np.array([t.split_confidence for t in trees])
    assert abs((confidence < np.sqrt(0.01 * 0.9)).mean() - 0.5) < 0.08
    assert all(len(set(t.features)) == 20 and max(t.features) < 103 for t in trees)
    narrow: Any = bl.learners.paper_trees(1).resolve(7, rng)[0]
    assert len(narrow.features) == 7


def test_patience_multiplies_the_grace_periods_and_nothing_else():
    once: list[Any] = bl.learners.paper_trees(20).resolve(30, np.random.default_rng(1))
    patient: list[Any] = bl.learners.paper_trees(20, patience=4).resolve(
        30, np.random.default_rng(1)
    )
    for one, other in zip(once, patient, strict=True):
        assert dataclasses.replace(one, grace_period=4 * one.grace_period) == other
    with pytest.raises(ValueError, match="patience"):
        bl.learners.paper_trees(20, patience=0)


def test_cap_is_kept_and_the_tree_goes_on_learning():
    X, Y = stream(3000)
    cap = 12_000
    free = bl.AdaOLMR(6, learners=[bl.learners.HoeffdingTree()], seed=0)
    capped = bl.AdaOLMR(6, learners=[bl.learners.HoeffdingTree(max_bytes=cap)], seed=0)
    free.learn(X, Y)
    for start in range(0, 3000, 100):
        capped.learn(X[start : start + 100], Y[start : start + 100])
        assert capped._native.core.learner(0).memory_bytes() <= cap
    assert free._native.core.learner(0).memory_bytes() > 3 * cap
    state = learner_arrays(capped)
    leaves = state["node_covariate"] < 0
    assert (state["node_active"][leaves] == 0).any()
    before = state["label_mass"].sum()
    capped.learn(X[:200], Y[:200])
    assert learner_arrays(capped)["label_mass"].sum() > before
    loss = bl.metrics.rank_loss(Y[-1000:], capped.score(X[-1000:]))
    assert loss < 0.4


@pytest.mark.parametrize("cap", [40_000, 300_000])
def test_what_memory_usage_counts_is_capped_and_used(cap):
    X, Y = stream(6000, d=30, k=25, seed=1)
    tree = bl.learners.HoeffdingTree(
        max_bytes=cap, grace_period=1.0, tie_threshold=0.9, split_confidence=0.9
    )
    bare = bl.AdaOLMR(25, learners=[bl.learners.HoeffdingTree(grace_period=1e9)], seed=0)
    bare.learn(X[0], [])
    of_booster = bare.memory_usage() - bare._native.core.learner(0).memory_bytes()
    model = bl.AdaOLMR(25, learners=[tree], seed=0)
    most = 0
    for start in range(0, 6000, 50):
        model.learn(X[start : start + 50], Y[start : start + 50])
        most = max(most, model.memory_usage() - of_booster)
    assert 0.8 * cap < most <= cap


def test_a_cap_below_an_empty_tree_is_refused():
    model = bl.AdaOLMR(3, learners=[bl.learners.HoeffdingTree(max_bytes=1000)])
    with pytest.raises(ValueError, match=r"max_bytes is 1000, but must be at least \d+"):
        model.learn(np.zeros(5), {0})


def test_a_copy_keeps_to_the_cap_as_its_original():
    X, Y = stream(3000)
    model = bl.AdaOLMR(6, learners=[bl.learners.HoeffdingTree(max_bytes=9_000)], seed=0)
    model.learn(X[:1500], Y[:1500])
    copied, loaded = model._native.core.clone(), copy.deepcopy(model)
    assert (
        loaded._native.core.learner(0).memory_bytes()
        <= model._native.core.learner(0).memory_bytes()
    )
    np.testing.assert_array_equal(model.learn(X[1500:], Y[1500:]), loaded.learn(X[1500:], Y[1500:]))
    assert copied.learner(0).memory_bytes() <= 9_000


def test_a_cap_that_is_not_reached_changes_nothing():
    X, Y = stream(500)
    a = bl.AdaOLMR(6, learners=[bl.learners.HoeffdingTree()], seed=0)
    b = bl.AdaOLMR(6, learners=[bl.learners.HoeffdingTree(max_bytes=10**9)], seed=0)
    np.testing.assert_array_equal(a.learn(X, Y), b.learn(X, Y))


@pytest.mark.gate
def test_memory_usage_is_what_is_allocated():
    """Against the growth of the process: within the slack of its allocator."""
    resource = pytest.importorskip("resource")
    X, Y = stream(20_000, seed=3)
    model = bl.AdaOLMR(6, learners=bl.learners.paper_trees(60), seed=0)
    model.learn(X[:10], Y[:10])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    start = model.memory_usage()
    model.learn(X[:8000], Y[:8000])
    grown = model.memory_usage() - start
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    assert grown > 4_000_000
    assert rss < 1.25 * grown + 6_000_000


@pytest.mark.gate
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="tells how much memory there is")
def test_memory_goes_back_to_the_system_with_its_model():
    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    X, Y = stream(8000, seed=3)
    for _ in range(2):  # what is kept for the next model is there before the second
        before = resident()
        model = bl.AdaOLMR(6, learners=bl.learners.paper_trees(60), seed=0)
        model.learn(X, Y)
        held = model.memory_usage()
        del model
    assert held > 4_000_000
    assert resident() - before < held / 4


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux's /proc")
def test_no_addresses_are_lost_with_large_statistics():
    """A label's statistics of 9,000 features are larger than a chunk's share, and no whole number of pages."""
    X = np.random.default_rng(0).normal(size=(6, 9000))
    Y = np.arange(24).reshape(6, 4) % 3 == 0
    sizes = []
    for _ in range(15):
        model = bl.AdaOLMR(4, learners=[bl.learners.HoeffdingTree() for _ in range(5)])
        model.learn(X, Y)
        del model
        with open("/proc/self/statm") as file:
            sizes.append(int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE") / 1e6)
    assert sizes[-1] - sizes[4] < 50  # 330 when they were


@pytest.mark.parametrize("d", [1, 3, 7_000, 70_000])
def test_statistics_of_few_covariates_and_of_very_many(d):
    """Whatever the size of their blocks of memory."""
    X, Y = stream(40, d=d, k=1, seed=5)
    model = bl.AdaOLMR(2, learners=[bl.learners.HoeffdingTree(grace_period=1e9)], seed=0)
    model.learn(X, np.column_stack([Y[:, 0], ~Y[:, 0]]))
    state = learner_arrays(model)
    stats = state["label_stats"].reshape(2, 5, d)
    for label, (_, mean, _, least, most) in zip(state["label"], stats, strict=True):
        rows = X[Y[:, 0] == (label == 0)]
        np.testing.assert_array_equal(least, rows.min(axis=0))
        np.testing.assert_array_equal(most, rows.max(axis=0))
        assert ((mean >= least) & (mean <= most)).all()
    copied = copy.deepcopy(model)
    np.testing.assert_array_equal(learner_arrays(copied)["label_stats"], state["label_stats"])
    np.testing.assert_array_equal(copied.learn(X[0], {0}), model.learn(X[0], {0}))


def test_statistics_are_kept_for_labels_that_occurred_only():
    model = bl.AdaOLMR(1000, learners=[bl.learners.HoeffdingTree(grace_period=1e9)], seed=0)
    for label in (3, 999, 3):
        model.learn(np.arange(5.0), {label})
    state = learner_arrays(model)
    assert state["label"].tolist() == [3, 999]
    assert len(state["label_stats"]) == 2 * 5 * 5


@pytest.mark.gate
def test_deep_trees_do_not_recurse():
    """A stream that moves on and on makes a tree as deep as it has splits."""
    model = bl.AdaOLMR(
        2,
        learners=[
            bl.learners.HoeffdingTree(grace_period=1.0, split_confidence=0.9, tie_threshold=9.0)
        ],
        seed=0,
    )
    n = 6000
    X = np.arange(n, dtype=float)[:, None] ** 1.5
    Y = np.arange(n) % 2
    model.learn(X, np.column_stack([Y == 0, Y == 1]))
    state = learner_arrays(model)
    left, covariate = state["node_left"], state["node_covariate"]
    depth = np.zeros(len(left), dtype=int)
    for i in range(len(left)):
        if covariate[i] >= 0:
            depth[left[i]] = depth[left[i] + 1] = depth[i] + 1
    assert depth.max() > 200
    assert np.isfinite(model.score([1e9])).all()


def test_missing_values_go_to_the_heavier_branch_and_do_not_enter_statistics():
    tree = bl.learners.HoeffdingTree(
        grace_period=5.0, split_confidence=0.9, tie_threshold=9.0, weight_scale=1.0
    )
    model = bl.AdaOLMR(2, learners=[tree], seed=0)
    for _ in range(30):
        model.learn([1.0, np.nan], {0})
        model.learn([1.0, np.nan], {0})
        model.learn([-1.0, np.nan], {1})
    state = learner_arrays(model)
    assert (state["node_covariate"] <= 0).all()  # covariate 1 has no values to split on
    left, right = model.votes([-1.0, 0.0])[0], model.votes([1.0, 0.0])[0]
    missing = model.votes([np.nan, 0.0])[0]
    assert left.argmax() == 1 and right.argmax() == 0
    assert missing.argmax() == 0


def test_labels_added_while_running():
    X, Y = stream(300, k=4)
    model = bl.AdaOLMR(4, learners=bl.learners.paper_trees(8), seed=0)
    model.learn(X, Y)
    model.add_labels(2)
    assert model.n_labels == 6 and model.score(X[0]).shape == (6,)
    for x in X[:100]:
        model.learn(x, {5} if x[0] > 0 else {4})
    assert model.rank([3.0, *[0.0] * 9], top=1)[0] == 5
    bmr = bl.OnlineBMR(labels=["a", "b"], learners=bl.learners.paper_trees(8), edge=0.1)
    bmr.learn(X[0], {"a"})
    bmr.add_labels(["c"])
    for x in X[:60]:
        bmr.learn(x, {"c"})
    assert bmr.rank(X[0], top=1) == ["c"]
    with pytest.raises(ValueError, match="'c' twice"):
        bmr.add_labels(["c"])
    with pytest.raises(TypeError, match="names"):
        bmr.add_labels(1)
    with pytest.raises(TypeError, match="labels is the string 'de', but must be a list of names"):
        bmr.add_labels("de")
    assert bmr.labels == ["a", "b", "c"]
