"""Potentials against brute force over all k^n outcomes, the recursion and the paper's Table 1."""

import itertools
import math
import time

import numpy as np
import pytest

from boostline import potentials
from boostline.lab.theory.bounds_online_bmr import largest_weight
from boostline.losses import Exponential, GeneralLoss, Hinge, Logistic, PairwiseLoss, Rank
from boostline.potentials import baseline, costs, potential, step_table

PAIR_LOSSES = [
    Rank(),
    Hinge(),
    Hinge(0.0),
    Hinge(0.37),
    Hinge(45.5),
    Logistic(),
    Exponential(),
    PairwiseLoss(lambda d: np.maximum(1 + d, 0) ** 2, "squared hinge"),
    PairwiseLoss(lambda d: 1 / (1 + np.exp(-d)), "sigmoid"),
]
ids = [f"{loss.name}-{getattr(loss, 'margin', '')}" for loss in PAIR_LOSSES]


def brute_force(value, n, s, relevant, edge):
    """E L(s + votes), summed over all k^n outcomes of n draws from u_gamma."""
    k, size = len(relevant), int(relevant.sum())
    gamma = min(edge, 1 / size)
    u = [(1 - gamma * size) / k + (gamma if y else 0.0) for y in relevant]
    total = 0.0
    for outcome in itertools.product(range(k), repeat=n):
        votes = np.array(s, dtype=float)
        weight = 1.0
        for label in outcome:
            votes[label] += 1
            weight *= u[label]
        total += weight * value(relevant, votes)
    return total


def small_cases():
    rng = np.random.default_rng(7)
    for k, n in [(2, 0), (2, 5), (3, 4), (4, 3), (5, 2)]:
        for integer in (True, False):
            relevant = np.zeros(k, bool)
            relevant[rng.permutation(k)[: int(rng.integers(1, k))]] = True
            s = rng.integers(-2, 3, k).astype(float) if integer else rng.normal(size=k)
            yield n, s, relevant, float(rng.choice([0.0, 0.05, 0.3, 0.9]))


@pytest.mark.parametrize("loss", PAIR_LOSSES, ids=ids)
def test_potential_is_brute_force(loss):
    for n, s, relevant, edge in small_cases():
        expected = brute_force(loss.value, n, s, relevant, edge)
        assert potential(loss, n, s, relevant, edge)[0] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("loss", PAIR_LOSSES, ids=ids)
def test_costs_are_brute_force_up_to_a_constant(loss):
    for n, s, relevant, edge in small_cases():
        expected = np.array(
            [brute_force(loss.value, n, s + e, relevant, edge) for e in np.eye(len(s))]
        )
        found, error = costs(loss, n, s, relevant, edge)
        assert np.allclose(found - found[0], expected - expected[0], atol=1e-12)
        assert not error.any()
        assert found[relevant].max() <= 0 <= found[~relevant].min()


@pytest.mark.gate
def test_monte_carlo_is_within_its_error():
    def worst_pair(relevant, scores):
        return max(0.0, 1 + scores[~relevant].max() - scores[relevant].min())

    loss = GeneralLoss(worst_pair)
    scaled = []
    for n, s, relevant, largest_edge in small_cases():
        edge = min(largest_edge, 0.3)  # so that no outcome is too rare for 2000 draws to meet
        found, standard_error = potential(loss, n, s, relevant, edge, draws=2000, seed=n)
        truth = brute_force(worst_pair, n, s, relevant, edge)
        if n == 0:
            assert (found, standard_error) == (pytest.approx(truth), 0.0)
        else:
            scaled.append((found - truth) / standard_error)
        c, error = costs(loss, n, s, relevant, edge, draws=2000, seed=n)
        exact = np.array(
            [brute_force(worst_pair, n, s + e, relevant, edge) for e in np.eye(len(s))]
        )
        assert (np.abs(c - (exact - exact.mean())) <= 4.5 * error + 1e-12).all()
    assert np.abs(scaled).max() < 4 and np.std(scaled) > 0.2


@pytest.mark.parametrize("loss", PAIR_LOSSES, ids=ids)
def test_recursion(loss):
    """phi^n(s) = E over l ~ u of phi^{n-1}(s + e_l), Equation 1."""
    rng = np.random.default_rng(1)
    relevant = np.array([True, False, True, False, False])
    u = baseline(relevant, 0.08)
    assert u.sum() == pytest.approx(1.0)
    for n in (1, 7, 40):
        for s in (rng.integers(-5, 5, 5).astype(float), 3 * rng.normal(size=5)):
            later = [potential(loss, n - 1, s + e, relevant, 0.08)[0] for e in np.eye(5)]
            assert potential(loss, n, s, relevant, 0.08)[0] == pytest.approx(u @ later, rel=1e-10)


@pytest.mark.parametrize("loss", PAIR_LOSSES, ids=ids)
def test_tables_agree_with_the_exact_sum(loss):
    n_learners, k, size, edge = 30, 6, 2, 0.1
    table = step_table(loss, n_learners, k, size, edge)
    rng = np.random.default_rng(3)
    d = np.arange(-n_learners - 1.0, n_learners + 2)
    if loss.convex:
        d = np.append(d, rng.uniform(-n_learners - 2, n_learners + 2, 3000))
    for n in (0, 1, 5, n_learners - 1):
        g = [potentials.pair_potential(loss, n, x, k, size, edge) for x in (d, d + 1)]
        expected = g[1] - g[0]
        rounding = 1e-12 * np.maximum(1, np.abs(g[1]))
        worst = np.abs(table.at(n, d) - expected) - rounding
        assert worst.max() <= table.error
    assert float(1 / table.step).is_integer()
    if isinstance(loss, (Rank, Hinge, Exponential)):
        assert table.error == 0.0
    if loss.convex and table.rho is None:
        assert (np.diff(table.values, axis=1) >= -1e-12).all()


def test_the_table_of_a_large_margin_is_no_larger():
    tables = [step_table(Hinge(margin), 30, 6, 2, 0.1) for margin in (1.0, 45.5, 1e6)]
    assert max(table.values.shape[1] for table in tables) == tables[0].values.shape[1]
    assert (tables[-1].at(29, np.arange(-32.0, 33)) == 1.0).all()  # the hinge is never felt


def test_the_stated_grid_error_is_not_generous():
    """The logistic bound is met with equality up to the smoothing of the walk: n = 0 shows it."""
    table = step_table(Logistic(), 3, 4, 1, 0.1)
    d = np.linspace(-4, 4, 40001)
    exact = Logistic().pair(d + 1) - Logistic().pair(d)
    worst = np.abs(table.at(0, d) - exact).max()
    assert 0.5 * table.error < worst <= table.error


def test_a_hinge_written_by_a_user_gets_an_exact_table():
    user = PairwiseLoss(lambda d: np.maximum(1 + d, 0), "user hinge")
    table, exact = (step_table(x, 20, 5, 2, 0.1) for x in (user, Hinge()))
    d = np.random.default_rng(0).uniform(-20, 20, 500)
    assert table.error == 0.0
    assert np.allclose(table.at(12, d), exact.at(12, d), atol=1e-12)


def test_rank_at_real_differences_is_not_the_interpolation():
    """Between integers m and m + 1 the potential is P(Z >= -m): constant."""
    args = (Rank(), 1, np.array([0.0, 0.25, 0.75, 1.0]), 4, 1, 0.2)
    # Z is -1, 0, 1 with probabilities .4, .4, .2
    assert np.allclose(potentials.pair_potential(*args), [0.4, 0.6, 0.6, 0.8])


@pytest.mark.parametrize(("k", "size"), [(2, 1), (6, 2), (14, 4), (14, 11), (101, 4)])
@pytest.mark.parametrize("edge", [0.001, 0.05, 0.2])
def test_table_1_of_the_paper(k, size, edge):
    gamma = min(edge, 1 / size)
    for n in (1, 10, 100, 400):
        limit = math.exp(-(gamma**2) * n / 2)
        assert potentials.start_potential(Rank(), n, k, size, edge) <= limit
        assert potentials.start_potential(Hinge(), n, k, size, edge) <= (n + 1) * limit


@pytest.mark.parametrize(("k", "size"), [(2, 1), (6, 3), (14, 1)])
def test_largest_weights_keep_table_1(k, size):
    for left in (0, 1, 10, 99):
        assert largest_weight(Hinge(), left, 100 - left, k, size, 0.1) <= 2
    scaled = [
        largest_weight(Rank(), left, 2000, k, size, 0.05) * math.sqrt(left)
        for left in (1, 10, 100, 1000, 4000)
    ]
    # Local limit: max P(Z_n = z) sqrt(n) -> 1 / sqrt(2 pi variance); an even walk (k = 2) that
    # never stays doubles the point mass, halved again by the tie's one half.
    up = (1 - 0.05 * size) / k
    variance = 2 * up + 0.05 - 0.05**2
    limit = (1 / size + 1 / (k - size)) / math.sqrt(2 * math.pi * variance)
    assert scaled[-1] == pytest.approx(limit, rel=0.02)
    assert max(scaled) < 3 * limit


def test_largest_weight_bounds_actual_costs():
    rng = np.random.default_rng(5)
    for loss in PAIR_LOSSES:
        for _ in range(30):
            relevant = np.array([True, True, False, False, False])
            s = rng.multinomial(12, rng.dirichlet(np.full(5, 0.3))).astype(float)
            c, _ = costs(loss, 6, s, relevant, 0.1)
            limit = largest_weight(loss, 6, 12, 5, 2, 0.1)
            assert c.max() - c.min() <= limit * (1 + 1e-12)


def test_edges_are_clipped():
    relevant = np.array([True] * 4 + [False])
    assert baseline(relevant, 0.9).min() == 0.0
    assert potential(Rank(), 3, np.zeros(5), relevant, 0.9) == potential(
        Rank(), 3, np.zeros(5), relevant, 0.25
    )
    with pytest.raises(ValueError, match=r"edge is 1\.5, but must lie in \[0, 1\]"):
        potentials.clipped_edge(1.5, 2)


def test_unknown_labels_take_votes_but_form_no_pair():
    relevant = np.array([True, False, False])
    irrelevant = np.array([False, True, False])
    c, _ = costs(Hinge(), 4, np.zeros(3), relevant, 0.1, irrelevant=irrelevant)
    assert c[2] == 0.0 and c[0] < 0 < c[1]


def test_misuse_is_refused():
    with pytest.raises(ValueError, match=r"n_relevant is 3 and n_labels 3"):
        step_table(Hinge(), 5, 3, 3, 0.1)
    with pytest.raises(TypeError, match="does not split into pairs"):
        step_table(GeneralLoss(lambda y, s: 0.0), 5, 3, 1, 0.1)
    with pytest.raises(ValueError, match="label 0 is relevant and irrelevant"):
        potential(Hinge(), 1, np.zeros(2), [True, False], 0.1, irrelevant=[True, True])


def test_a_table_for_100_learners_takes_half_a_millisecond():
    times = []
    for _ in range(20):
        start = time.thread_time()
        step_table(Hinge(), 100, 14, 4, 0.01)
        times.append(time.thread_time() - start)
    assert min(times) < 1e-3  # measured .2 ms; the slack is for a busy machine
