"""Potentials of the reference: brute force over all outcomes, recursions, the paper's Table 1."""

import itertools

import numpy as np
import pytest

from boostline.lab import reference
from boostline.lab.reference import potentials

LOSSES = ["hinge", "rank"]


def loss_of(loss, s, relevant, irrelevant, margin):
    if loss == "hinge":
        return float(reference.hinge_loss(s, relevant, irrelevant, margin))
    return float(reference.rank_loss(s, relevant, irrelevant))


def baseline_by_hand(relevant, k, edge):
    edge = min(edge, 1 / len(relevant))
    a = (1 - edge * len(relevant)) / k
    return [a + edge if label in relevant else a for label in range(k)]


def brute_force_potential(loss, n, s, relevant, edge, margin=1.0, irrelevant=None):
    """The expected loss over all k^n sequences of votes of the baseline."""
    k = len(s)
    u = baseline_by_hand(relevant, k, edge)
    total = 0.0
    for labels in itertools.product(range(k), repeat=n):
        end = s.copy()
        for label in labels:
            end[label] += 1
        chance = np.prod([u[label] for label in labels])
        total += chance * loss_of(loss, end, relevant, irrelevant, margin)
    return total


CASES = [  # k, n, relevant, edge: the last two have an edge that must be cut to 1/|Y|
    (2, 6, {0}, 0.2),
    (3, 5, {1}, 0.05),
    (4, 4, {0, 3}, 0.1),
    (5, 3, {0, 1, 2}, 0.3),
    (3, 4, {0, 1}, 0.5),
    (4, 4, {0, 1, 3}, 0.6),
]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("k", "n", "relevant", "edge"), CASES)
@pytest.mark.parametrize("scores", ["integer", "real"])
def test_potential_and_costs_equal_brute_force(loss, k, n, relevant, edge, scores):
    rng = np.random.default_rng(k * 10 + n)
    s = rng.integers(-2, 3, size=k).astype(float)
    margin = 1.0
    if scores == "real":
        s += rng.random(k)
        margin = 0.4
    expected = brute_force_potential(loss, n, s, relevant, edge, margin)
    got = reference.potential(loss, n, s, relevant, edge, margin)
    assert got == pytest.approx(expected, abs=1e-13)
    costs = [
        brute_force_potential(loss, n, s + e, relevant, edge, margin) - expected for e in np.eye(k)
    ]
    got = reference.potential_costs(loss, n, s, relevant, edge, margin)
    np.testing.assert_allclose(got, costs, atol=1e-13)


@pytest.mark.parametrize("loss", LOSSES)
def test_unknown_labels_are_drawn_but_not_ranked(loss):
    s = np.array([0.0, 1.0, 0.0, 2.0])
    expected = brute_force_potential(loss, 4, s, {0}, 0.1, irrelevant={1, 3})
    got = reference.potential(loss, 4, s, {0}, 0.1, irrelevant={1, 3})
    assert got == pytest.approx(expected, abs=1e-13)
    assert reference.potential_costs(loss, 4, s, {0}, 0.1, irrelevant={1, 3})[2] == 0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_potential_is_the_mean_of_the_next_potential(loss, seed):
    rng = np.random.default_rng(seed)
    k, n, edge = int(rng.integers(2, 12)), int(rng.integers(1, 40)), float(rng.random() * 0.3)
    relevant = set(rng.choice(k, size=rng.integers(1, k), replace=False).tolist())
    s = rng.integers(-5, 6, size=k).astype(float)
    u = np.array(baseline_by_hand(relevant, k, edge))
    after = reference.potential(loss, n - 1, s + np.eye(k), relevant, edge)
    assert after.shape == (k,)
    assert reference.potential(loss, n, s, relevant, edge) == pytest.approx(u @ after, rel=1e-12)
    indicator = np.isin(np.arange(k), list(relevant))
    np.testing.assert_allclose(reference.baseline(indicator, edge), u, atol=1e-15)


@pytest.mark.parametrize("loss", LOSSES)
def test_one_pair_follows_the_recursion_of_the_walk(loss):
    up, down = 0.13, 0.31

    def g(n, d):
        if n == 0:
            return max(0.0, 1 + d) if loss == "hinge" else (1.0 if d > 0 else 0.5 * (d == 0))
        return down * g(n - 1, d - 1) + up * g(n - 1, d + 1) + (1 - up - down) * g(n - 1, d)

    for d in (-9.0, -3.0, -0.7, 0.0, 0.25, 2.0, 8.5):
        got = reference.pair_potential(loss, 7, np.array(d), up, down)
        assert got == pytest.approx(g(7, d), abs=1e-14)


@pytest.mark.parametrize("k", [2, 5, 14])
@pytest.mark.parametrize("edge", [0.01, 0.1, 0.2])
@pytest.mark.parametrize("n", [1, 10, 100])
def test_table_1_bounds(k, edge, n):
    for size in {1, k // 2, k - 1}:
        relevant = set(range(size))
        gamma = min(edge, 1 / size)
        zero = np.zeros(k)
        bound = np.exp(-(gamma**2) * n / 2)
        assert reference.potential("rank", n, zero, relevant, edge) <= bound
        assert reference.potential("hinge", n, zero, relevant, edge) <= (n + 1) * bound


def test_table_1_weights_hinge_at_most_2_and_rank_of_order_one_over_root_n():
    rng = np.random.default_rng(3)
    k, largest = 4, {}
    for n in (4, 16, 64, 256):
        scaled = []
        for _ in range(20):
            relevant = set(rng.choice(k, size=rng.integers(1, k), replace=False).tolist())
            s = rng.integers(-3, 4, size=k).astype(float)
            hinge = reference.potential_costs("hinge", n, s, relevant, 0.05)
            assert np.ptp(hinge) <= 2 + 1e-12
            rank = reference.potential_costs("rank", n, s, relevant, 0.05)
            scaled.append(np.ptp(rank) * np.sqrt(n))
        largest[n] = max(scaled)
    # Lemma weightA: at most 3 P(mode of the walk), which is about 1/sqrt(2 pi n v) with the
    # variance of a step v = 2a + gamma - gamma^2 >= .47 here (a >= .2125).
    assert max(largest.values()) <= 3 / np.sqrt(2 * np.pi * 0.47)


@pytest.mark.parametrize("loss", LOSSES)
def test_monte_carlo_agrees_within_its_error(loss):
    rng = np.random.default_rng(5)
    k, n, relevant, edge, draws = 6, 50, {0, 4}, 0.08, 20_000
    s = rng.integers(-3, 4, size=k).astype(float)
    outcomes = s + rng.multinomial(n, baseline_by_hand(relevant, k, edge), size=draws)
    values = (
        reference.hinge_loss(outcomes, relevant)
        if loss == "hinge"
        else reference.rank_loss(outcomes, relevant)
    )
    error = values.std() / np.sqrt(draws)
    assert abs(values.mean() - reference.potential(loss, n, s, relevant, edge)) < 5 * error


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(10))
def test_relevant_labels_cost_less_than_irrelevant_ones(loss, seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 10))
    relevant = np.zeros(k, dtype=bool)
    relevant[rng.choice(k, size=rng.integers(1, k), replace=False)] = True
    s = rng.integers(-4, 5, size=k).astype(float)
    costs = reference.potential_costs(loss, int(rng.integers(0, 30)), s, relevant, 0.1)
    assert costs[relevant].max() <= 0 <= costs[~relevant].min()


def test_a_tail_next_to_one_is_not_lost():
    # One pair, wrong by n + 1: only n steps down in a row and then one vote more undo part of it.
    n = 40
    costs = reference.potential_costs("rank", n, np.array([0.0, n + 1.0, 0.0]), {0}, 0.0, 1.0, {1})
    assert costs[0] == pytest.approx(-0.5 * 3.0**-n, rel=1e-12)
    assert costs[1] == costs[2] == 0


def test_loss_must_be_known():
    with pytest.raises(ValueError, match="loss is 'log', but it must be 'hinge' or 'rank'"):
        reference.potential("log", 1, np.zeros(2), {0}, 0.1)


def test_laws_are_shared_and_so_not_writable():
    law = potentials.walk_law(3, 0.2, 0.3)
    assert law.sum() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="read-only"):
        law[0] = 1
